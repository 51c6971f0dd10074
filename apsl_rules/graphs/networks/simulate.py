"""Tables drawn from a network straight into a file or stream, a block at a time, for any number of rows."""

from __future__ import annotations

import gzip
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, cast

from apsl_rules._arguments import path_text
from apsl_rules._atomic import atomic_file
from apsl_rules.data import Codes
from apsl_rules.errors import InvalidArgumentError
from apsl_rules.graphs.networks._text_rows import TextRows
from apsl_rules.graphs.networks.network import Network
from apsl_rules.graphs.networks.sampling import blocks
from apsl_rules.names import Node, listing

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
