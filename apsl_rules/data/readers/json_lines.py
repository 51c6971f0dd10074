"""Files with one JSON object in each line, whose keys name the columns."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from apsl_rules.data.readers.paths import AnyPath, existing_file, open_text
from apsl_rules.errors import DataError

if TYPE_CHECKING:
    import pandas as pd


def read_json_lines(path: AnyPath) -> pd.DataFrame:
    """Read a file of JSON lines; a key that a line lacks, or null, is a missing value. Blank lines are skipped."""
    import pandas as pd

    file = existing_file(path)
    columns: dict[str, list[Any]] = {}
    rows = 0
    with open_text(file) as handle:
        for number, line in enumerate(handle, 1):
            if line.isspace():
                continue
            for key, value in _record(line, f"line {number} of {str(file)!r}").items():
                column = columns.setdefault(key, [])
                column.extend([None] * (rows - len(column)))
                column.append(value)
            rows += 1
    frame = pd.DataFrame(
        {place: [*column, *[None] * (rows - len(column))] for place, column in enumerate(columns.values())}
    )
    frame.columns = pd.Index(list(columns), dtype=object)
    return frame


def _record(line: str, where: str) -> dict[str, Any]:
    try:
        record = json.loads(line.strip())
    except (ValueError, RecursionError) as error:
        reason = str(error)
        if isinstance(error, json.JSONDecodeError):
            reason = f"{error.msg} at character {error.pos + 1}"
        message = f'{where} is not JSON ({reason}); give one object in each line, such as {{"age": 41, "sex": "f"}}'
        raise DataError(message) from error
    if not isinstance(record, dict):
        message = f"{where} is no object; give the columns by name in every line"
        raise DataError(message)
    for key, value in record.items():
        if isinstance(value, dict | list):
            kind = "an object" if isinstance(value, dict) else "a list"
            message = f"{where} has {kind} in {key!r}; give one value for each column"
            raise DataError(message)
    return record
