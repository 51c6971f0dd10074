"""How the kernels are built and found: levels, stamps, compilers, and the sentence where nothing can build."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import sys
import time
from pathlib import Path
from types import ModuleType

import pytest

from apsl_backends.kernels import build, library
from apsl_rules.errors import KernelError
from support.compilers import builder_of_few, known_compilers

needs_compiler = pytest.mark.skipif(not known_compilers(), reason="there is no C compiler and no zig here")
LOAD = "from apsl_backends.kernels.library import description; print(description())"


@pytest.fixture
def checkout(tmp_path: Path) -> ModuleType:
    """Return the module that builds, in a folder with a few of the sources, which take no time, and no libraries."""
    return builder_of_few(tmp_path / "kernels")


def loaded(**environment: str) -> subprocess.CompletedProcess[str]:
    """Load the library in a process of its own."""
    command = [sys.executable, "-c", LOAD]
    return subprocess.run(command, capture_output=True, text=True, check=False, env={**os.environ, **environment})


def names_in(folder: Path) -> set[str]:
    """Return the names of the files in a folder, but for what Python leaves there."""
    return {file.name for file in folder.iterdir()} - {"__pycache__"}


# --- levels ----------------------------------------------------------------------------------------------------------


def test_the_highest_level_that_the_processor_supports_is_used() -> None:
    """Without a wish the last of the supported levels is loaded."""
    supported = library.supported_levels()

    assert supported == build.levels()[: len(supported)]
    assert loaded(APSL_CPU_LEVEL="").stdout.startswith(build.library_of(supported[-1]).name)


@pytest.mark.parametrize("level", library.supported_levels())
def test_a_level_can_be_chosen(level: str) -> None:
    """APSL_CPU_LEVEL names the level to use."""
    assert loaded(APSL_CPU_LEVEL=level).stdout.startswith(build.library_of(level).name)


def test_an_unknown_level_is_refused() -> None:
    """A level that is not there, or that the processor does not support, is a sentence with those that are."""
    done = loaded(APSL_CPU_LEVEL="abacus")

    assert done.returncode == 1
    assert "KernelError: APSL_CPU_LEVEL is 'abacus'; this processor supports baseline" in done.stderr


def test_the_processor_says_what_linux_says() -> None:
    """The level is that of the flags which Linux lists for the processor."""
    try:
        listed = next(
            line for line in Path("/proc/cpuinfo").read_text("utf-8").splitlines() if line.startswith("flags")
        )
    except (OSError, StopIteration):
        pytest.skip("this system lists no flags of its processor")
    flags = set(listed.partition(":")[2].replace("_", "").split())
    needed = {
        "baseline": set(),
        "avx2": {"avx2", "bmi1", "bmi2"},
        "avx512": {"avx512f", "avx512dq", "avx512bw", "avx512vl", "avx512vpopcntdq"},
    }
    expected = [level for level in build.levels() if needed[level] <= flags]

    assert list(library.supported_levels()) == expected


# --- building --------------------------------------------------------------------------------------------------------


@needs_compiler
def test_a_build_leaves_libraries_and_a_stamp(checkout: ModuleType) -> None:
    """One library for each level and the stamp are made, and nothing else is left."""
    before = names_in(checkout.FOLDER)
    assert not checkout.is_current()
    checkout.build()

    made = {checkout.library_of(level).name for level in checkout.levels()} | {"kernels.stamp"}
    assert names_in(checkout.BUILT) == made
    assert names_in(checkout.FOLDER) == before | {"built"}
    assert checkout.is_current()


@needs_compiler
def test_a_changed_source_or_a_lost_library_is_built_again(checkout: ModuleType) -> None:
    """The stamp tells a change in any source, header or the build itself, and a missing library is noticed."""
    checkout.build()
    for name in ("base/elementary.c", "base/common.h", "build.py"):
        with (checkout.FOLDER / name).open("a", encoding="utf-8") as file:
            file.write("\n")
        assert not checkout.is_current()
        checkout.build()
        assert checkout.is_current()
    checkout.library_of("baseline").unlink()
    assert not checkout.is_current()


@needs_compiler
def test_a_source_that_changes_during_a_build_is_built_again(
    checkout: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The stamp is that of the sources before they were compiled."""
    compiled = checkout.compile_level

    def slowly(*words: object) -> None:
        compiled(*words)
        with (checkout.FOLDER / "base" / "elementary.c").open("a", encoding="utf-8") as file:
            file.write("\n")

    monkeypatch.setattr(checkout, "compile_level", slowly)
    checkout.build()

    assert not checkout.is_current()


