"""The same part, byte for byte, whatever compiler built the kernels and whatever the processor supports."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from apsl_backends.kernels import build, library
from apsl_rules import network
from apsl_rules.graphs.networks.sampling import sample
from support.compilers import known_compilers

pytestmark = [pytest.mark.slow, pytest.mark.release]

LEARN = """
import sys, numpy as np
from apsl_rules import learn, table
from apsl_rules.data import coded_table
from apsl_backends.kernels.library import log_gamma, normal_quantiles
from apsl_backends.kernels.bindings.moments import MomentRules, MomentsHandle
from apsl_backends.kernels.bindings.scores import ScoreHandle
from apsl_backends.kernels.bindings.tables import thresholds
from apsl_backends.search.rounds import Effort, search_rounds

rows, folder = table(sys.argv[1]), sys.argv[2]
learn(rows, "HR", depth=2).save(folder + "/default.json")
for learner in ("apsl", "mmhc", "sll+c"):
    learn(rows, "HR", depth=2, learner=learner).save(folder + "/" + learner + ".json")
learn(rows, "CATECHOL", oracle="chisquare", learner="apsl").save(folder + "/chisquare.json")
np.save(folder + "/log_gamma.npy", log_gamma(np.arange(1, 20_001) / 64))
np.save(folder + "/quantiles.npy", normal_quantiles(np.arange(1, 20_001) / 20_001))

rng = np.random.default_rng(7)
columns = rng.integers(-9, 10, (60, 40)) @ rng.integers(-2, 3, (40, 40)) % 23
matrix = (columns.T @ columns).astype(np.float64)
blocks = np.cumsum([0, *[1, 2, 3, 4] * 4])
handle = MomentsHandle(matrix, blocks, 60, MomentRules(thresholds(0.05), 0.05))
asked = np.array([rng.permutation(16)[:7] for _ in range(300)])
tested = handle.run_tests(np.arange(301) * 7, asked.ravel())
np.savez(folder + "/log_determinants.npz", *tested)

score = ScoreHandle(16, scale=2.0**30, penalty=2**30)
score.set_moments(matrix, blocks, 60)
effort = Effort(max_parents=8, starts=4, kicks=5)
found = search_rounds(score, range(16), np.ones((16, 16), np.uint8), effort)
np.savez(folder + "/orders.npz", found.dag, found.gain, found.agreeing, score.joints(np.arange(10), np.zeros(2, int)))

from apsl_backends.engines.moments import MemoryMoments
from apsl_rules.data import MixedTable

drawn = rng.integers(-500, 500, (4, 3000)) ** 3 / 1024 + rng.integers(0, 9, (4, 3000))
coded = coded_table(rng.integers(0, 4, (3000, 3)), names=["a", "b", "c"])
for name, gaps in (("complete", 0.0), ("incomplete", 0.05)):
    numbers = np.where(rng.random(drawn.shape) < gaps, np.nan, drawn)
    moments = MemoryMoments(MixedTable(("a", "b", "c", *"wxyz"), coded, numbers, tuple("wxyz")))
    queries = [(x, y, *range(y + 1, 7)) for x in range(6) for y in range(x + 1, 7)]
    queries += [(x, y) for x in range(7) for y in range(7) if x != y]
    np.savez(folder + f"/{name}_moments.npz", moments.covariance(range(7)), *moments.test_rows(queries))
"""


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a file of 500 rows drawn from Alarm, a few values missing."""
    drawn = sample(network("alarm"), 500, seed=11)
    fields = np.array(drawn.codes.T.tolist(), dtype=object)
    gaps = np.random.default_rng(3)
    fields[gaps.integers(0, 500, 40), gaps.integers(0, len(drawn.names), 40)] = ""
    path = tmp_path_factory.mktemp("rows") / "alarm.csv"
    lines = [",".join(map(str, drawn.names)), *(",".join(map(str, line)) for line in fields.tolist())]
    path.write_text("\n".join(lines) + "\n", "utf-8")
    return path


@pytest.fixture(scope="module")
def learned(rows: Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[..., dict[str, bytes]]:
    """Return a function that learns in a process of its own and gives the files that were saved."""

    def run(**environment: str) -> dict[str, bytes]:
        folder = tmp_path_factory.mktemp("saved")
        command = [sys.executable, "-c", LEARN, str(rows), str(folder)]
        subprocess.run(command, check=True, env={**os.environ, **environment})
        return {file.name: file.read_bytes() for file in sorted(folder.iterdir())}

    return run


@pytest.fixture(scope="module")
def usual(learned: Callable[..., dict[str, bytes]]) -> dict[str, bytes]:
    """Return the files of the library that is in use."""
    return learned()


@pytest.mark.parametrize("level", library.supported_levels())
def test_every_level_learns_the_same(
    level: str, learned: Callable[..., dict[str, bytes]], usual: dict[str, bytes]
) -> None:
    """Each level of processors that this one supports saves the same bytes."""
    assert len(usual) == 11
    assert learned(APSL_CPU_LEVEL=level) == usual


@pytest.mark.parametrize("name", ["gcc", "clang", "zig"])
def test_every_compiler_builds_the_same(
    name: str, learned: Callable[..., dict[str, bytes]], usual: dict[str, bytes], tmp_path: Path
) -> None:
    """Libraries of each compiler that is installed save the same bytes, on the lowest and on the highest level."""
    command = known_compilers().get(name)
    if command is None:
        pytest.skip(f"{name} is not installed here")
    build.build(command, folder=tmp_path)

    for level in {library.supported_levels()[0], library.supported_levels()[-1]}:
        assert learned(APSL_KERNELS=str(tmp_path), APSL_CPU_LEVEL=level) == usual
