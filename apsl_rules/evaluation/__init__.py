"""How right a result is: scores against a known graph, exactness, ranking, published figures, experiments."""
