"""Proofs and conflicts in a notebook: a tree that folds, from what is proved down to the tests."""

from __future__ import annotations

from apsl_rules.names import count_of
from apsl_rules.notebook.pieces import card, fold, indent, name, names, paragraph, soft, table, text, title
from apsl_rules.rules import Conflict, Proof

#: How many steps of a proof are shown, and how many levels below each other.
MOST_STEPS = 150
_DEEPEST = 30
_OPEN_LEVELS = 2


def proof_html(proof: Proof) -> str:
    """Return a proof as a tree that folds."""
    return card(tree(proof))


def tree(proof: Proof) -> str:
    """Return the tree of a proof, with the sides of a conflict and what is known of its probability."""
    sides = [fold(f"side {number}", indent(tree(side))) for number, side in enumerate(proof.sides, start=1)]
    told = [paragraph(soft(text(line))) for line in proof.probability_lines]
    return "".join([_Tree(proof).html(), *sides, *told])


class _Tree:
    """Writes the steps of one proof, each once."""

    def __init__(self, proof: Proof) -> None:
        self._proof = proof
        self._shown: set[int] = set()

    def html(self) -> str:
        written = self._step(len(self._proof.steps) - 1, 0)
        rest = len(self._proof.steps) - len(self._shown)
        if rest:
            written += paragraph(soft(f"{count_of(rest, 'further step')} left out here; print the proof to see all"))
        return written

    def _step(self, at: int, level: int) -> str:
        step = self._proof.steps[at]
        words = f"<b>{text(step.text)}</b>" if level == 0 else text(step.text)
        if at in self._shown and step.premises:
            return paragraph(f"{words} {soft('[shown above]')}")
        self._shown.add(at)
        line = f"{words} {soft(f'[{text(step.because)}]')}"
        if not step.premises:
            return paragraph(line)
        if level >= _DEEPEST or len(self._shown) >= MOST_STEPS:
            return paragraph(f"{line} {soft('…')}")
        below = "".join(self._step(one, level + 1) for one in step.premises)
        return fold(line, indent(below), is_open=level < _OPEN_LEVELS)


def conflict_html(conflict: Conflict) -> str:
    """Return a contradiction in words, and the proof of each of its sides."""
    sides = [
        fold(f"side {number}: {text(proof.steps[-1].text)}", indent(tree(proof)))
        for number, proof in enumerate(conflict.proofs, start=1)
    ]
    return card(title(f"{name(conflict.pair[0])} ✕ {name(conflict.pair[1])}"), paragraph(_words(conflict)), *sides)


def _words(conflict: Conflict) -> str:
    return text(conflict.reading)


def conflicts_fold(conflicts: tuple[Conflict, ...]) -> str:
    """Return several contradictions under a fold, or nothing."""
    rows = [[names(one.pair), text(one.reading)] for one in conflicts]
    listed = table(("pair", "contradiction"), rows, words=2, what="contradiction")
    return fold(count_of(len(conflicts), "contradiction"), listed) if conflicts else ""
