"""Write docs/architecture.svg and the generated tables of docs/architecture.md from the code itself.

Run it after files have moved or imports have changed; with ``--check`` it writes nothing and fails if the picture or a
table is out of date, or an import breaks the layer rule. The walk comes from a real run, which compiles the kernels if
that was not done before.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

import call_walk
from import_graph import BACKENDS, BASE, CORE, Graph, read_graph
from layer_picture import Panel, draw, reduce_needs, stack
from layer_rule import BACKEND_LAYERS, CONTRACTS, MAY_IMPORT

ROOT = Path(__file__).parents[1]
PAGE, PICTURE = ROOT / "docs" / "architecture.md", ROOT / "docs" / "architecture.svg"
#: What the same tool counts on the commit before the code was sorted into rooms.
BEFORE = ("564d635", 71, 155)
FOOTNOTES = (
    "An arrow leads to a room that is imported. Arrows that follow from others are left out.",
    "Also: parts/shortcuts.py imports plugins, export and report when its methods are called (part.to('dot'), ...).",
    "showing.py imports notebook when a notebook shows a result.",
    "apsl_backends imports apsl_rules; apsl_rules finds it as a plugin, by its entry point, and never imports it.",
)


def main(words: Sequence[str]) -> int:
    """Write picture and page, or compare them with what is there."""
    graph = read_graph(ROOT)
    broken = [sentence for contract in CONTRACTS for sentence in contract(graph)]
    for sentence in broken:
        print(sentence)
    text = PAGE.read_text("utf-8")
    for name, lines in sections(graph).items():
        text = replace_section(text, name, lines)
    made = {PICTURE: picture(graph), PAGE: text}
    if "--check" not in words:
        for path, content in made.items():
            path.write_text(content, "utf-8")
        return 0
    stale = [path for path, content in made.items() if not path.exists() or path.read_text("utf-8") != content]
    for path in stale:
        print(f"{path.relative_to(ROOT)} is out of date; run python tools/architecture.py")
    return 1 if stale or broken else 0


def picture(graph: Graph) -> str:
    """Return the picture of both packages."""
    sizes = graph.rooms(CORE)
    rooms = [room for room in MAY_IMPORT if room in sizes]
    # A need that the rule forbids is reported by the contracts and left out here, so that there is no circle to draw.
    needs = reduce_needs((x, y) for x, y in graph.between(CORE) if y in MAY_IMPORT.get(x, ()))
    core = Panel(CORE, "the core: no statistics, no compiled code", stack(rooms, needs), sizes, needs)
    level = {room: -place for place, layer in enumerate(BACKEND_LAYERS) for room in layer}
    lower = {(x, y) for x, y in graph.between(BACKENDS) if level.get(x, 0) > level.get(y, 0)}
    remark = "the built-in plugin: tests, scores, searches, learners"
    backends = Panel(BACKENDS, remark, BACKEND_LAYERS[::-1], graph.rooms(BACKENDS), reduce_needs(lower))
    return draw([core, backends], FOOTNOTES)


def sections(graph: Graph) -> dict[str, list[str]]:
    """Return the generated parts of the page by name."""
    walk = call_walk.walk()
    return {
        "rooms": table(["room", "what it has", "modules", "may import"], _core_rows(graph)),
        "backends": table(["layer", "room", "what it has", "modules"], _backend_rows(graph)),
        "figures": _figures(walk),
        "walk": table(["", "file", "first function", "what the file has"], _walk_rows(graph, walk)),
    }


def replace_section(text: str, name: str, lines: Sequence[str]) -> str:
    """Return a page with the lines between two marks replaced."""
    begin, end = f"<!-- {name}: written by tools/architecture.py -->", f"<!-- end of {name} -->"
    pattern = re.compile(f"{re.escape(begin)}.*?{re.escape(end)}", flags=re.DOTALL)
    if not pattern.search(text):
        message = f"{PAGE.name} lacks the marks of the part {name!r}"
        raise ValueError(message)
    return pattern.sub(lambda _: "\n".join([begin, "", *lines, "", end]), text)


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """Return the lines of a table."""
    return [f"| {' | '.join(row)} |" for row in (head, ["---"] * len(head), *rows)]


def _core_rows(graph: Graph) -> Iterable[list[str]]:
    sizes = graph.rooms(CORE)
    beside = sorted(module.path.name for name, module in graph.modules.items() if _is_beside(graph, name))
    listed = f"what every room uses: {', '.join(f'`{name}`' for name in beside)}"
    for room in (room for room in MAY_IMPORT if room in sizes):
        what = listed if room == BASE else graph.modules[f"{CORE}.{room}"].summary
        where = "beside the rooms" if room == BASE else f"[`{room}/`](../{CORE}/{room})"
        yield [where, what, str(sizes[room]), _allowed(room, list(sizes))]


def _is_beside(graph: Graph, name: str) -> bool:
    return name.startswith(CORE) and graph.room(name) == BASE


def _allowed(room: str, present: Sequence[str]) -> str:
    """Say in few words which rooms a room may import."""
    above = [other for other in list(MAY_IMPORT)[: list(MAY_IMPORT).index(room)] if other in present]
    allowed = [other for other in MAY_IMPORT[room] if other in present]
    missing = [other for other in above if other not in allowed]
    if not allowed:
        return "none"
    if allowed == [BASE]:
        return "the files beside the rooms"
    if len(allowed) > len(missing):
        return "all above" + (f" except {_names(missing)}" if missing else "")
    return f"the files beside the rooms, {_names(other for other in allowed if other != BASE)}"


def _names(rooms: Iterable[str]) -> str:
    return ", ".join(f"`{room}`" for room in rooms)


def _backend_rows(graph: Graph) -> Iterable[list[str]]:
    sizes = graph.rooms(BACKENDS)
    for place, layer in enumerate(BACKEND_LAYERS):
        for room in layer:
            module = graph.modules[f"{BACKENDS}.{room}"]
            name = f"{room}/" if module.is_door else f"{room}.py"
            link = f"[`{name}`](../backends/{BACKENDS}/{name.rstrip('/')})"
            yield [str(len(BACKEND_LAYERS) - place), link, module.summary, str(sizes[room])]


def _figures(walk: call_walk.Walk) -> list[str]:
    commit, files, hops = BEFORE
    rows = [
        [f"before the rooms (`{commit}`)", str(files), str(hops)],
        ["now", str(len(walk.entered)), str(len(walk.hops))],
    ]
    return table(["code", "files entered", "hops between files"], rows)


def _walk_rows(graph: Graph, walk: call_walk.Walk) -> Iterable[list[str]]:
    about = {_path(module.path): module.summary for module in graph.modules.values()}
    for place, (file, function) in enumerate(walk.entered.items(), start=1):
        path = file if file.startswith(CORE) else f"backends/{file}"
        yield [str(place), f"[`{file}`](../{path})", f"`{function}`", about[path]]


def _path(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
