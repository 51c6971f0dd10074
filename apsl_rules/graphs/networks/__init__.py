"""Discrete Bayesian networks: files, the shipped library, sampling, inference."""

from __future__ import annotations

from apsl_rules.graphs.networks.bayesian_network import Network, joint
from apsl_rules.graphs.networks.bif import parse_bif, read_bif, save_bif, write_bif
from apsl_rules.graphs.networks.library import network, network_names
from apsl_rules.graphs.networks.sampling import random_network, sample, simulate, write_rows

__all__ = [
    "Network",
    "joint",
    "network",
    "network_names",
    "parse_bif",
    "random_network",
    "read_bif",
    "sample",
    "save_bif",
    "simulate",
    "write_bif",
    "write_rows",
]
