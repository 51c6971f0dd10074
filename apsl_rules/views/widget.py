"""A live report inside a notebook: click an edge, and Python has its proof. It needs the extra ``widget``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from importlib.resources import files
from itertools import product
from typing import Any

from apsl_rules.errors import InvalidArgumentError, MissingPackageError
from apsl_rules.names import Node, shown
from apsl_rules.parts import EdgeFigures, Part
from apsl_rules.rules import Proof
from apsl_rules.views.page import report_html
from apsl_rules.views.part_html import part_html

try:
    import anywidget
    import traitlets
except ModuleNotFoundError as missing:
    _MESSAGE = "the widget needs anywidget; install it with: pip install 'apsl_rules[widget]', or use part.report()"
    raise MissingPackageError(_MESSAGE) from missing

_ENDS = 2


class PartWidget(anywidget.AnyWidget):
    """The report of a part, live: what is clicked there is known here.

    ``selected`` is the edge that is chosen, as (source, target), or None; set it to choose one from here. ``node`` is
    the node that is chosen, or None. ``proof`` is the proof of the chosen edge, the same as ``part.why(*selected)``.
    All three can be observed, as every trait: ``widget.observe(handler, "proof")``. ``height`` is in pixels.
    """

    _esm = (files("apsl_rules.views") / "widget.js").read_text("utf-8")

    page = traitlets.Unicode().tag(sync=True)
    height = traitlets.Int(640, min=120).tag(sync=True)
    heard = traitlets.Dict().tag(sync=True)
    told = traitlets.Dict().tag(sync=True)
    selected = traitlets.Any(None, allow_none=True)
    node = traitlets.Any(None, allow_none=True)
    proof = traitlets.Instance(Proof, allow_none=True)

    def __init__(self, part: Part, figures: EdgeFigures | None = None, *, height: int = 640) -> None:
        self.part = part
        self._by_name: dict[str, list[Node]] = {}
        for node in part.nodes:
            self._by_name.setdefault(shown(node), []).append(node)
        super().__init__(page=report_html(part, figures), height=height, heard={}, told={"edge": None, "turn": 0})

    def __repr__(self) -> str:
        return f"<PartWidget of {self.part!r}>"

    def _repr_mimebundle_(self, **options: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        """Show the widget, and the drawing where widgets cannot run, as in views of saved notebooks."""
        data, about = super()._repr_mimebundle_(**options) or ({}, {})
        return {**data, "text/html": part_html(self.part)}, about

    @traitlets.validate("selected")
    def _check(self, proposal: Mapping[str, Any]) -> tuple[Node, Node] | None:
        """Refuse what is no edge of the part."""
        edge = proposal["value"]
        if edge is None:
            return None
        if isinstance(edge, str) or not isinstance(edge, Iterable) or len(pair := tuple(edge)) != _ENDS:
            message = f"selected is {edge!r}; give the two ends of an edge, such as ('a', 'b'), or None"
            raise InvalidArgumentError(message)
        x, y = pair
        if not self.part.mark(x, y).is_edge:
            message = f"{x!r} and {y!r} are not joined by an edge of the part; give the two ends of one"
            raise InvalidArgumentError(message)
        return x, y

    @traitlets.observe("selected")
    def _choose(self, change: Mapping[str, Any]) -> None:
        """Prove the chosen edge, and have the page choose it if it was chosen here."""
        edge = change["new"]
        self.proof = None if edge is None else self.part.why(*edge)
        names = None if edge is None else [shown(node) for node in edge]
        if edge is not None and self.heard.get("edge") != names:
            self.told = {"edge": names, "turn": self.told["turn"] + 1}

    @traitlets.observe("heard")
    def _hear(self, change: Mapping[str, Any]) -> None:
        """Take over what was chosen on the page."""
        edge, node = change["new"].get("edge"), change["new"].get("node")
        with self.hold_trait_notifications():
            self.node = next(iter(self._by_name.get(node, [None]))) if isinstance(node, str) else None
            self.selected = self._edge(edge)

    def _edge(self, names: Any) -> tuple[Node, Node] | None:
        """Return the edge with two names; where nodes share a name, one that is an edge of the part."""
        if not (isinstance(names, list | tuple) and len(names) == _ENDS and all(isinstance(one, str) for one in names)):
            return None
        pairs = product(*(self._by_name.get(one, []) for one in names))
        return next(((x, y) for x, y in pairs if x != y and self.part.mark(x, y).is_edge), None)
