"""What a user calls to learn: a part, a whole graph, a blanket, a comparison of learners, a dry run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from time import process_time
from typing import Any, Unpack, cast

import attrs

from apsl_rules.data import Target, join_target, plan_elsewhere
from apsl_rules.data.databases import (
    ScanPlan,
    describe_duckdb_file,
    duckdb_file,
    is_database,
    is_ibis_table,
    open_database,
    plan_scan,
    types_set_aside,
)
from apsl_rules.errors import Interrupted, InvalidArgumentError, KnowledgeError
from apsl_rules.learning.progress import progress_bar
from apsl_rules.learning.run import Budget, run_once, taken_apart
from apsl_rules.learning.settings import AUTO, SETTINGS, Learner, Request, Settings, with_settings
from apsl_rules.learning.source import choose_learner, find_learner, is_auto, open_data, rivals
from apsl_rules.names import Depth, Node, check_depth, check_target, in_order, listed, mapping, require_known
from apsl_rules.neighbours import Blanket
from apsl_rules.oracles import Asker
from apsl_rules.parts import Comparison, LearnedGraph, Part
from apsl_rules.plugins import FinderSettings, TestSpec, pick
from apsl_rules.rules import Mark, collider, untested
from apsl_rules.stopping import interruptible


@with_settings()
@interruptible
def learn(source: Any, target: Target, depth: Depth = 1, **settings: Unpack[Settings]) -> Part:
    """Learn the structure around a target, every arrow with its evidence.

    Parameters
    ----------
    source
        What to learn from: a table (pandas, polars, pyarrow, numpy, a path, or ``table(...)``), a known graph
        (``Dag(...)``, a networkx DiGraph), one with hidden nodes, a ``Network``, or any oracle.
    target
        The node of interest. With a table in memory it may also be a column of values, as in scikit-learn:
        ``learn(X, y)`` adds y to X under its own name, or as "y".
    depth
        How far to learn: 1 gives the edges at the target, "max" everything connected with it.
    settings
        All further settings, each by its name; the page of settings has them in a table.

    Examples
    --------
    >>> from apsl_rules import Dag, learn
    >>> part = learn(Dag({"Rain": [], "Sprinkler": [], "Wet": ["Rain", "Sprinkler"]}), "Wet")
    >>> sorted(part.arrows)
    [('Rain', 'Wet'), ('Sprinkler', 'Wet')]
    """
    source, name = join_target(source, target)
    check_depth(depth)
    request = Request.of(settings)
    return run_once(request, open_data(source, request), name, depth)


@with_settings()
@interruptible
def learn_graph(source: Any, **settings: Unpack[Settings]) -> LearnedGraph:
    """Learn the structure of all nodes.

    Parameters
    ----------
    source
        What to learn from, as for ``learn``.
    settings
        The settings of ``learn``. Learners that search by score or learn whole networks run once; others learn one
        connected piece after another, and limits hold for all pieces together. A search over all nodes has nothing to
        return before its end. An interrupt raises ``Interrupted``, whose ``result`` is the graph so far.

    Examples
    --------
    >>> from apsl_rules import Dag
    >>> graph = learn_graph(Dag({"a": [], "b": [], "c": ["a", "b"], "d": ["e"], "e": []}))
    >>> sorted(graph.arrows), [sorted(line) for line in graph.lines]
    ([('a', 'c'), ('b', 'c')], [['d', 'e']])
    """
    request = Request.of(settings, "learn_graph")
    opened = taken_apart(open_data(source, request), (), request.keep)
    offer, _ = choose_learner(request, opened.gives)
    nodes = opened.oracle(offer.spec.tests.alpha, request.threads).nodes
    budget = Budget.of(request)
    parts: list[Part] = []
    unvisited = dict.fromkeys(in_order(nodes))
    stopped: str | None = None
    while unvisited and stopped is None:
        left = f"before {len(unvisited)} of {len(nodes)} nodes were visited"
        tests = sum(part.counts.distinct for part in parts)
        if parts and budget.is_spent(tests):
            stopped = f"stopped at the limit {left}"
            break
        try:
            part = run_once(budget.left(request, tests), opened, next(iter(unvisited)), "max", whole=True)
        except KeyboardInterrupt as stop:
            so_far = stop.part if isinstance(stop, Interrupted) else None
            parts += [] if so_far is None else [so_far]
            told = f"stopped at an interrupt {left}"
            graph = LearnedGraph(offer.name, nodes, tuple(parts), told) if parts else None
            raise Interrupted(part=so_far, result=graph) from None
        parts.append(part)
        stopped = part.incomplete
        for node in part.visited:
            unvisited.pop(node, None)
    return LearnedGraph(offer.name, nodes, tuple(parts), stopped)


_CLASSICAL = TestSpec()


@with_settings(*(name for name in SETTINGS if name not in ("learner", "hidden", "finder", "options", "cache")))
def blanket(
    source: Any,
    node: Target,
    *,
    finder: str | None = None,
    options: Mapping[str, Any] | None = None,
    **settings: Any,
) -> Blanket:
    """Find the parents, children and spouses of a node; spouses are kept for the child that they share.

    Parameters
    ----------
    source, node
        Those of ``learn``, the target included.
    finder
        Without one the blanket is read from the part of depth 1 that ``learn`` gives with ``hidden="excluded"``, so
        that both name the same neighbours. A name asks for a classical algorithm instead, a blanket finder that
        ``apsl finders`` lists.
    options
        Those of a blanket finder, such as ``{"symmetric": True}``.
    settings
        The settings of ``learn``. Without ``alpha`` and ``max_conditioning`` the part is learned with those of its
        learner; blanket finders take 0.01 and 3. A perfect oracle has no limit on conditioning sets.

    Examples
    --------
    >>> from apsl_rules.graphs import Dag
    >>> found = blanket(Dag({"a": [], "b": [], "c": ["a", "b"]}), "a")
    >>> found.neighbours, dict(found.spouses)
    (('c',), {'c': ('b',)})
    """
    source, node = join_target(source, node)
    further = mapping("options", options, "{'symmetric': True}")
    request = Request.of(cast("Settings", {**settings, "hidden": "excluded"}), "blanket")
    if finder is None:
        if further:
            message = f"the option {next(iter(further))!r} is one of blanket finders; name a finder, or leave it out"
            raise InvalidArgumentError(message)
        return blanket_of(run_once(request, open_data(source, request), node, 1))
    for name, given in (("background knowledge", request.known), ("environment", request.environments)):
        if given:
            short = name.split()[-1]
            message = f"the blanket finder {finder!r} does not honour {name}; leave finder or {short} out"
            raise KnowledgeError(message)
    opened = open_data(source, request)
    asker = Asker(opened.oracle(request.alpha or _CLASSICAL.alpha), origin=opened.origin)
    require_known(node, asker.nodes, "node")
    limit = request.max_conditioning
    largest = limit if isinstance(limit, int) else _CLASSICAL.max_conditioning
    unlimited = asker.perfect or limit == "none"
    finding = FinderSettings(None if unlimited else largest, options=further)
    return pick(request.manager.blankets, finder, "blanket finder").make(asker, finding).blanket(node)


def blanket_of(part: Part) -> Blanket:
    """Read the blanket of its target from a part: all neighbours, and the other parents of each child.

    Parts of the learners that ``auto`` chooses hold these parents at depth 1 already; with other learners ask for a
    depth of 2.

    >>> from apsl_rules.graphs import Dag
    >>> from apsl_rules.learning import learn
    >>> blanket_of(learn(Dag({"a": [], "b": [], "c": ["a", "b"], "d": ["c"]}), "a")).members
    ('b', 'c')
    """
    if part.allows_hidden:
        message = "with hidden causes a blanket reaches beyond neighbours and spouses; take a part without them"
        raise InvalidArgumentError(message)
    around = part.neighbours_of(part.target)
    known = {*around, part.target}
    parents: dict[Node, list[Node]] = {}
    for parent, child in part.all_arrows:
        if parent not in known and (part.target, child) in part.all_arrows:
            parents.setdefault(child, []).append(parent)
    if part.settings.get("hidden") == "possible":  # what was found holds, although few of its arrows are drawn
        for one, middle, other in (fact.nodes for fact in part.store.facts(collider)):
            far = other if one == part.target else one
            if part.target in (one, other) and middle in known and far not in (*known, *parents.get(middle, ())):
                parents.setdefault(middle, []).append(far)
    spouses = {child: in_order(parents[child]) for child in around if child in parents}
    unknown = [one for fact in part.store.facts(untested) if part.target in fact.nodes for one in fact.nodes]
    open_nodes = (one for one in unknown if one != part.target and part.mark(part.target, one) is Mark.UNKNOWN)
    return Blanket(part.target, around, spouses, in_order(open_nodes))


@with_settings("only", "drop")
def dry_run(source: Any, target: Node, **settings: Unpack[Settings]) -> ScanPlan:
    """Return what ``learn`` would send to a database to open a table, and what the database says of its size.

    Only the catalogue of the database is read. ``source`` is an address or a table of ibis, ``target`` one of its
    columns; of the ``settings``, which are those of ``learn``, ``only`` and ``drop`` leave columns out. ``print`` shows
    the plan.
    """
    file = duckdb_file(source)
    if file is None and not is_database(source) and not is_ibis_table(source):
        message = "a dry run is for tables in databases; give an address such as 'postgres://user@host/database#table'"
        raise InvalidArgumentError(message)
    check_target(target)
    request = Request.of(settings, "dry_run")
    opened = open_database(source) if file is None else describe_duckdb_file(file)
    plan = plan_elsewhere(opened.names, only=request.only, drop=request.drop).without(types_set_aside(opened.table))
    names = [opened.names[place] for place in plan.places]
    require_known(target, names, "target")
    return plan_scan(opened, names)


#: Tests that a learner may ask before it is timed, so that its time holds no loading of code.
WARMING = 5_000


@with_settings(*(name for name in SETTINGS if name != "learner"))
@interruptible
def compare(
    source: Any,
    target: Target,
    depth: Depth = 1,
    *,
    learners: Iterable[Learner] | None = None,
    **settings: Unpack[Settings],
) -> Comparison:
    """Learn the same part with several learners and lay the results side by side.

    Parameters
    ----------
    source, target, depth
        As for ``learn``.
    learners
        Names ("auto" too), spec files or specs; the others are compared with the first. Without them the default,
        "auto", is compared with "apsl" and with the rivals that plugins offer.
    settings
        Further settings of ``learn``, the same for all. Each learner asks its own questions anew, so that the tests
        and the time are its own. An interrupt raises ``Interrupted``, whose ``result`` has the learners that are done.

    Examples
    --------
    >>> from apsl_rules import Dag
    >>> dag = Dag({"a": [], "b": [], "t": ["a", "b"], "z": ["a", "b", "t"]})
    >>> compared = compare(dag, "t", learners=["auto", "apsl"])
    >>> [(row["learner"], row["arrows"], row["shared"], row["same"]) for row in compared.rows()]
    [('auto', 2, 3, 3), ('apsl', 2, 3, 3)]
    """
    source, target = join_target(source, target)
    check_depth(depth)
    if "learner" in settings:
        message = "compare takes learners, a list; leave learner out"
        raise InvalidArgumentError(message)
    request = Request.of(settings, "compare")
    if request.hidden == AUTO:  # the learners are named, and their arrows are to be compared
        request = attrs.evolve(request, hidden="excluded")
    wanted = rivals(request.manager) if learners is None else learners
    given = listed("learners", wanted, "learners, such as ['auto', 'apsl']")
    named = [(AUTO if is_auto(one) else find_learner(one, request.manager).name, one) for one in given]
    if not named:
        message = "no learners to compare; name at least one, such as 'apsl'"
        raise InvalidArgumentError(message)
    for name, _ in named:
        if [one for one, _ in named].count(name) > 1:
            message = f"the learner {name!r} is named twice; name each once"
            raise InvalidArgumentError(message)
    opened = open_data(source, request)
    parts: dict[str, Part] = {}
    seconds: dict[str, float] = {}
    with progress_bar("learners compared") as bar:
        for name, learner in named:
            own = attrs.evolve(request, learner=learner)
            try:
                if "own answers" not in opened.gives:
                    run_once(attrs.evolve(own, max_tests=min(WARMING, own.max_tests or WARMING)), opened, target, 1)
                begun = process_time()
                part = run_once(own, opened, target, depth)
                seconds[name] = process_time() - begun
                parts[name] = part
            except KeyboardInterrupt as stop:
                so_far = Comparison(parts, seconds) if parts else None
                raise Interrupted(part=stop.part if isinstance(stop, Interrupted) else None, result=so_far) from None
            bar(len(parts), len(named))
    return Comparison(parts, seconds)
