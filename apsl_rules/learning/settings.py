"""Every setting of a run, declared once: its type, default, check and help, and which surfaces take it.

The keywords of ``learn`` and its relatives, the options of the command line, the keys of a config file, the tools of
the server, the parameters of ``PartSelector`` and the page of settings are made from the fields of ``Request``.
"""

# ruff: noqa: RUF009 - each default is a field of attrs

from __future__ import annotations

import inspect
from collections.abc import Callable, Hashable, Iterable, Mapping
from functools import cache
from pathlib import Path
from textwrap import fill
from typing import Any, Literal, TypeAlias, TypedDict, TypeVar, get_args

import attrs

from apsl_rules.data import (
    DatePart,
    GroupColumns,
    Kind,
    MissingCodes,
    MissingRule,
    TimeColumns,
    check_times,
    group_columns,
    time_columns,
)
from apsl_rules.data import is_auto as is_noticed
from apsl_rules.data.counts import CountSource
from apsl_rules.directions import DRAWN, PRECISE
from apsl_rules.environments import EnvironmentColumns, Environments, Interventions, environment_columns, targets_of
from apsl_rules.errors import InvalidArgumentError
from apsl_rules.knowledge import Knowledge, load_knowledge
from apsl_rules.names import Node, demand, is_number, is_whole, mapping, nearest, path_text, spelt
from apsl_rules.notes import named
from apsl_rules.parts import DEFAULT_DIRECTION, LeastDirection, least_direction
from apsl_rules.plugins import LearnerOffer, Plugins, Spec, load_plugins
from apsl_rules.rules import POLICIES, Policy

#: The name that leaves the choice of a learner to the source.
AUTO = "auto"
Learner: TypeAlias = str | Path | Spec | LearnerOffer
#: Whether common causes may be missing from the source; "auto" leaves it to the source and the learner.
Hidden: TypeAlias = Literal["auto", "excluded", "possible", "allowed"]
#: What names of columns are taken to say: those that nothing in a table causes come first, or a note names them, or
#: nothing ("assume", "note", "ignore"); a path names a list of one's own.
Roots: TypeAlias = str | Path
#: What takes a setting beside Python: an option and a key of config files, the tools of the server, the page that one
#: works on, the selector.
Surface: TypeAlias = Literal["option", "tool", "page", "selector"]


@attrs.frozen
class Setting:
    """What is to be said of a setting: ``help`` everywhere, and ``more`` where there is room.

    ``honoured`` names the sources or learners that it is for. An option has a ``short`` name, a ``metavar``, or is a
    flag for the value ``flag``.
    """

    help: str
    more: str
    honoured: str
    surfaces: frozenset[Surface]
    is_reading: bool
    short: str | None
    metavar: str | None
    flag: str | None


def _setting(
    default: Any,
    help: str,  # noqa: A002 - the word of every surface
    more: str = "",
    *,
    check: Callable[[str, Any], object] | None = None,
    honoured: str = "every source",
    on: Iterable[Surface] = ("option", "selector"),
    is_reading: bool = False,
    short: str | None = None,
    metavar: str | None = None,
    flag: str | None = None,
) -> Any:
    """Declare a setting."""
    said = Setting(help, more, honoured, frozenset(on), is_reading, short, metavar, flag)
    checked = None if check is None else lambda _request, field, value: check(field.name, value)
    return attrs.field(default=default, validator=checked, metadata={"setting": said})


_TABLES = "tables"
_EVERYWHERE: tuple[Surface, ...] = ("option", "tool", "page", "selector")


def _check_hidden(name: str, value: object) -> None:
    if not (isinstance(value, str) and value in get_args(Hidden)):
        advice = "give 'possible' if some common cause may be missing, 'allowed' to mark where, 'excluded', or 'auto'"
        raise InvalidArgumentError(argument=name, value=value, advice=advice)


def _check_roots(name: str, value: object) -> None:
    is_word = isinstance(value, str) and (value in ("assume", "note", "ignore") or value.endswith(".toml"))
    if not (is_word or isinstance(value, Path)):
        advice = "give 'assume', 'note', 'ignore' or the path of a list *.toml"
        raise InvalidArgumentError(argument=name, value=value, advice=advice)


def _check_alpha(name: str, value: object) -> None:
    if value is not None and not (isinstance(value, float) and 0 < value < 1):
        raise InvalidArgumentError(argument=name, value=value, advice="give a number between 0 and 1, such as 0.01")


