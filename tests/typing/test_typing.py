"""The public interface as type checkers see it: right calls pass mypy and pyright, wrong ones do not."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [pytest.mark.slow, pytest.mark.release]

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
FILES = [str(HERE / name) for name in ("learning.py", "results.py", "wrong.py")]
#: Warnings that pyright gives for what is meant, and checks of libraries without types.
_PYRIGHT = {
    "typeCheckingMode": "standard",
    "reportUnnecessaryTypeIgnoreComment": "error",
    "enableTypeIgnoreComments": False,
    "reportMissingModuleSource": "none",
}


def test_mypy_accepts_right_calls_and_refuses_wrong_ones() -> None:
    """All files pass mypy in its strict mode, in which a mark that is not needed is an error."""
    command = [sys.executable, "-m", "mypy", "--config-file", str(ROOT / "pyproject.toml"), *FILES]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)

    assert (done.returncode, done.stderr) == (0, ""), done.stdout


def test_pyright_accepts_right_calls_and_refuses_wrong_ones(tmp_path: Path) -> None:
    """The same files pass pyright, which comes with a runtime of its own and needs no network."""
    paths = [str(ROOT), str(ROOT / "backends"), str(ROOT / "specs")]
    files = [os.path.relpath(file, tmp_path) for file in FILES]
    settings = {**_PYRIGHT, "include": files, "extraPaths": paths, "pythonVersion": "3.11"}
    (tmp_path / "pyrightconfig.json").write_text(json.dumps(settings), "utf-8")
    command = [sys.executable, "-m", "pyright", "--outputjson", "--pythonpath", sys.executable, "-p", str(tmp_path)]
    quiet = {**os.environ, "PYRIGHT_PYTHON_IGNORE_WARNINGS": "1"}  # it would ask a registry for newer versions
    done = subprocess.run(command, cwd=tmp_path, env=quiet, capture_output=True, text=True, check=False)
    if not done.stdout.startswith("{"):
        reason = f"pyright cannot run here: {(done.stderr or done.stdout).strip()[-300:]}"
        if os.environ.get("CI"):  # where it is installed with its runtime, it must run
            pytest.fail(reason)
        pytest.skip(reason)
    told = json.loads(done.stdout)

    assert told["summary"]["filesAnalyzed"] == len(FILES)
    complaints = [(Path(one["file"]).name, one["range"], one["message"]) for one in told["generalDiagnostics"]]
    assert complaints == []
