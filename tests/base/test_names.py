"""Names of nodes: their order, their spelling, near matches, and labels as JSON."""

from __future__ import annotations

import pytest

from apsl_rules._documents import label, node_of
from apsl_rules.errors import InvalidArgumentError, PartFileError, UnknownNodeError
from apsl_rules.names import in_order, listing, nearest, require_known, shown


def test_labels_of_all_kinds_have_an_order() -> None:
    """Numbers go by value, text as text, tuples part by part, and kinds are kept apart."""
    labels = ["b", 10, "B", 2, ("a", 2), ("a", 10), "10", 2.5, ("a",), None, "é", ("a", "b")]

    expected = (None, 2, 2.5, 10, "10", "B", "b", "é", ("a",), ("a", 2), ("a", 10), ("a", "b"))

    assert in_order(labels) == expected
    assert in_order(reversed(labels)) == expected


@pytest.mark.parametrize(
    ("word", "expected"),
    [("smoker", "Smoker"), ("Smokr", "Smoker"), ("LUNG", "Lung"), ("X-ray", "Xray")],
)
def test_the_nearest_word_is_suggested(word: str, expected: str) -> None:
    """A slip of the pen and a wrong case both lead to the word that was meant."""
    assert nearest(word, ["Smoker", "Lung", "Xray"]) == f"; did you mean {expected!r}?"


def test_nothing_is_suggested_for_a_word_unlike_all_others() -> None:
    """A hint that cannot help is left out."""
    assert not nearest("zzz", ["Smoker", "Lung"])
    assert not nearest("zzz", [])


def test_a_long_list_is_cut() -> None:
    """Messages spell out the first names and count the rest."""
    assert listing([1, 2]) == "1, 2"
    assert listing(list("abcdefghijk")) == "'a', 'b', 'c', 'd', 'e', 'f', 'g', 'h' and 3 more"
    assert listing([]) == "none"


def test_an_unknown_node_is_refused_with_the_nearest_or_with_all() -> None:
    """The message names the role, the value, and what there is."""
    with pytest.raises(UnknownNodeError, match=r"unknown target 'Smoke'; did you mean 'Smoker'\?"):
        require_known("Smoke", ["Smoker", "Lung"], "target")
    with pytest.raises(UnknownNodeError, match=r"unknown node 7; the nodes are 'Smoker', 'Lung'"):
        require_known(7, ["Smoker", "Lung"], "node")
    with pytest.raises(UnknownNodeError, match=r"unknown column in time 'zzz'; the columns are 'Smoker', 'Lung'"):
        require_known("zzz", ["Smoker", "Lung"], "column in time")


def test_a_label_is_shown_on_one_line() -> None:
    """Whatever is in a label, a proof or a picture stays in its line."""
    assert shown("a\tb\r\n") == r"a\tb\r\n"
    assert shown(("a", 1)) == "('a', 1)"
    assert shown("é b") == "é b"


@pytest.mark.parametrize("node", ["a", "", 3, 2.5, True, None, ("a", 1), (("x",), ()), ()])
def test_a_label_survives_json(node: str) -> None:
    """What is saved is what is read back, with its type."""
    read = node_of(label(node))

    assert read == node
    assert type(read) is type(node)


def test_a_label_that_json_cannot_hold_is_refused() -> None:
    """The message says which label, its type, and what can be saved."""
    with pytest.raises(InvalidArgumentError, match=r"the label frozenset\(\{1\}\) is a frozenset; only text"):
        label(frozenset({1}))


@pytest.mark.parametrize("data", [["a"], {"tuple": "ab"}, {"set": []}, {"tuple": [], "more": 1}])
def test_data_that_is_no_label_is_refused(data: object) -> None:
    """A file that was changed by hand gets a sentence."""
    with pytest.raises(PartFileError, match="is no node label; labels are text, numbers or"):
        node_of(data)
