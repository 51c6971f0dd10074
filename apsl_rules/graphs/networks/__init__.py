"""Discrete Bayesian networks: files, the shipped library, sampling, inference, tiling."""

from __future__ import annotations

from apsl_rules.graphs.networks.bif import parse_bif, read_bif, save_bif, write_bif
from apsl_rules.graphs.networks.inference import joint
from apsl_rules.graphs.networks.library import network, network_names
from apsl_rules.graphs.networks.network import Network
from apsl_rules.graphs.networks.random import random_network
from apsl_rules.graphs.networks.sampling import sample
from apsl_rules.graphs.networks.simulate import simulate, write_rows
from apsl_rules.graphs.networks.tile_arcs import ArcRules
from apsl_rules.graphs.networks.tiling import Tiling, make_tiling
from apsl_rules.graphs.networks.tilings import tiling_spec

__all__ = [
    "ArcRules",
    "Network",
    "Tiling",
    "joint",
    "make_tiling",
    "network",
    "network_names",
    "parse_bif",
    "random_network",
    "read_bif",
    "sample",
    "save_bif",
    "simulate",
    "tiling_spec",
    "write_bif",
    "write_rows",
]
