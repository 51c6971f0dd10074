"""Messages and notes in the words of the command line."""

from __future__ import annotations

import re

import attrs
import click
import pytest

from apsl_rules import Dag, Knowledge, learn
from apsl_rules.cli.learn import learn as learn_command
from apsl_rules.cli.main import apsl as group
from apsl_rules.cli.option_names import OPTIONS, with_option_names
from apsl_rules.cli.output import summary
from apsl_rules.parts import Part
from support.messages import Message, spoken_messages, unmarked_arguments

COMMANDS = [group.command_named(name) for name in group.list_commands(click.Context(group))]
QUOTED = re.compile(r"(?<!\w)(?:'[^']*'|\"[^\"]*\")(?!\w)")
PYTHON = re.compile(r"(?<![\w-])[a-z_]{2,}=|(?<![\w.\[-])[a-z]+(?:_[a-z]+)+\b|[a-zA-Z_.]*[a-z]\(")
#: Why sentences may speak Python, and which: those of a file that have some words.
NOT_SPOKEN = {
    "no command leads there": [
        ("apsl_rules/data/sources.py", "learn_many for many targets"),
        ("apsl_rules/data/cuts.py", "levels='declared'"),
        ("apsl_rules/data/sources.py", "frame.rename(columns=str)"),
        ("apsl_rules/data/read_table.py", "the table was read already"),
        ("apsl_rules/data/readers/text.py", "so give network="),
        ("apsl_rules/effects/figures.py", "open it with Embedding"),
        ("apsl_rules/evaluation/scoring.py", "give it as columns="),
        ("apsl_rules/export/frames.py", "to_pcalg()"),
        ("apsl_rules/graphs/networks/sampling.py", "give network('asia')"),
        ("apsl_rules/graphs/networks/library.py", "give network('asia')"),
        ("apsl_rules/graphs/networks/library.py", "give keep="),
        ("apsl_rules/learning/source.py", "Dag(...)"),
        ("apsl_rules/knowledge.py", "Knowledge(required=[...], ...)"),
        ("apsl_rules/learning/sklearn.py", "input_features"),
        ("apsl_rules/names.py", "learn(X.assign(y=y), 'y')"),
        ("apsl_rules/parts/graph.py", "graph.save()"),
        ("apsl_rules/parts/graph.py", "Dag(...)"),
        ("apsl_rules/parts/stability_result.py", ""),
        ("backends/apsl_backends/independence/recording.py", ""),
    ],
    "it is about code or a file that the user wrote": [
        ("apsl_rules/neighbours/symmetric.py", "candidates("),
        ("apsl_rules/oracles/asker.py", "verdict("),
        ("apsl_rules/oracles/__init__.py", "is now"),
        ("apsl_rules/rules/vocabulary.py", ".fact()"),
        ("apsl_rules/knowledge.py", "apart_within"),
        ("apsl_rules/rules/vocabulary.py", "arrow(X, Y)"),
        ("backends/apsl_backends/learners/apsl_score.py", "max_parents in the spec"),
        ("backends/apsl_backends/scores/bde.py", "empirical_weight"),
    ],
    "it is no sentence": [
        ("apsl_rules/data/databases/connection.py", "="),
        ("apsl_rules/data/databases/connection.py", ""),
        ("backends/apsl_backends/engines/duckdb.py", "min("),
        ("backends/apsl_backends/engines/duckdb.py", "count("),
        ("apsl_rules/rules/engine.py", ""),
        ("apsl_rules/export/peers.py", ""),
        ("apsl_rules/learning/run.py", "value="),
        ("apsl_rules/masking.py", "="),
        ("apsl_rules/export/dot.py", ""),
        ("apsl_rules/export/graph_formats.py", ""),
        ("apsl_rules/parts/file.py", "apsl_rules part"),
        ("apsl_rules/parts/graph.py", "apsl_rules learned graph"),
        ("apsl_rules/parts/graph.py", ""),
        ("apsl_rules/parts/part.py", "="),
        ("apsl_rules/parts/many_parts.py", "apsl_rules parts"),
        ("apsl_rules/parts/stability_result.py", "apsl_rules resamples"),
        ("apsl_rules/parts/many_parts.py", "="),
        ("apsl_rules/rules/marks.py", ""),
    ],
    "it is what a setting says of itself": [
        ("apsl_rules/learning/settings.py", "age=quantile:5"),
        ("apsl_rules/learning/settings.py", "such as memory_limit"),
    ],
    "it is filled with the name of an option, as tested below": [("apsl_rules/data/reading.py", "is not known")],
}
#: Whole rooms without sentences for users of commands.
ROOMS_NOT_SPOKEN = ("apsl_rules/views/", "apsl_rules/views/", "backends/apsl_backends/kernels/")


def spoken_python(text: str) -> str | None:
    """Return what a sentence says in Python outside of quotation marks, if anything."""
    found = PYTHON.search(QUOTED.sub("", text))
    return None if found is None or text.startswith(("SELECT", "PRAGMA", "count(*)")) else found[0]


def is_not_spoken(message: Message) -> bool:
    """Return whether no user of a command reads a sentence."""
    known = [words for files in NOT_SPOKEN.values() for file, words in files if file == message.place]
    return message.place.startswith(ROOMS_NOT_SPOKEN) or any(words in message.text for words in known)


def test_every_message_of_the_library_speaks_options() -> None:
    """Each sentence that names an argument names an option of some command instead, or is known not to be spoken."""
    left = {}
    for message in spoken_messages():
        said = [spoken_python(with_option_names(message.text, command, message.argument)) for command in COMMANDS]
        if all(said) and not is_not_spoken(message):
            left[message.text] = said[0]

    assert len(spoken_messages()) > 100
    assert left == {}


