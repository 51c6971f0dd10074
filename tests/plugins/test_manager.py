"""Plugins: what they may offer and watch, and how one that breaks its contract is named."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

import pandas as pd
import pytest

from apsl_backends.finders.by_tests import Hiton
from apsl_backends.independence.count_tests import GSquare
from apsl_backends.independence.d_separation import DSeparation
from apsl_rules import Dag, hookimpl, learn, network
from apsl_rules.data import Dataset
from apsl_rules.errors import ApslError, InvalidArgumentError, PluginError, UnknownNameError
from apsl_rules.evidence import Verdict
from apsl_rules.graphs.networks.sampling import sample
from apsl_rules.names import Node
from apsl_rules.plugins.manager import Plugins, installed, pick
from apsl_rules.plugins.offers import FinderOffer, OracleOffer, OracleSettings
from apsl_rules.rules.vocabulary import Finding, Firing
from support.graphs import MICRO


class Offering:
    """A plugin that answers the oracle hook with whatever it was given."""

    def __init__(self, answer: Any) -> None:
        self.answer = answer

    @hookimpl
    def apsl_oracles(self) -> Any:
        """Return the answer, or raise it."""
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


class BrokenWatcher:
    """A plugin that cannot bear to watch."""

    def __init__(self, fault: Exception) -> None:
        self.fault = fault

    @hookimpl
    def apsl_firing(self, firing: Firing) -> None:
        """Fail at the first firing."""
        del firing
        raise self.fault


def oracle(name: str) -> OracleOffer:
    """Offer d-separation by another name."""
    return OracleOffer(name, "", lambda source, _settings: DSeparation(source))


def with_plugins(**plugins: object) -> Plugins:
    """Return a manager that has these plugins and no others."""
    manager = Plugins()
    for name, plugin in plugins.items():
        manager.register(plugin, name)
    return manager


def test_the_built_in_plugin_is_found() -> None:
    """The entry point of the package brings its own oracles, finders, learners and rulebooks."""
    plugins = installed()

    assert "builtin" in plugins.names
    assert "dsep" in plugins.oracles
    assert {"hiton", "mmpc", "pcsimple"} <= set(plugins.finders)
    assert {"hiton-mb", "mmmb"} <= set(plugins.blankets)
    assert {"apsl", "apsl-paper", "apsl-paper-exact"} <= set(plugins.learners)
    assert {"sound", "knowing", "paper"} <= set(plugins.rulebooks)
    assert "oracle dsep" in plugins.offers_of("builtin")


def test_an_offered_oracle_can_be_used_by_name() -> None:
    """A plugin given for one run is known in that run only."""
    part = learn(MICRO["N1"], "t", oracle="mine", plugins=[Offering([oracle("mine")])])

    assert part.arrows == learn(MICRO["N1"], "t").arrows
    assert "mine" not in installed().oracles


def test_an_offered_finder_can_be_used_by_name() -> None:
    """The spec's finder can be replaced by one from a plugin."""

    class Finders:
        @hookimpl
        def apsl_finders(self) -> list[FinderOffer]:
            return [FinderOffer("again", "", Hiton)]

    assert learn(MICRO["N3"], "T", finder="again", plugins=[Finders()]).arrows == {("T", "A")}


def test_two_offers_of_one_name_are_refused() -> None:
    """The message names both plugins, the name and the hook."""
    plugins = with_plugins(one=Offering([oracle("same")]), other=Offering([oracle("same")]))

    with pytest.raises(PluginError, match="plugins 'other' and 'one' both offer 'same' in apsl_oracles; rename one"):
        _ = plugins.oracles


def test_a_built_in_name_cannot_be_taken_over() -> None:
    """A plugin that offers "dsep" again is refused where it is given."""
    with pytest.raises(PluginError, match="plugins 'Offering' and 'builtin' both offer 'dsep' in apsl_oracles"):
        learn(MICRO["N1"], "t", plugins=[Offering([oracle("dsep")])])


