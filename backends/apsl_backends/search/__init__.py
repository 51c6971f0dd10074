"""Searches for the graph with the best score."""
