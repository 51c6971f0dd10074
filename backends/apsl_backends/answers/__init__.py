"""Answers kept on disk: the verdict cache, and the oracle that looks there first."""
