"""The colours of drawings: on a light ground, on a dark one, and for print."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, TypeAlias, get_args

import attrs

from apsl_rules.names import chosen

#: The names of the themes.
ThemeName: TypeAlias = Literal["light", "dark", "print"]


@attrs.frozen
class Theme:
    """The colours of a drawing; ``strokes`` has one for each kind of edge.

    Kinds of edges differ in dashes and ends too, so that no colour is needed to tell them apart.
    """

    strokes: Mapping[str, str]
    background: str = "#ffffff"
    stripe: str = "#f1f4f8"
    box: str = "#ffffff"
    outline: str = "#52606d"
    text: str = "#1f2933"
    soft: str = "#5a6775"
    target: str = "#1d4e89"
    on_target: str = "#ffffff"


LIGHT = Theme({"arrow": "#1d4e89", "hidden": "#6b2fa0", "line": "#7a4f00", "conflict": "#b3261e", "beyond": "#76828f"})
_DARK = Theme(
    {"arrow": "#8ec2ff", "hidden": "#d3a9ff", "line": "#e6b450", "conflict": "#ff8a80", "beyond": "#7d8996"},
    background="#14181d",
    stripe="#1b2129",
    box="#232b35",
    outline="#8392a3",
    text="#e6eaef",
    soft="#9daab8",
    target="#8ec2ff",
    on_target="#0e1115",
)
_PRINT = Theme(
    {"arrow": "#000000", "hidden": "#000000", "line": "#404040", "conflict": "#000000", "beyond": "#6e6e6e"},
    stripe="#ffffff",
    outline="#404040",
    text="#000000",
    soft="#404040",
    target="#e3e3e3",
    on_target="#000000",
)
THEMES: Mapping[ThemeName, Theme] = {"light": LIGHT, "dark": _DARK, "print": _PRINT}


def theme_named(name: ThemeName) -> Theme:
    """Return a theme by its name."""
    chosen("theme", name, get_args(ThemeName))
    return THEMES[name]
