"""Three new users, from their own file to a figure: an economist, an epidemiologist, and a European spreadsheet."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from apsl_rules.showing import wide
from support.terminal import Done, apsl_here


def people(rows: int = 500) -> pd.DataFrame:
    """Draw wages that follow from years of school and from sex."""
    random = np.random.default_rng(8)
    sex = random.choice(["female", "male"], rows)
    school = random.integers(8, 20, rows)
    wage = np.round(4 + 0.9 * school + 2.5 * (sex == "male") + random.normal(0, 2, rows), 2)
    return pd.DataFrame({"sex": sex, "school": school, "wage": wage})


def walk(file: str, target: str, folder: Path) -> tuple[Done, Done]:
    """Learn from a file, prove an edge, estimate an effect, write a figure and a report; return the first two."""
    learned = apsl_here("learn", file, "-t", target, "--out", "part.json", folder=folder)
    notes = apsl_here("show", "part.json", "--notes", folder=folder)
    figure = apsl_here("show", "part.json", "--out", "figure.svg", folder=folder)
    report = apsl_here("report", "part.json", "--data", file, "--out", "report.html", folder=folder)

    for done in (learned, notes, figure, report):
        assert done.code == 0, done.err
        assert max(map(wide, done.out.splitlines()), default=0) <= 80
    assert (folder / "figure.svg").read_text("utf-8").startswith("<svg")
    assert target in (folder / "report.html").read_text("utf-8")
    return learned, notes


def test_an_economist_with_a_file_of_stata(tmp_path: Path) -> None:
    """The first words name education and sex with percentages; the effect of a year of school has an interval."""
    people().to_stata(tmp_path / "wages.dta", write_index=False)
    learned, _ = walk("wages.dta", "wage", tmp_path)
    effect = apsl_here(
        "effect", "wages.dta", "school", "wage", "--tier", "sex,school", "--tier", "wage", folder=tmp_path
    )

    answer = learned.out.partition("\n\n")[0]
    assert answer.startswith("wage: ")
    assert "school (" in answer
    assert "sex (" in answer
    assert " %)" in answer
    assert effect.code == 0
    assert "(95 %)" in effect.out


def test_an_epidemiologist_with_codes_for_missing_values(tmp_path: Path) -> None:
    """Codes such as -9 are no values: the notes say so, and the answer is that of the table with gaps."""
    random = np.random.default_rng(2)
    frame = people().rename(columns={"school": "dose", "wage": "pressure"})
    gone = random.random(len(frame)) < 0.1
    frame.assign(dose=frame["dose"].where(~gone, -9)).to_csv(tmp_path / "coded.csv", index=False)
    frame.assign(dose=frame["dose"].where(~gone)).to_csv(tmp_path / "gaps.csv", index=False)
    coded = apsl_here("learn", "coded.csv", "-t", "pressure", "--na", "dose=-9", folder=tmp_path)
    learned, notes = walk("gaps.csv", "pressure", tmp_path)

    assert coded.out.partition("\n\n")[0] == learned.out.partition("\n\n")[0]
    assert "dose (" in learned.out
    assert "values are missing in column 'dose'" in " ".join(notes.out.split())


@pytest.mark.parametrize("encoding", ["cp1252", "utf-8"])
def test_a_european_spreadsheet(encoding: str, tmp_path: Path) -> None:
    """Semicolons, decimal commas and umlauts are read as they are meant, and a note says how."""
    frame = people().rename(columns={"wage": "löhne", "school": "schule", "sex": "geschlecht"})
    frame.to_csv(tmp_path / "löhne.csv", index=False, sep=";", decimal=",", encoding=encoding)
    learned, notes = walk("löhne.csv", "löhne", tmp_path)

    assert learned.out.startswith("löhne: ")
    assert "schule (" in learned.out
    assert "semicolons between the fields, decimal commas" in " ".join(notes.out.split())
