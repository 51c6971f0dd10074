"""The colours of the still drawings, and which kind of stroke a look has; every kind differs in shape as well."""

from __future__ import annotations

from apsl_rules.report.edges import Look

FONT = "system-ui, 'Segoe UI', 'Helvetica Neue', Arial, 'Noto Sans', sans-serif"
STROKES = {"arrow": "#1d4e89", "line": "#7a4f00", "conflict": "#b3261e", "beyond": "#76828f"}
BACKGROUND, STRIPE, BOX, OUTLINE, TEXT, SOFT = "#ffffff", "#f1f4f8", "#ffffff", "#52606d", "#1f2933", "#5a6775"


def stroke_name(look: Look) -> str:
    """Return the kind of stroke for a look: arrow, line or conflict."""
    if look in {Look.AHEAD, Look.BACK}:
        return "arrow"
    return "line" if look in {Look.LINE, Look.MAYBE_AHEAD, Look.MAYBE_BACK} else "conflict"
