"""BIF files: everything that the format allows, everything that it does not, and the way there and back."""

from __future__ import annotations

import gzip
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from apsl_rules.errors import InvalidArgumentError, NetworkFileError
from apsl_rules.graphs.dag import Dag
from apsl_rules.graphs.networks import bif as bif_table
from apsl_rules.graphs.networks.bayesian_network import Network
from apsl_rules.graphs.networks.bif import parse_bif, read_bif, write_bif
from support.graphs import dag_of
from support.strategies import networks

SMALL = """\
// From nowhere.
//
//   An indented line.
network small {
}
variable A {
  type discrete [ 2 ] { no, yes };
}
variable B {
  type discrete [ 3 ] { <1, 1-2/3, "more than 2" };
}
probability ( A ) {
  table 0.25, 0.75;
}
probability ( B | A ) {
  (no) 0.5, 0.25, 0.25;
  (yes) 0.0, 0.5, 0.5;
}
"""

#: The family-out network of Charniak, "Bayesian networks without tears" (1991), in the oldest form of the format.
OLD_FORM = """
/* blanks separate, commas and bars
   are not needed */
network "Dog-Problem" { //5 variables
    property "credal-set; constant 1.1" ;
}
variable  "family-out" { type discrete[2] { "true" "false" }; property position = (257, 99) ; }
variable  "bowel-problem" { property "x" ; type discrete[2] { "true" "false" }; }
variable  "dog-out" { type discrete[2] { "true" "false" }; }
probability ( "family-out" ) { table 0.15 0.85 ; property p ; }
probability ( "bowel-problem" ) { table .01 99e-2 ; }
probability ( "dog-out" "bowel-problem" "family-out" ) {
    table 0.99 0.97 0.9 0.3 // p(true | ...)
          0.01 0.03 0.1 0.7 ;
}
"""


def test_a_file_is_read() -> None:
    """Names, levels, tables and the leading comment are there."""
    network = parse_bif(SMALL)

    assert network.name == "small"
    assert network.source == "From nowhere.\n\n  An indented line."
    assert network.dag == dag_of("A->B")
    assert network.levels == {"A": ("no", "yes"), "B": ("<1", "1-2/3", "more than 2")}
    assert network.tables["A"].tolist() == [0.25, 0.75]
    assert network.tables["B"].tolist() == [[0.5, 0.25, 0.25], [0.0, 0.5, 0.5]]


def test_the_writer_writes_what_is_read() -> None:
    """A file in the writer's own form comes back letter by letter."""
    assert write_bif(parse_bif(SMALL)) == SMALL


def test_the_oldest_form_is_read() -> None:
    """Blanks as separators, properties, comments and a table with the node's own levels slowest."""
    network = parse_bif(OLD_FORM)

    assert network.name == "Dog-Problem"
    assert network.dag.parents_of("dog-out") == ("bowel-problem", "family-out")
    assert network.tables["bowel-problem"].tolist() == [0.01, 0.99]
    assert network.tables["dog-out"][0, 1].tolist() == [0.97, 0.03]
    assert network.tables["dog-out"][1, 0].tolist() == [0.9, 0.1]


def test_a_default_fills_the_rows_that_are_not_given() -> None:
    """Rows may come in any order, before or after the default."""
    text = SMALL.replace("  (no) 0.5, 0.25, 0.25;\n", "  default 0.1, 0.2, 0.7;\n")

    assert parse_bif(text).tables["B"].tolist() == [[0.1, 0.2, 0.7], [0.0, 0.5, 0.5]]


def test_rounded_rows_are_scaled() -> None:
    """Rows that sum to 1 within a thousandth are accepted and scaled."""
    text = SMALL.replace("0.5, 0.25, 0.25;", "0.3333, 0.3333, 0.3333;")

    assert parse_bif(text).tables["B"][0].tolist() == pytest.approx([1 / 3] * 3, abs=1e-15)


def test_files_may_be_compressed(tmp_path: Path) -> None:
    """Plain and compressed files with any line ends give the same network."""
    plain, packed = tmp_path / "small.bif", tmp_path / "small.bif.gz"
    plain.write_bytes(b"\xef\xbb\xbf" + SMALL.replace("\n", "\r\n").encode())
    packed.write_bytes(gzip.compress(SMALL.encode()))

    assert read_bif(plain) == read_bif(packed) == parse_bif(SMALL)


