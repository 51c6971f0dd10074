"""Run experiments and write the report: python tools/reproduce/run.py [EXPERIMENT…] [--data FOLDER].

Without names all experiments of the paper run; with --data on the sets in a folder, otherwise on samples drawn from
our own networks. A run that was stopped or killed goes on where it was when the same command is given again.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import click
from design import DrawnSamples, FolderSamples, experiment
from progress import shown_progress
from results import run

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
    for name in names or ALL:
        found = experiment(name)
        samples = DrawnSamples(found.seed) if data is None else FolderSamples(str(Path(data).resolve()))
        folder = Path(out) / found.name
        with shown_progress(found.name) as watch:
            run(found, samples, folder, processes=processes, watch=watch)
        click.echo(f"written: {folder / 'results.csv'}")
    for page in write_report(Path(out)):
        click.echo(f"written: {page}")


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
