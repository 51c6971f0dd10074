"""The columns that say where rows come from: which they are, what comes before what, and what interventions act on."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Mapping
from typing import TypeAlias

import attrs

from apsl_rules.data import Dataset
from apsl_rules.errors import DataError, InvalidArgumentError
from apsl_rules.knowledge import Knowledge
from apsl_rules.names import Node, in_order, require_known, spelt
from apsl_rules.notes import argument, named

#: The columns that say where rows come from: none, one, or several.
EnvironmentColumns: TypeAlias = Node | Iterable[Node] | None
#: What is known to be made differently where a column differs.
Interventions: TypeAlias = Mapping[Node, Iterable[Node]] | None


def environment_columns(given: object, interventions: object = None) -> tuple[Node, ...]:
    """Return the columns that say where rows come from, those of interventions too."""
    if given is None:
        named_ones: list[Node] = []
    elif isinstance(given, str | tuple) or not isinstance(given, Iterable):
        named_ones = [given] if isinstance(given, Hashable) else [None]
    else:
        named_ones = list(given)
    if not all(isinstance(one, Hashable) and one is not None for one in named_ones):
        advice = "give a column, such as 'month', or a list of columns"
        raise InvalidArgumentError(argument="environment", value=given, advice=advice)
    return tuple(dict.fromkeys((*named_ones, *targets_of(interventions))))


def targets_of(given: object) -> dict[Node, tuple[Node, ...]]:
    """Return the known targets of interventions, by the column that says where rows come from."""
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        message = f"{named('interventions')} is {spelt(given)}; give columns with what they act on, {_EXAMPLE}"
        raise InvalidArgumentError(message, argument="interventions")
    found: dict[Node, tuple[Node, ...]] = {}
    for column, targets in given.items():
        if isinstance(targets, str) or not isinstance(targets, Iterable):
            message = f"{named('interventions')} has {spelt(targets)} for {column!r}; give a list, {_EXAMPLE}"
            raise InvalidArgumentError(message, argument="interventions")
        found[column] = tuple(targets)
    return found


_EXAMPLE = "such as {'arm': ['dose']}"


@attrs.frozen
class Environments:
    """The columns that say where rows come from, and the known targets of those that stand for interventions."""

    columns: tuple[Node, ...] = ()
    targets: Mapping[Node, tuple[Node, ...]] = attrs.field(factory=dict)

    @classmethod
    def of(cls, environment: object, interventions: object) -> Environments | None:
        """Return the environments that settings name, None where they name no column."""
        columns = environment_columns(environment, interventions)
        return cls(columns, targets_of(interventions)) if columns else None

    def known(self, known: Knowledge, nodes: Collection[Node]) -> Knowledge:
        """Return what is known of nodes where environments come first, and interventions act on their targets only."""
        for column in (*self.columns, *(one for some in self.targets.values() for one in some)):
            require_known(column, nodes, f"column in {named('environment')}")
        for column, targets in self.targets.items():
            if wrong := [one for one in targets if one in self.columns]:
                message = f"{wrong[0]!r} says where rows come from, so {column!r} cannot act on it; name another column"
                raise InvalidArgumentError(message, argument="interventions")
        others = [node for node in in_order(nodes) if node not in self.columns]
        first = known.after(self.columns, others)
        required = [(column, one) for column, some in self.targets.items() for one in some]
        apart = [(column, one) for column, some in self.targets.items() for one in others if one not in some]
        return attrs.evolve(first, required=(*first.required, *required), apart=(*first.apart, *apart))

    def require_categories(self, data: Dataset) -> None:
        """Refuse environments whose levels cannot be told apart."""
        for column in self.columns:
            if column in data.place and not data.is_category(column):
                kinds = argument("kinds", {column: "category"})
                message = f"{column!r} says where rows come from but was read as a number; read it with {kinds}"
                raise DataError(message)
