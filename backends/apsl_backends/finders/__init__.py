"""Small parents-and-children finders, by tests and by symmetrical uncertainty."""
