"""Experiments: which learners learn which parts from which samples, run in parallel, stopped and continued at will.

An experiment is a TOML file (:mod:`apsl_rules.experiments.design`). It is planned into units of work, each a learner on
one sample (:mod:`~apsl_rules.experiments.plan`); each finished unit goes into a log that survives a killed process
(:mod:`~apsl_rules.experiments.log`); the results are one sorted table (:mod:`~apsl_rules.experiments.results`).

>>> from apsl_rules.experiments import experiment
>>> experiment("quick").name
'quick'
"""

from apsl_rules.experiments.design import Experiment, Grid, experiment, experiment_names, parse_experiment
from apsl_rules.experiments.results import Results, read_results
from apsl_rules.experiments.running import run
from apsl_rules.experiments.samples import DrawnSamples, FolderSamples, Samples
from apsl_rules.experiments.summary import summarised

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
    "summarised",
]
