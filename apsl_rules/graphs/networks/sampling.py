"""Draw rows and networks at random, and write the rows to files."""

from __future__ import annotations

import gzip
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import chain
from math import inf
from pathlib import Path
from typing import Any, BinaryIO, cast

import numpy as np
import numpy.typing as npt

from apsl_rules._files import atomic_file
from apsl_rules.data import Codes, Table
from apsl_rules.data.readers import MISSING_FIELDS
from apsl_rules.errors import InvalidArgumentError
from apsl_rules.graphs.dag import Dag
from apsl_rules.graphs.networks.bayesian_network import Network, check_strength, random_rows
from apsl_rules.names import Node, count_of, demand, is_number, is_whole, listing, path_text, spelt, whole_number
from apsl_rules.notes import argument, named

_PADDING = b"\xff"
_BYTES_AT_ONCE = 2**20
_MOST_BYTES = 2**26
_ROWS_AT_ONCE = 256
_TRUTH_VALUES = ("true", "false")
#: What ends a field in some kind of text file, and the quotation mark.
_MARKS = frozenset(',;|"')


class TextRows:
    """A spelling for tables of known columns and levels: the header, and rows from codes."""

    def __init__(self, columns: Mapping[Node, Sequence[str]], separator: str = ",") -> None:
        _check_names(columns)
        for node, levels in columns.items():
            _check_levels(node, levels)
        ends = [separator] * (len(columns) - 1) + ["\n"]
        self.header = _encode(
            "".join(field(str(node), separator) + end for node, end in zip(columns, ends, strict=True))
        )
        self._words: list[tuple[int, npt.NDArray[Any]]] = []
        for place, (levels, end) in enumerate(zip(columns.values(), ends, strict=True)):
            spellings = [_encode(field(level, separator) + end) for level in levels]
            self._words += [(place, words) for words in _words(spellings)]
        self._row = np.dtype([(f"f{place}", words.dtype) for place, (_, words) in enumerate(self._words)])
        preferred = max(_BYTES_AT_ONCE // self._row.itemsize, _ROWS_AT_ONCE)
        self._rows_at_once = max(1, min(preferred, _MOST_BYTES // self._row.itemsize))

    def text_of(self, codes: Codes) -> Iterator[bytes]:
        """Return the text of some rows (codes by columns and rows) in pieces of bounded size."""
        for start in range(0, codes.shape[1], self._rows_at_once):
            some = codes[:, start : start + self._rows_at_once]
            rows = np.empty(some.shape[1], dtype=self._row)
            for name, (place, words) in zip(self._row.names or (), self._words, strict=True):
                rows[name] = words[some[place]]
            yield rows.tobytes().translate(None, _PADDING)


def field(text: str, separator: str = ",") -> str:
    """Spell one field, in quotation marks where a reader could take it for something else.

    >>> print(field("yes"), field("a, b"), field('5" long'))
    yes "a, b" "5"" long"
    """
    if text and text.isprintable() and text == text.strip() and _MARKS.isdisjoint(text) and separator not in text:
        return text
    return '"' + text.replace('"', '""') + '"'


def _words(spellings: Sequence[bytes]) -> Iterator[npt.NDArray[Any]]:
    """Cut spellings into columns of words: eight bytes each, and the last no wider than it must be."""
    longest = max(map(len, spellings))
    for start in range(0, longest, 8):
        width = next(size for size in (1, 2, 4, 8) if size >= min(8, longest - start))
        pieces = (spelling[start : start + width].ljust(width, _PADDING) for spelling in spellings)
        yield np.frombuffer(b"".join(pieces), dtype=f"u{width}")


def _encode(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        message = f"{text!r} cannot be written as UTF-8 text; rename this node or level"
        raise InvalidArgumentError(message) from error


def _check_names(nodes: Iterable[Node]) -> None:
    """Refuse names that would not name a column in a header."""
    for node in nodes:
        if not str(node).strip() or "\0" in str(node):
            message = f"a column of a text file cannot be named {str(node)!r}; rename this node"
            raise InvalidArgumentError(message)


def _check_levels(node: Node, levels: Sequence[str]) -> None:
    """Refuse levels that text cannot carry: read back they would be missing, one level instead of two, or fractions."""
    advice = "; write a .parquet file, or rename the levels"
    if wrong := [level for level in levels if level in MISSING_FIELDS or "\0" in level]:
        message = f"the level {wrong[0]!r} of {node!r} would be read back from text as a missing value{advice}"
        raise InvalidArgumentError(message)
    numbers = {level: number for level in levels if (number := _number(level)) is not None}
    if len(set(numbers.values())) < len(numbers):
        message = (
            f"the levels {listing(list(numbers))} of {node!r} would be read back from text as equal numbers{advice}"
        )
        raise InvalidArgumentError(message)
    if fractions := [level for level, number in numbers.items() if not number.is_integer()]:
        # Beside words they would not, but rows may hold no word.
        message = f"the level {fractions[0]!r} of {node!r} may be read back from text as a fraction{advice}"
        raise InvalidArgumentError(message)
    truths = [level for level in levels if level.casefold() in _TRUTH_VALUES]
    if len({level.casefold() for level in truths}) < len(truths):
        message = f"the levels {listing(truths)} of {node!r} would be read back from text as one{advice}"
        raise InvalidArgumentError(message)


def _number(level: str) -> float | None:
    try:
        return float(level)
    except ValueError:
        return None


_MOST_LEVELS = 256
_MOST_CELLS = 10**6
_MOST_NODES = 10**8
_FAR = 20


def random_network(
    nodes: int,
    *,
    mean_parents: float = 1.5,
    max_parents: int = 4,
    levels: int | tuple[int, int] = (2, 4),
    strength: float = 2.0,
    seed: int,
) -> Network:
    """Draw a sparse network: a random order of the nodes, arrows spread evenly over it, and random tables.

    There are ``mean_parents`` arrows for each node on average, and no node has more than ``max_parents``; ``levels`` is
    the number of levels of all nodes, or the fewest and the most. With ``strength`` 1 every distribution is equally
    likely in a row of a table; the larger it is, the more the levels of the parents tell of a node.

    >>> random_network(1000, seed=1)
    <Network random1000: 1,000 nodes and 1,500 arrows>
    """
    nodes = whole_number("nodes", nodes, 1, _MOST_NODES)
    max_parents = whole_number("max_parents", max_parents, 0)
    seed = whole_number("seed", seed, 0)
    if not is_number(mean_parents) or not 0 <= mean_parents < inf:
        raise InvalidArgumentError(argument="mean_parents", value=mean_parents, advice="give 0 or more")
    check_strength(strength)
    fewest, most = _levels(levels)
    _check_bounds(fewest, most, max_parents)
    random = np.random.default_rng(seed)
    counts = _parent_counts(nodes, round(mean_parents * nodes), max_parents, random)
    hidden = random.permutation(nodes)
    names: list[Node] = [f"X{number:0{len(str(nodes))}d}" for number in range(1, nodes + 1)]
    parents: list[tuple[Node, ...]] = [()] * nodes
    for place, count in enumerate(counts.tolist()):
        earlier = random.choice(place, count, replace=False) if count else []
        parents[hidden[place]] = tuple(names[number] for number in sorted(hidden[earlier]))
    sizes = dict(zip(names, random.integers(fewest, most + 1, nodes).tolist(), strict=True))
    tables = {
        node: random_rows((*(sizes[parent] for parent in above), sizes[node]), strength=strength, random=random)
        for node, above in zip(names, parents, strict=True)
    }
    named = {node: tuple(f"s{number}" for number in range(1, size + 1)) for node, size in sizes.items()}
    source = f"random, {count_of(nodes, 'node')}, {count_of(counts.sum(), 'arrow')}, strength {strength:g}, seed {seed}"
    return Network(f"random{nodes}", Dag(tuple(names), tuple(parents)), named, tables, source)


def _parent_counts(nodes: int, arcs: int, most: int, random: np.random.Generator) -> npt.NDArray[np.int64]:
    """Spread arrows evenly over the nodes of an order, of which the n-th can have n - 1 parents at most."""
    capacity = np.minimum(np.arange(nodes), most)
    if arcs > capacity.sum():
        message = (
            f"{count_of(arcs, 'arrow')} asked for; {count_of(nodes, 'node')} with at most {count_of(most, 'parent')} "
            f"can have {capacity.sum()}, so give a smaller {argument('mean_parents')} or a larger "
            f"{argument('max_parents')}"
        )
        raise InvalidArgumentError(message)
    slots = np.repeat(np.arange(nodes), capacity)
    return np.bincount(random.permutation(slots)[:arcs], minlength=nodes)


def _levels(levels: object) -> tuple[int, int]:
    """Take the fewest and the most levels, or one number for both."""
    ends = (levels, levels) if is_whole(levels) else levels
    if not isinstance(ends, tuple | list) or len(ends) != 2 or not all(map(is_whole, ends)):  # noqa: PLR2004 - two ends
        message = (
            f"{named('levels')} are {spelt(levels)}; give a whole number, or the fewest and the most, such as (2, 4)"
        )
        raise InvalidArgumentError(message, argument="levels")
    return int(ends[0]), int(ends[1])


def _check_bounds(fewest: int, most: int, max_parents: int) -> None:
    if not 2 <= fewest <= most <= _MOST_LEVELS:  # noqa: PLR2004 - a node with one level says nothing
        message = f"{named('levels')} are {spelt(fewest)} to {spelt(most)}; give 2 to {_MOST_LEVELS}, the fewest first"
        raise InvalidArgumentError(message, argument="levels")
    if (cells := most ** (min(max_parents, _FAR) + 1)) > _MOST_CELLS:
        message = (
            f"a node of {most} levels with {max_parents} such parents has a table of {cells:,} cells; "
            f"at most {_MOST_CELLS:,} are drawn, so give fewer levels or a smaller {argument('max_parents')}"
        )
        raise InvalidArgumentError(message)


#: Rows and cells that a block has at most; with few columns the rows decide, with many the cells.
BLOCK = 65_536
_CELLS = 2**25
_MOST_ROWS = 10**15
_LARGEST_SEED = 2**128 - 1


def sample(network: Network, rows: int, *, seed: int) -> Table:
    """Draw a table of rows from a network.

    >>> from apsl_rules.graphs.networks import network
    >>> sample(network("asia"), 4, seed=7).codes.shape
    (8, 4)
    """
    rows = whole_number("rows", rows, 1, _MOST_ROWS)
    drawn = blocks(network, rows, seed=seed)
    first = next(drawn)
    nodes = network.dag.nodes
    codes = np.empty((len(nodes), rows), dtype=first.dtype)
    start = 0
    for block in chain([first], drawn):
        codes[:, start : start + block.shape[1]] = block
        start += block.shape[1]
    return Table(
        names=nodes,
        codes=codes,
        cards=codes.max(axis=1).astype(np.int64) + 1,
        levels=tuple(tuple(network.levels[node]) for node in nodes),
        incomplete=np.zeros(len(nodes), dtype=np.bool_),
    )


def blocks(network: Network, rows: int, *, seed: int) -> Iterator[npt.NDArray[np.uint8] | npt.NDArray[np.uint16]]:
    """Draw rows in blocks of codes (columns by rows); block k is the same however many blocks are drawn."""
    known = isinstance(network, Network)
    demand(known, f"rows are drawn from a network, not from {spelt(network)}; give network('asia'), or your own")
    rows = whole_number("rows", rows, 1, _MOST_ROWS)
    seed = whole_number("seed", seed, 0, _LARGEST_SEED)
    sampler = _Sampler(network)
    height = max(1, min(BLOCK, _CELLS // len(network.dag.nodes)))
    for number, start in enumerate(range(0, rows, height)):
        yield sampler.draw(min(height, rows - start), np.random.default_rng([seed, number]))


class _Sampler:
    """A network prepared for drawing: for each node its place, its parents' places and its cumulative table."""

    def __init__(self, network: Network) -> None:
        place: dict[Node, int] = {node: at for at, node in enumerate(network.dag.nodes)}
        self._columns = len(place)
        most = max(len(levels) for levels in network.levels.values())
        self._kind = np.uint8 if most <= np.iinfo(np.uint8).max else np.uint16
        self._steps = []
        for node in network.dag.topological_order:
            parents = network.dag.parents_of(node)
            table = network.tables[node].reshape(-1, len(network.levels[node]))
            ends = np.ascontiguousarray(np.cumsum(table, axis=1)[:, :-1].T)
            sizes = [len(network.levels[parent]) for parent in parents]
            self._steps.append((place[node], [place[parent] for parent in parents], sizes, ends))

    def draw(self, rows: int, random: np.random.Generator) -> npt.NDArray[np.uint8] | npt.NDArray[np.uint16]:
        """Draw a block: each node, once its parents are drawn, takes the level in whose interval a uniform falls."""
        codes = np.empty((self._columns, rows), dtype=self._kind)
        for place, parents, sizes, ends in self._steps:
            setting = np.zeros(rows, dtype=np.int64)
            for parent, size in zip(parents, sizes, strict=True):
                setting *= size
                setting += codes[parent]
            uniform = random.random(rows)
            drawn = np.zeros(rows, dtype=self._kind)
            for end in ends:
                np.add(drawn, uniform >= end[setting], out=drawn)
            codes[place] = drawn
        return codes


SEPARATORS = {".csv": ",", ".csv.gz": ",", ".tsv": "\t", ".tsv.gz": "\t"}
ENDINGS = (*SEPARATORS, ".parquet")


def simulate(
    network: Network, rows: int, path: str | Path, *, seed: int, progress: Callable[[int, int], None] | None = None
) -> None:
    """Draw rows from a network into a file: text or Parquet, as the end of its name says.

    The file holds the names of the levels, is the same for the same seed, and is written whole or not at all. Memory
    is that of one block of rows, however many there are. Text has no types, so that levels such as ``1`` or ``True``
    are read back as numbers or truth values; Parquet keeps all levels as they are, in their order. ``progress`` is
    told, block by block, how many rows are drawn and how many there are to be.
    """
    path = path_text(path, "the file to write")
    ending = next((one for one in ENDINGS if Path(path).name.lower().endswith(one)), None)
    if ending is None:
        message = f"cannot tell what kind of file {str(path)!r} is to be; end its name in {', '.join(ENDINGS)}"
        raise InvalidArgumentError(message)
    with atomic_file(path) as draft:
        drawn = _report_progress(blocks(network, rows, seed=seed), rows, progress)
        if ending == ".parquet":
            _write_parquet(network, drawn, draft)
        else:
            with _open(draft, packed=ending.endswith(".gz")) as stream:
                _write_text(network, drawn, stream, SEPARATORS[ending])


def write_rows(network: Network, rows: int, stream: BinaryIO, *, seed: int) -> None:
    """Draw rows from a network into an open stream, as comma-separated text with a line of names in front."""
    _write_text(network, blocks(network, rows, seed=seed), stream, ",")


def _report_progress(drawn: Iterator[Codes], rows: int, progress: Callable[[int, int], None] | None) -> Iterator[Codes]:
    """Pass blocks on, and report the progress."""
    done = 0
    for block in drawn:
        yield block
        done += block.shape[1]
        if progress is not None:
            progress(done, rows)


def _write_text(network: Network, drawn: Iterator[Codes], stream: BinaryIO, separator: str) -> None:
    _check_distinct(network.dag.nodes)
    text = TextRows({node: network.levels[node] for node in network.dag.nodes}, separator)
    for number, block in enumerate(drawn):
        if number == 0:
            stream.write(text.header)
        stream.writelines(text.text_of(block))


@contextmanager
def _open(path: Path, *, packed: bool) -> Iterator[BinaryIO]:
    with path.open("wb") as file:
        if not packed:
            yield file
            return
        # Neither name nor time of day goes into the file, so that one seed makes one file.
        with gzip.GzipFile(filename="", mode="wb", compresslevel=6, fileobj=file, mtime=0) as packing:
            yield cast("BinaryIO", packing)


def _write_parquet(network: Network, drawn: Iterator[Codes], path: Path) -> None:
    """Write each block as a row group of dictionary columns."""
    try:
        import pyarrow as pa
        from pyarrow import parquet
    except ImportError as error:
        message = "writing a Parquet file needs pyarrow; pip install 'apsl_rules[parquet]', or write a .csv file"
        raise InvalidArgumentError(message) from error
    nodes = network.dag.nodes
    _check_distinct(nodes)
    levels = [pa.array(network.levels[node], pa.string()) for node in nodes]
    schema = pa.schema([(str(node), pa.dictionary(pa.int32(), pa.string())) for node in nodes])
    with parquet.ParquetWriter(path, schema, compression="zstd", write_statistics=False) as writer:
        for block in drawn:
            columns = [
                pa.DictionaryArray.from_arrays(pa.array(codes.astype("int32")), one, safe=False)
                for codes, one in zip(block, levels, strict=True)
            ]
            writer.write_table(pa.table(columns, schema=schema), row_group_size=block.shape[1])


def _check_distinct(nodes: tuple[Node, ...]) -> None:
    """Refuse nodes that would make columns of one name."""
    twice = [name for name, count in Counter(map(str, nodes)).items() if count > 1]
    if twice:
        message = f"several nodes are spelt {listing(twice)}; rename them so that each column has a name of its own"
        raise InvalidArgumentError(message)