@pytest.mark.slow
@settings(max_examples=200, deadline=None)
@given(networks())
def test_every_network_comes_back(network: Network) -> None:
    """Writing and reading gives the same network to the last digit, whatever its names are."""
    assert parse_bif(write_bif(network)) == network


def test_nodes_that_are_not_text_cannot_be_written() -> None:
    """The format knows only text."""
    network = Network("numbered", Dag({1: []}), {1: ("x",)}, {1: [1.0]})

    with pytest.raises(InvalidArgumentError, match="the node 1 is not text; BIF files can only name nodes by text"):
        write_bif(network)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("network small", "net small", "4:1: expected 'network' at the start, found 'net'"),
        ("network small {", "network {", "4:9: expected the name of the network, found '{'"),
        (
            "small {\n}",
            "small {\n  author me;\n}",
            "5:3: expected 'property' or '}' in the network block, found 'author'",
        ),
        ("variable A", "variables A", "6:1: expected 'variable' or 'probability', found 'variables'"),
        ("variable A {", "variable {", "6:10: expected the name of a variable, found '{'"),
        ("variable B", "variable A", "9:10: the variable 'A' is declared twice"),
        ("discrete [ 2 ]", "continuous [ 2 ]", "7:8: expected 'discrete' after 'type', found 'continuous'"),
        ("[ 2 ]", "[ 3 ]", "7:19: the variable 'A' declares 3 levels but lists 2"),
        ("[ 2 ]", "[ two ]", "7:19: the variable 'A' declares two levels but lists 2"),
        ("{ no, yes }", "{ }", "7:19: the variable 'A' declares 2 levels but lists 0"),
        ("no, yes }", "no, no }", "7:29: the variable 'A' has the level 'no' twice"),
        ("no, yes };", "no, yes;", "7:32: expected a level or '}', found ';'"),
        ("no, yes };", "no, yes }", "8:1: expected ';' after the levels of 'A', found '}'"),
        ("  type discrete [ 2 ] { no, yes };\n", "", "6:10: the variable 'A' has no 'type'"),
        ("yes };", "yes }; kind x;", "7:36: expected 'property' or '}' in the variable 'A', found 'kind'"),
        ("yes };", "yes }; property x", "7:36: this property has no ';' at its end"),
        ("type discrete [ 2", "kind discrete [ 2", "7:3: expected 'type' in the variable 'A', found 'kind'"),
        ('2" };', "2 };", "10:36: this quoted name is never closed"),
        ("// From", "/* From", "1:1: this comment is never closed"),
        ("probability ( A )", "probability A", "12:13: expected '(' after 'probability', found 'A'"),
        ("probability ( A )", "probability ( )", "12:13: this probability block names no variable"),
        ("( A )", "( a )", "12:15: unknown variable 'a'; did you mean 'A'?"),
        ("( B | A )", "( B | Zebra )", "15:19: unknown variable 'Zebra'; declare it before this block"),
        ("( B | A )", "( B | A, A )", "15:22: the variable 'A' is named twice in one probability block"),
        ("( B | A )", "( B | B )", "15:19: the variable 'B' is named twice in one probability block"),
        ("( B | A )", "( A | B )", "15:15: the variable 'A' has a second probability block"),
        ("( B | A ) {", "( B | A )", "16:3: expected '{' before the probabilities of 'B', found '('"),
        ("table 0.25, 0.75", "table 0.25", "13:3: the variable 'A' has 1 probabilities here, but 2 are needed"),
        ("table 0.25,", "table 0.35,", "13:3: the variable 'A' has probabilities that sum to 1.1 instead of 1"),
        ("table 0.25,", "table 1e999,", "13:3: the variable 'A' has probabilities that sum to inf instead of 1"),
        ("0.25, 0.75", "1.25, -0.25", "13:15: the variable 'A' has the negative probability -0.25"),
        ("0.25, 0.75", "0.25, 0.7.5", "13:15: expected a probability or ';', found '0.7.5'"),
        ("0.25, 0.75", "0.25, nan", "13:15: expected a probability or ';', found 'nan'"),
        ("0.25, 0.75;", "0.25, 0.75", "14:1: expected a probability or ';', found '}'"),
        ("  table 0.25, 0.75;\n", "", "12:15: the variable 'A' has no 'table' and no 'default'"),
        ("(no) 0.5", "(maybe) 0.5", "16:4: the variable 'A' has no level 'maybe'; its levels are 'no', 'yes'"),
        ("(no) 0.5", "(No) 0.5", "16:4: the variable 'A' has no level 'No'; did you mean 'no'?"),
        ("(no) 0.5", "(no, no) 0.5", "16:3: the variable 'B' has a row for 2 levels, but 1 parent"),
        ("(yes) 0.0", "(no) 0.0", "17:3: the variable 'B' has the row (no) twice"),
        ("  (yes) 0.0, 0.5, 0.5;\n", "", "15:15: the variable 'B' has no row for (yes) and no 'default'"),
        ("(yes) 0.0, 0.5, 0.5", "(yes) 0.0, 1", "17:3: the variable 'B' has 2 probabilities here, but 3 are needed"),
        ("(yes) 0.0, 0.5", "(yes) 0.1, 0.5", "17:3: the variable 'B' has probabilities that sum to 1.1 instead of 1"),
        (
            "(yes) 0.0",
            "else 0.0",
            ("17:3: the variable 'B' has 'else' where a row, 'default', 'property', '}' or a single 'table' can stand"),
        ),
        ("0.5, 0.5;\n}", "0.5, 0.5;", "18:1: the variable 'B' has the end of the file where a row, 'default', 'pro"),
        ("probability ( B | A ) {\n  (no)", "(", "15:1: expected 'variable' or 'probability', found '('"),
    ],
)
def test_a_malformed_file_is_refused(old: str, new: str, message: str) -> None:
    """Each fault gets one sentence with file, line and column."""
    assert old in SMALL

    with pytest.raises(NetworkFileError) as caught:
        parse_bif(SMALL.replace(old, new, 1), origin="small.bif")

    assert str(caught.value).startswith(f"small.bif:{message}")


