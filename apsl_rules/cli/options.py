"""Options of commands that read tables and learn, and the file that gives their defaults."""

from __future__ import annotations

import csv
from collections import abc
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Literal, TypeAlias, Union, get_args, get_origin, get_type_hints

import attrs
import click

from apsl_rules._documents import DocumentError, file_text, toml_data
from apsl_rules.data.databases import DatabaseTable, ScanPlan, duckdb_file, is_database, shown_source
from apsl_rules.errors import InvalidArgumentError
from apsl_rules.learning import READING, SETTINGS, Request, setting, settings_on
from apsl_rules.names import Depth, Node, nearest, node_named
from apsl_rules.parts import Part
from apsl_rules.plugins import Plugins


def _read(context: click.Context, _parameter: click.Parameter, path: str | None) -> None:
    """Make the settings of a file the defaults of a command, so that options on the command line still count."""
    if path is None:
        return
    origin = f"the config file {path!r}"
    try:
        text = file_text(path)
    except DocumentError as error:
        message = f"{origin} cannot be read: {error}"
        raise InvalidArgumentError(message) from error
    try:
        data = toml_data(text)
    except DocumentError as error:
        message = f"{origin} is not valid TOML: {error}"
        raise InvalidArgumentError(message) from error
    known = {_key(one): one for one in context.command.params if one.name not in ("config", "help")}
    defaults: dict[str, Any] = {}
    for key, said in data.items():
        parameter = known.get(key.replace("_", "-"))
        if parameter is None:
            command = context.command_path
            hint = nearest(key, known) or f"; {command} knows {', '.join(known)}"
            message = f"{origin} has the unknown key {key!r}{hint}"
            raise InvalidArgumentError(message)
        is_table = parameter.name == "knowledge" and isinstance(said, dict)
        value = path if is_table else said  # the table of this name is read from the file itself
        defaults[str(parameter.name)] = _command_line_value(value, parameter, f"{key} in {origin}")
    context.default_map = {**(context.default_map or {}), **defaults}


def _key(parameter: click.Parameter) -> str:
    """Return the key of a parameter: its long option without dashes in front, or the argument's name."""
    return max(parameter.opts, key=len).lstrip("-").lower()


def _command_line_value(value: Any, parameter: click.Parameter, what: str) -> Any:
    """Return a value as it would be typed, so that it is checked as an option is."""
    if isinstance(parameter, click.Option) and isinstance(value, bool) and parameter.flag_value in _choices(parameter):
        return parameter.flag_value if value else parameter.default
    if isinstance(parameter, click.Option) and parameter.is_flag:
        if not isinstance(value, bool):
            message = f"{what} is {value!r}; give true or false"
            raise InvalidArgumentError(message)
        return value
    if getattr(parameter, "multiple", False) and parameter.type is click.UNPROCESSED:
        return value if isinstance(value, list) else [value]
    if getattr(parameter, "multiple", False):
        if not isinstance(value, list) or any(not isinstance(one, list) or len(one) != 2 for one in value):  # noqa: PLR2004 - a pair
            message = f"{what} is {value!r}; give a list of pairs, such as [['a', 'b']]"
            raise InvalidArgumentError(message)
        return [tuple(map(str, pair)) for pair in value]
    if isinstance(value, dict | list):
        if isinstance(value, list) and parameter.name == "learners":
            return ",".join(map(str, value))
        message = f"{what} is {value!r}; give one value"
        raise InvalidArgumentError(message)
    return str(value)


def _choices(parameter: click.Parameter) -> Sequence[Any]:
    return parameter.type.choices if isinstance(parameter.type, click.Choice) else ()


config_option = click.option(
    "--config",
    type=click.Path(dir_okay=False),
    callback=_read,
    is_eager=True,
    expose_value=False,
    help="Read options from a TOML file, such as depth = 2; those on the command line count more.",
)


#: The name that stands for all numbers without a cut of their own.
ALL = "*"

_ROLE = "column in --discretize"