@pytest.mark.parametrize(
    ("answer", "fault"),
    [
        (["dsep"], "plugin 'odd' answered the hook apsl_oracles with 'dsep', not OracleOffer"),
        ([FinderOffer("x", "", Hiton)], "not OracleOffer"),
        (ZeroDivisionError("oh"), "plugin 'odd' raised ZeroDivisionError in the hook apsl_oracles: oh"),
        (None, "plugin 'odd' raised TypeError in the hook apsl_oracles"),
    ],
)
def test_an_odd_offer_is_refused(answer: object, fault: str) -> None:
    """The message names the plugin, the hook and what came of it."""
    plugins = with_plugins(odd=Offering(answer))

    with pytest.raises(PluginError) as error:
        _ = plugins.oracles

    assert fault in str(error.value)


def test_the_oracle_of_a_plugin_is_named_when_it_breaks() -> None:
    """An error in the middle of a run says whose oracle it was and what it was asked."""
    broken = OracleOffer("broken", "", lambda _source, _settings: _Broken())
    plugins = installed().copy()
    plugins.register(Offering([broken]), "strange")

    with pytest.raises(
        PluginError, match=r"oracle 'broken' of plugin 'strange' raised KeyError in associations\('t'\)"
    ):
        learn(MICRO["N1"], "t", oracle="broken", plugins=plugins)


class _Broken(DSeparation):
    def __init__(self) -> None:
        super().__init__(MICRO["N1"])

    def associations(self, x: Any) -> Any:
        """Fail."""
        raise KeyError(x)


def test_a_plugin_cannot_be_registered_twice() -> None:
    """Neither the same object nor another one under the same name."""
    plugin = Offering([])
    plugins = with_plugins(one=plugin)

    for again, name in ((Offering([]), "one"), (plugin, "two")):
        with pytest.raises(PluginError, match=f"^plugin '{name}' is registered already; register it once"):
            plugins.register(again, name)
    assert plugins.names == ("one",)


def test_plugins_without_a_name_go_by_their_class() -> None:
    """Two of one class are numbered, so that messages can tell them apart."""
    plugins = Plugins()
    for _ in range(2):
        plugins.register(Offering([]))

    assert plugins.names == ("Offering", "Offering 2")


def test_an_unknown_hook_is_refused_and_leaves_no_trace() -> None:
    """A misspelt hook is named, and the manager works on without the plugin."""

    class Misspelt:
        @hookimpl
        def apsl_oracle(self) -> list[OracleOffer]:
            return []

    plugins = with_plugins(good=Offering([oracle("fine")]))

    with pytest.raises(PluginError, match=r"plugin 'bad' cannot be registered: unknown hook 'apsl_oracle'"):
        plugins.register(Misspelt(), "bad")
    assert plugins.names == ("good",)
    assert set(plugins.copy().oracles) == {"fine"}


def test_a_hook_with_a_wrong_argument_is_refused_and_leaves_no_trace() -> None:
    """The arguments of a hook are checked when its plugin comes."""

    class Wrong:
        @hookimpl
        def apsl_firing(self, fire: Firing) -> None:
            del fire

    plugins = with_plugins(good=Offering([]))

    with pytest.raises(PluginError, match="plugin 'bad' cannot be registered"):
        plugins.register(Wrong(), "bad")
    assert plugins.names == ("good",)
    assert plugins.copy().names == ("good",)


def test_an_unknown_module_is_refused() -> None:
    """A module that cannot be imported is named with the reason."""
    with pytest.raises(PluginError, match=r"plugin module 'no_such_module' cannot be imported: ModuleNotFoundError"):
        learn(MICRO["N1"], "t", plugins=["no_such_module"])


def test_a_watcher_that_raises_is_named() -> None:
    """The message names plugin, hook and event; refusals of the package itself pass through."""
    plugins = installed().copy()
    plugins.register(BrokenWatcher(RuntimeError("too much")), "shy")

    with pytest.raises(PluginError, match=r"plugin 'shy' raised RuntimeError in apsl_firing\(Firing\(.*too much"):
        learn(MICRO["N1"], "t", plugins=plugins)
    with pytest.raises(ApslError, match=r"^stop here$"):
        learn(MICRO["N1"], "t", plugins=[BrokenWatcher(InvalidArgumentError("stop here"))])


def test_watchers_hear_events_in_the_order_of_the_run() -> None:
    """Every watcher hears every event; the plugin that came last hears it first, as is the custom of pluggy."""
    heard: list[tuple[str, Finding]] = []

    class Watcher:
        def __init__(self, name: str) -> None:
            self.name = name

        @hookimpl
        def apsl_finding(self, finding: Finding) -> None:
            heard.append((self.name, finding))

    part = learn(MICRO["N7"], "T", plugins=[Watcher("one"), Watcher("two")])

    assert [name for name, _ in heard] == ["two", "one"] * len(part.findings)
    assert tuple(finding for _, finding in heard[::2]) == part.findings