def _check_conditioning(name: str, value: object) -> None:
    if value is None or (isinstance(value, str) and value == "none"):
        return
    if not is_whole(value) or value < 0:
        raise InvalidArgumentError(argument=name, value=value, advice="give 0 or more, or 'none' for no limit")


def _check_policy(_name: str, value: object) -> None:
    if value is not None and not (isinstance(value, str) and value in POLICIES):
        hint = nearest(value, POLICIES) if isinstance(value, str) else ""
        hint = hint or f"; there are {', '.join(POLICIES)}"
        message = f"unknown conflict policy {spelt(value)}{hint}"
        raise InvalidArgumentError(message)


def _check_share(name: str, value: object) -> None:
    if isinstance(value, str) and value in ("auto", "none"):
        return
    if not isinstance(value, float) or not 0 < value < 1:
        raise InvalidArgumentError(argument=name, value=value, advice="give a number between 0 and 1, 'auto' or 'none'")


def _check_flag(name: str, value: object) -> None:
    demand(isinstance(value, bool), f"{named(name)} is {spelt(value)}; give True or False", argument=name)


def _check_count(name: str, value: object) -> None:
    if not (is_whole(value) and value >= 1):
        raise InvalidArgumentError(
            argument=name, value=value, advice=f"give at least 1{'' if is_whole(value) else ', a whole number'}"
        )


def _check_columns(name: str, value: object, advice: str = "a column, a list of columns, or None") -> None:
    if not isinstance(value, Hashable | Iterable):
        raise InvalidArgumentError(argument=name, value=value, advice=f"give {advice}")


def _check_limit(name: str, value: object) -> None:
    if value is not None:
        _check_count(name, value)


def _check_seconds(name: str, value: object) -> None:
    if value is not None and not (is_number(value) and value >= 0):
        raise InvalidArgumentError(argument=name, value=value, advice="give at least 0")


