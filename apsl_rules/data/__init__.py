"""Tables in: any table as integer codes, what stands out in it, and the content hash of its columns."""

from __future__ import annotations

from apsl_rules.data.by_definition import Definition, definitions
from apsl_rules.data.codings import CategoryCodes, Dictionary, Distinct, NumberValues, plan_elsewhere, read_distinct
from apsl_rules.data.columns import Column, Labels, PandasFrame, labels_of, open_frame, summarise
from apsl_rules.data.cuts import LevelRule
from apsl_rules.data.dataset import (
    FEWEST_TOGETHER,
    SECTION,
    Capability,
    Codes,
    CountedDataset,
    Dataset,
    Traffic,
    counted,
    thin_rows,
    thin_step,
)
from apsl_rules.data.derived import find_derived
from apsl_rules.data.descriptions import (
    Bar,
    ColumnDescription,
    Description,
    describe,
    describe_columns,
)
from apsl_rules.data.duplicates import Groups, notes_on_duplicates
from apsl_rules.data.files import (
    FileTable,
    array_fingerprint,
    available_memory,
    content_fingerprint,
    is_countable,
    is_left_in_place,
)
from apsl_rules.data.kinds import DROPPED, ColumnKind, ColumnSummary, Kind, infer_kind
from apsl_rules.data.levels import GroupFigures, GroupSums, Level, Levels
from apsl_rules.data.missing_codes import MissingCodes, codes_by_column
from apsl_rules.data.read_table import coded_table, table
from apsl_rules.data.reading import MISSING_LEVEL, MissingRule, Plan, Reading, advice_on_levels
from apsl_rules.data.roles import (
    AUTO,
    GroupColumns,
    Role,
    Roles,
    TimeColumns,
    combined,
    earlier,
    group_columns,
    groups_of_rows,
    is_auto,
    lagged,
    places_of,
    role_names,
    time_columns,
    weights_of_rows,
)
from apsl_rules.data.row_groups import NOTICED_ROWS, NoticedGroups, notice_groups
from apsl_rules.data.sources import Stacked, Target, Values, example_table, join_target, open_source, replace_names
from apsl_rules.data.store import count_levels, cut_numbers
from apsl_rules.data.tables import LocalTable, MixedTable, Table

__all__ = [
    "AUTO",
    "DROPPED",
    "FEWEST_TOGETHER",
    "MISSING_LEVEL",
    "NOTICED_ROWS",
    "SECTION",
    "Bar",
    "Capability",
    "CategoryCodes",
    "Codes",
    "Column",
    "ColumnDescription",
    "ColumnKind",
    "ColumnSummary",
    "CountedDataset",
    "Dataset",
    "Definition",
    "Description",
    "Dictionary",
    "Distinct",
    "FileTable",
    "GroupColumns",
    "GroupFigures",
    "GroupSums",
    "Groups",
    "Kind",
    "Labels",
    "Level",
    "LevelRule",
    "Levels",
    "LocalTable",
    "MissingCodes",
    "MissingRule",
    "MixedTable",
    "NoticedGroups",
    "NumberValues",
    "PandasFrame",
    "Plan",
    "Reading",
    "Role",
    "Roles",
    "Stacked",
    "Table",
    "Target",
    "TimeColumns",
    "Traffic",
    "Values",
    "advice_on_levels",
    "array_fingerprint",
    "available_memory",
    "coded_table",
    "codes_by_column",
    "combined",
    "content_fingerprint",
    "count_levels",
    "counted",
    "cut_numbers",
    "definitions",
    "describe",
    "describe_columns",
    "earlier",
    "example_table",
    "find_derived",
    "group_columns",
    "groups_of_rows",
    "infer_kind",
    "is_auto",
    "is_countable",
    "is_left_in_place",
    "join_target",
    "labels_of",
    "lagged",
    "notes_on_duplicates",
    "notice_groups",
    "open_frame",
    "open_source",
    "places_of",
    "plan_elsewhere",
    "read_distinct",
    "replace_names",
    "role_names",
    "summarise",
    "table",
    "thin_rows",
    "thin_step",
    "time_columns",
    "weights_of_rows",
]