@needs_compiler
def test_builds_at_once_do_each_other_no_harm(checkout: ModuleType) -> None:
    """Two processes that build the same folder both end well, and the libraries load meanwhile and afterwards."""
    checkout.build()
    script = (
        f"from support.compilers import imported_from; imported_from({str(checkout.FOLDER / 'build.py')!r}).build()"
    )
    paths = {"PYTHONPATH": os.pathsep.join([str(Path(__file__).parents[1]), os.environ.get("PYTHONPATH", "")])}
    command = [sys.executable, "-c", script]
    both = [subprocess.Popen(command, env={**os.environ, **paths}) for _ in range(2)]
    while any(one.poll() is None for one in both):
        assert all(checkout.library_of(level).stat().st_size > 0 for level in checkout.levels())
        time.sleep(0.02)

    assert [one.returncode for one in both] == [0, 0]
    assert checkout.is_current()


@needs_compiler
def test_what_does_not_compile_replaces_nothing(checkout: ModuleType) -> None:
    """A mistake in a source is told in the compiler's words; the libraries that were there stay."""
    checkout.build()
    before = checkout.library_of("baseline").read_bytes()
    (checkout.FOLDER / "base" / "elementary.c").write_text("int wrong(void) { return wrong_word; }\n", "utf-8")

    with pytest.raises(checkout.BuildError, match="wrong_word"):
        checkout.build()
    assert checkout.library_of("baseline").read_bytes() == before
    assert not [name for name in names_in(checkout.BUILT) if name.startswith(".build-")]


@needs_compiler
@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="an administrator may write anywhere")
def test_a_folder_that_cannot_be_written_is_named(checkout: ModuleType) -> None:
    """Where the libraries are out of date and cannot be replaced, the sentence names the folder."""
    checkout.FOLDER.chmod(stat.S_IRUSR | stat.S_IXUSR)
    try:
        with pytest.raises(checkout.BuildError, match="make the folder writable, or install apsl_rules again"):
            checkout.build()
    finally:
        checkout.FOLDER.chmod(stat.S_IRWXU)


def test_a_folder_that_is_not_there_is_named(checkout: ModuleType, tmp_path: Path) -> None:
    """A build into a folder that cannot be used is one sentence."""
    with pytest.raises(checkout.BuildError, match=r"cannot be done in .*nowhere"):
        checkout.build(["true"], folder=tmp_path / "nowhere" / "deeper")


# --- compilers -------------------------------------------------------------------------------------------------------


