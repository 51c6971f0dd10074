"""Answered questions: verdicts of tests, leads of scores, and how strong each is."""
