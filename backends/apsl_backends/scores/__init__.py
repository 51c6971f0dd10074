"""Scores of graphs on a table: how well a node's column follows from those of its parents."""
