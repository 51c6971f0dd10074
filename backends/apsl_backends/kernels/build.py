"""Build the kernels with the machine's C compiler, or with zig where there is none.

The build hook of the package runs this file, and so does an editable install whose sources have changed. It needs
nothing but the standard library, and imports what only a build needs when it builds. As a script it builds into
another folder, with further options for the compiler: ``python build.py build/sanitized -g -fsanitize=address``.

zig builds for other machines too: ``APSL_TARGET=aarch64-linux-gnu python -m build --wheel``.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

FOLDER = Path(__file__).parent
#: No package, since Python takes every library in a package for a module.
BUILT = FOLDER / "built"
ZIG = "ziglang"
#: Names the machine to build a wheel for, which only zig can; without it a wheel is for this machine.
TARGET_VARIABLE = "APSL_TARGET"

_STAMP = "kernels.stamp"
_BASELINE = ("sse3", "ssse3", "sse4.1", "sse4.2", "popcnt")
_AVX2 = (*_BASELINE, "avx", "avx2", "bmi", "bmi2")
_AVX512 = (*_AVX2, "avx512f", "avx512dq", "avx512bw", "avx512vl", "avx512vpopcntdq")
#: For each level of processors, the instructions that it adds to those of x86-64; the order is that of cpu_level.h.
_LEVELS = {"baseline": _BASELINE, "avx2": _AVX2, "avx512": _AVX512}
_FLAGS = ("-std=c99", "-O3", "-g0", "-ffp-contract=off", "-fvisibility=hidden", "-Wall", "-Wextra", "-Werror")
#: glibc of 2012, musl of 2020 and macOS of 2020, the oldest systems that a library for others runs on.
_OLDEST_GLIBC, _OLDEST_MUSL, _OLDEST_MACOS = "2.17", "1.2", "11.0"
_PROCESSORS = {"amd64": "x86_64", "arm64": "aarch64"}
_SYSTEMS = {"darwin": "macos", "win32": "windows", "cygwin": "windows"}
_WHEEL_PROCESSORS = {("macos", "aarch64"): "arm64", ("windows", "aarch64"): "arm64", ("windows", "x86_64"): "amd64"}
_SUFFIXES = {"macos": ".dylib", "windows": ".dll"}


class BuildError(Exception):
    """The kernels cannot be built; the message says why and what to do."""


class Target(NamedTuple):
    """A kind of machine that libraries are built for."""

    processor: str
    system: str
    libc: str = ""

    def __str__(self) -> str:
        return "-".join(filter(None, self))

    @property
    def levels(self) -> tuple[str, ...]:
        """Return the levels of processors that are built for it, the lowest first."""
        return tuple(_LEVELS) if self.processor == "x86_64" else ("baseline",)

    @property
    def suffix(self) -> str:
        """Return how the name of a library ends there."""
        return _SUFFIXES.get(self.system, ".so")

    @property
    def zig_name(self) -> str:
        """Return how zig names it, with the oldest version of the system."""
        endings = {"gnu": f".{_OLDEST_GLIBC}", "macos": f".{_OLDEST_MACOS}", "windows": "-gnu"}
        return f"{self}{endings.get(self.libc or self.system, '')}"

    @property
    def wheel_platform(self) -> str:
        """Return how the name of a wheel spells it."""
        systems = {
            "gnu": f"manylinux_{_OLDEST_GLIBC}",
            "musl": f"musllinux_{_OLDEST_MUSL}",
            "macos": f"macosx_{_OLDEST_MACOS}",
            "windows": "win",
        }
        processor = _WHEEL_PROCESSORS.get((self.system, self.processor), self.processor)
        return f"{systems[self.libc or self.system]}_{processor}".replace(".", "_")


#: The machines that zig builds for wherever it runs.
TARGETS = tuple(
    Target(processor, system, libc)
    for system, libc in (("linux", "gnu"), ("linux", "musl"), ("macos", ""), ("windows", ""))
    for processor in ("x86_64", "aarch64")
)


def this_machine() -> Target:
    """Return the kind of this machine; Python of 32 bits sees a processor of no name, and not every libc has one."""
    import platform

    name = platform.machine().lower()
    processor = _PROCESSORS.get(name, name) if sys.maxsize > 2**32 else f"{name}-32"
    system = _SYSTEMS.get(sys.platform, sys.platform)
    return Target(processor, system, _libc() if system == "linux" else "")


def target_asked_for() -> Target | None:
    """Return the machine that APSL_TARGET names, or None where it is not set."""
    asked = os.environ.get(TARGET_VARIABLE)
    named = {str(target): target for target in TARGETS}
    if asked and asked not in named:
        message = f"{TARGET_VARIABLE} is {asked!r}; zig builds for {', '.join(named)}"
        raise BuildError(message)
    return named[asked] if asked else None


def sources() -> list[Path]:
    """Return the C sources; an installed package has none."""
    return sorted(FOLDER.glob("*/*.c"))


def stamp() -> str:
    """Return a fingerprint of the sources and of how they are built."""
    digest = sha256()
    for file in (*sources(), *sorted(FOLDER.glob("*/*.h")), Path(__file__)):
        content = file.read_bytes()
        digest.update(f"{file.relative_to(FOLDER).as_posix()} {len(content)}\n".encode() + content)
    return digest.hexdigest()


def is_current(folder: Path = BUILT) -> bool:
    """Return whether all libraries in a folder were built from the sources as they are now."""
    try:
        built = (folder / _STAMP).read_bytes()
    except OSError:
        return False
    return built == stamp().encode() and all(library_of(level, folder).exists() for level in levels())


def levels() -> tuple[str, ...]:
    """Return the levels that are built for this machine, the lowest first."""
    return this_machine().levels


def library_of(level: str, folder: Path = BUILT, target: Target | None = None) -> Path:
    """Return the path of the library for a level, of this machine unless another is named."""
    return folder / f"kernels-{level}{(target or this_machine()).suffix}"


def system_compiler() -> list[str] | None:
    """Return the command that CC holds, or a compiler that is found, or None."""
    import shlex
    import shutil

    words = os.environ.get("CC", "")
    try:
        named = shlex.split(words, posix=os.name == "posix")
    except ValueError as error:
        message = f"CC is {words!r}, which is no command: a quotation or an escape in it does not end"
        raise BuildError(message) from error
    if named:
        return named
    found = next(filter(None, map(shutil.which, ("cc", "gcc", "clang"))), None)
    return None if found is None else [found]


def compiler(target: Target | None = None) -> list[str]:
    """Return the command of the compiler: the machine's, or zig's, which builds for a target that is named."""
    found = system_compiler() if target is None else None
    if found is not None:
        return found
    if find_spec(ZIG) is not None:
        return [sys.executable, "-m", ZIG, "cc"]
    if target is not None:
        message = f"only zig builds the kernels for {target}; get it with: python -m pip install {ZIG}"
        raise BuildError(message)
    message = (
        f"the kernels of apsl_rules must be built, and there is neither a C compiler (cc, gcc, clang, or what CC "
        f"names) nor the package {ZIG}; get one with: python -m pip install {ZIG}"
    )
    raise BuildError(message)


def wheel_platform(command: Sequence[str], target: Target | None = None) -> str:
    """Return the platform of a wheel with libraries that a compiler built, as its name spells it.

    zig builds for old systems wherever it runs; other compilers build for systems like this one.
    """
    import sysconfig

    machine = target or this_machine()
    if machine.system == "macos" or _names_target(command, machine):
        return machine.wheel_platform
    return sysconfig.get_platform().replace("-", "_").replace(".", "_")


def build(
    command: Sequence[str] | None = None,
    options: Sequence[str] = (),
    folder: Path = BUILT,
    target: Target | None = None,
) -> None:
    """Build the library of each level into a folder, for this machine unless another is named.

    Nothing there is replaced before all are built, so processes that build at once do each other no harm. The stamp is
    taken before, so that a source that changes meanwhile is built again.
    """
    import tempfile
    from concurrent.futures import ThreadPoolExecutor

    machine, made = target or this_machine(), stamp()
    chosen = compiler(target) if command is None else list(command)
    try:
        folder.mkdir(exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".build-", dir=folder) as name, ThreadPoolExecutor() as workers:
            place = Path(name)
            (place / _STAMP).write_text(made, "utf-8")
            list(workers.map(lambda level: compile_level(chosen, options, level, place, machine), machine.levels))
            for file in (*(library_of(level, place, machine) for level in machine.levels), place / _STAMP):
                file.replace(folder / file.name)
    except OSError as error:
        message = (
            f"the kernels of apsl_rules must be built, and that cannot be done in {str(folder)!r} "
            f"({error.strerror or error}); make the folder writable, or install apsl_rules again"
        )
        raise BuildError(message) from error


def compile_level(command: Sequence[str], options: Sequence[str], level: str, folder: Path, target: Target) -> None:
    """Build the library of one level into a folder."""
    import subprocess

    made = library_of(level, folder, target)
    code = [f"-I{FOLDER}", *([] if target.system == "windows" else ["-fPIC"])]
    # Otherwise a library of macOS names the folder that it was built in.
    name = [f"-Wl,-install_name,@rpath/{made.name}"] if target.system == "macos" else []
    words = [*command, *_FLAGS, *code, *target_options(command, level, target), *options, "-shared", *name]
    files = ["-o", str(made), *map(str, sources())]
    # zig keeps what it builds of libc, and the user may have no home for that.
    environment = {
        "ZIG_GLOBAL_CACHE_DIR": str(folder / "zig"),
        "ZIG_LOCAL_CACHE_DIR": str(folder / "zig"),
        **os.environ,
    }
    try:
        done = subprocess.run(  # noqa: S603 - the compiler
            [*words, *files], capture_output=True, text=True, errors="replace", check=False, env=environment
        )
    except OSError as error:
        message = f"the compiler {command[0]!r} cannot be run ({error.strerror or error}); set CC to one that can"
        raise BuildError(message) from error
    if done.returncode:
        said = done.stderr.strip() or f"nothing, and exits with {done.returncode}"
        message = f"the kernels of apsl_rules cannot be built with {' '.join(command)!r}; it says:\n{said}"
        raise BuildError(message)


def target_options(command: Sequence[str], level: str, target: Target) -> list[str]:
    """Return the options that choose the system and the processor."""
    extras = _LEVELS[level] if target.processor == "x86_64" else ()
    system = [f"-mmacosx-version-min={_OLDEST_MACOS}"] if target.system == "macos" else []
    if not _is_zig(command):
        return [*system, *(["-march=x86-64"] if extras else []), *(f"-m{name}" for name in extras)]
    if _names_target(command, target):
        system = ["-target", target.zig_name]
    features = "".join(f"+{name.replace('.', '_')}" for name in extras)
    return [*system, *([f"-mcpu=x86_64{features}"] if extras else ["-mcpu=baseline"])]


def _is_zig(command: Sequence[str]) -> bool:
    """Return whether a compiler is zig's, which names systems and processors in its own way."""
    return ZIG in command or Path(command[0]).stem == "zig"


def _names_target(command: Sequence[str], target: Target) -> bool:
    """Return whether zig is told for which machine to build; those that it is not told of build for themselves."""
    return _is_zig(command) and target in TARGETS


def _libc() -> str:
    """Return which C library this Linux has, if it is one that zig knows."""
    import platform
    import sysconfig

    if platform.libc_ver()[0] == "glibc":
        return "gnu"
    return "musl" if "musl" in str(sysconfig.get_config_var("SOABI")) else ""


if __name__ == "__main__":
    into = Path(sys.argv[1])
    into.parent.mkdir(parents=True, exist_ok=True)
    try:
        build(options=sys.argv[2:], folder=into)
    except BuildError as error:
        sys.exit(str(error))
