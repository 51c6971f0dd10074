"""Oracles, finders and learners that the hooks of apsl_rules offer out of the box."""
