"""Scores of graphs on a table: how well the parents of a node predict its column."""
