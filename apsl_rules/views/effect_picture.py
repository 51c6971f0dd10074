"""A picture of an effect: the stated interval over what each set of graphs says, and what could undo it, as SVG."""

from __future__ import annotations

from collections.abc import Iterator
from math import isfinite
from xml.sax.saxutils import escape

from apsl_rules.effects import Effect, Interval, Sensitivity, figure
from apsl_rules.errors import GraphError
from apsl_rules.names import shown
from apsl_rules.views.svg import BACKGROUND, FONT, SOFT, STRIPE, STROKES, TEXT, num

_WIDTH, _LEFT, _RIGHT, _ROW, _TOP = 640.0, 230.0, 40.0, 24.0, 40.0
_SQUARE, _MOST_ROWS, _STEPS = 220.0, 8, 48


def effect_svg(effect: Effect) -> str:
    """Draw the stated interval, that of each set of graphs with its share and that of each level, and contours."""
    rows = list(_rows(effect))
    known = [one for _, _, one in rows if one is not None]
    ends = [0.0, *(end for one in known for end in (one.low, one.high))]
    low, high = min(ends), max(ends)
    spread = (high - low) or 1.0

    def across(value: float) -> float:
        return _LEFT + (value - low) / spread * (_WIDTH - _LEFT - _RIGHT)

    told = [_text(12, 22, f"effect of {shown(effect.cause)} on {shown(effect.target)}: {effect.compares}", size=14)]
    bottom = _TOP + _ROW * len(rows)
    told.append(_line(across(0), _TOP - 8, across(0), bottom, SOFT, dash="3 3"))
    for place, (name, share, one) in enumerate(rows):
        y = _TOP + _ROW * place + _ROW / 2
        if share is not None:
            wide = share * (_LEFT - 20)
            told.append(f'<rect x="10" y="{num(y - 10)}" width="{num(wide)}" height="20" fill="{STRIPE}"/>')
        told.append(_text(14, y + 4, name))
        if one is not None:
            colour, thick = (STROKES["arrow"], 4.0) if place == 0 else (SOFT, 2.0)
            told.append(_line(across(one.low), y, across(one.high), y, colour, thick=thick))
            if share is not None or place:
                told.append(f'<circle cx="{num(across(one.estimate))}" cy="{num(y)}" r="4" fill="{colour}"/>')
    told += [_text(across(end), bottom + 16, figure(end), anchor="middle") for end in dict.fromkeys((low, 0.0, high))]
    height = bottom + 30
    sensitivity = _sensitivity(effect)
    if sensitivity is not None and sensitivity.regressed is not None:
        told += _contours(sensitivity, height + 20)
        height += _SQUARE + 80
    size = f'width="{num(_WIDTH)}" height="{num(height)}" viewBox="0 0 {num(_WIDTH)} {num(height)}"'
    back = f'<rect width="100%" height="100%" fill="{BACKGROUND}"/>'
    return f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img">{back}{"".join(told)}</svg>'


def _rows(effect: Effect) -> Iterator[tuple[str, float | None, Interval | None]]:
    """Give what is drawn line by line: a name, a share, an interval."""
    yield f"stated, {100 * effect.confidence:g} %", None, effect.interval
    ranked = sorted(effect.possible, key=lambda one: -(one.probability or 0.0))
    for one in ranked[:_MOST_ROWS] if len(ranked) > 1 else []:
        held = f"adjusted for {', '.join(map(shown, one.adjustment))}" if one.adjustment else "not adjusted"
        name = "none" if one.no_effect is not None else held
        share = "" if one.probability is None else f"{100 * one.probability:.2g} % "
        yield f"{share}{name}"[:40], one.probability, one.interval(effect.main)
    if effect.by is not None:
        yield from ((one.name[:40], None, one.interval) for one in effect.by.levels)


def _sensitivity(effect: Effect) -> Sensitivity | None:
    try:
        return effect.sensitivity()
    except GraphError:
        return None


def _contours(found: Sensitivity, top: float) -> list[str]:
    """Draw where a hidden cause leaves nothing of the estimate, and half of it, by what it explains of both."""
    if found.regressed is None:
        return []
    strongest = [share for both in found.strengths.values() for share in both]
    most = min(0.95, max(0.3, 1.3 * (found.robustness or 0.0), *(1.1 * share for share in strongest), 0.0))

    def at(with_cause: float, with_target: float) -> tuple[float, float]:
        return 60 + with_cause / most * _SQUARE, top + 20 + _SQUARE * (1 - with_target / most)

    words = "a hidden cause that explains so much of what is left of the cause (→) and of the target (↑)"
    told = [_text(12, top + 4, words)]
    told.append(
        f'<rect x="60" y="{num(top + 20)}" width="{num(_SQUARE)}" height="{num(_SQUARE)}" fill="none" stroke="{SOFT}"/>'
    )
    for left, colour, name in ((0.0, STROKES["conflict"], "nothing is left"), (0.5, SOFT, "half is left")):
        points = [at(x, y) for x, y in _contour(found, left, most)]
        if points:
            path = " ".join(f"{num(x)},{num(y)}" for x, y in points)
            told.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
            told.append(_text(points[-1][0] + 6, points[-1][1] + 4, name, colour=colour))
    for node, shares in found.strengths.items():
        x, y = at(*shares)
        told.append(f'<circle cx="{num(x)}" cy="{num(y)}" r="4" fill="{STROKES["arrow"]}"/>')
        told.append(_text(x + 7, y - 5, f"as {shown(node)}"))
    for share in (0.0, most):
        told.append(_text(at(share, 0)[0], top + _SQUARE + 36, f"{100 * share:.2g} %", anchor="middle"))
        told.append(_text(54, at(0, share)[1] + 4, f"{100 * share:.2g} %", anchor="end"))
    return told


def _contour(found: Sensitivity, left: float, most: float) -> Iterator[tuple[float, float]]:
    """Give the points at which a hidden cause leaves a share of the estimate."""
    one = found.regressed
    if one is None or not one.error:
        return
    bias = (1 - left) * abs(one.estimate) / one.error
    for step in range(1, _STEPS):
        with_cause = most * step / (_STEPS - 1) * 0.999
        with_target = bias**2 / one.freedom * (1 - with_cause) / with_cause
        if isfinite(with_target) and with_target <= most:
            yield with_cause, with_target


def _text(x: float, y: float, words: str, *, anchor: str = "start", size: int = 12, colour: str = TEXT) -> str:
    style = f'font-family="{FONT}" font-size="{size}" fill="{colour}" text-anchor="{anchor}"'
    return f'<text x="{num(x)}" y="{num(y)}" {style}>{escape(words)}</text>'


def _line(x: float, y: float, to_x: float, to_y: float, colour: str, *, thick: float = 1.0, dash: str = "") -> str:
    dashes = f' stroke-dasharray="{dash}"' if dash else ""
    ends = f'x1="{num(x)}" y1="{num(y)}" x2="{num(to_x)}" y2="{num(to_y)}"'
    return f'<line {ends} stroke="{colour}" stroke-width="{num(thick)}"{dashes}/>'
