"""Libraries for other machines than this one, which zig builds."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType

import pytest
from packaging.tags import mac_platforms

from apsl_backends.kernels import build
from support.compilers import builder_of_few, known_compilers
from support.packaged import ROOT

sys.path.append(str(ROOT / "tools"))  # the tools are scripts beside each other, not a package
from wheels import machine_of

#: Two of them: zig builds libraries of each system first, which takes long; tools/wheels.py builds and checks all.
QUICK = [target for target in build.TARGETS if target.processor == "aarch64" and target.libc != "musl"][:2]


@pytest.fixture
def checkout(tmp_path: Path) -> ModuleType:
    """Return the module that builds, in a folder with a few of the sources, which take no time."""
    return builder_of_few(tmp_path)


#: The names of each target: our own, that of a wheel, that of zig, and the library of the lowest level.
NAMES = [
    ("x86_64-linux-gnu", "manylinux_2_17_x86_64", "x86_64-linux-gnu.2.17", "kernels-baseline.so"),
    ("aarch64-linux-gnu", "manylinux_2_17_aarch64", "aarch64-linux-gnu.2.17", "kernels-baseline.so"),
    ("x86_64-linux-musl", "musllinux_1_2_x86_64", "x86_64-linux-musl", "kernels-baseline.so"),
    ("aarch64-linux-musl", "musllinux_1_2_aarch64", "aarch64-linux-musl", "kernels-baseline.so"),
    ("x86_64-macos", "macosx_11_0_x86_64", "x86_64-macos.11.0", "kernels-baseline.dylib"),
    ("aarch64-macos", "macosx_11_0_arm64", "aarch64-macos.11.0", "kernels-baseline.dylib"),
    ("x86_64-windows", "win_amd64", "x86_64-windows-gnu", "kernels-baseline.dll"),
    ("aarch64-windows", "win_arm64", "aarch64-windows-gnu", "kernels-baseline.dll"),
]


@pytest.mark.parametrize(("name", "platform", "zig_name", "library"), NAMES)
def test_every_target_has_its_names(
    name: str, platform: str, zig_name: str, library: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A target is known by its name, to wheels, to zig and to the loader, whatever machine builds for it."""
    monkeypatch.setenv("APSL_TARGET", name)
    target = build.target_asked_for()

    assert target is not None
    assert (str(target), target.zig_name) == (name, zig_name)
    assert build.wheel_platform(["zig", "cc"], target) == platform
    assert build.library_of("baseline", target=target).name == library


def test_every_target_is_named_here() -> None:
    """There are no other targets than those with the names above."""
    assert [str(target) for target in build.TARGETS] == [name for name, *_ in NAMES]


def test_the_macs_that_pip_knows_take_the_wheel() -> None:
    """The platforms of macOS are those that pip accepts on a Mac of today."""
    accepted = {*mac_platforms((15, 0), "arm64"), *mac_platforms((15, 0), "x86_64")}

    assert {target.wheel_platform for target in build.TARGETS if target.system == "macos"} <= accepted


def test_an_unknown_target_is_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    """APSL_TARGET with another word is refused with those that there are; without it there is no target."""
    monkeypatch.setenv("APSL_TARGET", "abacus")
    with pytest.raises(build.BuildError, match=r"APSL_TARGET is 'abacus'; zig builds for x86_64-linux-gnu, aarch64-"):
        build.target_asked_for()
    monkeypatch.delenv("APSL_TARGET")
    assert build.target_asked_for() is None


def test_another_machine_needs_zig(monkeypatch: pytest.MonkeyPatch) -> None:
    """A compiler of this machine is not taken for another one; where zig is missing, a sentence says how to get it."""
    monkeypatch.setattr(build, "find_spec", lambda _name: None)
    with pytest.raises(build.BuildError, match="only zig builds the kernels for x86_64-macos; get it with: python -m"):
        build.compiler(build.Target("x86_64", "macos"))


@pytest.mark.slow
@pytest.mark.release
@pytest.mark.skipif("zig" not in known_compilers(), reason="zig is not installed")
@pytest.mark.parametrize("target", QUICK, ids=str)
def test_libraries_for_other_machines_are_built_here(
    checkout: ModuleType, target: build.Target, tmp_path: Path
) -> None:
    """Each level of each target is built, is a library of that system and processor, and names no folder of here."""
    folder = tmp_path / "other"
    checkout.build(checkout.compiler(target), folder=folder, target=checkout.Target(*target))

    libraries = [build.library_of(level, folder, target) for level in target.levels]
    assert {file.name for file in folder.iterdir()} == {*(file.name for file in libraries), "kernels.stamp"}
    assert {machine_of(file.read_bytes()) for file in libraries} == {(target.system, target.processor)}
    assert not [file.name for file in libraries if str(tmp_path).encode() in file.read_bytes()]
