"""The demonstration behind ``make demo``: learn a part of ALARM, show it, and prove one of its arrows."""

from __future__ import annotations

from pathlib import Path

from apsl_rules import learn, network
from apsl_rules.cli.output import summary


def main() -> None:
    """Learn the part of ALARM around HREKG to depth 2 from a perfect oracle."""
    alarm = network("alarm")
    part = learn(alarm, "HREKG", depth=2)
    print("What causes what around HREKG, the heart rate on the monitor, in the ALARM network (depth 2):\n")
    print(part.picture())
    print(f"\n{summary(part)}")
    print("\nWhy does CATECHOL point at HR?\n")
    print(part.why("CATECHOL", "HR"))
    folder = Path("demo")
    folder.mkdir(exist_ok=True)
    part.save(folder / "part.json")
    part.report(folder / "part.html")
    exact = (part.arrows, part.lines) == alarm.cpdag.region("HREKG", 2)
    print(f"\nThe part {'equals' if exact else 'DIFFERS FROM'} the true structure as far as any test can tell it.")
    print("Saved as demo/part.json. The drawing, every proof and a replay are in demo/part.html: open it in a browser.")
    print("Look further with:")
    print("  .venv/bin/apsl show demo/part.json")
    print("  .venv/bin/apsl why demo/part.json ERRCAUTER HRSAT")
    print("  .venv/bin/apsl trace demo/part.json")


if __name__ == "__main__":
    main()
