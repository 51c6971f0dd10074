"""What the worker does with a study: every job calls the public interface, and its answer is plain data.

What was opened, read and learned is kept, so that a question about a part does not learn it again.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic
from typing import Any, TypeVar

import attrs

from apsl_rules.app.controls import controls, in_words
from apsl_rules.app.study import Study
from apsl_rules.app.takeaway import SCRIPT, STUDY, script_text, study_text
from apsl_rules.asking import difference
from apsl_rules.data import FileTable, LocalTable, describe, table
from apsl_rules.data.databases import DatabaseTable
from apsl_rules.errors import ApslError, Interrupted, InvalidArgumentError
from apsl_rules.graphs import Dag
from apsl_rules.graphs.networks import Network
from apsl_rules.knowledge import NOTHING
from apsl_rules.learning import AUTO, learn, nodes_of, open_source
from apsl_rules.names import Node, count_of, node_named, shown
from apsl_rules.notes import Sentence, marked
from apsl_rules.oracles import WATCHING
from apsl_rules.parts import EdgeFigures, Part, basis_of, part_json, with_answers
from apsl_rules.plugins import Plugins, Progress, hookimpl, installed
from apsl_rules.server import Limits

Made = TypeVar("Made")
#: Takes how far a job is: what is done, and of how many; of how many is 0 where that is unknown. Takes also what is
#: known by then, as a drawing.
Tell = Callable[[str, int, int, str | None], None]
#: The most rows with which a report has the effects and charts of its edges without being asked.
ROWS_AT_ONCE = 200_000
#: Seconds until what is known so far is drawn, and how many times the time that a drawing takes must lie between two.
_BEFORE_DRAWING, _DRAWN_AT_MOST = 1.0, 20


class Work:
    """A source, its table and its part."""

    def __init__(self, limits: Limits, plugins: Plugins | None = None) -> None:
        self._limits = limits
        self._plugins = plugins or installed()
        self._names: dict[str, tuple[Any, Any]] = {}

    def do(self, job: str, study: Study, given: Mapping[str, Any], tell: Tell) -> dict[str, Any]:
        """Do a job by its name."""
        jobs = {
            "describe": self._describe,
            "learn": self._learn,
            "report": self._report,
            "answer": self._answer,
            "effect": self._effect,
            "given": self._given,
            "check": self._check,
            "take": self._take,
        }

        def watch(phase: str, done: int, of: int) -> None:
            tell(phase if of else "tests done", done, of, None)

        before = WATCHING.set(watch)
        try:
            return jobs[job](study, given, tell)
        finally:
            WATCHING.reset(before)

    def _kept(self, what: str, key: Any, make: Callable[[], Made]) -> Made:
        """Return what was made for a key, and make it if something else is kept."""
        if what not in self._names or self._names[what][0] != key:
            self._names.pop(what, None)
            self._names[what] = (key, make())
        made: Made = self._names[what][1]
        return made

    # --- the table ---------------------------------------------------------------------------------------------------

    def _opened(self, study: Study, tell: Tell) -> Any:
        """Return the source of a study, read once."""
        name = study.source
        if name is None:
            message = "no table is open; open one first"
            raise InvalidArgumentError(message)

        def read() -> Any:
            path = Path(self._limits.source(name))
            size = f", {path.stat().st_size / 1e6:,.1f} MB" if path.is_file() else ""
            tell(f"reading {name}{size}", 0, 0, None)
            return open_source(str(path), self._plugins)

        return self._kept("source", name, read)

    def _reading(self, study: Study, tell: Tell) -> dict[str, Any]:
        """Return the settings of reading, by the labels that the source has."""
        return self._by_labels(study.reading, study, tell)

    def _by_labels(self, said: Mapping[str, Any], study: Study, tell: Tell) -> dict[str, Any]:
        """Return settings in which columns have the labels that the source has."""
        nodes = nodes_of(self._opened(study, tell))
        named = {str(node): node for node in nodes}
        columns = {one["name"] for one in controls() if one["what"] in {"columns", "column"}}

        def meant(name: str, value: Any) -> Any:
            if isinstance(value, list):
                return [_node(one, nodes) for one in value]
            if isinstance(value, Mapping):
                return {named.get(one, one): word for one, word in value.items()}
            return named.get(value, value) if name in columns else value

        return {name: meant(name, value) for name, value in said.items()}

    def _table(self, study: Study, tell: Tell) -> LocalTable | None:
        """Return the table as it is read; None for a network, and for rows that stay where they are."""
        opened = self._opened(study, tell)
        if isinstance(opened, Network | Dag | FileTable | DatabaseTable):
            return None
        reading = {"groups": AUTO, **self._reading(study, tell)}
        return self._kept("table", study.read_by, lambda: table(opened, **reading))

    def _describe(self, study: Study, _given: Mapping[str, Any], tell: Tell) -> dict[str, Any]:
        """Say what the columns are taken for."""
        opened = self._opened(study, tell)
        aside = [{"name": name, "kind": "left out", "detail": "", "missing": 0} for name in study.drop]
        read = self._table(study, tell)
        if read is None:
            kind = "node" if isinstance(opened, Network | Dag) else "not read"
            names = [{"name": str(one), "kind": kind, "detail": "", "missing": 0} for one in nodes_of(opened)]
            kept = [one for one in names if one["name"] not in study.drop]
            return {"rows": None, "columns": [*kept, *aside], "notes": [], "duplicates": [], "derived": []}
        size = f"{count_of(len(read.names), 'column')} of {count_of(read.rows, 'row')}"
        tell(f"looking at {size}", 0, 0, None)
        found = describe(read)
        columns = [
            {
                "name": str(one.name),
                "kind": one.kind,
                "detail": one.detail,
                "missing": one.missing,
                "bars": [bar.to_dict() for bar in one.bars],
                "distinct": one.distinct,
            }
            for one in found.described
            if str(one.name) not in study.drop
        ]
        return {
            "rows": found.rows,
            "columns": [*columns, *aside],
            "controls": controls(),
            "constant": [str(one) for one in found.constant],
            "duplicates": [[str(one) for one in group] for group in found.duplicates],
            "derived": list(found.derived),
            "defined": [[str(one.target), one.note()] for one in found.defined],
            "repeated": found.repeated if any(one.kind == "number" for one in found.details) else 0,
            "notes": found.notes,
        }

    # --- the part ----------------------------------------------------------------------------------------------------

    def _part(self, study: Study, tell: Tell) -> Part:
        """Return the part of a study; other answers are laid over what was found before."""
        base = self._kept("part", study.learned_by, lambda: self._found(study, tell))
        answers = attrs.evolve(NOTHING, answers=study.knowledge.answers)
        aside = [one.name for one in base.columns if one.kind == "set aside"]
        said = answers.resolved(base.nodes, aside).answers
        return (
            with_answers(base, attrs.evolve(base.knowledge, answers=said)) if said or base.knowledge.answers else base
        )

    def _found(self, study: Study, tell: Tell) -> Part:
        """Learn a part; one that is stopped is what was found by then."""
        opened = self._opened(study, tell)
        tell("learning", 0, 0, None)
        plugins = self._plugins.copy()
        plugins.register(_Growth(tell), "progress")
        target = _node(study.target, nodes_of(opened))
        settings = self._by_labels({**study.settings, "knowledge": None}, study, tell)
        settings["knowledge"] = attrs.evolve(study.knowledge, answers=())
        try:
            return learn(opened, target, plugins=plugins, **settings)
        except Interrupted as stop:
            if stop.part is None:
                raise
            part: Part = stop.part
            return part

    def _learn(self, study: Study, given: Mapping[str, Any], tell: Tell) -> dict[str, Any]:
        """Learn the part, and say what changed since the last one with the same target."""
        if given.get("again"):
            self._names.pop("part", None)
        before: Part | None = self._names.get("seen", (None, None))[1]
        part = self._part(study, tell)
        is_same = before is not None and before.target == part.target and before.depth == part.depth
        changed = difference(part, before).changed if is_same and before is not None else ()
        self._names["seen"] = (None, part)
        rows = [row for row in part.rows() if part.target in (row["source"], row["target"])]
        return {
            "target": str(part.target),
            "said": part.summary(),
            "nodes": [str(one) for one in part.nodes],
            "neighbours": [str(one) for one in part.neighbours_of(part.target)],
            "edges": [{"from": str(row["source"]), "to": str(row["target"])} for row in rows],
            "hidden": part.settings.get("hidden", "excluded"),
            "incomplete": part.incomplete,
            "changed": [str(one) for one in changed],
            "rests": list(_rests(part)),
            "questions": [one.to_dict() for one in part.questions()],
            "notes": list(part.notes),
        }

    def _report(self, study: Study, given: Mapping[str, Any], tell: Tell) -> dict[str, Any]:
        """Return the report of the part, with effects and charts where the table is small or it is wanted."""
        part, read = self._part(study, tell), self._table(study, tell)
        with_rows = read is not None and (given.get("charts") or read.rows <= ROWS_AT_ONCE)
        tell("drawing", 0, 0, None)
        told = attrs.evolve(part, notes=tuple(map(in_words, part.notes)))
        figures = _figures_of(part, read if with_rows else None)
        if figures is not None:
            spoken = {pair: [*map(in_words, lines)] for pair, lines in figures.effects.items()}
            figures = attrs.evolve(figures, effects=spoken)
        return {"html": _report_html(told, figures), "charts": with_rows or read is None}

    def _answer(self, study: Study, given: Mapping[str, Any], tell: Tell) -> dict[str, Any]:
        """Check an answer, and return it as a study keeps it; one without words takes the earlier one back."""
        part = self._part(study, tell)
        reply = {_node(name, part.nodes): word for name, word in given["reply"].items()}
        answered = part.answer(given["id"], reply, by=given.get("by") or "you", date=given.get("date") or "")
        one = answered.knowledge.answers[-1]
        about = {} if one.target is None else {"target": str(one.target)}
        told = [[str(node), word] for node, word in one.reply]
        return {"answer": {"id": one.id, "reply": told, "by": one.by, "date": one.date, **about}}

    # --- how much, and graphs that are brought -----------------------------------------------------------------------

    def _rows(self, study: Study, tell: Tell) -> LocalTable:
        """Return the table, which some questions need."""
        read = self._table(study, tell)
        if read is None:
            message = (
                f"{study.source!r} has no rows in memory to estimate from; open a table of rows, or a sample of it"
            )
            raise InvalidArgumentError(message)
        return read

    def _effect(self, study: Study, given: Mapping[str, Any], tell: Tell) -> dict[str, Any]:
        """Estimate an effect, by each of the adjustments that are asked for."""
        read, part = self._rows(study, tell), self._part(study, tell)
        cause, target = (_node(given.get(role), part.nodes, role) for role in ("cause", "target"))
        wanted = given.get("adjust") or ["parents"]
        told = []
        for number, one in enumerate(wanted):
            tell("effects", number, len(wanted), None)
            held = [_node(name, part.nodes) for name in one] if isinstance(one, list) else one
            told.append({"adjust": one, **_effect_data(part, cause, target, held, read)})
        return {"cause": str(cause), "target": str(target), "effects": told}

    def _given(self, study: Study, given: Mapping[str, Any], tell: Tell) -> dict[str, Any]:
        """Return a chart of two columns once others are held."""
        from apsl_rules.effects import chart_given

        read, part = self._rows(study, tell), self._part(study, tell)
        x, y, *held = (_node(name, part.nodes) for name in (given.get("x"), given.get("y"), *given.get("given", ())))
        return {**chart_given(part, x, y, held, read), "given": held}

    def _check(self, study: Study, given: Mapping[str, Any], tell: Tell) -> dict[str, Any]:
        """Check a graph against the source."""
        from apsl_rules.checking import check, read_given

        graph = read_given(str(given.get("graph", "")), as_text=True)
        opened, reading = self._opened(study, tell), self._reading(study, tell)
        tell("checking", 0, 0, None)
        known = study.knowledge
        found = check(graph, opened, knowledge=None if known == NOTHING else known, **reading)
        return {
            "verdict": found.verdict,
            "text": [Sentence(one) for one in found.lines()],
            "svg": found.svg(),
            "changes": [str(one) for one in found.changes],
        }

    # --- what is taken away ------------------------------------------------------------------------------------------

    def _take(self, study: Study, given: Mapping[str, Any], tell: Tell) -> dict[str, Any]:
        """Return a file that is taken away, by its name."""
        name = str(given.get("what"))
        if name == STUDY:
            return _file(name, study_text(study))
        if name == SCRIPT:
            return _file(name, script_text(study))
        part = self._part(study, tell)
        tell(f"writing {name}", 0, 0, None)
        return _file(name, self._written(name, part, study, tell))

    def _written(self, name: str, part: Part, study: Study, tell: Tell) -> str | bytes:
        kind = Path(name).suffix
        match name:
            case "part.json":
                return part_json(part)
            case "report.html":
                return _report_html(part, _figures_of(part, self._table(study, tell)))
            case "edges.csv" | "part.dot":
                return str(part.to(kind[1:]))
            case "table.md" | "table.tex":
                read = self._table(study, tell)
                rows = {} if read is None else {"data": read}
                return str(part.to("markdown" if kind == ".md" else "latex", **rows))
            case "effects.csv":
                return str(part.effects(self._rows(study, tell)).to_frame().to_csv(index=False))
            case "figure.svg" | "figure.pdf" | "figure.png" | "figure.tex":
                return _figure(part, name, self._table(study, tell))
        message = f"there is nothing to take with the name {name!r}"
        raise InvalidArgumentError(message)


class _Growth:
    """A plugin that tells of each visit, and now and then draws what is known by then."""

    def __init__(self, tell: Tell) -> None:
        self._tell = tell
        self._next = monotonic() + _BEFORE_DRAWING

    @hookimpl
    def apsl_progress(self, progress: Progress) -> None:
        """Tell of the newest visit."""
        drawing, begun = None, monotonic()
        if begun >= self._next and progress.visited < progress.known:
            drawing = progress.so_far().svg()
            self._next = monotonic() + max(_BEFORE_DRAWING, _DRAWN_AT_MOST * (monotonic() - begun))
        self._tell("nodes visited", progress.visited, progress.known, drawing)


def _node(name: Any, nodes: tuple[Node, ...], role: str = "column") -> Node:
    """Return the label of a name; most are text already."""
    return node_named(str(name), nodes, role)


def _rests(part: Part) -> Iterator[dict[str, Any]]:
    """Say what each edge rests on besides rows: what somebody said, or the names of columns."""
    for row in part.rows():
        ends = row["source"], row["target"]
        basis = basis_of(part, *ends)
        on = "said" if basis in {"edge", "given", "opinion"} else "names" if basis == "name" else "rows"
        yield {"edge": " – ".join(map(shown, ends)), "on": on}


def _figures_of(part: Part, read: LocalTable | None) -> EdgeFigures | None:
    """Return what a table says of the edges of a part."""
    from apsl_rules.effects import edge_figures

    return None if read is None else edge_figures(part, read)


def _report_html(part: Part, figures: EdgeFigures | None) -> str:
    from apsl_rules.views.page import report_html

    return report_html(part, figures)


def _lines(text: str) -> list[str]:
    """Return the lines of a text, each a sentence whose arguments are kept apart."""
    return [Sentence(line) for line in marked(text).split("\n")]


def _effect_data(part: Part, cause: Node, target: Node, held: Any, read: LocalTable) -> dict[str, Any]:
    """Return an effect in words and as a picture, or the sentence that refuses it."""
    from apsl_rules.effects import effect

    try:
        found = effect(part, cause, target, adjust=held, data=read)
        told = {"text": _lines(str(found)), "grounds": _lines(str(found.why())), "svg": found.svg()}
    except ApslError as error:
        return {"refused": error.sentence}
    with suppress(ApslError):  # nothing was estimated, so nothing can be explained away
        strength = str(found.sensitivity())
        told |= {"sensitivity": strength, "text": [line for line in told["text"] if strength not in line]}
    return told


def _figure(part: Part, name: str, read: LocalTable | None) -> bytes:
    with TemporaryDirectory() as folder:
        path = Path(folder) / name
        part.figure(path, data=read)
        return path.read_bytes()


def _file(name: str, content: str | bytes) -> dict[str, Any]:
    raw = content.encode() if isinstance(content, str) else content
    return {"name": name, "content": b64encode(raw).decode()}
