"""A study: what a person has said on the page, which is enough to learn the same part again; and how it changes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, get_args

import attrs

from apsl_rules.answers import Answer, answer_of
from apsl_rules.data import Kind
from apsl_rules.errors import InvalidArgumentError
from apsl_rules.knowledge import NOTHING, Knowledge
from apsl_rules.learning import AUTO, READING, Request, settings_on
from apsl_rules.names import Depth, check_depth, spelt

#: The name that stands for all columns where codes for missing values are given.
ALL = "*"
#: The kinds that a person may choose; columns are set aside by leaving them out.
KINDS: tuple[str, ...] = tuple(one for one in get_args(Kind) if one != "set aside")
#: The settings that a study has a field of its own for, and all others that the page takes.
_OWN = ("kinds", "drop", "na", "hidden", "knowledge")
FURTHER = tuple(name for name in settings_on("page") if name not in _OWN)
#: The word that stands for None where a setting is typed.
NONE = "none"


@attrs.frozen
class Study:
    """A source, how its columns are read, the question, and what is known.

    Attributes
    ----------
    source
        A file in the folder of the page, or a network by name.
    kinds, drop, na
        The settings of ``learn`` that say how columns are read.
    target, depth, hidden
        The question.
    knowledge
        Required and forbidden arrows, and answers.
    further
        Other settings of ``learn``, by name, as they are typed.
    """

    source: str | None = None
    kinds: Mapping[str, Kind] = attrs.field(factory=dict)
    drop: tuple[str, ...] = ()
    na: Mapping[str, tuple[str, ...]] = attrs.field(factory=dict)
    target: str | None = None
    depth: Depth = 1
    hidden: str = AUTO
    knowledge: Knowledge = NOTHING
    further: Mapping[str, Any] = attrs.field(factory=dict)

    @property
    def reading(self) -> dict[str, Any]:
        """Return the settings of reading that are given."""
        given = {
            "kinds": dict(self.kinds),
            "drop": list(self.drop),
            "na": {name: list(codes) for name, codes in self.na.items()},
        }
        own = {name: value for name, value in given.items() if value}
        return own | {name: self._meant(name) for name in self.further if name in READING}

    def _meant(self, name: str) -> Any:
        """Return what a setting means that was typed."""
        return None if self.further[name] == NONE else self.further[name]

    @property
    def read_by(self) -> tuple[Any, ...]:
        """Return all that decides how the table is read."""
        return (self.source, self.reading)

    @property
    def learned_by(self) -> tuple[Any, ...]:
        """Return all that decides what is learned; answers are laid over it afterwards."""
        known = self.knowledge
        return (*self.read_by, self.further, self.target, self.depth, self.hidden, known.required, known.forbidden)

    @property
    def settings(self) -> dict[str, Any]:
        """Return the settings of ``learn`` that are given, the depth among them."""
        rest = {name: self._meant(name) for name in self.further}
        asked = {"depth": self.depth, "hidden": self.hidden, **self.reading, **rest}
        if self.knowledge != NOTHING:
            asked["knowledge"] = self.knowledge
        return asked

    def to_dict(self) -> dict[str, Any]:
        """Return the study as plain data."""
        known = self.knowledge
        return {
            "source": self.source,
            "kinds": dict(self.kinds),
            "drop": list(self.drop),
            "na": {name: list(codes) for name, codes in self.na.items()},
            "target": self.target,
            "depth": self.depth,
            "hidden": self.hidden,
            "required": [list(pair) for pair in known.required],
            "forbidden": [list(pair) for pair in known.forbidden],
            "answers": [_answer_data(one) for one in known.answers],
            "further": dict(self.further),
        }

    @classmethod
    def of(cls, data: Mapping[str, Any]) -> Study:
        """Return the study that plain data stand for."""
        known = Knowledge(
            required=data["required"], forbidden=data["forbidden"], answers=map(answer_of, data["answers"])
        )
        return cls(
            data["source"],
            dict(data["kinds"]),
            tuple(data["drop"]),
            {name: tuple(codes) for name, codes in data["na"].items()},
            *(data["target"], data["depth"], data["hidden"]),
            knowledge=known,
            further=dict(data["further"]),
        )


def _answer_data(one: Answer) -> dict[str, Any]:
    about = {} if one.target is None else {"target": one.target}
    return {"id": one.id, "reply": [list(pair) for pair in one.reply], "by": one.by, "date": one.date, **about}


# --- changes ---------------------------------------------------------------------------------------------------------


def changed(study: Study, what: str, given: Mapping[str, Any]) -> Study:
    """Return a study after a change by its name; whatever makes no sense is refused in one sentence."""
    if what not in _CHANGES:
        message = f"there is no change {spelt(what)}; there are {', '.join(_CHANGES)}"
        raise InvalidArgumentError(message)
    return _CHANGES[what](study, given)


def _text(given: Mapping[str, Any], name: str) -> str:
    value = given.get(name)
    if not isinstance(value, str) or not value:
        message = f"{name} is {spelt(value)}; give a name"
        raise InvalidArgumentError(message)
    return value


def _kind(study: Study, given: Mapping[str, Any]) -> Study:
    """Read a column as a kind, or as it is inferred if none is given."""
    column, kind = _text(given, "column"), given.get("kind")
    rest = {name: one for name, one in study.kinds.items() if name != column}
    if kind is None:
        return attrs.evolve(study, kinds=rest)
    if kind not in KINDS:
        message = f"the kind of {column!r} is {spelt(kind)}; give {', '.join(KINDS)}"
        raise InvalidArgumentError(message)
    return attrs.evolve(study, kinds={**rest, column: kind})


def _drop(study: Study, given: Mapping[str, Any]) -> Study:
    """Leave a column out, and all that was said of it; or take it in again."""
    column = _text(given, "column")
    rest = tuple(one for one in study.drop if one != column)
    if not given.get("out"):
        return attrs.evolve(study, drop=rest)
    if column == study.target:
        message = f"{column!r} is the column that is asked about; choose another one first"
        raise InvalidArgumentError(message)
    known = study.knowledge
    required, forbidden = ([pair for pair in of if column not in pair] for of in (known.required, known.forbidden))
    answers = [one.without({column}) for one in known.answers if one.target != column]
    kept = attrs.evolve(known, required=required, forbidden=forbidden, answers=[one for one in answers if one.reply])
    kinds = {name: kind for name, kind in study.kinds.items() if name != column}
    na = {name: codes for name, codes in study.na.items() if name != column}
    further = {name: value for name, value in study.further.items() if column not in _several(value)}
    return attrs.evolve(study, drop=(*rest, column), kinds=kinds, na=na, knowledge=kept, further=further)


def _several(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _missing(study: Study, given: Mapping[str, Any]) -> Study:
    """Say which words or numbers stand for a missing value, in a column or in all."""
    column, codes = _text(given, "column"), given.get("codes")
    if not isinstance(codes, list) or not all(isinstance(one, str) and one for one in codes):
        message = f"what stands for a missing value is {spelt(codes)}; give words or numbers, such as 999"
        raise InvalidArgumentError(message)
    rest = {name: one for name, one in study.na.items() if name != column}
    return attrs.evolve(study, na={**rest, column: tuple(codes)} if codes else rest)


def _setting(study: Study, given: Mapping[str, Any]) -> Study:
    """Give a setting by its name, or take it back; names of columns are looked at when the table is read."""
    name, value = _text(given, "name"), given.get("value")
    if name not in FURTHER:
        message = f"there is no setting {name!r} on the page; there are {', '.join(FURTHER)}"
        raise InvalidArgumentError(message)
    if not all(isinstance(one, str | int | float) for one in _several("" if value is None else value)):
        message = f"{name} is {spelt(value)}; give words, names of columns or a number"
        raise InvalidArgumentError(message)
    rest = {one: said for one, said in study.further.items() if one != name}
    after = attrs.evolve(study, further=rest if value in (None, "", []) else {**rest, name: value})
    Request(**{one: said for one, said in after.settings.items() if one in after.further})  # which checks them
    return after


def _target(study: Study, given: Mapping[str, Any]) -> Study:
    column = _text(given, "column")
    if column in study.drop:
        message = f"{column!r} is set aside; take it in again first"
        raise InvalidArgumentError(message)
    return attrs.evolve(study, target=column)


def _depth(study: Study, given: Mapping[str, Any]) -> Study:
    depth: Any = given.get("depth")
    check_depth(depth)
    return attrs.evolve(study, depth=depth)


def _hidden(study: Study, given: Mapping[str, Any]) -> Study:
    request = Request(hidden=given.get("hidden"))  # type: ignore[arg-type]  # which it checks
    return attrs.evolve(study, hidden=request.hidden)


def _arrow(study: Study, given: Mapping[str, Any]) -> Study:
    """Require or forbid an arrow, or say nothing of it."""
    way, says = (_text(given, "from"), _text(given, "to")), given.get("says")
    if says not in ("required", "forbidden", None):
        message = f"an arrow is said to be {spelt(says)}; give 'required', 'forbidden' or nothing"
        raise InvalidArgumentError(message)
    known = study.knowledge
    required, forbidden = ([one for one in of if one != way] for of in (known.required, known.forbidden))
    if says is not None:
        (required if says == "required" else forbidden).append(way)
    return attrs.evolve(study, knowledge=attrs.evolve(known, required=required, forbidden=forbidden))


def _answer(study: Study, given: Mapping[str, Any]) -> Study:
    """Take an answer in the place of an earlier one by the same person to the same question; without words none."""
    one = answer_of(given.get("answer"))
    rest = [old for old in study.knowledge.answers if (old.id, old.by, old.target) != (one.id, one.by, one.target)]
    return attrs.evolve(study, knowledge=attrs.evolve(study.knowledge, answers=[*rest, *([one] if one.reply else [])]))


_CHANGES: Mapping[str, Callable[[Study, Mapping[str, Any]], Study]] = {
    "open": lambda _study, given: Study(source=_text(given, "source")),
    "kind": _kind,
    "drop": _drop,
    "missing": _missing,
    "setting": _setting,
    "target": _target,
    "depth": _depth,
    "hidden": _hidden,
    "arrow": _arrow,
    "answer": _answer,
}

#: How many changes can be taken back.
MOST_UNDONE = 200


@attrs.define
class History:
    """The studies of a session, one after another, and the one that is looked at."""

    studies: list[Study] = attrs.field(factory=lambda: [Study()])
    at: int = 0

    @property
    def now(self) -> Study:
        """Return the study as it is now."""
        return self.studies[self.at]

    @property
    def can_undo(self) -> bool:
        """Return whether a change can be taken back."""
        return self.at > 0

    @property
    def can_redo(self) -> bool:
        """Return whether a change that was taken back can be made again."""
        return self.at < len(self.studies) - 1

    def add(self, study: Study) -> None:
        """Go on with a changed study; what was taken back is forgotten."""
        if study == self.now:
            return
        self.studies = [*self.studies[: self.at + 1], study][-MOST_UNDONE:]
        self.at = len(self.studies) - 1

    def move(self, steps: int) -> None:
        """Take changes back, or make them again."""
        self.at = min(max(0, self.at + steps), len(self.studies) - 1)
