"""Read and write networks in the Bayesian interchange format."""

from __future__ import annotations

import gzip
import re
import zlib
from collections.abc import Iterator, Mapping
from itertools import product
from math import prod
from pathlib import Path
from typing import Literal, NoReturn, TypeAlias

import attrs
import numpy as np

from apsl_rules._files import atomic_file, encode_text
from apsl_rules.errors import GraphError, InvalidArgumentError, NetworkFileError
from apsl_rules.graphs.dag import Dag
from apsl_rules.graphs.networks.bayesian_network import TOLERANCE, Network, Probabilities
from apsl_rules.names import Node, count_of, listing, nearest

Kind: TypeAlias = Literal["word", "quoted", "symbol", "end"]

_TOKEN = re.compile(
    r"""(?: [\s,|]++ | //[^\n]*+ | /\*.*?\*/ )*+
    (?: (?P<symbol> [(){}\[\];] )
      | " (?P<quoted> (?: [^"\\] | \\. )* ) "
      | (?P<word> (?: (?!//|/\*) [^\s,|(){}\[\];"] )+ )
      | (?P<unclosed> "|/ )
    )""",
    re.DOTALL | re.VERBOSE,
)
_NUMBERS = re.compile(r"[0-9eE.+\-,\s]*+(?=;)")
_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_ESCAPED = {"n": "\n", "r": "\r", "t": "\t"}
_ESCAPES = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t"}
_PLAIN = re.compile(r"(?!.*//)[A-Za-z0-9_.<>=+%:/-]+")


@attrs.frozen
class Token:
    """One word, quoted text or symbol, and the place where it starts; "end" stands after the last one."""

    kind: Kind
    text: str
    start: int

    def is_symbol(self, symbol: str) -> bool:
        """Return whether this is a symbol, not a quoted name that looks like one."""
        return self.kind == "symbol" and self.text == symbol

    def is_word(self, word: str) -> bool:
        """Return whether this is a keyword, not a quoted name that looks like one."""
        return self.kind == "word" and self.text == word

    def is_name(self) -> bool:
        """Return whether this can be the name of a variable or of a level."""
        return self.kind in {"word", "quoted"}

    def __str__(self) -> str:
        return "the end of the file" if self.kind == "end" else repr(self.text)


class Scanner:
    """Reads the text of a BIF file word by word."""

    def __init__(self, text: str, origin: str) -> None:
        self._text = text
        self._origin = origin
        self._position = 0

    def take(self) -> Token:
        """Take the next token."""
        found = _TOKEN.match(self._text, self._position)
        if found is None:
            self._position = len(self._text)
            return Token("end", "", self._position)
        self._position = found.end()
        if found["unclosed"]:
            what = "quoted name" if found["unclosed"] == '"' else "comment"
            self.fail(found.start("unclosed"), f"this {what} is never closed")
        if found["symbol"]:
            return Token("symbol", found["symbol"], found.start("symbol"))
        if found["word"]:
            return Token("word", found["word"], found.start("word"))
        return Token("quoted", _unescape(found["quoted"]), found.start("quoted") - 1)

    def expect(self, expected: str, place: str) -> Token:
        """Take the symbol or keyword that must come next; ``place`` says where, for the message."""
        token = self.take()
        if not token.is_symbol(expected) and not token.is_word(expected):
            self.fail(token.start, f"expected {expected!r} {place}, found {token}")
        return token

    def name(self, what: str) -> Token:
        """Take a name, plain or quoted."""
        token = self.take()
        if not token.is_name():
            self.fail(token.start, f"expected {what}, found {token}")
        return token

    def names(self, closing: str, what: str) -> list[Token]:
        """Take names up to a closing symbol, and the symbol."""
        found = []
        while (token := self.take()).is_name():
            found.append(token)
        if not token.is_symbol(closing):
            self.fail(token.start, f"expected {what} or {closing!r}, found {token}")
        return found

    def numbers(self) -> list[float]:
        """Take numbers up to a semicolon, and the semicolon."""
        start = self._position
        run = _NUMBERS.match(self._text, start)
        if run is not None:
            self._position = run.end() + 1
            try:
                return [float(word) for word in run.group().replace(",", " ").split()]
            except ValueError:
                pass  # the slower reader below names the wrong word
        return [float(token.text) for token in self.number_tokens(start)]

    def number_tokens(self, start: int) -> list[Token]:
        """Go back to the start of a run of numbers and take it word by word."""
        self._position = start
        found = []
        while not (token := self.take()).is_symbol(";"):
            if token.kind != "word" or not _NUMBER.fullmatch(token.text):
                self.fail(token.start, f"expected a probability or ';', found {token}")
            found.append(token)
        return found

    def entries(self) -> Iterator[Token]:
        """Return the first token of each entry of a block, up to its closing brace and without properties."""
        while not (token := self.take()).is_symbol("}"):
            if token.is_word("property"):
                self._skip_property(token)
            else:
                yield token

    def _skip_property(self, keyword: Token) -> None:
        while not (token := self.take()).is_symbol(";"):
            if token.kind == "end" or token.is_symbol("{") or token.is_symbol("}"):
                self.fail(keyword.start, "this property has no ';' at its end")

    @property
    def position(self) -> int:
        """Return the place up to which the text was taken."""
        return self._position

    def fail(self, start: int, sentence: str) -> NoReturn:
        """Raise an error that names the file, the line and the column."""
        line = self._text.count("\n", 0, start) + 1
        column = start - self._text.rfind("\n", 0, start)
        message = f"{self._origin}:{line}:{column}: {sentence}"
        raise NetworkFileError(message)