Decorator: TypeAlias = Callable[[Callable[..., Any]], Callable[..., Any]]


def _repeated(name: str, text: str, metavar: str = "NAME") -> Decorator:
    return click.option(name, multiple=True, metavar=metavar, type=click.UNPROCESSED, help=text)


#: The options of settings that are typed in another way than in Python.
_OWN: Mapping[str, list[Decorator]] = {
    "kinds": [
        _repeated("--number", "Read this column as a number."),
        _repeated("--ordered", "Read this column as an ordered scale: a number, shown by its levels."),
        _repeated("--category", "Read this column as a category; * stands for all that are not named."),
        _repeated("--part", "Take a part of dates: year, quarter, month, day, weekday or hour.", "NAME=PART"),
    ],
    "options": [click.option("--memory-limit", metavar="SIZE", help="Memory that DuckDB may take, such as 2GiB.")],
    "knowledge": [
        click.option("--knowledge", type=click.Path(dir_okay=False), help=setting("knowledge").help),
        click.option(
            "--require", nargs=2, multiple=True, metavar="FROM TO", help="Require this arrow; may be repeated."
        ),
        click.option("--forbid", nargs=2, multiple=True, metavar="FROM TO", help="Forbid this arrow; may be repeated."),
        _repeated(
            "--tier",
            "Nodes that no later tier can cause, with commas between them; repeat for later tiers, earliest first. "
            "A name may be a pattern, such as occ*; * is the place of all others.",
            "A,B",
        ),
        _repeated("--first", "Nodes that no other node can cause.", "A,B"),
        _repeated("--last", "Nodes that cause no other node.", "A,B"),
        click.option("--apart", nargs=2, multiple=True, metavar="A B", help="Say that two nodes are not adjacent."),
    ],
}


def _options_of(name: str) -> list[Decorator]:
    """Return the options of a setting, made from its declaration unless it is typed in a way of its own."""
    return _OWN[name] if name in _OWN else [_option_of(name)]


def _option_of(name: str) -> Decorator:
    said, default = setting(name), SETTINGS[name].default
    names = [one for one in (f"--{name.replace('_', '-')}", said.short) if one is not None]
    return click.option(
        *names, **{"default": default, "metavar": said.metavar, **_shape(name, default)}, help=said.help
    )


@cache
def _hints() -> dict[str, Any]:
    return get_type_hints(Request)


def _shape(name: str, default: object) -> dict[str, Any]:
    """Return how click reads the values of a setting, by their type."""
    kind, flag = _hints()[name], setting(name).flag
    kinds = [one for one in get_args(kind) if one is not NoneType] if get_origin(kind) in (Union, UnionType) else [kind]
    words = [word for one in kinds if get_origin(one) is Literal for word in get_args(one)]
    numbers = [one for one in kinds if one in (int, float)]
    if flag is not None:
        return {"is_flag": False, "flag_value": flag, "type": click.Choice(words), "show_default": True}
    if kind is bool:
        return {"is_flag": True}
    shown = {"show_default": default is not None}
    if words and numbers:
        return {**shown, "type": str, "callback": lambda _context, _one, value: _number_or_text(value, numbers[0])}
    if any(get_origin(one) in (abc.Iterable, abc.Mapping) for one in kinds):
        further = {"metavar": setting(name).metavar or "NAME", "type": click.UNPROCESSED}
        return {"multiple": True, "default": None, **further}
    file = click.Path(dir_okay=False) if kinds == [str, Path] else str
    has_words = words and Path not in kinds
    return {**shown, "type": click.Choice(words) if has_words else numbers[0] if numbers else file}


def _number_or_text(value: Any, kind: type[int | float]) -> Any:
    """Return a number where one is typed; the library says of any other text whether it is one of its words."""
    try:
        return value if value is None else kind(value)
    except ValueError:
        return value


def settings_options(*names: str) -> Decorator:
    """Return what adds the options of settings to a command."""
    return _adding([option for name in names for option in _options_of(name)])


