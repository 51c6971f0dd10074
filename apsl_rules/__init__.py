"""Learn any part of a Bayesian-network structure, every arrow with its proof."""

from __future__ import annotations

from apsl_rules.dag import known_dag
from apsl_rules.hookspecs import hookimpl
from apsl_rules.learning import learn
from apsl_rules.networks import network

__all__ = ["hookimpl", "known_dag", "learn", "network"]