def quote_name(name: str) -> str:
    """Write a name so that it is read back as it is, in quotes where it needs them.

    >>> print(quote_name("V_E_REIN"), quote_name("more than one"))
    V_E_REIN "more than one"
    """
    if _PLAIN.fullmatch(name):
        return name
    return '"' + "".join(_ESCAPES.get(character, character) for character in name) + '"'


def _unescape(body: str) -> str:
    return re.sub(r"\\(.)", lambda found: _ESCAPED.get(found[1], found[1]), body, flags=re.DOTALL)


#: The place of each level of a variable.
Levels: TypeAlias = dict[str, int]
Places: TypeAlias = tuple[int, ...]

_LARGEST = 50_000_000


class TableReader:
    """Reads rows, defaults and whole tables; the array has the variable itself as its last axis."""

    def __init__(self, scanner: Scanner, names: list[Token], levels: Mapping[str, Levels]) -> None:
        self._scanner = scanner
        self._name, *self._parents = names
        self._levels = [levels[parent.text] for parent in self._parents]
        self._size = len(levels[self._name.text])
        self._shape = tuple(len(places) for places in self._levels)

    def read(self) -> Probabilities:
        """Read all entries up to the closing brace of the block."""
        numbers = prod(self._shape) * self._size
        if numbers > _LARGEST:
            self._fail(self._name, f"takes {numbers} numbers; at most {_LARGEST} can be read")
        rows: dict[Places, list[float]] = {}
        default: list[float] | None = None
        for token in self._scanner.entries():
            if token.is_symbol("("):
                places = self._places(token)
                if places in rows:
                    self._fail(token, f"has the row ({self._spell(places)}) twice")
                rows[places] = self._row(token)
            elif token.is_word("default") and default is None:
                default = self._row(token)
            elif token.is_word("table") and not rows:
                rows = self._whole(token)
            else:
                self._fail(token, f"has {token} where a row, 'default', 'property', '}}' or a single 'table' can stand")
        return self._fill(rows, default)

    def _places(self, opening: Token) -> Places:
        """Read the levels of the parents in front of a row."""
        tokens = self._scanner.names(")", "a level")
        if len(tokens) != len(self._parents):
            self._fail(
                opening, f"has a row for {count_of(len(tokens), 'level')}, but {count_of(len(self._parents), 'parent')}"
            )
        for parent, levels, token in zip(self._parents, self._levels, tokens, strict=True):
            if token.text not in levels:
                hint = nearest(token.text, levels) or f"; its levels are {listing(levels)}"
                self._scanner.fail(token.start, f"the variable {parent.text!r} has no level {token.text!r}{hint}")
        return tuple(levels[token.text] for levels, token in zip(self._levels, tokens, strict=True))

    def _row(self, entry: Token) -> list[float]:
        row = self._numbers(entry, self._size)
        self._check_sum(entry, row)
        return row

    def _whole(self, entry: Token) -> dict[Places, list[float]]:
        """Read a table: for each level of the variable all rows, the last parent changing fastest."""
        rows = prod(self._shape)
        values = self._numbers(entry, rows * self._size)
        whole = {places: values[row::rows] for row, places in enumerate(product(*map(range, self._shape)))}
        for row in whole.values():
            self._check_sum(entry, row)
        return whole

    def _numbers(self, entry: Token, expected: int) -> list[float]:
        start = self._scanner.position
        values = self._scanner.numbers()
        if len(values) != expected:
            self._fail(entry, f"has {len(values)} probabilities here, but {expected} are needed")
        if min(values) < 0:
            wrong = self._scanner.number_tokens(start)[values.index(min(values))]
            self._fail(wrong, f"has the negative probability {wrong.text}")
        return values

    def _check_sum(self, entry: Token, row: list[float]) -> None:
        if not abs(sum(row) - 1) <= TOLERANCE:
            self._fail(entry, f"has probabilities that sum to {sum(row):.6g} instead of 1")

    def _fill(self, rows: Mapping[Places, list[float]], default: list[float] | None) -> Probabilities:
        table = np.empty((*self._shape, self._size))
        for places in product(*map(range, self._shape)):
            row = rows.get(places, default)
            if row is None:
                entry = f"row for ({self._spell(places)})" if places else "'table'"
                self._fail(self._name, f"has no {entry} and no 'default'")
            table[places] = row
        return table

    def _spell(self, places: Places) -> str:
        return ", ".join(list(levels)[place] for levels, place in zip(self._levels, places, strict=True))

    def _fail(self, token: Token, sentence: str) -> NoReturn:
        self._scanner.fail(token.start, f"the variable {self._name.text!r} {sentence}")


