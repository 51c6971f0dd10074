"""The demonstration behind ``make demo``: learn a part from a table, then one of a known network, and prove arrows."""

from __future__ import annotations

from pathlib import Path
from shutil import copyfile

from apsl_rules import Part, learn, network
from apsl_rules.cli.output import printed_part
from apsl_rules.data.sources import example_table
from apsl_rules.names import count_of

FOLDER = Path("demo")


def main() -> None:
    """Learn from the table that comes with the package, then from a perfect oracle."""
    FOLDER.mkdir(exist_ok=True)
    _from_a_table()
    _from_a_known_network()
    print("\nLook further with:")
    print("  .venv/bin/apsl learn demo/clinic.csv --target dysp --depth 2")
    print("  .venv/bin/apsl why demo/part.json tub either")
    print("  .venv/bin/apsl trace demo/part.json")


def _from_a_table() -> None:
    copyfile(example_table(), FOLDER / "clinic.csv")
    print("1. From a table. demo/clinic.csv has 2,000 rows and 8 columns, drawn from the network asia.")
    print("   What causes what around either, a tumour or tuberculosis (depth 2)?\n", flush=True)
    part = learn(FOLDER / "clinic.csv", "either", depth=2)
    _show(part, "lung", "either")
    part.save(FOLDER / "part.json")
    part.report(FOLDER / "part.html")
    _compare_arrows(part, "asia")
    print("\nWe know that no cause is missing here, and say so with hidden='excluded'. Then:\n")
    closed = learn(FOLDER / "clinic.csv", "either", depth=2, hidden="excluded")
    print(_drawing(closed))
    _compare(closed, "asia")
    print("Saved as demo/part.json. The drawing, every proof and a replay are in demo/part.html: open it in a browser.")


def _from_a_known_network() -> None:
    print("\n2. From a known network, which answers every test perfectly: ALARM.")
    print("   What causes what around HREKG, the heart rate on the monitor (depth 2)?\n")
    part = learn(network("alarm"), "HREKG", depth=2)
    _show(part, "CATECHOL", "HR")
    _compare(part, "alarm")


def _show(part: Part, tail: str, head: str) -> None:
    print(printed_part(part, every_note=False, verbose=True))
    print(f"\nWhy does {tail} point at {head}?\n")
    print(part.why(tail, head))


def _drawing(part: Part) -> str:
    return part.picture().partition("\n\n")[0]


def _compare_arrows(part: Part, name: str) -> None:
    """Say how many edges and arrows are those of a network; lines claim no direction."""
    known = network(name)
    arrows, lines = known.cpdag.region(part.target, 2)
    edges = {frozenset(edge) for edge in (*arrows, *lines)}
    found = {frozenset(edge) for edge in (*part.arrows, *part.lines)}
    right = sum((tail, head) in arrows for tail, head in part.arrows)
    print(f"\nOf its {len(found)} edges {len(found & edges)} are true, and {len(edges - found)} are not found.")
    print(
        f"Of its {count_of(len(part.arrows), 'arrow')} {right} are right. Lines claim no direction: a common cause of"
    )
    print("both ends may be missing from a table, so few arrows are drawn.")


def _compare(part: Part, name: str) -> None:
    exact = (part.arrows, part.lines) == network(name).cpdag.region(part.target, 2)
    print(f"\nThe part {'equals' if exact else 'DIFFERS FROM'} the true structure as far as any test can tell it.")


if __name__ == "__main__":
    main()
