"""The algorithms as published, as a plugin: their learners, rulebooks and conflict policies."""
