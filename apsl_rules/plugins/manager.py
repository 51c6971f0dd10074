"""Plugins and what they offer, and the context that a learner runs in."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import chain, count
from typing import TYPE_CHECKING, Any, Protocol, Self, TypeVar

import attrs
import pluggy

from apsl_rules.data import Dataset
from apsl_rules.errors import ApslError, InvalidArgumentError, PluginError, UnknownNameError
from apsl_rules.knowledge import NOTHING, Knowledge
from apsl_rules.names import Depth, Node, nearest, spelt
from apsl_rules.oracles import Asker, Counts
from apsl_rules.plugins import hookspecs
from apsl_rules.plugins.offers import (
    BlanketOffer,
    CheckOffer,
    DatasetOffer,
    EngineOffer,
    ExporterOffer,
    FinderOffer,
    FinderSettings,
    LearnerOffer,
    OracleOffer,
    ReaderOffer,
    ScoreOffer,
    Spec,
)
from apsl_rules.rules import Finding, Mark, Rulebook

if TYPE_CHECKING:
    from apsl_rules.parts import Part

Offer = TypeVar(
    "Offer",
    OracleOffer,
    DatasetOffer,
    FinderOffer,
    BlanketOffer,
    ScoreOffer,
    LearnerOffer,
    Rulebook,
    ReaderOffer,
    EngineOffer,
    ExporterOffer,
    CheckOffer,
)

_OFFERS: dict[str, Any] = {
    "apsl_oracles": OracleOffer,
    "apsl_datasets": DatasetOffer,
    "apsl_finders": FinderOffer,
    "apsl_blankets": BlanketOffer,
    "apsl_scores": ScoreOffer,
    "apsl_learners": LearnerOffer,
    "apsl_rulebooks": Rulebook,
    "apsl_readers": ReaderOffer,
    "apsl_engines": EngineOffer,
    "apsl_exporters": ExporterOffer,
    "apsl_checks": CheckOffer,
}


class Plugins:
    """The plugins of a program or of one run."""

    def __init__(self, *, watched: bool = True) -> None:
        self._manager = pluggy.PluginManager(hookspecs.PROJECT)
        self._manager.add_hookspecs(hookspecs)
        self._gathered: dict[str, dict[str, tuple[str, Any]]] = {}
        self._watched = watched

    def load_entry_points(self) -> None:
        """Register every installed plugin that declares an entry point."""
        try:
            self._manager.load_setuptools_entrypoints(hookspecs.PROJECT)
        except Exception as error:
            message = f"an installed plugin cannot be loaded: {type(error).__name__}: {error}"
            raise PluginError(message) from error
        self._gathered.clear()

    def register(self, plugin: object, name: str | None = None) -> None:
        """Register a module or object with hook functions; without a name it goes by that of its module or class."""
        name = name or self._free_name(plugin)
        try:
            self._manager.register(plugin, name)
            self._manager.check_pending()
        except ValueError as error:
            message = f"plugin {name!r} is registered already; register it once, under a name of its own"
            raise PluginError(message) from error
        except pluggy.PluginValidationError as error:
            if self._manager.is_registered(plugin):
                self._manager.unregister(plugin)
            message = f"plugin {name!r} cannot be registered: {error}"
            raise PluginError(message) from error
        self._gathered.clear()

    def _free_name(self, plugin: object) -> str:
        """Return the name of a plugin's module or class, numbered where it is taken."""
        name = getattr(plugin, "__name__", type(plugin).__name__)
        numbered = (f"{name} {number}" for number in count(2))
        return next(free for free in chain([name], numbered) if not self._manager.has_plugin(free))

    def register_module(self, name: str) -> None:
        """Import a module by name and register it."""
        try:
            module = importlib.import_module(name)
        except Exception as error:
            message = f"plugin module {name!r} cannot be imported: {type(error).__name__}: {error}"
            raise PluginError(message) from error
        self.register(module, name)

    def copy(self, *, watched: bool = True) -> Plugins:
        """Return a manager with the same plugins, to which more can be added for one run; unwatched, it tells none."""
        other = Plugins(watched=watched)
        for name, plugin in self._manager.list_name_plugin():
            if plugin is not None:
                other.register(plugin, name)
        return other

    @property
    def names(self) -> tuple[str, ...]:
        """Return the names of all plugins, in the order of registration."""
        return tuple(name for name, plugin in self._manager.list_name_plugin() if plugin is not None)

    # --- offers ----------------------------------------------------------------------------------------------------

    @property
    def oracles(self) -> dict[str, OracleOffer]:
        """Return the oracles by name."""
        return self._offers("apsl_oracles", OracleOffer)

    @property
    def datasets(self) -> dict[str, DatasetOffer]:
        """Return the ways to open tables by name."""
        return self._offers("apsl_datasets", DatasetOffer)

    @property
    def finders(self) -> dict[str, FinderOffer]:
        """Return the finders by name."""
        return self._offers("apsl_finders", FinderOffer)

    @property
    def blankets(self) -> dict[str, BlanketOffer]:
        """Return the blanket finders by name."""
        return self._offers("apsl_blankets", BlanketOffer)

    @property
    def scores(self) -> dict[str, ScoreOffer]:
        """Return the scores by name."""
        return self._offers("apsl_scores", ScoreOffer)

    @property
    def learners(self) -> dict[str, LearnerOffer]:
        """Return the learners by name."""
        return self._offers("apsl_learners", LearnerOffer)

    @property
    def rulebooks(self) -> dict[str, Rulebook]:
        """Return the rulebooks by name."""
        return self._offers("apsl_rulebooks", Rulebook)

    def rulebook_of(self, spec: Spec) -> Rulebook:
        """Return the rulebook that a learner names, with the extra rules of its spec."""
        return spec.rules.complete(pick(self.rulebooks, spec.rules.rulebook, "rulebook"))

    @property
    def readers(self) -> dict[str, ReaderOffer]:
        """Return the file readers by name."""
        return self._offers("apsl_readers", ReaderOffer)

    def engine_of(self, source: Any) -> Any:
        """Return the engine that a plugin opens for a source, or the source as it is where none takes it."""
        for offer in self._offers("apsl_engines", EngineOffer).values():
            if offer.takes(source):
                return offer.open(source)
        return source

    @property
    def exporters(self) -> dict[str, ExporterOffer]:
        """Return the exporters by name."""
        return self._offers("apsl_exporters", ExporterOffer)

    @property
    def checks(self) -> dict[str, CheckOffer]:
        """Return the checks of the installation by name."""
        return self._offers("apsl_checks", CheckOffer)

    def offers_of(self, plugin: str) -> tuple[str, ...]:
        """Return what one plugin offers, such as "oracle 'dsep'"."""
        for hook, kind in _OFFERS.items():
            self._offers(hook, kind)
        return tuple(
            f"{_kind(hook)} {name}"
            for hook, offers in self._gathered.items()
            for name, (owner, _) in offers.items()
            if owner == plugin
        )

    def origin(self, hook: str, name: str) -> str:
        """Say who offers something, for messages."""
        return f"{_kind(hook)} {name!r} of plugin {self._gathered[hook][name][0]!r}"

    def _offers(self, hook: str, kind: type[Offer]) -> dict[str, Offer]:
        if hook not in self._gathered:
            gathered: dict[str, tuple[str, Any]] = {}
            for implementation in reversed(getattr(self._manager.hook, hook).get_hookimpls()):
                plugin = implementation.plugin_name
                for offer in _answer(plugin, hook, implementation.function):
                    if not isinstance(offer, kind):
                        message = f"plugin {plugin!r} answered the hook {hook} with {offer!r}, not {kind.__name__}"
                        raise PluginError(message)
                    if offer.name in gathered:
                        first = gathered[offer.name][0]
                        message = f"plugins {first!r} and {plugin!r} both offer {offer.name!r} in {hook}; rename one"
                        raise PluginError(message)
                    gathered[offer.name] = plugin, offer
            self._gathered[hook] = gathered
        return {name: offer for name, (_, offer) in self._gathered[hook].items()}

    # --- watching --------------------------------------------------------------------------------------------------

    def watcher(self, hook: str) -> Callable[[Any], None] | None:
        """Return a function that tells all plugins which watch something, or None when none does."""
        implementations = getattr(self._manager.hook, hook).get_hookimpls() if self._watched else []
        if not implementations:
            return None

        def tell(event: Any) -> None:
            for implementation in reversed(implementations):
                try:
                    implementation.function(*([event] if implementation.argnames else []))
                except ApslError:
                    raise
                except Exception as error:
                    plugin = implementation.plugin_name
                    message = f"plugin {plugin!r} raised {type(error).__name__} in {hook}({event!r}): {error}"
                    raise PluginError(message) from error

        return tell


