"""Parts in the formats of other tools on the command line, and graphs of other tools as sources."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from apsl_rules import export
from apsl_rules.parts import load_part
from support.terminal import apsl_here

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Save a part with arrows and lines."""
    file = tmp_path_factory.mktemp("saved") / "part.json"
    assert apsl_here("learn", "asia", "-t", "either", "-k", "2", "--out", str(file)).code == 0
    return file


@pytest.mark.parametrize("name", ["dot", "graphml", "mermaid", "dagitty", "tetrad", "graph-json"])
def test_a_part_is_exported_by_the_name_of_a_format(name: str, saved: Path) -> None:
    """From the text of each format the marks of the part come back."""
    part = load_part(saved)
    read = getattr(export, f"from_{name.replace('-', '_')}")

    assert read(part.to(name)) == part.graph()


def test_show_prints_a_format_or_writes_it(saved: Path, tmp_path: Path) -> None:
    """`apsl show --format` prints what `part.export` gives, as `apsl learn --format` does, or writes it to `--out`."""
    words = ("--format", "dagitty")
    printed = apsl_here("show", str(saved), *words)
    written = apsl_here("show", str(saved), *words, "--out", str(tmp_path / "file"))

    assert (printed.code, printed.err, written.code, written.out) == (0, "", 0, "")
    assert (tmp_path / "file").read_text("utf-8") == printed.out == load_part(saved).to("dagitty")
    assert apsl_here("learn", "asia", "-t", "either", "-k", "2", *words).out == printed.out


def test_formats_of_arrows_refuse_lines_unless_told(saved: Path) -> None:
    """Lines are refused with a sentence; `--directed` gives them a direction."""
    refused = apsl_here("show", str(saved), "--format", "bnlearn")
    directed = apsl_here("show", str(saved), "--format", "bnlearn", "--directed")

    assert (refused.code, refused.out) == (1, "")
    assert "knows arrows only, and this graph has 2 undirected edges" in refused.err
    assert export.from_bnlearn(directed.out).arrows == load_part(saved).graph().directed().edges


def test_directed_needs_a_format_of_marks(saved: Path) -> None:
    """`--directed` with the picture is a mistake, since the picture shows what was learned."""
    done = apsl_here("show", str(saved), "--directed")

    assert (done.code, done.err) == (
        1,
        "apsl: the format 'text' shows the part as it was learned; leave out --directed\n",
    )


def test_an_unknown_format_names_the_nearest(saved: Path) -> None:
    """A misspelt format gets the nearest name and all names."""
    done = apsl_here("show", str(saved), "--format", "grapml")

    assert done.code == 1
    assert "unknown format 'grapml'; did you mean 'graphml'?" in done.err


def test_formats_are_listed() -> None:
    """`apsl formats` lists every format with what it is."""
    assert {"text", "csv", "dot", "bif"} <= {row["name"] for row in json.loads(apsl_here("formats", "--json").out)}


def test_a_plugin_adds_a_format(saved: Path, tmp_path: Path) -> None:
    """An exporter of a plugin is a format of `apsl show`."""
    (tmp_path / "loud.py").write_text(
        "from apsl_rules import hookimpl\nfrom apsl_rules.plugins.offers import ExporterOffer\n"
        "@hookimpl\ndef apsl_exporters():\n"
        "    return [ExporterOffer('loud', 'names, loudly', lambda part: str(part.target).upper())]\n",
        "utf-8",
    )

    assert apsl_here("--plugin", "loud", "show", str(saved), "--format", "loud", folder=tmp_path).out == "EITHER\n"


def test_a_graph_of_another_tool_is_a_source(tmp_path: Path) -> None:
    """`apsl learn model.dagitty` learns from the graph in the file; one with open directions is refused."""
    (tmp_path / "model.dagitty").write_text("dag { Rain -> Wet <- Sprinkler }", "utf-8")
    (tmp_path / "open.dagitty").write_text("pdag { Rain -- Wet }", "utf-8")
    learned = apsl_here("learn", "model.dagitty", "-t", "Wet", "--format", "dagitty", folder=tmp_path)
    refused = apsl_here("learn", "open.dagitty", "-t", "Wet", folder=tmp_path)

    assert "Rain -> Wet\nSprinkler -> Wet" in learned.out
    assert (refused.code, refused.err.count("\n")) == (1, 1)
    assert "the direction between 'Rain' and 'Wet' is open" in refused.err
