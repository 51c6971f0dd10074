"""Tables are dropped in each format, and settings of rows go with a study into fresh processes."""

from __future__ import annotations

import http.client
import signal
import subprocess
import sys
from base64 import b64decode
from collections.abc import Callable
from pathlib import Path
from urllib.parse import quote

import numpy as np
import pandas as pd
import pytest

from apsl_rules.app.study import Study, changed
from apsl_rules.app.takeaway import COMMAND, script_text, study_text
from apsl_rules.app.work import Work
from apsl_rules.server import Limits
from support.open_page import OpenPage, open_page


def visits(rows: int = 400) -> pd.DataFrame:
    """Return several visits of each patient."""
    draw = np.random.default_rng(2)
    who = np.repeat(np.arange(rows // 4), 4)
    dose = draw.integers(0, 2, rows)
    pulse = (70 + 4 * draw.normal(0, 1, rows // 4)[who] + 5 * dose + draw.normal(0, 3, rows)).round(1)
    return pd.DataFrame({"patient": who, "dose": dose, "pulse": pulse, "arm": draw.choice(["left", "right"], rows)})


def write_spss(frame: pd.DataFrame, path: Path) -> None:
    """Write a file of SPSS."""
    pyreadstat = pytest.importorskip("pyreadstat")
    pyreadstat.write_sav(frame, str(path))


WRITERS: dict[str, Callable[[pd.DataFrame, Path], object]] = {
    "visits.csv": lambda frame, path: frame.to_csv(path, index=False),
    "visits.xlsx": lambda frame, path: frame.to_excel(path, index=False),
    "visits.dta": lambda frame, path: frame.to_stata(path, write_index=False),
    "visits.sav": write_spss,
    "visits.parquet": lambda frame, path: frame.to_parquet(path),
}


def looked_at(page: OpenPage, before: int) -> dict[str, object]:
    """Wait until the columns of another table were looked at, and return their names with their kinds."""
    page.until(lambda state: state["columns"]["of"] > before and not state["busy"])
    assert page.state()["columns"]["error"] is None
    columns = page.ask("/api/columns").data
    assert columns["rows"] == 400
    return {one["name"]: one["kind"] for one in columns["columns"]}


def test_a_table_is_dropped_in_each_format(tmp_path: Path) -> None:
    """CSV, Excel, Stata, SPSS and Parquet give the same columns; each file is copied into the folder."""
    frame = visits()
    (tmp_path / "folder").mkdir()
    with open_page(tmp_path / "folder") as page:
        for name, write in WRITERS.items():
            write(frame, tmp_path / name)
            before = page.state()["columns"]["of"]
            answer = page.ask(f"/api/file?name={quote(name)}", body=(tmp_path / name).read_bytes())
            assert answer.data == {"name": name}
            kinds = looked_at(page, before)
            assert list(kinds) == list(frame), name
            assert (kinds["pulse"], kinds["arm"]) == ("number", "category"), name
            assert (tmp_path / "folder" / name).read_bytes() == (tmp_path / name).read_bytes()


def test_settings_of_rows_go_with_the_study(tmp_path: Path) -> None:
    """Groups, times and the rule for missing values: script and command learn the part of the page, byte for byte."""
    frame = visits()
    frame["day"] = np.tile(np.arange(4), len(frame) // 4)
    frame.loc[::9, "dose"] = np.nan
    frame.to_csv(tmp_path / "visits.csv", index=False)
    study = Study("visits.csv", target="pulse")
    for name, value in (("groups", ["patient"]), ("missing", "complete"), ("keep", ["arm"]), ("time", ["day"])):
        study = changed(study, "setting", {"name": name, "value": value})
    (tmp_path / "study.toml").write_text(study_text(study))
    (tmp_path / "study.py").write_text(script_text(study))
    work = Work(Limits((tmp_path.resolve(),)))
    shown = b64decode(work.do("take", study, {"what": "part.json"}, lambda *_: None)["content"])
    assert b'"groups"' in shown
    assert b"pulse[t-1]" in shown
    apsl = str(Path(sys.executable).parent / "apsl")
    for command in ([sys.executable, "study.py"], [apsl, *COMMAND.split()[1:]]):
        subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
        assert (tmp_path / "part.json").read_bytes() == shown
        (tmp_path / "part.json").unlink()
    left = changed(study, "drop", {"column": "patient", "out": True})
    assert "groups" not in left.further


def test_a_page_that_is_looked_at_ends_without_a_word(tmp_path: Path) -> None:
    """The streams of its tabs end first, so that nobody waits for them, and no traceback reaches the terminal."""
    visits().to_csv(tmp_path / "visits.csv", index=False)
    with open_page(tmp_path, "visits.csv") as page:
        tab = http.client.HTTPConnection("127.0.0.1", page.port, timeout=30)
        tab.request("GET", "/api/events", headers={"authorization": f"Bearer {page.token}"})
        assert tab.getresponse().readline().startswith(b"data: ")
        page.until(lambda state: state["columns"]["of"])
        page.process.send_signal(signal.SIGTERM)
        page.process.wait(30)
        assert page.process.stdout is not None
        assert page.process.stdout.read() == "Ctrl-C ends it.\n"
        tab.close()


@pytest.mark.parametrize("ignored", [False, True])
def test_stop_ends_the_work(tmp_path: Path, *, ignored: bool) -> None:
    """Also where the page was started in the background of a script, whose processes ignore interrupts."""
    setup = f"import signal; signal.signal(signal.SIGINT, signal.SIG_IGN if {ignored} else signal.SIG_DFL)"
    with open_page(tmp_path, "alarm10", setup=setup) as page:
        page.until(lambda state: state["columns"]["of"])
        page.change("depth", depth="max")
        page.change("target", column="LVFAILURE.1")
        page.until(lambda state: (state["busy"] or {}).get("what") == "nodes visited")
        page.ask("/api/stop", {})
        stopped = page.until(lambda state: state["part"] and not state["busy"])["part"]

    assert "stopped at an interrupt" in stopped["incomplete"]
