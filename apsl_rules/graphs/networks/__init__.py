"""Discrete Bayesian networks: files, the shipped library, sampling, inference, tiling."""