def test_without_a_compiler_a_sentence_says_what_to_do(checkout: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    """With neither a compiler on the path nor zig, the sentence names both and how to get one."""
    monkeypatch.setenv("PATH", str(checkout.FOLDER))
    monkeypatch.delenv("CC", raising=False)
    monkeypatch.setattr(checkout, "find_spec", lambda _name: None)

    with pytest.raises(checkout.BuildError, match=r"neither a C compiler .* nor the package ziglang; get one with: "):
        checkout.build()


def test_libraries_out_of_date_are_built_when_they_are_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    """A checkout builds where a source has changed; what keeps it from that is an error of ours."""
    built: list[str] = []
    monkeypatch.delenv("APSL_KERNELS", raising=False)
    monkeypatch.setattr(build, "is_current", lambda: False)
    monkeypatch.setattr(build, "build", lambda: built.append("built"))
    assert library.folder.__wrapped__() == build.BUILT
    assert built == ["built"]

    def fail() -> None:
        message = "there is no compiler; get one"
        raise build.BuildError(message)

    monkeypatch.setattr(build, "build", fail)
    with pytest.raises(KernelError, match="there is no compiler; get one"):
        library.folder.__wrapped__()


def test_an_installed_package_builds_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without sources the libraries are taken as they are; one that is missing is a sentence."""
    monkeypatch.delenv("APSL_KERNELS", raising=False)
    monkeypatch.setattr(build, "sources", list)
    monkeypatch.setattr(build, "build", None)
    assert library.folder.__wrapped__() == build.BUILT
    with pytest.raises(KernelError, match=r"the kernels of apsl_rules cannot be loaded .*; install apsl_rules again"):
        library.load("abacus")


def test_zig_is_taken_where_there_is_no_other_compiler(checkout: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    """The package ziglang compiles if the path has no compiler."""
    monkeypatch.setenv("PATH", str(checkout.FOLDER))
    monkeypatch.delenv("CC", raising=False)
    monkeypatch.setattr(checkout, "find_spec", lambda _name: object())

    assert checkout.compiler() == [sys.executable, "-m", "ziglang", "cc"]


def test_the_compiler_can_be_named_with_arguments(checkout: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    """CC may hold arguments, and words with blanks in quotation marks."""
    monkeypatch.setenv("CC", "'/opt/my tools/cc' -m64")
    assert checkout.compiler() == ["/opt/my tools/cc", "-m64"]
    with pytest.raises(
        checkout.BuildError, match=r"the compiler '/opt/my tools/cc' cannot be run .*; set CC to one that"
    ):
        checkout.build()


def test_a_compiler_that_is_no_command_is_a_sentence(checkout: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    """A quotation in CC that does not end is named."""
    monkeypatch.setenv("CC", "gcc '-O2")
    with pytest.raises(checkout.BuildError, match='CC is "gcc \'-O2", which is no command'):
        checkout.compiler()


def test_a_stamp_that_is_no_text_is_not_current(checkout: ModuleType) -> None:
    """Whatever the stamp contains, another one is out of date."""
    checkout.BUILT.mkdir()
    (checkout.BUILT / "kernels.stamp").write_bytes(b"\xff\xfe")
    assert not checkout.is_current()


def test_a_function_that_a_library_lacks_is_a_sentence() -> None:
    """Libraries of another version are told from a mistake in the program."""
    with pytest.raises(KernelError, match=r"are of another version than it .*apsl_abacus"):
        library.function_of(library.library(), "apsl_abacus")


@pytest.mark.parametrize(
    ("system", "machine", "libc", "command", "platform", "option"),
    [
        ("linux", "x86_64", "glibc", ["zig", "cc"], "manylinux_2_17_x86_64", "x86_64-linux-gnu.2.17"),
        ("linux", "aarch64", "glibc", ["python", "-m", "ziglang", "cc"], "manylinux_2_17_aarch64", "-mcpu=baseline"),
        ("linux", "x86_64", "musl", ["zig", "cc"], "musllinux_1_2_x86_64", "x86_64-linux-musl"),
        ("linux", "x86_64", "", ["zig", "cc"], None, "-mcpu=x86_64+sse3+ssse3+sse4_1+sse4_2+popcnt"),
        ("linux", "x86_64", "glibc", ["gcc"], None, "-msse4.2"),
        ("darwin", "arm64", "", ["clang"], "macosx_11_0_arm64", "-mmacosx-version-min=11.0"),
        ("darwin", "x86_64", "", ["clang"], "macosx_11_0_x86_64", "-mpopcnt"),
        ("win32", "AMD64", "", ["zig", "cc"], "win_amd64", "x86_64-windows-gnu"),
        ("win32", "ARM64", "", ["zig", "cc"], "win_arm64", "-mcpu=baseline"),
    ],
)
def test_a_wheel_says_where_its_libraries_run(
    monkeypatch: pytest.MonkeyPatch,
    system: str,
    machine: str,
    libc: str,
    command: list[str],
    platform: str | None,
    option: str,
) -> None:
    """The platform of a wheel and the options of the compiler go with the system, the processor and the compiler."""
    import sysconfig

    monkeypatch.setattr(sys, "platform", system)
    monkeypatch.setattr("platform.machine", lambda: machine)
    monkeypatch.setattr("platform.libc_ver", lambda: (libc, ""))
    monkeypatch.setattr(sysconfig, "get_config_var", lambda _name: f"cpython-311-{machine}-linux-{libc}")

    here = sysconfig.get_platform().replace("-", "_").replace(".", "_")
    assert build.wheel_platform(command) == (platform or here)
    assert option in build.target_options(command, "baseline", build.this_machine())
    assert build.levels() == (("baseline", "avx2", "avx512") if machine in {"x86_64", "AMD64"} else ("baseline",))


# --- other folders ---------------------------------------------------------------------------------------------------


def test_libraries_of_another_folder_can_be_used(tmp_path: Path) -> None:
    """APSL_KERNELS names a folder of libraries from the same sources; those of others are refused."""
    for file in (*map(build.library_of, build.levels()), build.BUILT / "kernels.stamp"):
        shutil.copy(file, tmp_path)
    assert loaded(APSL_KERNELS=str(tmp_path)).returncode == 0

    (tmp_path / "kernels.stamp").write_text("of others", "utf-8")
    done = loaded(APSL_KERNELS=str(tmp_path))
    assert done.returncode == 1
    assert "the libraries there are not built from the sources as they are" in done.stderr
