"""The front door: learn a part from a source, a target and a depth."""

from __future__ import annotations

from typing import Any, Unpack

from apsl_rules.data import Target, join_target
from apsl_rules.learning.request import Request, Settings
from apsl_rules.learning.run import run_once
from apsl_rules.learning.source import open_data
from apsl_rules.names import Depth, check_depth
from apsl_rules.parts import Part
from apsl_rules.stopping import interruptible


@interruptible
def learn(source: Any, target: Target, *, depth: Depth = 1, **settings: Unpack[Settings]) -> Part:
    """Learn the structure around a target, every arrow with its proof.

    Parameters
    ----------
    source
        What to learn from: a table (pandas, polars, pyarrow, numpy, a path, or ``table(...)``), a known graph
        (``known_dag(...)``, a networkx DiGraph), one with hidden nodes, a ``Network``, or any oracle.
    target
        The node of interest. With a table in memory it may also be a column of values, as in scikit-learn:
        ``learn(X, y)`` adds y to X under its own name, or as "y".
    depth
        How far to learn: 1 gives the edges at the target, "max" everything connected with it.
    settings
        All further settings, each by its name, as follows.
    learner
        The name of a learner, the path of a spec file, a ``Spec``, or a ``LearnerOffer`` with code of its own.
        "auto" leaves the choice to the source: scores refine parts wherever columns can be counted ("apsl-score").
        Where answers are perfect, or the source is an oracle, there are only tests ("apsl"), and the part says so.
    hidden
        "allowed" if common causes may be missing from the source. Then each end of an edge has a mark of its own
        (``part.end``), and ``part.bidirected`` has the pairs that share a hidden cause ("apsl-hidden"). "excluded"
        assumes that there are none.
    oracle
        The name of the test; without it the natural one for the source.
    alpha
        The level of the tests, instead of that of the learner: two nodes count as dependent if p is smaller.
    max_conditioning
        The most nodes that a test is given, instead of that of the learner. A perfect oracle has no limit unless you
        give one.
    finder
        The name of the finder of neighbours, instead of that of the learner.
    conflicts
        What to do with contradictions: "quarantine", "strongest", "ranked", "first" or "last".
    fdr
        Bound the share of false discoveries among the candidates for neighbours; "auto" does so, at 0.01, for sources
        of more than 1,000 nodes.
    min_direction
        The least probability of a direction for it to be drawn as an arrow. Other arrows become lines with a suggested
        direction (``part.suggested``); 0 draws all, and "precise" only those that are well supported. It matters only
        where scores were asked.
    certified
        Whether to compare what a search by score found with the best of all graphs over the same nodes, by an exact
        search. Notes and proofs say that no graph scores higher, or why that is not known. At most 20 nodes near the
        target allow it.
    kinds
        For tables: the kinds of columns by name, "category", "number" or "set aside", instead of those inferred.
    drop
        For tables: columns to leave out.
    only
        For tables: the only columns to use.
    weights
        For tables: the column that says how many rows each row stands for.
    missing
        For tables: what to do with missing values, "testwise" unless said otherwise, "complete", "level" or "refuse".
    discretize
        For tables: how to cut numbers into categories, "quantile:3", or one way for each column by name, "*" for all
        others.
    cache
        For tables: a file that keeps the figures of all tests, so that a later run, at any alpha, need not count again.
    counts
        For tables: where they are counted. "memory"; "duckdb", for Parquet or CSV files and databases of any size,
        which are left where they are; "dask" or "dask:ADDRESS" for a cluster. By default memory, or DuckDB for a path
        to more than fits. The part is the same. Instead of a table the source may be a ``CountSource`` itself.
    options
        Further options of the oracle.
    max_tests
        The most tests. A run that reaches this limit gives an incomplete part that says so.
    max_seconds
        The most seconds, likewise. An interrupt (Ctrl-C) raises ``Interrupted``, which carries the part so far.
    threads
        How many threads may search neighbours; the result is the same for any number.
    knowledge
        What is known beforehand: a ``Knowledge``, or the path of a TOML file with required and forbidden arrows, tiers
        and nodes that are apart.
    plugins
        Further plugins for this run only (objects, modules or module names), or a whole ``Plugins`` manager.

    Examples
    --------
    >>> from apsl_rules import known_dag, learn
    >>> part = learn(known_dag({"Rain": [], "Sprinkler": [], "Wet": ["Rain", "Sprinkler"]}), "Wet")
    >>> sorted(part.arrows)
    [('Rain', 'Wet'), ('Sprinkler', 'Wet')]
    """
    source, name = join_target(source, target)
    check_depth(depth)
    request = Request.of(settings)
    return run_once(request, open_data(source, request), name, depth)
