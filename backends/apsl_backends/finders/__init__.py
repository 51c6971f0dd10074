"""Small parents-and-children finders, one module each."""