def test_a_variable_without_probabilities_is_refused() -> None:
    """The place where it was declared is named."""
    with pytest.raises(NetworkFileError, match=r"^<text>:9:10: the variable 'B' has no probability block$"):
        parse_bif(SMALL[: SMALL.index("probability ( B")])


def test_a_cyclic_file_is_refused() -> None:
    """The cycle is spelt out."""
    block = "probability ( A | B ) { default 0.5, 0.5; }\nprobability ( B | A )"
    text = SMALL.replace("probability ( A ) {\n  table 0.25, 0.75;\n}\nprobability ( B | A )", block)

    with pytest.raises(NetworkFileError, match=r"^<text>:4:1: the graph has a directed cycle A -> B -> A; "):
        parse_bif(text)


def test_an_empty_file_is_refused() -> None:
    """Nothing, and a network without variables, are no networks."""
    with pytest.raises(NetworkFileError, match=r"^<text>:1:1: expected 'network' at the start, found the end of the"):
        parse_bif("")
    with pytest.raises(NetworkFileError, match=r"^<text>:1:1: the graph has no nodes; give at least one$"):
        parse_bif("network empty { }")


def test_a_table_beyond_all_bounds_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """A few parents can ask for more numbers than fit the memory; that is said before it is tried."""
    monkeypatch.setattr(bif_table, "_LARGEST", 5)

    with pytest.raises(NetworkFileError, match="15:15: the variable 'B' takes 6 numbers; at most 5 can be read"):
        parse_bif(SMALL)


@pytest.mark.parametrize(
    ("content", "name", "message"),
    [
        (b"network \xff { }", "x.bif", r"x\.bif: byte 9 is not UTF-8 text; save the file as UTF-8$"),
        (b"no archive", "x.bif.gz", r"x\.bif\.gz: the file cannot be read: Not a gzipped file"),
        (gzip.compress(SMALL.encode())[:-20], "x.bif.gz", r"x\.bif\.gz: the file cannot be read: "),
    ],
)
def test_an_unreadable_file_is_refused(tmp_path: Path, content: bytes, name: str, message: str) -> None:
    """Bytes that are no text, and broken archives, are named with their file."""
    (tmp_path / name).write_bytes(content)

    with pytest.raises(NetworkFileError, match=message):
        read_bif(tmp_path / name)


@settings(max_examples=200, deadline=None)
@given(st.data())
def test_a_damaged_file_is_read_or_refused_but_never_crashes(data: st.DataObject) -> None:
    """Cutting any piece out and putting another in gives a network or the one kind of error."""
    start = data.draw(st.integers(0, len(SMALL)))
    end = data.draw(st.integers(start, min(len(SMALL), start + 40)))
    insert = data.draw(st.text(alphabet='(){}[];,|"/*\\ \n0.5aA-', max_size=3))

    with suppress(NetworkFileError):
        parse_bif(SMALL[:start] + insert + SMALL[end:])