class BifReader:
    """Reads one file: variables as they come, and each table against the variables declared before it."""

    def __init__(self, text: str, origin: str) -> None:
        self._scanner = Scanner(text, origin)
        self._source = _leading_comment(text)
        self._declared: dict[str, Token] = {}
        self._levels: dict[str, Levels] = {}
        self._parents: dict[Node, list[str]] = {}
        self._tables: dict[Node, Probabilities] = {}

    def network(self) -> Network:
        """Read all blocks."""
        scanner = self._scanner
        start = scanner.expect("network", "at the start").start
        name = scanner.name("the name of the network").text
        scanner.expect("{", "after the name of the network")
        for token in scanner.entries():
            scanner.fail(token.start, f"expected 'property' or '}}' in the network block, found {token}")
        while (keyword := scanner.take()).kind != "end":
            if keyword.is_word("variable"):
                self._variable()
            elif keyword.is_word("probability"):
                self._probability()
            else:
                scanner.fail(keyword.start, f"expected 'variable' or 'probability', found {keyword}")
        for variable, token in self._declared.items():
            if variable not in self._tables:
                scanner.fail(token.start, f"the variable {variable!r} has no probability block")
        try:
            dag = Dag({variable: self._parents[variable] for variable in self._declared})
        except GraphError as error:
            scanner.fail(start, str(error))
        levels: dict[Node, tuple[str, ...]] = {node: tuple(places) for node, places in self._levels.items()}
        return Network(name, dag, levels, self._tables, self._source)

    def _variable(self) -> None:
        scanner = self._scanner
        name = scanner.name("the name of a variable")
        variable = name.text
        if variable in self._declared:
            scanner.fail(name.start, f"the variable {variable!r} is declared twice")
        self._declared[variable] = name
        scanner.expect("{", f"after the variable {variable!r}")
        for token in scanner.entries():
            if not token.is_word("type") or variable in self._levels:
                expected = "'property' or '}'" if variable in self._levels else "'type'"
                scanner.fail(token.start, f"expected {expected} in the variable {variable!r}, found {token}")
            self._levels[variable] = self._type(variable)
        if variable not in self._levels:
            scanner.fail(name.start, f"the variable {variable!r} has no 'type'")

    def _type(self, variable: str) -> Levels:
        scanner = self._scanner
        scanner.expect("discrete", "after 'type'")
        scanner.expect("[", "after 'discrete'")
        count = scanner.name("the number of levels")
        scanner.expect("]", "after the number of levels")
        scanner.expect("{", "before the levels")
        levels: Levels = {}
        for token in scanner.names("}", "a level"):
            if token.text in levels:
                scanner.fail(token.start, f"the variable {variable!r} has the level {token.text!r} twice")
            levels[token.text] = len(levels)
        scanner.expect(";", f"after the levels of {variable!r}")
        if not levels or count.text != str(len(levels)):
            declared = "1 level" if count.text == "1" else f"{count.text} levels"
            scanner.fail(count.start, f"the variable {variable!r} declares {declared} but lists {len(levels)}")
        return levels

    def _probability(self) -> None:
        scanner = self._scanner
        opening = scanner.expect("(", "after 'probability'")
        names = scanner.names(")", "the name of a variable")
        if not names:
            scanner.fail(opening.start, "this probability block names no variable")
        seen: set[str] = set()
        for token in names:
            if token.text not in self._declared:
                hint = nearest(token.text, self._declared) or "; declare it before this block"
                scanner.fail(token.start, f"unknown variable {token.text!r}{hint}")
            if token.text in seen:
                scanner.fail(token.start, f"the variable {token.text!r} is named twice in one probability block")
            seen.add(token.text)
        variable, *parents = [token.text for token in names]
        if variable in self._tables:
            scanner.fail(names[0].start, f"the variable {variable!r} has a second probability block")
        scanner.expect("{", f"before the probabilities of {variable!r}")
        self._parents[variable] = parents
        self._tables[variable] = TableReader(scanner, names, self._levels).read()


