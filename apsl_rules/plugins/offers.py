"""What a plugin can offer: oracles, ways to open tables, finders, learners, file readers, exporters and checks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import attrs

from apsl_rules.data import Dataset
from apsl_rules.names import Node
from apsl_rules.neighbours import BlanketFinder, Finder
from apsl_rules.oracles import Oracle
from apsl_rules.plugins.learner_spec import Spec

if TYPE_CHECKING:
    from apsl_rules.parts import MarkedGraph, Part
    from apsl_rules.plugins.manager import Context, Findings, Run


@attrs.frozen
class OracleSettings:
    """What a run asks of an oracle: its alpha, how many threads it may use, and options of its own."""

    alpha: float = 0.01
    threads: int = 1
    options: Mapping[str, Any] = attrs.field(factory=dict)


@attrs.frozen
class FinderSettings:
    """What a run asks of a finder: its largest conditioning set and options of its own.

    ``unreliable`` says how a marginal test with too few rows counts; None leaves it to the finder's habit.
    ``false_discoveries`` bounds the share of false ones among the candidates; None leaves it to alpha alone.
    ``hidden`` nodes are never candidates: duplicates of another column.
    """

    max_conditioning: int | None = None
    unreliable: Literal["independent", "dependent"] | None = None
    false_discoveries: float | None = None
    options: Mapping[str, Any] = attrs.field(factory=dict)
    hidden: frozenset[Node] = frozenset()


def _names(given: Iterable[str]) -> frozenset[str]:
    return frozenset(given)


@attrs.frozen
class OracleOffer:
    """An oracle by name, and how to make it from what a caller learns from.

    ``needs`` says what it needs of a table: "counts" of categories, "moments" of tables with numbers, or "rows" in this
    process. ``make`` is then given the table as a ``Dataset``, whatever the caller gave: a frame, an array, a path or
    an address. ``options`` are the names of its own settings, and ``preset`` are settings that it always has. If a
    caller names no oracle, the first that needs nothing that the table lacks answers.

    An oracle without needs is given the source as it is; ``natural_for`` says for which it answers without being named.
    """

    name: str
    summary: str
    make: Callable[[Any, OracleSettings], Oracle]
    natural_for: Callable[[Any], bool] | None = None
    needs: frozenset[str] = attrs.field(default=frozenset(), converter=_names)
    options: tuple[str, ...] = ()
    preset: Mapping[str, Any] = attrs.field(factory=dict)


@attrs.frozen
class DatasetOffer:
    """A way to open tables: what it takes, the options that it reads, and how it opens one for "counts" or "moments".

    Opened for "either", a table is what suits its columns. The options of the oracle come too.
    """

    name: str
    summary: str
    takes: Callable[[Any], bool]
    open: Callable[[Any, Mapping[str, Any], Literal["counts", "moments", "either"]], Dataset]
    options: tuple[str, ...] = ()


@attrs.frozen
class FinderOffer:
    """A finder of parents and children by name, and whether it heeds a bound on false discoveries."""

    name: str
    summary: str
    make: Callable[[Oracle, FinderSettings], Finder]
    heeds_bound: bool = True


@attrs.frozen
class BlanketOffer:
    """A finder of Markov blankets by name."""

    name: str
    summary: str
    make: Callable[[Oracle, FinderSettings], BlanketFinder]


@attrs.frozen
class ScoreOffer:
    """A score of graphs by name, the sum of how well the parents of each node predict it.

    ``make`` gets the opened table and returns a function of a node and its parents, in nats, any penalty included. It
    is the same for graphs with the same independences, as BIC, AIC and BDeu are: searches compare classes of these.
    ``needs`` says what it needs of a table, as that of an oracle does; graphs are checked by the first that suits.
    ``most`` is what no node exceeds, whatever its parents, such as 0 for a log probability; None if that is not known.
    """

    name: str
    summary: str
    make: Callable[[Any], Callable[[Node, tuple[Node, ...]], float]]
    needs: frozenset[str] = attrs.field(default=frozenset(), converter=_names)
    most: float | None = None


@attrs.frozen
class LearnerOffer:
    """A learner: its spec, and how it finds things out unless the spec says everything (None: by tests).

    Code of its own says whether it honours the ``knowledge`` of a run; where it does not, knowledge is refused. It says
    also what it ``needs`` of a source besides answers: "counts", where it goes by scores. ``frontier`` gives the nodes
    to visit next (None: along open lines). A ``rival`` is compared with others where the caller names no learners.
    """

    spec: Spec
    findings: Callable[[Context], Findings] | None = None
    honours_knowledge: bool = False
    needs: frozenset[str] = frozenset()
    frontier: Callable[[Run], Iterator[tuple[Node, ...]]] | None = None
    rival: bool = False

    @property
    def name(self) -> str:
        """Return the name in the spec."""
        return self.spec.name

    @property
    def summary(self) -> str:
        """Return the summary in the spec."""
        return self.spec.summary


@attrs.frozen
class ReaderOffer:
    """A reader of files with certain endings, which gives a source to learn from."""

    name: str
    summary: str
    endings: tuple[str, ...]
    read: Callable[[Path], Any]


@attrs.frozen
class EngineOffer:
    """An engine by name: which sources it takes, and how it opens one.

    ``open`` returns an ``apsl_backends.engines.engine.Engine``.
    """

    name: str
    summary: str
    takes: Callable[[Any], bool]
    open: Callable[[Any], Any]


@attrs.frozen
class ExporterOffer:
    """A way to write a part as text; one that needs only the marks writes any graph (``export_graph``)."""

    name: str
    summary: str
    export: Callable[[Part], str]
    export_graph: Callable[[MarkedGraph], str] | None = None


@attrs.frozen
class CheckOffer:
    """A check of the installation: what it finds, in a sentence; it raises an ``ApslError`` if something is broken."""

    name: str
    summary: str
    check: Callable[[], str]
