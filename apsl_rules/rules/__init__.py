"""Facts, rules and the engine that fires them to a fixpoint; conflicts, proofs and background knowledge."""
