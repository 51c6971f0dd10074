"""The commands as a user types them: what they print, where, and with which exit code."""

from __future__ import annotations

import json
from pathlib import Path

import attrs
import pytest

from apsl_rules import learn, network
from apsl_rules.data import ColumnKind
from support.terminal import apsl_here


def test_learn_draws_the_part_and_says_what_it_cost() -> None:
    """`apsl learn` prints the answer and a picture, and with --verbose the cost; nothing on standard error."""
    run = ("learn", "alarm", "--oracle", "dsep", "--target", "HREKG", "--depth", "2")
    done = apsl_here(*run)

    assert done.code == 0
    assert done.out.startswith("HREKG: caused by ERRCAUTER, HR.\n\nHREKG\n├◀── ERRCAUTER\n│    └──▶ HRSAT\n└◀── HR\n")
    assert "tests" not in done.out
    figures = "7 arrows, 0 undirected edges and 0 conflicts among 7 nodes (learner apsl, oracle dsep)"
    assert figures in " ".join(apsl_here(*run, "--verbose").out.split())
    assert not done.err


def test_why_learns_and_proves() -> None:
    """`apsl why` with a network and a target learns the part and prints a proof down to the verdicts."""
    done = apsl_here("why", "alarm", "CATECHOL", "HR", "--target", "HREKG", "--depth", "2")

    assert done.code == 0
    assert done.out.splitlines()[0] == "CATECHOL -> HR   [Meek-R1]"
    assert "CATECHOL is no collider between ARTCO2 and HR   [dsep: ARTCO2 ⊥ HR | CATECHOL]" in done.out


@pytest.mark.slow
def test_a_saved_part_is_read_by_the_viewing_commands(tmp_path: Path) -> None:
    """`--out` saves a part from which why, trace and show give what they give for the run itself."""
    saved = str(tmp_path / "part.json")
    learned = apsl_here("learn", "alarm", "-t", "HREKG", "-k", "2", "--out", saved)

    assert apsl_here("show", saved).out == learned.out
    assert (
        apsl_here("why", saved, "HR", "CO").out == apsl_here("why", "alarm", "HR", "CO", "-t", "HREKG", "-k", "2").out
    )
    assert apsl_here("trace", saved).out == apsl_here("trace", "alarm", "-t", "HREKG", "-k", "2").out


def test_trace_tells_the_visits_and_firings() -> None:
    """`apsl trace` lists the visits with the rules they set off, and the findings when asked."""
    lines = apsl_here("trace", "alarm", "-t", "HREKG", "-k", "1", "--findings").out.splitlines()

    assert lines[0] == "visit 1: HREKG; neighbours: ERRCAUTER, HR"
    assert "  ERRCAUTER -> HREKG   [V-from-middle]" in lines
    assert any(line.startswith("  ERRCAUTER and HR are not adjacent") for line in lines)


@pytest.mark.slow
@pytest.mark.parametrize(
    "words",
    [
        ("learn", "asia", "-t", "lung", "--json"),
        ("learn", "asia", "-t", "lung", "--format", "json"),
        ("why", "asia", "lung", "smoke", "-t", "lung", "--json"),
        ("trace", "asia", "-t", "lung", "--json", "--findings"),
        ("networks", "--json"),
        ("oracles", "--json"),
        ("finders", "--json"),
        ("learners", "--json"),
        ("plugins", "--json"),
    ],
)
def test_json_is_valid_json(words: tuple[str, ...]) -> None:
    """Every command that takes --json prints one JSON document."""
    done = apsl_here(*words)

    assert done.code == 0
    assert json.loads(done.out)


def test_csv_has_a_row_for_each_edge() -> None:
    """`--format csv` prints the edge table."""
    rows = apsl_here("learn", "cancer", "-t", "Cancer", "--format", "csv").out.splitlines()

    assert rows[0] == "source,target,mark,probability,direction,p,rule,distance,support,suggested"
    assert len(rows) == 5


def test_a_limit_ends_with_exit_code_2() -> None:
    """A run that meets its limit prints what is settled, says that it is incomplete, and exits with 2."""
    done = apsl_here("learn", "alarm", "-t", "HREKG", "-k", "max", "--max-tests", "500")

    assert done.code == 2
    assert "Incomplete: stopped at 500 tests" in done.out


def test_a_plugin_module_is_registered_by_name(tmp_path: Path) -> None:
    """`--plugin MODULE` imports a module from the current folder and lets it watch the run."""
    (tmp_path / "shouting.py").write_text(
        "from apsl_rules import hookimpl\n@hookimpl\ndef apsl_firing(firing):\n    print('FIRED', firing.rule)\n",
        "utf-8",
    )
    done = apsl_here("--plugin", "shouting", "learn", "cancer", "-t", "Cancer", folder=tmp_path)

    assert done.out.startswith("FIRED V-from-middle\n")


def test_help_names_every_command() -> None:
    """`apsl --help` lists the commands, and `apsl learn --help` shows examples."""
    listed = apsl_here("--help").out

    assert all(name in listed for name in ("learn", "why", "trace", "show", "networks", "plugins"))
    assert "apsl learn alarm --target HREKG --depth 2" in apsl_here("learn", "--help").out


def test_show_lists_the_columns_of_a_part(tmp_path: Path) -> None:
    """`--columns` prints how they were read, and says what to do where that is not known."""
    part = learn(network("cancer"), "Cancer")
    part.save(tmp_path / "bare.json")
    kinds = (ColumnKind("Cancer", "category", "2 levels", 7), ColumnKind("id", "set aside", "identifier"))
    attrs.evolve(part, columns=kinds).save(tmp_path / "part.json")
    shown = apsl_here("show", "part.json", "--columns", folder=tmp_path)
    assert shown.out.split() == ["name", "kind", "detail", "missing", "Cancer", "category", "2", "levels", "7"]
    data = json.loads(apsl_here("show", "part.json", "--columns", "--json", folder=tmp_path).out)
    assert data == [{"name": "Cancer", "kind": "category", "detail": "2 levels", "missing": 7}]
    assert "does not say how its columns were read" in apsl_here("show", "bare.json", "--columns", folder=tmp_path).err


def test_the_least_probability_of_a_direction_is_an_option() -> None:
    """A value that is no probability is refused in the words of the command line; a word stands for one."""
    done = apsl_here("learn", "cancer", "-t", "Cancer", "--min-direction", "2")
    assert done.code == 1
    assert "--min-direction is 2.0; give a probability from 0 (draw all arrows) to 1, or 'precise'" in done.err
    done = apsl_here("learn", "cancer", "-t", "Cancer", "--min-direction", "precice")
    assert (done.code, "Traceback" in done.err) == (1, False)
    assert "--min-direction is 'precice'; did you mean 'precise'?" in done.err
    assert apsl_here("learn", "cancer", "-t", "Cancer", "--min-direction", "precise").code == 0
