"""Write the page that says what each learner feeds to the same rules, from the specs themselves.

Run it after a spec has changed; with ``--check`` it writes nothing and fails if the page is out of date.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import attrs

from apsl_rules.plugins.offers import Spec, parse_spec

ROOT = Path(__file__).parents[1]
FOLDERS = (ROOT / "specs" / "apsl_specs" / "learners", ROOT / "backends" / "apsl_published" / "learners")
PAGE = FOLDERS[0] / "README.md"

EDGES = {
    "both": "each finds the other",
    "none": "one finds the other",
}
SOURCES = {
    "stored": "separators that the finders of both ends kept",
    "stored-first": "separators that the finder of the first end kept",
    "search": "separators sought around both ends",
    "search-first": "separators sought around the first end",
    "changes": "independence changes, given separators or blankets",
    "changes-first": "independence changes, given the first end's blanket",
    "identities": "identities of neighbours",
    "none": "–",
}
VISITS = {
    "local": "whom open lines lead to",
    "lines": "whom open lines lead to",
    "layers": "the next in a queue of layers",
    "queue": "the next in a queue of all listed",
}

INTRODUCTION = """\
# What each learner feeds to the same rules

<!-- Written by tools/learners_page.py from the specs here and in apsl_published; do not edit. -->

Every learner tells findings and lets the same engine conclude the arrows, so that each arrow has its proof. A local
learner visits node after node. A visit settles the edges of a node and asks one question of the triples around it:
Step 1 from an end (`spouse`), Step 2 from the middle (`collider`), and `chain` where the middle is no collider.

With a perfect oracle, `apsl` without Step 2 (`pcd-by-pcd`) and without Step 1 (`cmb`) is still exact, as long as gaps
must be known and open lines are followed: the V-structures that one step does not see from here, the other sees from
the next node. What the missing step costs is visits.
"""


def main(words: Sequence[str]) -> int:
    """Write the page, or compare it with what is committed."""
    specs = [parse_spec(file.read_text("utf-8"), file.name) for folder in FOLDERS for file in folder.glob("*.toml")]
    text = page(sorted(specs, key=lambda spec: spec.name))
    if "--check" not in words:
        PAGE.write_text(text, "utf-8")
        return 0
    if PAGE.read_text("utf-8") == text:
        return 0
    print(f"{PAGE.name} is out of date; run python tools/learners_page.py")
    return 1


def page(specs: Sequence[Spec]) -> str:
    """Return the whole page."""
    local = [spec for spec in specs if spec.kind in VISITS]
    others = [spec for spec in specs if spec.kind not in VISITS]
    apsl = next(spec for spec in local if spec.name == "apsl")
    return "\n".join(
        [
            INTRODUCTION,
            "## Local learners",
            "",
            *table(
                ["learner", "feeds", "finder", "an edge is drawn when", "Step 1: spouses from",
                 "Step 2: colliders from", "rules", "contradictions", "visited next"],
                (_local(spec) for spec in local),
            ),
            "",
            "## As changes to `apsl`",
            "",
            *table(["learner", "what it is", "settings that differ"], (_changed(spec, apsl) for spec in local)),
            "",
            "## Learners with code of their own",
            "",
            "They tell what they find to the same rules. `apsl-score` searches near the target, the others learn",
            "everything and cut the asked part out.",
            "",
            *table(["learner", "what it is", "rules", "contradictions", "options"], (_whole(spec) for spec in others)),
            "",
        ]
    )  # fmt: skip


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """Return the lines of a table."""
    return [f"| {' | '.join(row)} |" for row in (head, ["---"] * len(head), *rows)]


def _local(spec: Spec) -> list[str]:
    confirmed = "" if spec.findings.confirm else ", unconfirmed"
    return [
        f"`{spec.name}`",
        ", ".join(_fed(spec)),
        spec.neighbours.finder,
        "both were visited and find each other" if spec.kind == "queue" else EDGES[spec.neighbours.symmetry],
        SOURCES[spec.findings.spouses] + confirmed,
        SOURCES[_colliders(spec)],
        spec.rules.rulebook,
        spec.rules.conflicts,
        f"{VISITS[spec.kind]}, by {spec.frontier.order}",
    ]


def _fed(spec: Spec) -> list[str]:
    """Return the relations that a visit may tell."""
    findings, colliders = spec.findings, _colliders(spec)
    told = {
        "adjacent": True,
        "gap": colliders != "identities",
        "spouse": findings.spouses != "none",
        "collider": colliders not in ("none", "identities"),
        "chain": findings.chains,
        "arrow": colliders == "identities",
    }
    return [relation for relation, is_told in told.items() if is_told]


def _colliders(spec: Spec) -> str:
    """Return where colliders come from: an option says it where it is no separator."""
    return str(spec.options.get("colliders", spec.findings.colliders))


def _whole(spec: Spec) -> list[str]:
    options = "<br>".join(_setting(name, value) for name, value in spec.options.items())
    return [f"`{spec.name}`", spec.summary, spec.rules.rulebook, spec.rules.conflicts, options or "–"]


def _changed(spec: Spec, base: Spec) -> list[str]:
    ours, theirs = _settings(spec), _settings(base)
    differ = [_setting(name, value) for name, value in ours.items() if theirs.get(name) != value]
    return [f"`{spec.name}`", spec.summary, "<br>".join(differ) or "–"]


def _setting(name: str, value: Any) -> str:
    """Spell a setting as in the file."""
    return f"`{name} = {json.dumps(value, ensure_ascii=False)}`"


def _settings(spec: Spec) -> dict[str, Any]:
    """Return all settings by table and name, options included."""
    tables = {name: table for name, table in attrs.asdict(spec).items() if isinstance(table, dict)}
    kind = {} if spec.kind == "local" else {"kind": spec.kind}
    return kind | {f"{name}.{key}": value for name, table in tables.items() for key, value in table.items()}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
