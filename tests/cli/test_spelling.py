"""Messages and notes in the words of the command line."""

from __future__ import annotations

import re
from pathlib import Path

import attrs
import click
import pytest

from apsl_rules import ApslError, Dag, Knowledge, learn
from apsl_rules.cli.learn import learn as learn_command
from apsl_rules.cli.main import apsl as group
from apsl_rules.cli.output import printed_part
from apsl_rules.cli.spelling import in_options
from apsl_rules.notes import Note, Sentence, argument, named, note_of
from apsl_rules.parts import Part, load_part
from support.messages import Message, marked_names, speaking_python, unmarked_arguments

COMMANDS = [group.command_named(name) for name in group.list_commands(click.Context(group))]
QUOTED = re.compile(r"(?<!\w)(?:'[^']*'|\"[^\"]*\")(?!\w)")
PYTHON = re.compile(r"(?<![\w-])[a-z_]{2,}=|(?<![\w.\[-])[a-z]+(?:_[a-z]+)+\b|[a-zA-Z_.]*[a-z]\(")
#: Why sentences may speak Python, and which: those of a file that have some words.
NOT_SPOKEN = {
    "no command leads there": [
        ("apsl_rules/data/sources.py", "learn_many for many targets"),
        ("apsl_rules/data/values.py", "levels='declared'"),
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
        ("backends/apsl_backends/answers/cached_oracle.py", ""),
    ],
    "it is about code or a file that the user wrote": [
        ("apsl_rules/neighbours/symmetric.py", "candidates("),
        ("apsl_rules/oracles/asker.py", "verdict("),
        ("apsl_rules/oracles/__init__.py", "is now"),
        ("apsl_rules/rules/vocabulary.py", ".fact()"),
        ("apsl_rules/knowledge.py", "apart_within"),
        ("apsl_rules/rules/vocabulary.py", "arrow(X, Y)"),
        ("apsl_rules/rules/vocabulary.py", "chain(X, Y, Z)"),
        ("backends/apsl_backends/learners/apsl_score.py", "max_parents in the spec"),
        ("backends/apsl_backends/scores/bde.py", "empirical_weight"),
    ],
    "it is no sentence": [
        ("apsl_rules/data/columns.py", "apsl_rules notes"),
        ("apsl_rules/data/readers/programs.py", "?mode=ro"),
        ("apsl_rules/parts/tables.py", "style="),
        ("apsl_rules/data/reading.py", "pulse="),
        ("apsl_rules/notes.py", "="),
        ("apsl_rules/data/databases/connection.py", "="),
        ("apsl_rules/data/databases/connection.py", ""),
        ("backends/apsl_backends/engines/duckdb.py", "min("),
        ("backends/apsl_backends/engines/duckdb.py", "count("),
        ("apsl_rules/rules/engine.py", ""),
        ("apsl_rules/export/peers.py", ""),
        ("apsl_rules/learning/progress.py", "value="),
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
        ("apsl_rules/rules/engine.py", ""),
    ],
    "it names the call and the command": [
        ("apsl_rules/parts/file.py", "part.save()"),
        ("apsl_rules/parts/marked_graph.py", "as graph.directed() does"),
        ("apsl_rules/parts/many_parts.py", "learn_many(..., journal=path)"),
    ],
    "it is a script, a header or a policy of the page": [
        ("apsl_rules/app/guard.py", "camera="),
        ("apsl_rules/app/takeaway.py", "Answer("),
        ("apsl_rules/app/takeaway.py", ", target="),
        ("apsl_rules/app/takeaway.py", "Knowledge("),
        ("apsl_rules/app/takeaway.py", "from apsl_rules"),
        ("apsl_rules/app/takeaway.py", "part = learn("),
        ("apsl_rules/app/takeaway.py", "network("),
        ("apsl_rules/app/takeaway.py", "part.save("),
        ("apsl_rules/app/takeaway.py", "        pulse="),
        ("apsl_rules/app/takeaway.py", "    pulse="),
        ("apsl_rules/app/serving.py", "filename="),
    ],
    "it is what a setting says of itself": [
        ("apsl_rules/learning/settings.py", "under hidden="),
        ("apsl_rules/learning/settings.py", "age=quantile:5"),
        ("apsl_rules/learning/settings.py", "such as memory_limit"),
    ],
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


def test_no_message_of_the_library_speaks_python_unmarked() -> None:
    """Each sentence marks the arguments that it names, so that they become options, or is known not to be spoken."""
    left = {one.text: said for one in speaking_python() if (said := spoken_python(one.text)) and not is_not_spoken(one)}

    assert len(speaking_python()) > 100
    assert left == {}


def test_every_error_that_begins_with_an_argument_says_so() -> None:
    """No pattern finds an argument in prose, where a column may be called like one: the error has to mark it."""
    options = {str(one.name) for command in COMMANDS for one in command.params if one.name != "source"}
    assert [one for one in unmarked_arguments(options) if not one.startswith(ROOMS_NOT_SPOKEN)] == []


#: Calls that sentences mark, and arguments that no command takes.
CALLS = ("do", "part.why")
NOT_TYPED = {"degree", "each", "network", "outcome", "progress", "treatment"}


def test_every_option_that_messages_name_exists() -> None:
    """What stands for an argument is an option of at least one command."""
    options = {opt for command in COMMANDS for one in command.params for opt in (*one.opts, *map(str.upper, one.opts))}
    names = [name for name in marked_names() if name not in CALLS]
    spoken = {
        name: set(re.findall(r"--[a-z-]+", in_options(Sentence(argument(name)), learn_command))) for name in names
    }
    missing = {name for name in names if not spoken[name] <= options}

    assert len(names) > 20
    assert missing == NOT_TYPED


@pytest.mark.parametrize(
    ("python", "marked", "spoken"),
    [
        ("kinds={'patient': 'number'}", argument("kinds", {"patient": "number"}), "--number patient"),
        ("kinds={3: 'number'}", argument("kinds", {3: "number"}), "--number 3"),
        ("drop=['a', 'b c']", argument("drop", ["a", "b c"]), "--drop a --drop 'b c'"),
        ('drop=["it\'s"]', argument("drop", ["it's"]), "--drop 'it'\"'\"'s'"),
        ("drop=", argument("drop"), "--drop"),
        ("discretize='quantile:3'", argument("discretize", "quantile:3"), "--discretize quantile:3"),
        ("discretize={'age': 'equal:3'}", argument("discretize", {"age": "equal:3"}), "--discretize age=equal:3"),
        ("discretize=", argument("discretize"), "--discretize"),
        ("missing='level'", argument("missing", "level"), "--missing level"),
        ("max_tests", named("max_tests"), "--max-tests"),
        ("'missing'", argument("missing", python="'missing'"), "--missing"),
        ("hidden='allowed'", argument("hidden", "allowed"), "--hidden"),
        ("hidden='excluded'", argument("hidden", "excluded"), "--hidden excluded"),
        ("open_edges='direct'", argument("open_edges", "direct"), "--directed"),
        ("certified=True", argument("certified", value=True), "--certified"),
        ("time=['Month', 'Day']", argument("time", ["Month", "Day"]), "--time Month,Day"),
        ("groups=['a, b', 'c']", argument("groups", ["a, b", "c"]), "--groups '\"a, b\",c'"),
        ("f('a', 'b c')", argument("part.why", ["a", "b c"], python="f('a', 'b c')"), "apsl why PART a 'b c'"),
        ("f(a=1)", argument("do", {"a": 1}, python="f(a=1)"), "--do a=1"),
    ],
)
def test_an_argument_becomes_what_is_typed(python: str, marked: str, spoken: str) -> None:
    """The value is written as a shell takes it; in Python the sentence has it as in a call."""
    sentence = Sentence(f"give {marked}, or not")
    assert sentence == f"give {python}, or not"
    assert in_options(sentence, learn_command) == f"give {spoken}, or not"


def test_an_error_says_which_argument_it_begins_with() -> None:
    """A word at the start of a message is an option if the error marks it."""
    with pytest.raises(ApslError, match="depth is 0; give a whole number") as caught:
        learn(Dag({"a": []}), "a", depth=0)
    assert in_options(caught.value.sentence, learn_command).startswith("--depth is 0; give a whole number")


@pytest.mark.parametrize("name", ["drop=['a']", "depth is 3", "max_tests", "part.why('a', 'b')", "--depth"])
def test_names_of_the_user_stay(name: str) -> None:
    """What is not marked is never replaced, so that a column may be called like an argument, quoted or not."""
    for command in COMMANDS:
        for message in (name, f"column {name!r} is constant", f"P({name} = yes): {name} is -1"):
            assert in_options(Sentence(f"{message}; {named('depth')}"), command).startswith(f"{message}; ")


def test_tiers_become_options() -> None:
    """What Python gives as knowledge is an option on the command line, in messages and in notes."""
    tiers = argument("knowledge", {"tiers": [["a]b", "sex"]]}, python="knowledge=Knowledge(...)")
    note = Note(f"'pay -> sex' points at it; say so with tiers ({tiers})")
    spoken = "'pay -> sex' points at it; say so with tiers (--tier 'a]b,sex' --tier ...)"
    assert in_options(note, learn_command) == spoken
    assert in_options(note_of(note.to_dict()), learn_command) == spoken


def test_the_summary_of_a_part_offers_the_option(tmp_path: Path) -> None:
    """Notes of a part are printed in the words of the command line, also of one that was saved."""
    part: Part = learn(Dag({"a": [], "b": ["a"]}), "b", knowledge=Knowledge())
    noted = attrs.evolve(part, notes=(Note(f"leave one out with {argument('drop', ['sex'])}"),))
    assert noted.notes[0] == "leave one out with drop=['sex']"
    noted.save(tmp_path / "part.json")

    for one in (noted, load_part(tmp_path / "part.json")):
        assert "note: leave one out with --drop sex" in printed_part(one, every_note=False, verbose=False)


def test_a_command_for_several_learners_names_its_own_option() -> None:
    """`apsl compare` takes --learners, and says so."""
    said = in_options(Sentence(f"use {argument('learner', 'apsl-hidden')}"), group.command_named("compare"))
    assert said == "use --learners apsl-hidden"
