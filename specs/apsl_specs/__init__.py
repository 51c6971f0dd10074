"""Learner specs, experiment specs and networks: data, read through importlib.resources."""
