"""Learn any part of a Bayesian-network structure, every arrow with its proof."""