@attrs.frozen(eq=False)
class Request:
    """The settings of a run, checked; each field declares one, and every surface is made from it."""

    learner: Learner = _setting(
        AUTO,
        "A learner by name, or auto: the source decides.",
        "It may be the path of a spec file *.toml, in Python also a ``Spec``, or a ``LearnerOffer`` with code of its "
        "own. 'auto' chooses one that uses scores wherever columns can be counted (apsl-score) or have moments "
        "(apsl-mixed). For perfect answers and oracles it chooses tests alone (apsl), and the part says so.",
        on=("option", "tool", "selector"),
        short="-l",
    )
    hidden: Hidden = _setting(
        AUTO,
        "Whether common causes may be missing from the source: excluded, possible or allowed.",
        "'auto' means possible for a table if no learner is named, and excluded for a known graph, an oracle or a "
        "named learner. 'excluded' assumes that there are none. With 'possible', an arrow needs grounds that were "
        "right on real tables: it is given, names say what comes first, or the shapes of the columns support it; other "
        "edges are lines. With 'allowed', every edge has a mark at each end: ``part.end`` has these, and "
        "``part.bidirected`` the pairs that share a hidden cause (apsl-hidden).",
        check=_check_hidden,
        on=_EVERYWHERE,
        flag="allowed",
    )
    roots: Roots = _setting(
        "assume",
        "What names say under hidden=possible: assume (sex, age, year ... come first), note, ignore, or a list *.toml.",
        "Columns that nothing in a table causes are recognised by their names, unless the knowledge names them. 'note' "
        "says which they are and changes nothing. A list of your own replaces the built-in one.",
        check=_check_roots,
        honoured="tables under hidden='possible'",
        metavar="WHAT",
    )
    oracle: str | None = _setting(None, "The independence test; by default the natural one for the source.")
    alpha: float | None = _setting(
        None,
        "Significance level of the tests.",
        "It replaces that of the learner: two nodes count as dependent if p is smaller.",
        check=_check_alpha,
        honoured="sources with tests",
    )
    max_conditioning: int | Literal["none"] | None = _setting(
        None,
        "Largest conditioning set.",
        "It replaces that of the learner. A perfect oracle has no limit unless you give one.",
        check=_check_conditioning,
        metavar="K|none",
    )
    finder: str | None = _setting(
        None,
        "The finder of parents and children, instead of the learner's own.",
        honoured="learners that use tests",
    )
    conflicts: Policy | None = _setting(
        None,
        "What to do with contradictions.",
        "'given' keeps background knowledge and draws no other direction, 'quarantine' draws none, "
        "'strongest', 'ranked', 'first' and 'last' choose one.",
        check=_check_policy,
    )
    fdr: float | Literal["auto", "none"] = _setting(
        "auto",
        "Share of false discoveries to allow.",
        "The bound is on candidates for neighbours; 'auto' sets it, to 0.01, for sources of more than 1,000 nodes.",
        check=_check_share,
        honoured="sources with tests",
    )
    min_direction: LeastDirection | None = _setting(
        None,
        "How probable a direction must be to be an arrow; 0 draws all, precise only the well supported.",
        "Other arrows become lines with a suggested direction (``part.suggested``). By default 0.5 is enough where "
        "hidden causes are excluded, and 0.75 where they are possible.",
        check=lambda name, value: None if value is None else least_direction(value, name),
        honoured="learners that use scores",
        metavar="P|precise",
    )
    certified: bool = _setting(
        False,  # noqa: FBT003 - a default
        "Compare the graph found with the best of all graphs, if it has few nodes.",
        "Notes and evidence say that no graph scores higher, or why that is not known. This needs at most 20 nodes "
        "near the target.",
        check=_check_flag,
        honoured="learners that search by score",
    )
    kinds: Mapping[Node, Kind | DatePart] | None = _setting(
        None,
        "Kinds of columns instead of those inferred: category, ordered, number or set aside.",
        "Dates are taken as days (number) or by a part: year, quarter, month, day, weekday or hour.",
        honoured=_TABLES,
        on=_EVERYWHERE,
        is_reading=True,
    )
    drop: Iterable[Node] | None = _setting(
        None, "Columns to leave out.", honoured=_TABLES, on=_EVERYWHERE, is_reading=True
    )
    only: Iterable[Node] | None = _setting(None, "The only columns to read.", honoured=_TABLES, is_reading=True)
    keep: Iterable[Node] | Literal["*"] | None = _setting(
        None,
        "Columns to keep although the target defines them, or they define it; * keeps all.",
        "Columns that follow from the target by definition, such as its logarithm, a cut of it or a sum with it, are "
        "otherwise set aside, and a note names them. Graphs of all nodes keep them all.",
        honoured=_TABLES,
        on=_EVERYWHERE,
    )
    environment: EnvironmentColumns = _setting(
        None,
        "The column that says where or when rows come from, such as a month or a site; may be repeated.",
        "It comes before all other columns. Each column is compared between these levels by level, slopes and spread, "
        "which orients edges: a column that depends on others in the same way everywhere is no cause of them.",
        check=lambda _name, value: None if value is None else environment_columns(value),
        metavar="NAME",
    )
    interventions: Interventions = _setting(
        None,
        "What an experiment acts on, such as 'arm=dose'; may be repeated.",
        "In Python a mapping from columns to what they act on, {'arm': ['dose']}. Such a column is an environment, and "
        "acts on nothing else.",
        check=lambda _name, value: None if value is None else targets_of(value),
        metavar="NAME=TARGET",
    )
    weights: Node | None = _setting(
        None, "The column that says how many rows each row stands for.", honoured=_TABLES, is_reading=True
    )
    groups: GroupColumns = _setting(
        AUTO,
        "The column that says which rows belong together, such as a school; none treats rows as independent.",
        "Several columns may say so together. The part is then learned within and between groups at once, and its "
        "evidence says where a relation holds. 'auto' looks for groups: it acts only if two columns form a key that "
        "chance does not explain; otherwise a note names the column. In Python None means none.",
        check=_check_columns,
        honoured=_TABLES,
        on=_EVERYWHERE,
        is_reading=True,
        metavar="NAME|auto|none",
    )
    sampling_weights: Node | None = _setting(
        None,
        "The column that says how much of the population each row of a survey stands for, with fractions.",
        "Estimates are for the population, and evidence counts the effective number of rows (Kish).",
        honoured=_TABLES,
        is_reading=True,
    )
    time: TimeColumns = _setting(
        None,
        "The column that says when each row was, such as a date; columns of the step before are added.",
        "Several columns may say so together, the largest unit first, such as a year and a month. Rows are sorted by "
        "it within groups, and each column x gets a column x[t-1], which comes before all columns of the same row: no "
        "arrow goes back in time. Needs the rows in memory.",
        check=lambda name, value: _check_columns(name, value, "a column, such as 'date', or a list of columns"),
        honoured="tables in memory",
        on=_EVERYWHERE,
        is_reading=True,
        metavar="NAME",
    )
    lags: int = _setting(
        1,
        "How many earlier steps get columns of their own, if time is given.",
        check=_check_count,
        honoured="tables in memory",
        on=_EVERYWHERE,
        is_reading=True,
    )
    missing: MissingRule | None = _setting(
        None,
        "Leave out rows with missing values test by test (testwise, the default) or all of them (complete), count "
        "missing values as a level, or refuse them.",
        honoured=_TABLES,
        on=_EVERYWHERE,
        is_reading=True,
    )
    na: MissingCodes = _setting(
        None,
        "A word or number that stands for a missing value, in all columns or in one; may be repeated.",
        "In Python a word or number, several, or a mapping from columns to these, '*' standing for all others. "
        "Words such as '.' and 'n/a' among numbers need not be named.",
        honoured=_TABLES,
        on=("option", "page", "selector"),
        is_reading=True,
        metavar="CODE|NAME=CODE",
    )
    discretize: str | Mapping[Node, str] | None = _setting(
        None,
        "Cut all numbers into categories (quantile:3; width:4), or one column (age=quantile:5; age=none).",
        "In Python a mapping cuts each column in its own way, '*' all others.",
        honoured=_TABLES,
        on=_EVERYWHERE,
        is_reading=True,
        metavar="CUT",
    )
    cache: str | Path | None = _setting(
        None,
        "Keep the figures of all tests in this file.",
        "A later run, at any alpha, need not count again.",
        honoured="tables of categories",
        on=("option",),
    )
    counts: str | CountSource | None = _setting(
        None,
        "Where a table is counted: memory, duckdb (files of any size), dask or dask:ADDRESS.",
        "By default memory, or DuckDB if the data do not fit into memory. DuckDB and Dask leave files where they are. "
        "The part is the same. The source may also be a ``CountSource`` itself.",
        honoured=_TABLES,
        on=("option",),
        metavar="HOW",
    )
    options: Mapping[str, Any] | None = _setting(
        None, "Further options of the oracle, such as memory_limit.", honoured="the oracle", on=("option",)
    )
    max_tests: int | None = _setting(
        None,
        "Stop after this many tests and return what was found so far.",
        "The part is incomplete then and says so.",
        check=_check_limit,
    )
    max_seconds: float | None = _setting(
        None,
        "Stop after this many seconds and return what was found so far.",
        "An interrupt (Ctrl-C) raises ``Interrupted``, which carries the part so far.",
        check=_check_seconds,
    )
    threads: int = _setting(1, "Threads; the result is always the same.", check=_check_count)
    knowledge: Knowledge | str | Path | None = _setting(
        None,
        "Background knowledge: a TOML file with required, forbidden, tiers, apart.",
        "In Python it may be a ``Knowledge``.",
        honoured="learners whose arrows come from rules",
        on=_EVERYWHERE,
    )
    plugins: Plugins | Iterable[object] = _setting(
        (),
        "Further plugins for this run only: objects, modules or module names, or a whole manager.",
        on=(),
    )

    @classmethod
    def of(cls, settings: Settings, caller: str = "learn") -> Request:
        """Return the request that settings stand for; plugins and knowledge are loaded."""
        for name in settings:
            if name not in SETTINGS:
                message = f"{caller} has no setting {name!r}{nearest(name, SETTINGS)}"
                raise InvalidArgumentError(message)
        request = cls(**settings)
        if request.time is not None or request.lags != 1:
            check_times(request.time, request.lags, request.environments is not None)
        plugins, known = load_plugins(request.plugins), load_knowledge(request.knowledge)
        return attrs.evolve(request, plugins=plugins, knowledge=known)

    @property
    def known(self) -> Knowledge:
        """Return the background knowledge, loaded."""
        return load_knowledge(self.knowledge)

    @property
    def environments(self) -> Environments | None:
        """Return the columns that say where rows come from, if there are some."""
        is_given = self.environment is not None or self.interventions is not None
        return Environments.of(self.environment, self.interventions) if is_given else None

    @property
    def manager(self) -> Plugins:
        """Return the plugins, loaded."""
        return load_plugins(self.plugins)

    @property
    def least_direction(self) -> float:
        """Return the least probability of a direction for an arrow to be drawn."""
        is_possible = self.hidden == "possible"
        if self.min_direction is None:
            return DRAWN if is_possible else DEFAULT_DIRECTION
        return PRECISE if is_possible and self.min_direction == "precise" else least_direction(self.min_direction)

    @property
    def is_limited(self) -> bool:
        """Return whether a limit may end the run."""
        return self.max_tests is not None or self.max_seconds is not None

    @property
    def reading(self) -> dict[str, Any]:
        """Return the options that say how to read and count the source, and further ones of the oracle."""
        cache = None if self.cache is None else path_text(self.cache, "cache")
        given = {name: getattr(self, name) for name in READING} | {"cache": cache, "counts": self.counts}
        times = None if self.time is None else time_columns(self.time) or None
        given |= {"time": times, "lags": None if self.time is None else self.lags}
        given["groups"] = None if is_noticed(self.groups) else group_columns(self.groups)
        further = mapping("options", self.options, "{'memory_limit': '2GiB'}")
        return {**{name: value for name, value in given.items() if value is not None}, **further}


