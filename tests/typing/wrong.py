"""Calls that a type checker must refuse; each is marked, and a mark that is not needed is an error, too."""

from __future__ import annotations

import pandas as pd

from apsl_rules import Part, learn, learn_many, stability


def call_wrongly(frame: pd.DataFrame, part: Part) -> None:
    """Make one mistake in each line."""
    learn(frame)  # type: ignore[call-arg] # pyright: ignore[reportCallIssue]
    learn(frame, "cost", depth="deep")  # type: ignore[arg-type] # pyright: ignore[reportArgumentType]
    learn(frame, "cost", alfa=0.1)  # type: ignore[call-arg] # pyright: ignore[reportCallIssue]
    learn(frame, "cost", missing="ignore")  # type: ignore[arg-type] # pyright: ignore[reportArgumentType]
    learn(frame, ["cost"])  # type: ignore[arg-type] # pyright: ignore[reportArgumentType]
    learn_many(frame, 3)  # type: ignore[arg-type] # pyright: ignore[reportArgumentType]
    stability(frame, "cost", resamples="many")  # type: ignore[arg-type] # pyright: ignore[reportArgumentType]
    part.arrow  # type: ignore[attr-defined] # noqa: B018 # pyright: ignore[reportAttributeAccessIssue]
    part.target = "a"  # type: ignore[misc] # pyright: ignore[reportAttributeAccessIssue]
