"""Run experiments and write the report: python tools/reproduce/run.py [EXPERIMENT…] [--data FOLDER].

Without names all experiments of the paper run; with --data on those of their sets that are in a folder, otherwise on
samples drawn from our own networks. One bar shows how far all of them are. A run that was stopped or killed goes on
where it was when the same command is given again.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import click
from design import DrawnSamples, Experiment, FolderSamples, Samples, experiment, plan_units
from progress import shown_progress
from results import Advance, Watch, run

from apsl_rules.errors import ApslError
from report import write_report

ROOT = Path(__file__).parents[2]
ALL = ("leak", "growth", "permuted", "depths", "table3")


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("names", nargs=-1, metavar="[EXPERIMENT]...")
@click.option("--data", metavar="FOLDER", help="Sets as .npz or text files; without it samples are drawn.")
@click.option(
    "--out", default=str(ROOT / "build" / "reproduce"), help="Where results and report go.", show_default=True
)
@click.option("--processes", default=os.cpu_count() or 1, help="How many processes learn at once.", show_default=True)
def main(names: tuple[str, ...], data: str | None, out: str, processes: int) -> None:
    """Run the named EXPERIMENTs (names or .toml files; all of the paper's if none is named), then write the report."""
    asked = [experiment(name) for name in names or ALL]
    plans = [(found, _samples(found, data)) for found in asked]
    sizes = [sum(unit.parts for unit in plan_units(found, samples)) for found, samples in plans]
    with shown_progress(", ".join(found.name for found in asked)) as watch:
        for at, (found, samples) in enumerate(plans):
            among = _among(watch, sum(sizes[:at]), sum(sizes))
            run(found, samples, Path(out) / found.name, processes=processes, watch=among)
    for found in asked:
        click.echo(f"written: {Path(out) / found.name / 'results.csv'}")
    for page in write_report(Path(out)):
        click.echo(f"written: {page}")


def _samples(found: Experiment, data: str | None) -> Samples:
    return DrawnSamples(found.seed) if data is None else FolderSamples(str(Path(data).resolve()))


def _among(watch: Watch, earlier: int, total: int) -> Watch:
    """Watch one of several experiments as a piece of all of them; what ended before it counts as done before."""

    def told(advance: Advance) -> None:
        watch(Advance(advance.unit, earlier + advance.done, earlier + advance.before, total))

    return told


if __name__ == "__main__":
    try:
        main.main(standalone_mode=False)
    except ApslError as error:
        sys.exit(f"reproduce: {error}")
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except (click.Abort, KeyboardInterrupt):
        sys.exit("reproduce: stopped; give the same command again to go on")
