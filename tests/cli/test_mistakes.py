"""A user's mistakes: one clear sentence on standard error, exit code 1, never a traceback."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.terminal import apsl_here

pytestmark = pytest.mark.slow

MISTAKES = {
    "unknown network": (("learn", "alrm", "-t", "HR"), "did you mean 'alarm'?"),
    "empty source": (("learn", "", "-t", "HR"), "the name of the source is empty"),
    "unknown given": (("learn", "asia", "-t", "lung", "--require", "lung", "xx"), "unknown node in --require 'xx'"),
    "unknown target": (("learn", "alarm", "-t", "HRECG"), "unknown target 'HRECG'; did you mean 'HREKG'?"),
    "two targets": (
        ("learn", "asia", "-t", "lung,tub"),
        "--target takes one node, and 'lung,tub' names 2; apsl many --targets lung,tub takes several",
    ),
    "two targets compared": (("compare", "asia", "-t", "lung,tub"), "apsl many --targets lung,tub"),
    "folder without Parquet": (("learn", ".", "-t", "HR"), "the folder '.' has no Parquet file; check the path"),
    "no target": (("learn", "alarm"), "needs a target; add --target NODE"),
    "depth 0": (("learn", "alarm", "-t", "HR", "-k", "0"), "give a whole number from 1 on"),
    "depth deep": (("learn", "alarm", "-t", "HR", "-k", "deep"), "--depth is 'deep'"),
    "unknown learner": (("learn", "alarm", "-t", "HR", "-l", "aspl"), "unknown learner 'aspl'; did you mean 'apsl'?"),
    "unknown oracle": (
        ("learn", "alarm", "-t", "HR", "--oracle", "dsap"),
        "unknown oracle 'dsap'; did you mean 'dsep'?",
    ),
    "unknown finder": (("learn", "alarm", "-t", "HR", "--finder", "hitn"), "did you mean 'hiton'?"),
    "unknown policy": (("learn", "alarm", "-t", "HR", "--conflicts", "lst"), "did you mean 'last'?"),
    "bad alpha": (
        ("learn", "alarm", "-t", "HR", "--alpha", "2"),
        "apsl: --alpha is 2.0; give a number between",
    ),
    "no seconds": (("learn", "asia", "-t", "lung", "--max-seconds", "-1"), "apsl: --max-seconds is -1.0; give"),
    "no rows": (("simulate", "asia", "-n", "0"), "apsl: --rows is 0; give 1 or more"),
    "no nodes": (("random", "0"), "apsl: NODES is 0; give 1 or more"),
    "too many arrows": (("random", "9", "--mean-parents", "9"), "a smaller --mean-parents or a larger --max-parents"),
    "unknown format": (("learn", "alarm", "-t", "HR", "--format", "jsn"), "unknown format 'jsn'; did you mean 'json'?"),
    "unknown node": (("why", "alarm", "HR", "COO", "-t", "HR"), "unknown node 'COO'"),
    "same node": (("why", "alarm", "HR", "HR", "-t", "HR"), "name two different nodes"),
    "nothing known": (("why", "alarm", "PAP", "FIO2", "-t", "HR"), "nothing is known of 'PAP' and 'FIO2'"),
    "no such part": (("show", "missing.json"), "cannot read the part file 'missing.json'"),
    "no such plugin": (("--plugin", "nowhere_to_be_found", "oracles"), "cannot be imported"),
    "no such command": (("lern",), "no such command 'lern'"),
    "no such spec": (("learn", "alarm", "-t", "HR", "-l", "mine.toml"), "the spec file 'mine.toml' cannot be read"),
    "no such file for a proof": (("why", "missing.json", "HR", "CO"), "cannot read the part file 'missing.json'"),
    "no such picture": (
        ("learn", "asia", "-t", "lung", "--out", "lung.jpg"),
        "--out 'lung.jpg' is no figure that can be written; end it in .pdf, .png, .svg or .tex",
    ),
    "no such folder": (("learn", "alarm", "-t", "HR", "--out", "no/such/part.json"), "cannot write"),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_gets_one_sentence(name: str, tmp_path: Path) -> None:
    """The message says what is wrong and what to do; nothing is printed on standard output."""
    words, sentence = MISTAKES[name]
    done = apsl_here(*words, folder=tmp_path)

    assert done.code == 1
    assert sentence in done.err
    assert not done.out
    assert "Traceback" not in done.err


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("", "not valid JSON"),
        ("[1, 2]", "is no part file"),
        ('{"format": "apsl_rules part", "version": 99}', "version 99; this program reads versions 1 and 2"),
        ('{"format": "apsl_rules part", "version": 1}', "is a damaged part file"),
    ],
)
def test_a_broken_part_file_is_refused(content: str, sentence: str, tmp_path: Path) -> None:
    """A file that is no part is refused with a reason."""
    (tmp_path / "part.json").write_text(content, "utf-8")
    done = apsl_here("show", "part.json", folder=tmp_path)

    assert done.code == 1
    assert sentence in done.err


def test_a_plugin_that_breaks_its_contract_is_named(tmp_path: Path) -> None:
    """A plugin whose oracle raises or answers nonsense is named with its query."""
    (tmp_path / "bad.py").write_text(
        "from apsl_rules import hookimpl\n"
        "from apsl_rules.plugins.offers import OracleOffer\n"
        "from apsl_rules.oracles.protocol import Oracle\n"
        "class Nonsense(Oracle):\n"
        "    nodes = ('asia', 'lung', 'tub')\n"
        "    def verdict(self, x, y, given=()):\n"
        "        return 'perhaps'\n"
        "class Raises(Nonsense):\n"
        "    def verdict(self, x, y, given=()):\n"
        "        return 1 / 0\n"
        "@hookimpl\n"
        "def apsl_oracles():\n"
        "    return [OracleOffer('nonsense', '', lambda source, settings: Nonsense()),\n"
        "            OracleOffer('raises', '', lambda source, settings: Raises())]\n",
        "utf-8",
    )
    nonsense = apsl_here("--plugin", "bad", "learn", "asia", "-t", "lung", "--oracle", "nonsense", folder=tmp_path)
    raises = apsl_here("--plugin", "bad", "learn", "asia", "-t", "lung", "--oracle", "raises", folder=tmp_path)

    assert "oracle 'nonsense' of plugin 'bad' broke its contract" in nonsense.err
    assert "oracle 'raises' of plugin 'bad' raised ZeroDivisionError" in raises.err
    assert nonsense.code == raises.code == 1


def test_no_result_is_written_over_what_it_comes_from(tmp_path: Path) -> None:
    """`--out` that names the file being read is refused, and the file stays as it was."""
    (tmp_path / "a.csv").write_text("a,b\n0,1\n1,0\n" * 30, "utf-8")
    before = (tmp_path / "a.csv").read_bytes()
    assert apsl_here("learn", "asia", "-t", "lung", "--out", "p.json", folder=tmp_path).code == 0
    saved = (tmp_path / "p.json").read_bytes()

    for words in (
        ("learn", "a.csv", "-t", "a", "--out", "a.csv"),
        ("stability", "a.csv", "-t", "a", "--out", "./a.csv"),
        ("show", "p.json", "--format", "dot", "--out", "p.json"),
        ("report", "p.json", "--out", "p.json"),
    ):
        done = apsl_here(*words, folder=tmp_path)
        assert done.code == 1
        assert "is the file that is read" in done.err
    assert (tmp_path / "a.csv").read_bytes() == before
    assert (tmp_path / "p.json").read_bytes() == saved
