"""The saved graph: one JSON file with the runs that it is made of, each as a part file has it, proofs included.

Version 1 has ``learner``, ``nodes``, ``incomplete`` (null where nothing is), and ``parts``, a list of documents in the
format of part files.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NoReturn

from apsl_rules._documents import DocumentError, file_text, json_data, label, node_of
from apsl_rules._files import write_text
from apsl_rules.errors import PartFileError
from apsl_rules.names import in_order
from apsl_rules.parts.file import part_json, part_of_data
from apsl_rules.parts.learned_graph import LearnedGraph

FORMAT = "apsl_rules learned graph"
VERSION = 1


def save_graph(graph: LearnedGraph, path: str | Path) -> None:
    """Write a learned graph to a file, whole or not at all."""
    write_text(path, graph_text(graph))


def graph_text(graph: LearnedGraph) -> str:
    """Return a learned graph as JSON text: the same text for the same run, every time."""
    head = {
        "format": FORMAT,
        "version": VERSION,
        "learner": graph.learner,
        "nodes": [label(node) for node in graph.nodes],
        "incomplete": graph.incomplete,
    }
    begin = json.dumps(head, ensure_ascii=False, separators=(",", ":"))[:-1]
    parts = ",".join(part_json(part).rstrip() for part in graph.parts)
    return f'{begin},"parts":[{parts}]}}\n'


def load_graph(path: str | Path) -> LearnedGraph:
    """Read a learned graph that ``graph.save`` wrote from the file at ``path``."""
    try:
        data = json_data(file_text(path))
    except DocumentError as error:
        message = f"cannot read the graph file {str(path)!r}: {error}"
        raise PartFileError(message) from error
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        _refuse(f"{str(path)!r} is no file of a learned graph; save one with graph.save()")
    if data.get("version") != VERSION:
        _refuse(f"{str(path)!r} has graph format version {data.get('version')!r}; this program reads version {VERSION}")
    return _graph(data, str(path))


def _graph(data: dict[str, Any], origin: str) -> LearnedGraph:
    listed = data.get("parts")
    if not isinstance(listed, list) or not listed:
        _refuse(f"{origin!r} is a damaged graph file: it has no parts")
    parts = tuple(part_of_data(one, origin) for one in listed)
    try:
        nodes = tuple(node_of(one) for one in data["nodes"])
        learner, incomplete = data["learner"], data["incomplete"]
    except (KeyError, TypeError, PartFileError) as error:
        message = f"{origin!r} is a damaged graph file: its nodes or its learner cannot be read"
        raise PartFileError(message) from error
    if not isinstance(learner, str) or not isinstance(incomplete, str | None):
        _refuse(f"{origin!r} is a damaged graph file: its learner or what is incomplete is no text")
    if any(in_order(part.nodes) != in_order(nodes) for part in parts):
        _refuse(f"{origin!r} is a damaged graph file: its parts have other nodes than it")
    return LearnedGraph(learner, nodes, parts, incomplete)


def _refuse(message: str) -> NoReturn:
    raise PartFileError(message)
