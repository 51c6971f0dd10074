"""Plugins: the hooks, what a plugin can offer, the manager, and the specs of learners."""
