"""The colours of the still drawings, and which kind of stroke a look has; every kind differs in shape as well."""

from __future__ import annotations

from apsl_rules.report.edges import Look

FONT = "system-ui, 'Segoe UI', 'Helvetica Neue', Arial, 'Noto Sans', sans-serif"
STROKES = {"arrow": "#1d4e89", "hidden": "#6b2fa0", "line": "#7a4f00", "conflict": "#b3261e", "beyond": "#76828f"}
_LINES = {Look.LINE, Look.MAYBE_AHEAD, Look.MAYBE_BACK, Look.PARTIAL_AHEAD, Look.PARTIAL_BACK, Look.OPEN}
BACKGROUND, STRIPE, BOX, OUTLINE, TEXT, SOFT = "#ffffff", "#f1f4f8", "#ffffff", "#52606d", "#1f2933", "#5a6775"


def stroke_name(look: Look) -> str:
    """Return the kind of stroke for a look: arrow, hidden, line or conflict."""
    if look in {Look.AHEAD, Look.BACK}:
        return "arrow"
    if look is Look.TWO_HEADS:
        return "hidden"
    return "line" if look in _LINES else "conflict"
