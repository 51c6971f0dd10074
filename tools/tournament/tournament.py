"""The tournament: all programs on the same tables, each in an environment of its own, and one page with what came out.

Usage: python tools/tournament/tournament.py [--full] [--method NAME ...] [--limit SECONDS] [--page].

A program that is not here is installed from PyPI first. Results are kept in docs/tournament/results.json, method by
method, so that a run that was stopped goes on where it was; ``--page`` writes docs/tournament.md again without running.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from arena import Contest, contests, write
from contestant import METHODS
from standings import judged, page

from apsl_rules._files import write_text
from environments import ROOT, environments, python_of

KEPT = ROOT / "docs" / "tournament" / "results.json"
PAGE = ROOT / "docs" / "tournament.md"


def run(method: str, some: list[Contest], limit: int) -> dict[str, dict[str, Any]]:
    """Let a method learn from all tables that it can take, and judge what it found."""
    environment, kinds, *_ = METHODS[method]
    best = next(kind for kind in ("mixed", "categories", "numbers") if kind in kinds)
    some = [one for one in some if one.truth is not None or one.kind == best]
    script = str(Path(__file__).with_name("contestant.py"))
    with tempfile.TemporaryDirectory() as folder:
        write(some, Path(folder))
        command = [str(python_of(environment)), script, method, folder, str(limit)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{method} ended with {done.returncode}:\n{done.stderr.strip()[-2000:]}")
    found = [json.loads(line) for line in done.stdout.splitlines()]
    return {one["table"]: judged(one, next(c for c in some if c.name == one["table"])) for one in found}


def about(*, full: bool) -> dict[str, Any]:
    """Return the circumstances of a run."""
    versions = {name: one["version"] for name, one in environments().items() if "DoWhy" not in name}
    return {
        "form": "full" if full else "quick",
        "versions": {**versions, "apsl_rules": version("apsl_rules")},
        "machine": f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores",
        "python": platform.python_version(),
        "date": datetime.now(tz=UTC).date().isoformat(),
    }


def kept() -> dict[str, Any]:
    """Return the stored results, or none."""
    stored: Mapping[str, Any] = json.loads(KEPT.read_text("utf-8")) if KEPT.exists() else {}
    return {"about": {}, "methods": {}, **stored}


def main() -> None:
    """Run what is asked for, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--full", action="store_true", help="more networks, more draws, all real tables; for hours")
    parser.add_argument("--method", action="append", choices=METHODS, help="a method; may be repeated; without it all")
    parser.add_argument("--limit", type=int, help="CPU seconds for a table; 60, in full 600")
    parser.add_argument("--again", action="store_true", help="run methods of which there are results, too")
    parser.add_argument("--page", action="store_true", help="run nothing; write the page from what is kept")
    given = parser.parse_args()
    stored = kept()
    if not given.page:
        circumstances = about(full=given.full)
        if {**stored["about"], "date": None} != {**circumstances, "date": None}:
            stored = {"about": circumstances, "methods": {}}
        some = list(contests(full=given.full))
        for method in given.method or METHODS:
            if given.again or method not in stored["methods"]:
                print(f"{method} ...", flush=True)
                stored["methods"][method] = run(method, some, given.limit or (600 if given.full else 60))
                KEPT.parent.mkdir(parents=True, exist_ok=True)
                write_text(KEPT, json.dumps(stored, indent=1, sort_keys=True) + "\n")
    write_text(PAGE, page(stored))
    print(f"written: {PAGE.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
