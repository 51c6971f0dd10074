"""The blocks of a BIF file, read into a network."""

from __future__ import annotations

from apsl_rules.errors import GraphError
from apsl_rules.graphs.dag import known_dag
from apsl_rules.graphs.networks._bif_scanner import Scanner, Token
from apsl_rules.graphs.networks._bif_table import Levels, TableReader
from apsl_rules.graphs.networks.network import Network, Probabilities
from apsl_rules.names import Node, nearest


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
            dag = known_dag({variable: self._parents[variable] for variable in self._declared})
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
