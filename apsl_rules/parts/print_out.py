"""A part as people read it: the answer in words, the tree, and the notes that ask for something."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from apsl_rules.names import count_of, shown
from apsl_rules.notes import Note, Sentence, note_of
from apsl_rules.parts.part import Part
from apsl_rules.parts.picture import draw
from apsl_rules.parts.statements import ANSWERING, Statement, statements_on
from apsl_rules.showing import WIDTH, wrapped

_NAMED = 4  # so many columns are named again where directions are explained


def summarize(part: Part) -> str:
    """Return a part as one or two sentences: the answer with percentages, and what its directions rest on.

    >>> from apsl_rules import Dag, learn
    >>> summarize(learn(Dag({"rain": [], "sprinkler": [], "wet": ["rain", "sprinkler"]}), "wet"))
    'wet: caused by rain, sprinkler.'
    """
    told = statements_on(part)
    so_far = "" if part.incomplete is None else ", so far"
    answer = "; ".join(str(one) for one in told if one.kind in ANSWERING) or "no column is kept"
    sentences = [f"{shown(part.target)}{so_far}: {answer}.", *_on_grounds(part, told)]
    nothing = ("advice", "undecided") if not part.edges else ()
    sentences += [_sentence(str(one)) for one in told if one.kind in ("incomplete", *nothing)]
    return " ".join(sentences)


def _on_grounds(part: Part, told: Iterable[Statement]) -> Iterator[str]:
    """Say in one sentence what the directions rest on, and what is thought of missing causes."""
    if not (part.edges and part.is_from_data):
        return
    bases = [_short(one) for one in told if one.kind == "basis"]
    yield _sentence("; ".join([*bases, _on_missing_causes(part)]))


def _short(one: Statement) -> str:
    """Return a statement with few names: the answer has them all."""
    if len(one.nodes) <= _NAMED:
        return str(one)
    rest = len(one.nodes) - _NAMED
    return f"{one.words} {', '.join(map(shown, one.nodes[:_NAMED]))} and {rest:,} more{one.end}"


def _on_missing_causes(part: Part) -> str:
    if part.allows_hidden:
        return "common causes may be hidden, and the marks show where"
    if part.settings.get("hidden") == "possible":
        few = "" if part.arrows and not part.lines else ", so few arrows are drawn"
        return f"common causes may be missing from the table{few}"
    return "arrows assume that no common cause is missing from the table"


def _sentence(words: str) -> str:
    return f"{words[:1].upper()}{words[1:]}."


#: So many notes are printed with a part.
_MOST = 3
#: The notes that ask most: what would change the answer comes first.
_FIRST = (
    "against given",
    "odd arrows",
    "missing codes",
    "missing words",
    "derived",
    "hidden cause",
    "few rows",
    "complete rows",
    "untested",
    "duplicates",
    "many levels",
)
#: The notes of which the words and the drawing say what matters.
_SAID = ("empty", "labels")
#: The notes that may come last: they are said of columns that hardly anybody misses.
_LAST = ("more untested", "more duplicates", "set aside")


def printed(
    part: Part,
    width: int = WIDTH,
    *,
    spell: Callable[[Sentence], str] = str,
    more: str = "part.notes",
    every_note: bool = False,
    figures: bool = False,
) -> str:
    """Return a part as text, no line wider than ``width`` and words whole.

    ``spell`` writes what a note names, and ``more`` says where the other notes are. ``every_note`` prints them all,
    ``figures`` also what the run was and what it cost.
    """
    pieces = [wrapped(summarize(part), width), *([draw(part, width)] if part.edges else [])]
    if labelled := [node for node in part.members if node in part.labels]:
        pieces.append(wrapped("; ".join(f"{shown(one)}: {part.labels[one]}" for one in labelled), width, indent="  "))
    said = _said_already(part)
    notes = [*_contradictions(part), *part.notes] if every_note else _asking(part)
    told = notes if every_note else notes[:_MOST]
    lines = [wrapped(f"note: {spell(note_of(one))}", width, indent="  ") for one in told]
    rest = len({*part.notes, *_contradictions(part)} - {*told} - {one for one in said if one.code in _SAID})
    if rest and not every_note:
        lines.append(f"{count_of(rest, 'more note' if lines else 'note')}: {more}")
    if lines:
        pieces.append("\n".join(lines))
    if figures:
        pieces.append("\n".join(wrapped(line, width, indent="  ") for line in figures_of(part)))
    return "\n\n".join(pieces)


def asks(note: Note) -> bool:
    """Return whether a note asks its reader for something: it warns, or names what to give."""
    return note.severity == "warning" or bool(note.arguments())


def _said_already(part: Part) -> list[Note]:
    """Return the notes that the words say."""
    return [one for one in part.notes if one.code in _SAID or (one.code == "roots" and part.knowledge.assumed)]


def _asking(part: Part) -> list[Note]:
    """Return the contradictions and the notes that ask for something, what changes the answer first."""
    said = _said_already(part)
    asked = [one for one in part.notes if asks(one) and one not in said]
    return [*_contradictions(part), *sorted(asked, key=_rank)]


def _rank(note: Note) -> int:
    if note.code in _LAST:
        return len(_FIRST) + 1 + _LAST.index(note.code)
    return _FIRST.index(note.code) if note.code in _FIRST else len(_FIRST)


def _contradictions(part: Part) -> Sequence[Note]:
    return [Note(f"contradiction: {one}", "conflict", "warning") for one in part.conflicts]


def figures_of(part: Part) -> Iterator[str]:
    """Describe in a few lines what a part is, how it was learned and what that cost."""
    named = [f"{name} {part.settings[name]}" for name in ("alpha", "fdr") if part.settings.get(name) is not None]
    told = "".join(f", {one}" for one in named)
    counts = part.counts
    arrows, undirected = count_of(len(part.arrows), "arrow"), count_of(len(part.lines), "undirected edge")
    if part.suggested:
        undirected += f" ({len(part.suggested):,} with a suggested direction)"
    if part.allows_hidden:
        hidden, partial = len(part.bidirected), len(part.partial)
        arrows += f", {count_of(hidden, 'hidden common cause')}, {count_of(partial, 'edge')} with one open end"
        undirected = count_of(len(part.lines), "open edge")
    what = f"{arrows}, {undirected} and {count_of(len(part.conflicts), 'conflict')}"
    nodes, visited = count_of(len(part.members), "node"), count_of(len(part.visited), "node")
    yield f"{what} among {nodes} (learner {part.learner}, oracle {part.oracle}{told})"
    asked = f"{count_of(counts.asked, 'test')} asked, {counts.distinct:,} computed"
    yield f"{visited} visited; {asked}, in {count_of(counts.rounds, 'round')}"
    if part.ledger.order_dependent:
        yield "the result depends on the order of columns and findings"