def _adding(options: list[Decorator]) -> Decorator:
    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


def nodes_named(words: object, nodes: tuple[Node, ...], role: str) -> list[Node]:
    """Return the nodes that words name, each one node, a pattern, or several of these with commas between them.

    A name with a comma in a list has quotation marks around it.
    """
    if isinstance(words, list | tuple):
        return [node for word in words for node in nodes_named(word, nodes, role)]
    known = {str(node) for node in nodes}
    parts = _parts(str(words), known)
    return [node for part in parts for node in _matching(part, nodes, known) or [node_named(part, nodes, role)]]


def _parts(text: str, known: Container[str]) -> list[str]:
    """Return the names and patterns in a text: one that is a name itself, or all between commas."""
    if text in known:
        return [text]
    return [part.strip() for part in next(csv.reader([text], skipinitialspace=True), []) if part.strip()]


def _matching(part: str, nodes: tuple[Node, ...], known: Container[str]) -> list[Node]:
    """Return the nodes that a pattern stands for, none if it is a name."""
    is_pattern = part not in known and not {"*", "?", "["}.isdisjoint(part)
    return [node for node in nodes if fnmatchcase(str(node), part)] if is_pattern else []


def with_reading(settings: dict[str, Any], nodes: tuple[Node, ...]) -> dict[str, Any]:
    """Turn the options of reading into arguments of the library, and leave the others as they are."""
    rest = dict(settings)
    kinds: dict[Node, str] = {}
    for kind in ("number", "ordered", "category"):
        words = list(rest.pop(kind))
        every = [ALL] if ALL in words and ALL not in nodes else []
        for node in [*every, *nodes_named([one for one in words if one not in every], nodes, f"column in --{kind}")]:
            if kinds.setdefault(node, kind) != kind:
                message = f"column {str(node)!r} is named in --{kinds[node]} and in --{kind}; name it once"
                raise InvalidArgumentError(message)
    kinds |= _date_parts(rest.pop("part"), nodes)
    chosen: dict[str, Any] = {
        option: nodes_named(rest.pop(option), nodes, f"column in --{option}") or None for option in ("drop", "only")
    }
    weights = rest.pop("weights")
    found = None if weights is None else node_named(weights, nodes, "column in --weights")
    sampling = rest.pop("sampling_weights")
    chosen["groups"] = _groups(rest.pop("groups"), nodes)
    chosen["time"] = nodes_named(rest.pop("time"), nodes, "column in --time") or None
    role = "column in --sampling-weights"
    chosen["sampling_weights"] = None if sampling is None else node_named(sampling, nodes, role)
    cuts = _cuts(rest.pop("discretize"), nodes)
    na = _missing_codes(rest.pop("na"), nodes)
    return {**rest, **chosen, "kinds": kinds or None, "weights": found, "discretize": cuts, "na": na}


def _date_parts(given: Iterable[Any], nodes: tuple[Node, ...]) -> dict[Node, str]:
    """Return the parts of dates by column."""
    parts: dict[Node, str] = {}
    for one in given:
        name, mark, part = str(one).rpartition("=")
        if not mark:
            message = f"--part is {str(one)!r}; give a column and a part, such as visit=month"
            raise InvalidArgumentError(message)
        parts |= dict.fromkeys(nodes_named(name, nodes, "column in --part"), part)
    return parts


def _groups(given: Sequence[Any], nodes: tuple[Node, ...]) -> Any:
    """Return the columns of groups, or what a word says of them: "auto", or none."""
    words = list(given) if isinstance(given, list | tuple) else [given]
    if words in ([], ["auto"]) and "auto" not in nodes:
        return "auto"
    if words == ["none"] and "none" not in nodes:
        return None
    return nodes_named(words, nodes, "column in --groups")