def test_a_watcher_need_not_take_the_event() -> None:
    """A hook function without arguments is called all the same."""
    count = []

    class Counting:
        @hookimpl
        def apsl_progress(self) -> None:
            count.append(1)

    part = learn(MICRO["N1"], "t", plugins=[Counting()])

    assert len(count) == len(part.visits)


def test_an_unknown_name_is_refused_with_all_names() -> None:
    """The nearest is suggested and all are listed."""
    with pytest.raises(UnknownNameError, match=r"unknown finder 'hitn'; did you mean 'hiton'\?$"):
        pick(installed().finders, "hitn", "finder")


class Counting:
    """A plugin with a test on tables, which is given a dataset whatever the caller gave."""

    def __init__(self) -> None:
        self.given: list[Any] = []

    def make(self, data: Dataset, settings: OracleSettings) -> GSquare:
        """Keep what is given, and test by G²."""
        self.given.append((data, settings.options))
        return GSquare(data.categories, alpha=settings.alpha)

    @hookimpl
    def apsl_oracles(self) -> list[OracleOffer]:
        """Offer the test."""
        return [OracleOffer("mine", "a test on counts", self.make, needs={"counts"}, options=("strict",))]


def test_an_oracle_that_needs_counts_is_given_a_dataset(tmp_path: Path) -> None:
    """A frame, an array, a file, a coded table and rows in DuckDB all come as a dataset that can be counted."""
    drawn = sample(network("cancer"), 500, seed=1)
    array = drawn.codes.T
    frame = pd.DataFrame(array, columns=list(drawn.names))
    frame.to_csv(tmp_path / "rows.csv", index=False)
    sources: list[Any] = [frame, array, tmp_path / "rows.csv", drawn]
    plugin = Counting()
    for source in sources:
        target = "X1" if source is array else "Cancer"
        learn(source, target, oracle="mine", learner="apsl", options={"strict": 1}, plugins=[plugin])
    learn(tmp_path / "rows.csv", "Cancer", oracle="mine", learner="apsl", counts="duckdb", plugins=[plugin])
    assert all(isinstance(data, Dataset) and data.rows == 500 for data, _ in plugin.given)
    assert [options for _, options in plugin.given] == [{"strict": 1}] * 4 + [{}]
    assert [data.kind for data, _ in plugin.given] == ["memory"] * 4 + ["duckdb"]


def test_an_oracle_says_what_a_table_lacks(tmp_path: Path) -> None:
    """Needs that a table does not meet, and options that nobody knows, are refused in one sentence."""
    sample_frame = pd.DataFrame({"a": [0, 1] * 50, "b": [1, 0] * 50})
    sample_frame.to_csv(tmp_path / "rows.csv", index=False)
    rows = OracleOffer("rows", "", lambda data, _settings: GSquare(data.categories), needs={"counts", "rows"})
    how: dict[str, Any] = {"oracle": "rows", "learner": "apsl", "plugins": [Offering([rows])]}
    with pytest.raises(InvalidArgumentError, match="the oracle 'rows' needs rows, and a table in duckdb has none"):
        learn(tmp_path / "rows.csv", "a", counts="duckdb", **how)
    with pytest.raises(InvalidArgumentError, match="the oracle 'rows' has no option 'strict'"):
        learn(sample_frame, "a", options={"strict": 1}, **how)


def test_an_oracle_of_a_plugin_needs_nodes_and_verdict_alone() -> None:
    """What a plugin makes is completed as a caller's own oracle is."""

    class Plain:
        nodes = ("a", "b")

        def verdict(self, x: Node, y: Node, given: Sequence[Node] = ()) -> Verdict:
            return Verdict(x, y, tuple(given), "dependent", "plain")

    class Offering:
        @hookimpl
        def apsl_oracles(self) -> list[OracleOffer]:
            return [OracleOffer("plain", "always dependent", lambda _source, _settings: cast("Any", Plain()))]

    part = learn(Dag({"a": [], "b": ["a"]}), "a", oracle="plain", plugins=[Offering()])

    assert part.edges == {frozenset("ab")}