def _leading_comment(text: str) -> str:
    """Return the comment lines at the very start of a file, which say where a network comes from."""
    lines = []
    for line in text.split("\n"):
        if not line.startswith("//"):
            break
        lines.append(line.removeprefix("//").removeprefix(" "))
    return "\n".join(lines)


def read_bif(path: str | Path) -> Network:
    """Read a network from a ``.bif`` file, or from a compressed ``.bif.gz`` file."""
    try:
        content = Path(path).read_bytes()
        text = (gzip.decompress(content) if str(path).endswith(".gz") else content).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        message = f"{path}: byte {error.start + 1} is not UTF-8 text; save the file as UTF-8"
        raise NetworkFileError(message) from error
    except (OSError, EOFError, zlib.error) as error:
        reason = (isinstance(error, OSError) and error.strerror) or error
        message = f"{path}: the file cannot be read: {reason}"
        raise NetworkFileError(message) from error
    return parse_bif(text.replace("\r\n", "\n"), origin=str(path))


def parse_bif(text: str, *, origin: str = "<text>") -> Network:
    """Read a network from text; ``origin`` names the text in messages."""
    return BifReader(text, origin).network()


def write_bif(network: Network) -> str:
    """Write a network as text, such that reading it gives the same network."""
    for node in network.dag.nodes:
        if not isinstance(node, str):
            message = f"the node {node!r} is not text; BIF files can only name nodes by text"
            raise InvalidArgumentError(message)
    lines = [f"// {line}" if line else "//" for line in network.source.split("\n")] if network.source else []
    lines += [f"network {quote_name(network.name)} {{", "}"]
    for node in network.dag.nodes:
        levels = ", ".join(quote_name(level) for level in network.levels[node])
        lines += [
            f"variable {quote_name(str(node))} {{",
            f"  type discrete [ {len(network.levels[node])} ] {{ {levels} }};",
            "}",
        ]
    for node in network.dag.nodes:
        lines += _probability_lines(network, node)
    return "\n".join(lines) + "\n"


def save_bif(network: Network, path: str | Path) -> None:
    """Write a network into a ``.bif`` file, or into a compressed ``.bif.gz`` file, whole or not at all."""
    if not str(path).endswith((".bif", ".bif.gz")):
        message = f"cannot write a network to {str(path)!r}; end its name in .bif or .bif.gz"
        raise InvalidArgumentError(message)
    content = encode_text(write_bif(network), path)
    with atomic_file(path) as draft:
        draft.write_bytes(gzip.compress(content, mtime=0) if str(path).endswith(".gz") else content)


def _probability_lines(network: Network, node: Node) -> list[str]:
    parents = network.dag.parents_of(node)
    table = network.tables[node]
    given = " | " + ", ".join(quote_name(str(parent)) for parent in parents) if parents else ""
    lines = [f"probability ( {quote_name(str(node))}{given} ) {{"]
    for places in np.ndindex(table.shape[:-1]):
        row = ", ".join(repr(value) for value in table[places].tolist())
        levels = ", ".join(
            quote_name(network.levels[parent][place]) for parent, place in zip(parents, places, strict=True)
        )
        lines.append(f"  ({levels}) {row};" if parents else f"  table {row};")
    return [*lines, "}"]
