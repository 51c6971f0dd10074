"""What each tool answers: the answer in words, plain data, and proofs on request, from a file that the limits allow."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence, Sized
from pathlib import Path
from typing import Any

from apsl_rules._documents import label
from apsl_rules.data import FileTable, describe, table
from apsl_rules.data.readers import split_sheet
from apsl_rules.errors import DataError, InvalidArgumentError
from apsl_rules.graphs import Dag
from apsl_rules.graphs.networks import Network, network_names
from apsl_rules.knowledge import Knowledge
from apsl_rules.learning import AUTO, find_learner, nodes_of, open_source, rivals, say_default_learner
from apsl_rules.memory import Memory
from apsl_rules.names import Node, node_named, spelt
from apsl_rules.parts import Part
from apsl_rules.plugins import Plugins, installed
from apsl_rules.server.limits import Limits, plain_text

#: The most edges that an answer has, nearest to the target first.
MOST_EDGES = 100
#: The share of the seconds after which a run gives what it has; the rest is for reading and writing.
_LEARNING = 0.7


def answer(tool: str, arguments: Mapping[str, Any], limits: Limits) -> dict[str, Any]:
    """Return what a tool answers; what cannot be answered raises an ``ApslError`` with one sentence."""
    given = {name: value for name, value in arguments.items() if value is not None}
    return _TOOLS[tool](given, limits)


def _describe(given: dict[str, Any], limits: Limits) -> dict[str, Any]:
    plugins = installed()
    name = given.pop("data")
    source = _open(name, limits, plugins)
    if isinstance(source, Network | Dag):
        return {"network": name, "nodes": [str(one) for one in nodes_of(source)], "arrows": _arrows(source)}
    nodes = nodes_of(source)
    target = given.pop("target", None)
    read = table(source, **_settings(given, nodes))
    found = describe(read, None if target is None else _node(target, nodes, "target"))
    return {**found.to_dict(), "learner": say_default_learner(read, plugins)}


def _list_files(given: dict[str, Any], limits: Limits) -> dict[str, Any]:
    wanted = given.get("name", "")
    files, left_out = limits.files(wanted)
    found = {"files": files, "left_out": left_out, "networks": list(network_names())}
    return found if files or not wanted else {**found, "hint": limits.hint(wanted).removeprefix("; ")}


def _learn(given: dict[str, Any], limits: Limits) -> dict[str, Any]:
    with_proofs = given.pop("proofs", False)
    return _part_data(_learned(given, limits), with_proofs=with_proofs)


def _why(given: dict[str, Any], limits: Limits) -> dict[str, Any]:
    x, y = given.pop("x"), given.pop("y")
    part = _learned(given, limits)
    pair = tuple(_node(one, part.nodes, "node") for one in (x, y))
    proof = part.why(*pair)
    other = part.why(*reversed(pair)) if part.allows_hidden else proof
    sides = {"other_end": other.to_dict()} if other.fact != proof.fact else {}
    return {"text": str(proof).splitlines(), "proof": proof.to_dict(), **sides, "complete": part.incomplete is None}


def _effect(given: dict[str, Any], limits: Limits) -> dict[str, Any]:
    from apsl_rules.effects import effect

    source = _open(given.pop("data"), limits, installed())
    nodes = nodes_of(source)
    cause, target = (_node(given.pop(role), nodes, role) for role in ("cause", "target"))
    adjust = given.pop("adjust", "parents")
    held = adjust if isinstance(adjust, str) else [_node(one, nodes, "node in adjust") for one in adjust]
    settings = {**_settings(given, nodes), "max_seconds": _LEARNING * limits.seconds}
    found = effect(source, cause, target, adjust=held, **settings)
    return {"text": str(found).splitlines(), **_three_digits(found.why().to_dict())}


def _compare(given: dict[str, Any], limits: Limits) -> dict[str, Any]:
    from apsl_rules.learning import compare

    plugins = installed()
    with_proofs = given.pop("proofs", False)
    names = given.pop("learners", None) or rivals(plugins)
    for one in names:
        _check_learner(one, plugins)
    source = _open(given.pop("data"), limits, plugins)
    nodes = nodes_of(source)
    target, depth = _node(given.pop("target"), nodes, "target"), given.pop("depth", 1)
    settings = {**_settings(given, nodes), "max_seconds": _LEARNING * limits.seconds / max(1, len(names))}
    compared = compare(source, target, depth=depth, learners=names, **settings)
    most = MOST_EDGES // len(compared.parts)
    parts = {name: _part_data(one, most, with_proofs=with_proofs) for name, one in compared.parts.items()}
    return {"rows": compared.rows(), "parts": parts}


def _check(given: dict[str, Any], limits: Limits) -> dict[str, Any]:
    from apsl_rules.checking import check, read_given

    graph = read_given(given.pop("graph"), as_text=True)
    source = _open(given.pop("data"), limits, installed())
    nodes = nodes_of(source)
    hidden = [_node(one, graph.known.dag.nodes, "node in hidden") for one in given.pop("hidden_nodes", ())]
    found = check(graph, source, hidden=hidden, **_settings(given, nodes))
    data = _three_digits(found.to_dict())
    held = [one for one in data["claims"] if one["state"] == "holds"]
    told = [one for one in data["claims"] if one["state"] != "holds"]
    return {**data, "text": str(found).splitlines(), "claims": told[:MOST_EDGES], "holding": len(held)}


def _questions(given: dict[str, Any], limits: Limits) -> dict[str, Any]:
    asked = _with_earlier(given, limits).questions()
    text = [line for one in asked for line in str(one).splitlines()]
    return {"text": text, "questions": [one.to_dict() for one in asked]}


def _answer_one(given: dict[str, Any], limits: Limits) -> dict[str, Any]:
    wanted = {name: given.pop(name) for name in ("id", "reply", "by", "date") if name in given}
    part = _with_earlier(given, limits)
    reply = {_node(name, part.nodes, "node in reply"): word for name, word in wanted.pop("reply").items()}
    answered = part.answer(wanted.pop("id"), reply, **wanted)
    changed = [str(one) for one in answered.difference(part).changed]
    told = [
        {"id": one.id, "reply": {str(node): word for node, word in one.reply}, "by": one.by, "date": one.date}
        for one in answered.knowledge.answers
    ]
    return {"changed": changed, "answers": told, "part": _part_data(answered)}


def _with_earlier(given: dict[str, Any], limits: Limits) -> Part:
    """Learn a part, or read a saved one, and lay earlier answers over it."""
    earlier = given.pop("answers", ())
    part = _learned(given, limits)
    for one in earlier:
        if not {"id", "reply"} <= one.keys() <= {"id", "reply", "by", "date"} or not isinstance(one["reply"], dict):
            message = f"an earlier answer is {spelt(one)}; give answers as an earlier call of answer gave them"
            raise InvalidArgumentError(message)
        reply = {_node(name, part.nodes, "node in reply"): word for name, word in one["reply"].items()}
        part = part.answer(one["id"], reply, by=one.get("by", "you"), date=one.get("date", ""))
    return part


_TOOLS: dict[str, Callable[[dict[str, Any], Limits], dict[str, Any]]] = {
    "list_files": _list_files,
    "describe": _describe,
    "learn": _learn,
    "why": _why,
    "effect": _effect,
    "compare": _compare,
    "check": _check,
    "questions": _questions,
    "answer": _answer_one,
}


def _open(name: str, limits: Limits, plugins: Plugins) -> Any:
    """Open a table or a network that the limits allow."""
    path = limits.source(name)
    if path.casefold().endswith(".json"):
        message = f"{name!r} is a saved part, which has no rows; give the table that it was learned from"
        raise InvalidArgumentError(message)
    source = _OPENED.once((path, *_stamp(path)), lambda: open_source(path, plugins))
    if isinstance(source, FileTable):
        message = f"{name!r} does not fit into memory; give a sample"
        raise DataError(message)
    if not isinstance(source, Network | Dag):
        limits.check_rows(_rows(source), name)
    return source


#: Tables and parts of earlier calls, by what they were asked for and by the state of the file.
_OPENED: Memory[tuple[Any, ...], Any] = Memory(most=1)
_PARTS: Memory[tuple[Any, ...], Part] = Memory(most=8)


def _stamp(path: str) -> tuple[Any, ...]:
    """Return what changes when a file does; nothing of a network."""
    file = Path(split_sheet(path)[0])
    if not file.is_file():
        return ()
    told = file.stat()
    return told.st_mtime_ns, told.st_size, told.st_ino


def _rows(source: Any) -> int:
    """Return how many rows an opened table has."""
    return len(source) if isinstance(source, Sized) else source.rows


def _learned(given: dict[str, Any], limits: Limits) -> Part:
    """Learn a part, or read a saved one."""
    from apsl_rules.learning import learn
    from apsl_rules.parts import load_part

    plugins = installed()
    name = given.pop("data")
    if name.casefold().endswith(".json"):
        return load_part(limits.source(name))
    if "target" not in given:
        message = f"learning from {name!r} needs a target; name the column of interest"
        raise InvalidArgumentError(message)
    _check_learner(given.get("learner", AUTO), plugins)
    source = _open(name, limits, plugins)
    path = limits.source(name)
    question = (path, *_stamp(path), json.dumps(given, sort_keys=True))
    known = _PARTS.get(question)
    if known is not None:
        return known
    nodes = nodes_of(source)
    target, depth = _node(given.pop("target"), nodes, "target"), given.pop("depth", 1)
    part = learn(source, target, depth=depth, max_seconds=_LEARNING * limits.seconds, **_settings(given, nodes))
    return _PARTS.once(question, lambda: part) if part.incomplete is None else part


def _check_learner(name: str, plugins: Plugins) -> None:
    """Refuse what is no learner by name, such as the path of a spec file."""
    if name.casefold().endswith(".toml"):
        message = f"the learner is {name!r}; give the name of a learner, not a file"
        raise InvalidArgumentError(message)
    if name != AUTO:
        find_learner(name, plugins)


def _node(text: str, nodes: Sequence[Node], role: str) -> Node:
    """Return the node that a client means: by its name, or by the name as answers spell it."""
    spelt = [node for node in nodes if plain_text(str(node)) == text]
    return spelt[0] if len(spelt) == 1 else node_named(text, tuple(nodes), role)


def _settings(given: Mapping[str, Any], nodes: Sequence[Node]) -> dict[str, Any]:
    """Return the settings of a run, with nodes in the place of their names."""
    settings = dict(given)
    tiers = [[_node(one, nodes, "node in tiers") for one in tier] for tier in settings.pop("tiers", ())]
    required, forbidden = (
        [tuple(_node(one, nodes, f"node in {role}") for one in _pair(pair, role)) for pair in settings.pop(role, ())]
        for role in ("required", "forbidden")
    )
    if tiers or required or forbidden:
        settings["knowledge"] = Knowledge(tiers=tiers, required=required, forbidden=forbidden)
    if "kinds" in settings:
        settings["kinds"] = {_node(name, nodes, "column in kinds"): kind for name, kind in settings["kinds"].items()}
    for option in ("drop", "keep"):
        if option in settings:
            settings[option] = [_node(name, nodes, f"column in {option}") for name in settings[option]]
    return settings


def _pair(pair: Sequence[str], role: str) -> Sequence[str]:
    if len(pair) != 2:  # noqa: PLR2004 - from, to
        message = f"{role} has {list(pair)!r}; give pairs of two names, from and to"
        raise InvalidArgumentError(message)
    return pair


def _part_data(part: Part, most: int = MOST_EDGES, *, with_proofs: bool = False) -> dict[str, Any]:
    """Return a part as data: the answer in words, its edges with their figures, nearest first, and what it rests on.

    Figures have three digits that count; the tool ``why`` and ``proofs`` have the evidence in full.
    """
    rows = sorted(part.rows(), key=lambda row: int(row["distance"]))
    edges = [_edge(part, row, with_proofs=with_proofs) for row in rows[:most]]
    return {
        "summary": part.summary(),
        "target": label(part.target),
        "depth": part.depth,
        "learner": part.learner,
        "oracle": part.oracle,
        "complete": part.incomplete is None,
        "incomplete": part.incomplete,
        "edges": edges,
        "edges_left_out": len(rows) - len(edges),
        "conflicts": [
            {"text": str(one), **({"proofs": _proofs(one.proofs)} if with_proofs else {})}
            for one in part.conflicts[:most]
        ],
        "notes": list(part.notes),
        "tests": part.counts.asked,
    }


def _edge(part: Part, row: Mapping[str, Any], *, with_proofs: bool) -> dict[str, Any]:
    """Return an edge as data, without what nothing is known of."""
    figures = {name: _three_digits(value) for name, value in row.items() if value is not None}
    named = {**figures, "source": label(row["source"]), "target": label(row["target"])}
    return named | ({"proof": part.why(row["source"], row["target"]).to_dict()} if with_proofs else {})


def _three_digits(value: Any) -> Any:
    """Return data with the three digits of each figure that count."""
    if isinstance(value, Mapping):
        return {name: _three_digits(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [_three_digits(one) for one in value]
    return float(f"{value:.3g}") if isinstance(value, float) else value


def _proofs(proofs: Iterable[Any]) -> list[dict[str, Any]]:
    return [one.to_dict() for one in proofs]


def _arrows(source: Network | Dag) -> list[list[str]]:
    dag = source if isinstance(source, Dag) else source.dag
    return [[str(tail), str(head)] for tail, head in dag.edges]