def _kind(hook: str) -> str:
    return hook.removeprefix("apsl_").removesuffix("s")


def _answer(plugin: str, hook: str, function: Callable[[], Iterable[Any]]) -> list[Any]:
    try:
        return list(function())
    except Exception as error:
        message = f"plugin {plugin!r} raised {type(error).__name__} in the hook {hook}: {error}"
        raise PluginError(message) from error


def pick(offers: dict[str, Offer], name: str, what: str) -> Offer:
    """Return the offer of a name, or a sentence with the nearest name and all names."""
    if not isinstance(name, str) or name not in offers:
        hint = nearest(name, offers) if isinstance(name, str) else ""
        hint = hint or f"; there are {', '.join(sorted(offers))}"
        message = f"unknown {what} {spelt(name)}{hint}"
        raise UnknownNameError(message)
    return offers[name]


@lru_cache(maxsize=1)
def installed() -> Plugins:
    """Return the program's plugins: the built-in ones and all that are installed."""
    plugins = Plugins()
    plugins.load_entry_points()
    return plugins


def register(plugin: object, name: str | None = None) -> None:
    """Register a ``plugin`` for the whole program: an object or module with hooks, under a ``name`` if one is given."""
    installed().register(plugin, name)


def load_plugins(plugins: Plugins | Iterable[object]) -> Plugins:
    """Return the installed plugins and those given for one run."""
    if isinstance(plugins, Plugins):
        return plugins
    if isinstance(plugins, str) or not isinstance(plugins, Iterable):
        message = f"plugins is {spelt(plugins)}; give a list of plugins, such as [plugin]"
        raise InvalidArgumentError(message)
    further = list(plugins)
    if not further:
        return installed()
    manager = installed().copy()
    for plugin in further:
        if isinstance(plugin, str):
            manager.register_module(plugin)
        elif isinstance(plugin, int | float | None):
            message = f"a plugin is {spelt(plugin)}; give objects or modules with hooks, or names of modules"
            raise InvalidArgumentError(message)
        else:
            manager.register(plugin)
    return manager


