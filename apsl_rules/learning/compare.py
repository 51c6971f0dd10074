"""Several learners on one task, side by side."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from time import process_time
from typing import TYPE_CHECKING, Any

import attrs

from apsl_rules._arguments import listed
from apsl_rules.errors import Interrupted, InvalidArgumentError
from apsl_rules.graphs.cpdag import Depth, check_depth
from apsl_rules.learning.choose import AUTO, gathered, is_auto, learner_offer
from apsl_rules.learning.learn import learn
from apsl_rules.names import Node, Pair, check_target
from apsl_rules.parts.part import Part
from apsl_rules.plugins.learner_spec import Spec
from apsl_rules.plugins.manager import Plugins
from apsl_rules.stopping import interruptible

if TYPE_CHECKING:
    import pandas as pd

#: Tests that a learner may ask before it is timed, so that its time holds no compiling and loading of code.
WARMING = 5_000


@attrs.frozen(repr=False)
class Comparison:
    """The part that each learner gave, by its name, and the CPU seconds it took; the first one is the yardstick."""

    parts: Mapping[str, Part]
    seconds: Mapping[str, float] = attrs.field(eq=False)

    def __hash__(self) -> int:
        return hash((Comparison, *self.parts))

    def rows(self) -> list[dict[str, Any]]:
        """Return one row of plain values for each learner.

        ``edges`` are those of the asked part, ``arrows``, ``lines`` and ``conflicts`` how they are marked; ``shared``
        counts the edges that the first learner has too, ``same`` those of them with the same mark and direction.
        """
        yardstick = next(iter(self.parts.values()))
        return [
            {
                "learner": name,
                "edges": len(part.edges),
                "arrows": len(part.arrows),
                "lines": len(part.lines),
                "conflicts": len(part.conflicts),
                "shared": len(part.edges & yardstick.edges),
                "same": sum(_drawn(part, pair) == _drawn(yardstick, pair) for pair in part.edges & yardstick.edges),
                "visited": len(part.visited),
                "tests": part.counts.asked,
                "cpu": round(self.seconds[name], 4),
                "complete": part.incomplete is None,
            }
            for name, part in self.parts.items()
        ]

    def to_pandas(self) -> pd.DataFrame:
        """Return the rows as a data frame."""
        import pandas as pd

        return pd.DataFrame(self.rows())

    def __str__(self) -> str:
        rows = self.rows()
        cells = [list(rows[0]), *([_cell(value) for value in row.values()] for row in rows)]
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        lines = []
        for name, *figures in cells:
            right = [figure.rjust(width) for figure, width in zip(figures, widths[1:], strict=True)]
            lines.append("  ".join([name.ljust(widths[0]), *right]))
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"<Comparison of {', '.join(self.parts)}>"


@interruptible
def compare(
    source: Any,
    target: Node,
    depth: Depth = 1,
    *,
    learners: Iterable[str | Path | Spec],
    plugins: Plugins | Iterable[object] = (),
    **settings: Any,
) -> Comparison:
    """Learn the same part with several learners and lay the results side by side.

    Parameters
    ----------
    source, target, depth, plugins
        As for ``learn``.
    learners
        Names ("auto" too), spec files or specs; the others are compared with the first.
    settings
        Further settings of ``learn``, the same for all. Each learner asks its own questions anew, so that the tests
        and the time are its own. An interrupt raises ``Interrupted``, whose ``result`` has the learners that are done.

    Examples
    --------
    >>> from apsl_rules import known_dag
    >>> dag = known_dag({"a": [], "b": [], "t": ["a", "b"], "z": ["a", "b", "t"]})
    >>> compared = compare(dag, "t", learners=["apsl", "pcd-by-pcd-paper"])
    >>> [(row["learner"], row["arrows"], row["shared"], row["same"]) for row in compared.rows()]
    [('apsl', 2, 3, 3), ('pcd-by-pcd-paper', 3, 3, 2)]
    """
    check_target(target)
    check_depth(depth)
    manager = gathered(plugins)
    given = listed("learners", learners, "learners, such as ['auto', 'apsl']")
    named = [(AUTO if is_auto(one) else learner_offer(one, manager).name, one) for one in given]
    if not named:
        message = "no learners to compare; name at least one, such as 'apsl'"
        raise InvalidArgumentError(message)
    parts: dict[str, Part] = {}
    seconds: dict[str, float] = {}
    for name, learner in named:
        if name in parts:
            message = f"the learner {name!r} is named twice; name each once"
            raise InvalidArgumentError(message)
        try:
            if not callable(getattr(source, "verdict", None)):
                # a limit would change whom the source decides on
                limits = {} if name == AUTO else {"max_tests": WARMING}
                learn(source, target, learner=learner, plugins=manager, **{**settings, **limits})
            begun = process_time()
            part = learn(source, target, depth=depth, learner=learner, plugins=manager, **settings)
            seconds[name] = process_time() - begun
            parts[name] = part
        except KeyboardInterrupt as stop:
            so_far = Comparison(parts, seconds) if parts else None
            raise Interrupted(part=getattr(stop, "part", None), result=so_far) from None
    return Comparison(parts, seconds)


def _drawn(part: Part, pair: Pair) -> tuple[bool, bool, str]:
    """Return the mark of an edge and the direction of its arrow."""
    x, y = sorted(pair, key=part.nodes.index)
    return part.store.has_arrow(x, y), part.store.has_arrow(y, x), str(part.mark(x, y))


def _cell(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:.3f}" if isinstance(value, float) else str(value)