def test_every_error_that_begins_with_an_argument_says_so() -> None:
    """No pattern finds an argument in prose, where a column may be called like one: the error has to name it."""
    options = {str(one.name) for command in COMMANDS for one in command.params if one.name != "source"}
    assert [one for one in unmarked_arguments(options) if not one.startswith(ROOMS_NOT_SPOKEN)] == []


def test_every_option_that_messages_name_exists() -> None:
    """What stands for an argument is an option of at least one command."""
    options = {opt for command in COMMANDS for one in command.params for opt in one.opts}
    assert set(OPTIONS.values()) <= options


@pytest.mark.parametrize(
    ("message", "spoken"),
    [
        ("give kinds={'patient': 'number'}", "give --number patient"),
        ("give kinds={'blood pressure': 'category'}", "give --category 'blood pressure'"),
        ("give kinds={\"it's\": 'number'}", "give --number 'it'\"'\"'s'"),
        ("give kinds={3: 'number'}", "give --number 3"),
        ("give drop=['a', 'b c']", "give --drop a --drop 'b c'"),
        ("cut it (discretize='quantile:3')", "cut it (--discretize quantile:3)"),
        ("such as discretize={'age': 'quantile:3'}", "such as --discretize age=quantile:3"),
        ("choose other cuts with discretize=", "choose other cuts with --discretize"),
        ("missing='sometimes' is not known", "--missing sometimes is not known"),
        ("learn with hidden='allowed'", "learn with --hidden"),
        ("part.why('a', 'b c') has both sides", "apsl why PART a 'b c' has both sides"),
        ("unknown column in kinds 'x'", "unknown column in kinds 'x'"),
        ("the oracle has no option 'missing'; leave it out", "the oracle has no option --missing; leave it out"),
    ],
)
def test_an_argument_becomes_what_is_typed(message: str, spoken: str) -> None:
    """The value is written as a shell takes it."""
    assert with_option_names(message, learn_command) == spoken


@pytest.mark.parametrize(
    ("message", "argument", "spoken"),
    [
        ("depth is 0; give 1", "depth", "--depth is 0; give 1"),
        ("the seed is -1; give 0 or more", "the seed", "--seed is -1; give 0 or more"),
        ("unknown column in drop 'x'; did you mean 'depth is 0'?", "drop", None),
        ("alpha is 2.0, and depth is 3", "alpha", "--alpha is 2.0, and depth is 3"),
        ("depth is 0; give 1", None, "depth is 0; give 1"),
        ("nothing is known of depth", "depth", "nothing is known of depth"),
    ],
)
def test_an_error_says_which_argument_it_begins_with(message: str, argument: str | None, spoken: str | None) -> None:
    """A word at the start of a message is an option only if the error says so, and no word in its middle is one."""
    seed = click.Option(["--seed"])
    command = click.Command("learn", params=[*learn_command.params, seed])
    assert with_option_names(message, command, argument) == (spoken or message.replace("in drop", "in --drop"))


#: How messages speak of columns, in words and in signs.
SENTENCES = (
    "the best graph found over 2 nodes near {0} is 3.00 nats ahead of no edge",
    "{0} is 3 and {0} are 2, the {0} is -1",
    "P({0} = yes): {0} = no against {0}; mean of {0} is 0.5",
    "{0}",
    "{0} -> {0} is a column in {0} and a node in {0}",
)


@pytest.mark.parametrize("sentence", SENTENCES)
def test_a_column_called_like_an_option_is_never_replaced(sentence: str) -> None:
    """For each option of each command, a column of its name stays as it is, quoted or not."""
    for command in COMMANDS:
        for name in sorted({*OPTIONS, *(str(one.name) for one in command.params)}):
            for label in (name, repr(name)):
                message = sentence.format(label)
                assert with_option_names(message, command) == message


@pytest.mark.parametrize("name", ["drop=['a']", "depth is 3", "max_tests", "part.why('a', 'b')"])
def test_names_of_the_user_stay(name: str) -> None:
    """A column that is called like an argument is spelt as it is called."""
    message = f"column {name!r} is constant"
    assert with_option_names(message, learn_command) == message


def test_tiers_become_options() -> None:
    """What Python gives as knowledge is an option on the command line, in messages and in notes."""
    note = "'pay -> sex' points at it; say so with tiers (knowledge=Knowledge(tiers=[['age', 'sex'], ...]))"
    spoken = "'pay -> sex' points at it; say so with tiers (--tier age,sex --tier ...)"
    assert with_option_names(note, click.Command("learn")) == spoken
    odd = "say so (knowledge=Knowledge(tiers=[['a]b', 'c'], ['d'], ...]))"
    assert with_option_names(odd, click.Command("learn")) == "say so (--tier 'a]b,c' --tier d --tier ...)"


def test_the_summary_of_a_part_offers_the_option() -> None:
    """Notes of a part are printed in the words of the command line."""
    part: Part = learn(Dag({"a": [], "b": ["a"]}), "b", knowledge=Knowledge())
    noted = attrs.evolve(part, notes=("say so (knowledge=Knowledge(tiers=[['sex'], ...]))",))
    assert "note: say so (--tier sex --tier ...)" in summary(noted)


def test_a_command_for_several_learners_names_its_own_option() -> None:
    """`apsl compare` takes --learners, and says so."""
    said = with_option_names("use learner='apsl-hidden'", group.command_named("compare"))
    assert said == "use --learners apsl-hidden"