class Settings(TypedDict, total=False):
    """The types of the settings, for those who check calls; a test compares them with ``Request``."""

    learner: Learner
    hidden: Hidden
    roots: Roots
    oracle: str | None
    alpha: float | None
    max_conditioning: int | Literal["none"] | None
    finder: str | None
    conflicts: Policy | None
    fdr: float | Literal["auto", "none"]
    min_direction: LeastDirection | None
    certified: bool
    kinds: Mapping[Node, Kind | DatePart] | None
    drop: Iterable[Node] | None
    only: Iterable[Node] | None
    keep: Iterable[Node] | Literal["*"] | None
    environment: EnvironmentColumns
    interventions: Interventions
    weights: Node | None
    groups: GroupColumns
    sampling_weights: Node | None
    time: TimeColumns
    lags: int
    missing: MissingRule | None
    na: MissingCodes
    discretize: str | Mapping[Node, str] | None
    cache: str | Path | None
    counts: str | CountSource | None
    options: Mapping[str, Any] | None
    max_tests: int | None
    max_seconds: float | None
    threads: int
    knowledge: Knowledge | str | Path | None
    plugins: Plugins | Iterable[object]


#: The fields of all settings by name, and the names of those that say how a table is read.
SETTINGS: Mapping[str, attrs.Attribute[Any]] = attrs.fields_dict(Request)
READING = tuple(name for name, field in SETTINGS.items() if field.metadata["setting"].is_reading)
#: Those of them that a part keeps, so that its table can be read as it was.
KEPT_READING = tuple(name for name in READING if name not in ("kinds", "drop", "only"))


