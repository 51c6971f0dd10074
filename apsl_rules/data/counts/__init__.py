"""Counts of columns from anywhere: the protocol, the cache that asks once, and collapsing of rows."""