def _missing_codes(given: Iterable[Any], nodes: tuple[Node, ...]) -> dict[Node, list[Any]] | None:
    """Return the codes for missing values by column, with those of all columns under a star."""
    codes: dict[Node, list[Any]] = {}
    for one in given:
        if isinstance(one, dict):
            pairs = [(str(name), code) for name, code in one.items()]
        else:
            name, mark, code = one.rpartition("=") if isinstance(one, str) else ("", "", one)
            pairs = [(name if mark else ALL, code)]
        for name, code in pairs:
            every = name == ALL and ALL not in nodes
            for node in [ALL] if every else nodes_named(name, nodes, "column in --na"):
                codes.setdefault(node, []).extend(code if isinstance(code, list) else [code])
    return codes or None


def _cuts(given: Iterable[Any], nodes: tuple[Node, ...]) -> Any:
    """Return one cut for all numbers, or the cuts of columns by name, with that of all others under a star."""
    cuts: dict[Node, Any] = {}
    for one in given:
        if isinstance(one, dict):
            cuts |= {name if name == ALL else node_named(name, nodes, _ROLE): cut for name, cut in one.items()}
        elif isinstance(one, str) and "=" in one:
            cuts |= _named_cuts(one, nodes)
        else:
            cuts[ALL] = one
    return cuts.get(ALL) if cuts.keys() <= {ALL} else cuts


def _named_cuts(text: str, nodes: tuple[Node, ...]) -> dict[Node, str]:
    name, _, cut = text.rpartition("=")
    known = {str(node) for node in nodes}
    pairs = [(name, "", cut)] if name.strip() in known else [one.rpartition("=") for one in _parts(text, known)]
    return {node: cut.strip() for name, _, cut in pairs for node in nodes_named(name.strip(), nodes, _ROLE)}


def _depth(_context: click.Context, _parameter: click.Parameter, value: str) -> Depth:
    """Read a depth: "max", or a whole number."""
    if value == "max":
        return "max"
    try:
        return int(value)
    except ValueError as error:
        message = f"--depth is {value!r}; give a whole number from 1 on, or 'max' for the whole connected part"
        raise InvalidArgumentError(message) from error


#: The options of reading a table; those that take names may be repeated and have commas.
reading_options = settings_options(*READING)
#: The options of a run whose target and depth a command takes in its own way.
structure_options = settings_options(*settings_on("option"))
_PLACE: list[Decorator] = [
    config_option,
    click.option("--target", "-t", help="The column of interest."),
    click.option(
        "--depth",
        "-k",
        metavar="K|max",
        callback=_depth,
        default="1",
        show_default=True,
        help="How many steps to go from the target.",
    ),
]


