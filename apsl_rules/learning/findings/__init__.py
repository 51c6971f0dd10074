"""What a learner finds at a node: from tests, and the variants of CMB."""