@attrs.frozen(eq=False)
class Context:
    """All that a learner needs to know: the part to learn, the spec to follow, the asker, and what is known beforehand.

    ``data`` is the dataset that the answers come from, if they come from one. ``settings`` go into the
    part. ``whole`` says that the graph of all nodes is wanted, of which the part is a piece; ``copies`` that it is to
    have the edges of all columns that copy the target too.
    """

    target: Node
    depth: Depth
    spec: Spec
    asker: Asker
    plugins: Plugins
    finder_settings: FinderSettings
    settings: Mapping[str, Any]
    data: Dataset | None = None
    threads: int = 1
    knowledge: Knowledge = NOTHING
    whole: bool = False
    copies: bool = False


@attrs.frozen
class Visited:
    """A visited node, its neighbours, and what was found there.

    Pairs that no test could decide are told as such, unless both nodes are among ``scored``: nodes that a score
    compared with each other, which says more than the test that was not made.
    """

    node: Node
    neighbours: tuple[Node, ...]
    findings: tuple[Finding, ...]
    scored: frozenset[Node] = frozenset()


class Marks(Protocol):
    """Marks as far as the choice of the next nodes needs them."""

    def neighbours_of(self, node: Node) -> Sequence[Node]:
        """Return the nodes that are adjacent to a node."""

    def mark(self, x: Node, y: Node) -> Mark:
        """Return the mark of a pair."""

    def has_arrow(self, tail: Node, head: Node) -> bool:
        """Return whether an arrow goes from one node to another."""


@attrs.frozen(eq=False)
class Searched:
    """What a search found over the nodes near the target; the rules are told only once no search follows.

    ``tell`` returns the visits, and what a reader of the part should know; it compares what was found with rivals
    unless told not to.
    """

    core: tuple[Node, ...]
    marks: Marks
    distances: Mapping[Node, int]
    tell: Callable[[bool], tuple[Sequence[Visited], Sequence[str]]]


class State(Protocol):
    """What a run knows at one moment. It never changes: each step returns a new state."""

    @property
    def visited(self) -> Mapping[Node, tuple[Node, ...]]:
        """Return the nodes visited so far in their order, each with its neighbours."""

    @property
    def distances(self) -> Mapping[Node, int]:
        """Return how far known nodes are from the target."""

    def marks(self) -> Marks:
        """Return the marks that hold."""

    def told(self, *visits: Visited, notes: Sequence[str] = ()) -> Self:
        """Return the state after more visits."""

    def searched(self, found: Searched) -> Self:
        """Return the state in which a search replaces all that was known."""


class Run(Protocol):
    """What a frontier looks at: the state of a run, which moves on between two looks."""

    @property
    def target(self) -> Node:
        """Return the target of the part."""

    @property
    def depth(self) -> Depth:
        """Return the asked depth."""

    @property
    def nodes(self) -> tuple[Node, ...]:
        """Return all nodes."""

    @property
    def state(self) -> State:
        """Return what the run knows now."""


class Findings(Protocol):
    """How a learner finds things out. ``whole`` learners visit all nodes, whatever part is asked for."""

    whole: bool

    def join(self, state: Any, nodes: tuple[Node, ...]) -> Any:
        """Return the state after at least one of some nodes was visited.

        A limit or an interrupt leaves this by its exception; the run then ends with the state that it has.
        """


@attrs.frozen
class Progress:
    """A sign of life: the node just visited, how many that makes, how many are known to wait, and the counts.

    ``so_far`` draws up the part as it is known by now, without its figures; it asks nothing and changes nothing.
    """

    node: Node
    visited: int
    known: int
    counts: Counts
    so_far: Callable[[], Part]