def setting(name: str) -> Setting:
    """Return what is to be said of a setting."""
    said: Setting = SETTINGS[name].metadata["setting"]
    return said


def settings_on(surface: Surface) -> tuple[str, ...]:
    """Return the names of the settings that a surface takes."""
    return tuple(name for name in SETTINGS if surface in setting(name).surfaces)


Function = TypeVar("Function", bound=Callable[..., Any])


def with_settings(*names: str, **defaults: Any) -> Callable[[Function], Function]:
    """Show settings in the signature and the help of a function that takes them as ``**settings``; without names all.

    ``defaults`` are those that differ from the usual ones.

    >>> from apsl_rules import learn
    >>> inspect.signature(learn).parameters["threads"].default
    1
    """

    def decorate(function: Function) -> Function:
        own = inspect.signature(function)
        kept = [one for one in own.parameters.values() if one.kind is not inspect.Parameter.VAR_KEYWORD]
        shown = [name for name in names or SETTINGS if name not in own.parameters]
        further = [
            inspect.Parameter(
                name,
                inspect.Parameter.KEYWORD_ONLY,
                default=defaults.get(name, SETTINGS[name].default),
                annotation=SETTINGS[name].type,
            )
            for name in shown
        ]
        function.__signature__ = own.replace(parameters=[*kept, *further])  # type: ignore[attr-defined]
        text = "\n".join(_entry(name) for name in shown)
        before, examples, after = (function.__doc__ or "").partition("\n    Examples\n")
        function.__doc__ = f"{before}\n    Settings\n    --------\n{text}\n{examples}{after}"
        return function

    return decorate


@cache
def _entry(name: str) -> str:
    """Return what the help of a function says of a setting."""
    said = setting(name)
    text = f"{said.help} {said.more}".strip()
    return f"    {name}\n" + fill(text, 120, initial_indent=" " * 8, subsequent_indent=" " * 8)
