"""Counting kernels and what is computed from counts."""
