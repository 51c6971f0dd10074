"""Which part of the code may import which: the code keeps the rule, and each contract notices when it is broken."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
sys.path.append(str(ROOT / "tools"))  # the tools are scripts beside each other, not a package

import layer_rule  # noqa: E402
from import_graph import Graph, read_graph  # noqa: E402
from layer_picture import reduce_needs, stack  # noqa: E402

Contract = Callable[[Graph], Iterator[str]]

CORE, BACKENDS, PUBLISHED = "apsl_rules", "backends/apsl_backends", "backends/apsl_published"
#: A small tree that keeps every contract.
KEPT = {
    f"{CORE}/__init__.py": "if TYPE_CHECKING:\n    from apsl_rules.parts.part import Part\n__all__ = ['Part']",
    f"{CORE}/errors.py": "import attrs",
    f"{CORE}/evidence/__init__.py": "from apsl_rules.evidence.verdicts import Verdict\n__all__ = ['Verdict']",
    f"{CORE}/evidence/verdicts.py": "import attrs\nfrom apsl_rules import errors\nVerdict = 1",
    f"{CORE}/rules/__init__.py": "from apsl_rules.rules.rule import Rule\n__all__ = ['Rule']",
    f"{CORE}/rules/rule.py": "from apsl_rules import showing\nfrom apsl_rules.evidence import Verdict\nRule = 1",
    f"{CORE}/showing.py": "def show():\n    from apsl_rules.views.notebook import html_of",
    f"{CORE}/views/__init__.py": "",
    f"{CORE}/views/notebook.py": "import numpy\nfrom apsl_rules.parts import Part\nhtml_of = 1",
    f"{CORE}/parts/__init__.py": "from apsl_rules.parts.part import Part\n__all__ = ['Part']",
    f"{CORE}/parts/part.py": "from apsl_rules.parts._check import check\nfrom apsl_rules.rules import Rule\nPart = 1",
    f"{CORE}/parts/_check.py": "check = 1",
    f"{CORE}/parts/shortcuts.py": "def to_dot():\n    from apsl_rules.export.dot import dot",
    f"{CORE}/export/__init__.py": "from apsl_rules.export.dot import dot\n__all__ = ['dot']",
    f"{CORE}/export/dot.py": "from apsl_rules.parts import Part\ndot = 1",
    f"{CORE}/cli/__init__.py": "",
    f"{CORE}/cli/main.py": "import click\nfrom apsl_rules.export import dot",
    f"{BACKENDS}/__init__.py": "",
    f"{BACKENDS}/plugin.py": "from apsl_backends.search.tabu import climb",
    f"{BACKENDS}/search/__init__.py": "",
    f"{BACKENDS}/search/tabu.py": "from apsl_backends.kernels.words import word\nclimb = 1",
    f"{BACKENDS}/scores/__init__.py": "",
    f"{BACKENDS}/scores/bde.py": "score = 1",
    f"{BACKENDS}/kernels/__init__.py": "",
    f"{BACKENDS}/kernels/words.py": "import ctypes\nword = 1",
    f"{PUBLISHED}/__init__.py": "",
    f"{PUBLISHED}/rulebooks.py": "from apsl_backends.search.tabu import climb\nfrom apsl_rules.rules import Rule",
}
#: A contract, a file, what is added to it, and the words that the sentence about it has.
BREACHES: tuple[tuple[Contract, str, str, str], ...] = (
    (layer_rule.upward_imports, "evidence/verdicts.py", "from apsl_rules.rules import Rule", "may not import rules"),
    (layer_rule.upward_imports, "rules/rule.py", "def f():\n    from apsl_rules.parts import Part", "(lazy)"),
    (
        layer_rule.upward_imports,
        "rules/rule.py",
        "if TYPE_CHECKING:\n    from apsl_rules.parts import Part",
        "(typing)",
    ),
    (layer_rule.upward_imports, "parts/shortcuts.py", "from apsl_rules.export import dot", "may not import export"),
    (layer_rule.upward_imports, "parts/part.py", "def f():\n    from apsl_rules.export import dot", "parts may not"),
    (layer_rule.upward_imports, "export/dot.py", "from apsl_rules.learning import learn", "learning"),
    (layer_rule.upward_imports, "attic/__init__.py", "", "room attic has no rule"),
    (
        layer_rule.upward_backend_imports,
        "scores/bde.py",
        "from apsl_backends.search.tabu import climb",
        "scores may not",
    ),
    (layer_rule.upward_backend_imports, "kernels/words.py", "from apsl_backends.plugin import x", "kernels may not"),
    (layer_rule.upward_backend_imports, f"{BACKENDS}/attic/__init__.py", "", "room attic has no layer"),
    (
        layer_rule.imports_across_packages,
        "cli/main.py",
        "def f():\n    import apsl_backends.plugin",
        "the core may not",
    ),
    (
        layer_rule.imports_across_packages,
        "plugin.py",
        "from apsl_rules.cli import main",
        "a backend may not import cli",
    ),
    (
        layer_rule.imports_across_packages,
        "cli/main.py",
        "def f():\n    import apsl_published.plugin",
        "the core may not",
    ),
    (layer_rule.imports_across_packages, "plugin.py", "from apsl_published import rulebooks", "the backends may not"),
    (
        layer_rule.imports_across_packages,
        "rulebooks.py",
        "from apsl_backends.kernels.words import word",
        "may not import kernels",
    ),
    (layer_rule.impure_imports, "rules/rule.py", "import numpy as np", "rules is pure"),
    (layer_rule.impure_imports, "showing.py", "def f():\n    import numpy", "rules is pure"),
    (layer_rule.upward_imports, "showing.py", "from apsl_rules.views import notebook", "may not import views"),
    (layer_rule.upward_imports, "errors.py", "def f():\n    from apsl_rules.views import notebook", "base may not"),
    (layer_rule.impure_imports, "errors.py", "def f():\n    import numpy.typing", "is pure"),
    (
        layer_rule.libraries_elsewhere,
        "export/dot.py",
        "def f():\n    from click import echo",
        "only cli may import click",
    ),
    (layer_rule.libraries_elsewhere, "search/tabu.py", "from ctypes import CDLL", "only kernels may import ctypes"),
    (
        layer_rule.private_imports,
        "export/dot.py",
        "from apsl_rules.parts._check import check",
        "private to apsl_rules.parts",
    ),
    (
        layer_rule.private_imports,
        "search/tabu.py",
        "from apsl_rules.parts import _check",
        "private to apsl_rules.parts",
    ),
    (layer_rule.unlisted_names, "rules/__init__.py", "from apsl_rules.rules.rule import Fact", "lacks Fact"),
    (layer_rule.unlisted_names, "rules/__init__.py", "def fire(): ...", "lacks fire"),
    (layer_rule.unlisted_names, "export/dot.py", "from apsl_rules.rules import Fact", "apsl_rules.rules lacks Fact"),
    (
        layer_rule.imports_past_the_door,
        "export/dot.py",
        "from apsl_rules.rules.rule import Rule",
        "from apsl_rules.rules ",
    ),
    (layer_rule.imports_past_the_door, "search/tabu.py", "from apsl_rules.rules import rule", "from apsl_rules.rules "),
)


@cache
def graph_of_the_code() -> Graph:
    """Return the import graph of this checkout, read once."""
    return read_graph(ROOT)


def write_tree(root: Path, *, beside: str = "", further: str = "") -> Graph:
    """Write the small tree with something added to one of its files, and read it."""
    files = dict(KEPT)
    if beside:
        full = next((name for name in files if name.endswith(f"/{beside}")), None)
        full = full or (beside if beside.startswith(BACKENDS) else f"{CORE}/{beside}")
        files[full] = f"{files.get(full, '')}\n{further}\n"
    if "learning" in further:
        files[f"{CORE}/learning/__init__.py"] = "learn = 1\n__all__ = ['learn']"
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, "utf-8")
    return read_graph(root)


@pytest.mark.parametrize("contract", layer_rule.CONTRACTS, ids=lambda contract: contract.__name__)
def test_the_code_keeps_the_contract(contract: Contract) -> None:
    """No import breaks the rule; if one is meant, change the data in `tools/layer_rule.py`."""
    assert list(contract(graph_of_the_code())) == []


def test_the_graph_is_that_of_the_whole_code() -> None:
    """The graph has every file of all packages, imports of all three kinds, and the rooms that the rule names."""
    graph = graph_of_the_code()
    files = [path for package in (CORE, BACKENDS, PUBLISHED) for path in (ROOT / package).rglob("*.py")]

    assert sorted(module.path for module in graph.modules.values()) == sorted(files)
    assert {one.kind for one in graph.inner} == {"eager", "lazy", "typing"}
    assert set(layer_rule.MAY_IMPORT) - set(graph.rooms("apsl_rules")) <= {"effects"}
    assert {room for layer in layer_rule.BACKEND_LAYERS for room in layer} <= set(graph.rooms("apsl_backends"))


def test_the_rule_has_no_circle() -> None:
    """Each room may import only rooms that stand before it in the rule."""
    rooms = list(layer_rule.MAY_IMPORT)

    assert all(set(allowed) <= set(rooms[:place]) for place, allowed in enumerate(layer_rule.MAY_IMPORT.values()))


def test_every_exception_is_used() -> None:
    """An exception that no import needs any more is to be deleted."""
    graph = graph_of_the_code()
    pairs = {(one.importer, one.module) for one in graph.inner}
    foreign = {one.module for one in graph.inner if one.importer.partition(".")[0] != CORE}
    foreign |= {one.module for one in graph.inner if graph.room(one.importer) != graph.room(one.module)}

    assert pairs >= layer_rule.SHARED_PRIVATE
    assert foreign >= layer_rule.IMPORTED_BY_THEMSELVES
    assert all(
        (name, room) in {(x, graph.room(y)) for x, y in pairs}
        for name in layer_rule.LAZILY
        for room in layer_rule.LAZILY[name]
    )


def test_a_tree_that_keeps_the_contracts_is_left_in_peace(tmp_path: Path) -> None:
    """Nothing is said about the small tree as it stands."""
    graph = write_tree(tmp_path)

    assert [sentence for contract in layer_rule.CONTRACTS for sentence in contract(graph)] == []


@pytest.mark.parametrize(("contract", "file", "further", "words"), BREACHES)
def test_a_breach_is_found(contract: Contract, file: str, further: str, words: str, tmp_path: Path) -> None:
    """Each way to break a contract gets a sentence that says which rule it breaks."""
    said = list(contract(write_tree(tmp_path, beside=file, further=further)))

    assert said
    assert words in said[0]


def test_too_many_files_beside_the_rooms_are_found(tmp_path: Path) -> None:
    """As many files as the rule says may lie there, one more may not."""
    for number in range(layer_rule.MOST_BESIDE - 3):
        write_tree(tmp_path, beside=f"further_{number}.py")
    assert list(layer_rule.crowded_front(read_graph(tmp_path))) == []

    said = list(layer_rule.crowded_front(write_tree(tmp_path, beside="one_more.py")))
    assert said == ["17 files lie beside the rooms of apsl_rules; at most 16 may"]


def test_arrows_that_follow_from_others_are_left_out() -> None:
    """The picture has the transitive reduction, and each room as low as its needs allow."""
    needs = {("cli", "parts"), ("cli", "rules"), ("parts", "rules"), ("cli", "data")}

    assert reduce_needs(needs) == {("cli", "parts"), ("parts", "rules"), ("cli", "data")}
    assert stack(["rules", "data", "parts", "cli"], needs) == [["rules", "data"], ["parts"], ["cli"]]


def test_the_page_and_the_picture_are_what_the_code_says() -> None:
    """If this fails, run `python tools/architecture.py` and look at the difference."""
    command = [sys.executable, str(ROOT / "tools" / "architecture.py"), "--check"]
    done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", check=False)

    assert (done.returncode, done.stdout) == (0, "")
