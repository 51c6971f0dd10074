"""Experiments: which learners learn which parts from which samples, run in parallel, stopped and continued at will.

An experiment is a TOML file (``design``). It is planned into units of work, each a learner on one sample. Each
finished unit goes into a log that survives a killed process. The results are one sorted table (``results``).

>>> from apsl_rules.evaluation.experiments import experiment
>>> experiment("quick").name
'quick'
"""

from apsl_rules.evaluation.experiments.design import (
    DrawnSamples,
    Experiment,
    FolderSamples,
    Grid,
    Samples,
    experiment,
    experiment_names,
    parse_experiment,
)
from apsl_rules.evaluation.experiments.results import Results, read_results, run, summarise

__all__ = [
    "DrawnSamples",
    "Experiment",
    "FolderSamples",
    "Grid",
    "Results",
    "Samples",
    "experiment",
    "experiment_names",
    "parse_experiment",
    "read_results",
    "run",
    "summarise",
]
