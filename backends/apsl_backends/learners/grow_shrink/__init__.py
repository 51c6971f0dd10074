"""Grow-Shrink (Margaritis and Thrun 1999): Markov blankets, and whole structures from them."""