def learning_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options of a learning run to a command."""
    return _adding(_PLACE)(structure_options(command))


def for_library(settings: dict[str, Any], nodes: tuple[Node, ...]) -> dict[str, Any]:
    """Turn the options about reading and about background knowledge into settings of the library."""
    from apsl_rules.knowledge import Knowledge

    rest = with_reading(settings, nodes)
    path = rest.pop("knowledge")
    known = Knowledge() if path is None else Knowledge.read(path)
    required, forbidden, apart = (
        [tuple(node_named(one, nodes, f"node in --{option}") for one in pair) for pair in rest.pop(option)]
        for option in ("require", "forbid", "apart")
    )
    tiers = _tiers(rest, nodes)
    if tiers and known.tiers:
        message = f"the file {path!r} has tiers, and --tier, --first or --last is given too; say them in one place"
        raise InvalidArgumentError(message)
    joined = attrs.evolve(
        known,
        required=(*known.required, *required),
        forbidden=(*known.forbidden, *forbidden),
        tiers=tiers or known.tiers,
        apart=(*known.apart, *apart),
    )
    rest["keep"] = nodes_named(rest.pop("keep", ()), nodes, "column in --keep") or None
    limit = rest.pop("memory_limit", None)
    if "environment" in rest:
        rest["environment"] = nodes_named(list(rest["environment"]), nodes, "column in --environment") or None
    if "interventions" in rest:
        rest["interventions"] = _interventions(rest["interventions"], nodes)
    return {**rest, "knowledge": joined, "options": None if limit is None else {"memory_limit": limit}}


def _interventions(given: Iterable[Any], nodes: tuple[Node, ...]) -> dict[Node, list[Node]] | None:
    """Return what interventions act on, by the column that says where rows come from."""
    found: dict[Node, list[Node]] = {}
    for one in given:
        if isinstance(one, dict):
            pairs = [(name, targets) for name, targets in one.items()]
        else:
            name, mark, targets = str(one).partition("=")
            if not mark:
                message = f"--interventions is {str(one)!r}; give a column and what it acts on, such as 'arm=dose'"
                raise InvalidArgumentError(message)
            pairs = [(name, targets)]
        for name, targets in pairs:
            column = node_named(name.strip(), nodes, "column in --interventions")
            found.setdefault(column, []).extend(nodes_named(targets, nodes, "column in --interventions"))
    return found or None


def _tiers(given: dict[str, Any], nodes: tuple[Node, ...]) -> list[list[Node]]:
    """Take the options about tiers out of those given, and return the tiers; all other nodes come before --last."""
    tiers = [_tier(words, nodes, "--tier") for words in given.pop("tier")]
    first, last = (_tier(list(given.pop(name)), nodes, f"--{name}") for name in ("first", "last"))
    if tiers and (first or last):
        message = "--tier is given beside --first or --last; say the order in one way"
        raise InvalidArgumentError(message)
    rest: list[Node] = [ALL]
    return tiers or [*([first] if first else []), *([rest, last] if last else [])]


def _tier(words: object, nodes: tuple[Node, ...], option: str) -> list[Node]:
    """Return the nodes of a tier, and its patterns as they are."""
    if isinstance(words, list | tuple):
        return [node for word in words for node in _tier(word, nodes, option)]
    text = str(words)
    known = {str(node) for node in nodes}
    parts = _parts(text, known)
    patterns = [part for part in parts if part not in known and not {"*", "?"}.isdisjoint(part)]
    named = [
        node
        for part in parts
        if part and part not in patterns
        for node in [node_named(part, nodes, f"node in {option}")]
    ]
    return [*named, *patterns]


def plan_part(name: str, manager: Plugins, *, target: str | None, **settings: Any) -> ScanPlan:
    """Say what learning a part would read of a table in a database."""
    from apsl_rules.learning import dry_run

    source = duckdb_file(name) or (DatabaseTable(name) if is_database(name) else None)
    if source is None:
        message = f"--dry-run is for tables in databases, and {name!r} is none; leave it out"
        raise InvalidArgumentError(message)
    nodes, wanted = source.columns, _require_target(name, target)
    rest = for_library(settings, nodes)
    del rest["depth"]
    return dry_run(source, target_named(wanted, nodes), plugins=manager, **rest)


def learn_part(name: str, manager: Plugins, *, target: str | None, **settings: Any) -> Part:
    """Open a source by name and learn a part from it."""
    from apsl_rules.learning import learn, nodes_of, open_source

    wanted = _require_target(name, target)
    source = open_source(name, manager, counts=settings.get("counts"))
    nodes = nodes_of(source)
    return learn(source, target_named(wanted, nodes), plugins=manager, **for_library(settings, nodes))


def target_named(text: str, nodes: tuple[Node, ...]) -> Node:
    """Return the one node that --target names."""
    words = text.split(",")
    if len(words) > 1 and set(words) <= {str(node) for node in nodes} and text not in map(str, nodes):
        message = f"--target takes one node, and {text!r} names {len(words)}; apsl many --targets {text} takes several"
        raise InvalidArgumentError(message)
    return node_named(text, nodes, "target")


def _require_target(source: str, target: str | None) -> str:
    """Return the target, which must be given."""
    if target is None:
        message = f"learning from {shown_source(source)!r} needs a target; add --target NODE"
        raise InvalidArgumentError(message)
    return target
