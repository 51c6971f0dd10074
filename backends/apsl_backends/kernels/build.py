"""Build the kernels with the machine's C compiler, or with zig where there is none.

The build hook of the package runs this file, and so does an editable install whose sources have changed. It needs
nothing but the standard library, and imports what only a build needs when it builds. As a script it builds into
another folder, with further options for the compiler: ``python build.py build/sanitized -g -fsanitize=address``.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path

FOLDER = Path(__file__).parent
#: No package, since Python takes every library in a package for a module.
BUILT = FOLDER / "built"
ZIG = "ziglang"

_SUFFIX = {"win32": ".dll", "cygwin": ".dll", "darwin": ".dylib"}.get(sys.platform, ".so")
_STAMP = "kernels.stamp"
_BASELINE = ("sse3", "ssse3", "sse4.1", "sse4.2", "popcnt")
_AVX2 = (*_BASELINE, "avx", "avx2", "bmi", "bmi2")
_AVX512 = (*_AVX2, "avx512f", "avx512dq", "avx512bw", "avx512vl", "avx512vpopcntdq")
#: For each level of processors, the instructions that it adds to those of x86-64; the order is that of cpu_level.h.
_LEVELS = {"baseline": _BASELINE, "avx2": _AVX2, "avx512": _AVX512}
_FLAGS = ("-std=c99", "-O3", "-g0", "-ffp-contract=off", "-fvisibility=hidden", "-Wall", "-Wextra", "-Werror")
#: glibc of 2012 and macOS of 2020, the oldest systems that a library runs on which is built for others too.
_OLDEST_GLIBC, _OLDEST_MACOS = (2, 17), "11.0"
_PROCESSORS = {"amd64": "x86_64", "arm64": "aarch64"}


class BuildError(Exception):
    """The kernels cannot be built; the message says why and what to do."""


def sources() -> list[Path]:
    """Return the C sources; an installed package has none."""
    return sorted(FOLDER.glob("*.c"))


def stamp() -> str:
    """Return a fingerprint of the sources and of how they are built."""
    digest = sha256()
    for file in (*sources(), *sorted(FOLDER.glob("*.h")), Path(__file__)):
        content = file.read_bytes()
        digest.update(f"{file.name} {len(content)}\n".encode() + content)
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
    return tuple(_LEVELS) if _processor() == "x86_64" else ("baseline",)


def library_of(level: str, folder: Path = BUILT) -> Path:
    """Return the path of the library for a level."""
    return folder / f"kernels-{level}{_SUFFIX}"


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


def compiler() -> list[str]:
    """Return the command of the compiler: the machine's, or zig's."""
    found = system_compiler()
    if found is not None:
        return found
    if find_spec(ZIG) is not None:
        return [sys.executable, "-m", ZIG, "cc"]
    message = (
        f"the kernels of apsl_rules must be built, and there is neither a C compiler (cc, gcc, clang, or what CC "
        f"names) nor the package {ZIG}; get one with: python -m pip install {ZIG}"
    )
    raise BuildError(message)


def wheel_platform(command: Sequence[str]) -> str:
    """Return the platform of a wheel with libraries that a compiler built, as its name spells it.

    zig builds for old Linux systems wherever it runs; other compilers build for systems like this one.
    """
    import sysconfig

    if sys.platform == "darwin":
        machine = "arm64" if _processor() == "aarch64" else _processor()
        return f"macosx_{_OLDEST_MACOS.replace('.', '_')}_{machine}"
    if _is_for_old_linux(command):
        return "manylinux_{}_{}_{}".format(*_OLDEST_GLIBC, _processor())
    return sysconfig.get_platform().replace("-", "_").replace(".", "_")


def build(command: Sequence[str] | None = None, options: Sequence[str] = (), folder: Path = BUILT) -> None:
    """Build the library of each level into a folder.

    Nothing there is replaced before all are built, so processes that build at once do each other no harm. The stamp is
    taken before, so that a source that changes meanwhile is built again.
    """
    import tempfile
    from concurrent.futures import ThreadPoolExecutor

    chosen, made = compiler() if command is None else list(command), stamp()
    try:
        folder.mkdir(exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".build-", dir=folder) as name, ThreadPoolExecutor() as workers:
            place = Path(name)
            (place / _STAMP).write_text(made, "utf-8")
            list(workers.map(lambda level: compile_level(chosen, options, level, place), levels()))
            for file in (*(library_of(level, place) for level in levels()), place / _STAMP):
                file.replace(folder / file.name)
    except OSError as error:
        message = (
            f"the kernels of apsl_rules must be built, and that cannot be done in {str(folder)!r} "
            f"({error.strerror or error}); make the folder writable, or install apsl_rules again"
        )
        raise BuildError(message) from error


def compile_level(command: Sequence[str], options: Sequence[str], level: str, folder: Path) -> None:
    """Build the library of one level into a folder."""
    import subprocess

    code = [] if sys.platform in {"win32", "cygwin"} else ["-fPIC"]
    words = [*command, *_FLAGS, *code, *target_options(command, level), *options, "-shared"]
    files = ["-o", str(library_of(level, folder)), *map(str, sources())]
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


def target_options(command: Sequence[str], level: str) -> list[str]:
    """Return the options that choose the system and the processor."""
    extras = _LEVELS[level] if _processor() == "x86_64" else ()
    system = [f"-mmacosx-version-min={_OLDEST_MACOS}"] if sys.platform == "darwin" else []
    if not _is_zig(command):
        return [*system, *(["-march=x86-64"] if extras else []), *(f"-m{name}" for name in extras)]
    if _is_for_old_linux(command):
        system = ["-target", "{}-linux-gnu.{}.{}".format(_processor(), *_OLDEST_GLIBC)]
    features = "".join(f"+{name.replace('.', '_')}" for name in extras)
    return [*system, *([f"-mcpu=x86_64{features}"] if extras else ["-mcpu=baseline"])]


def _is_zig(command: Sequence[str]) -> bool:
    """Return whether a compiler is zig's, which names systems and processors in its own way."""
    return ZIG in command or Path(command[0]).stem == "zig"


def _is_for_old_linux(command: Sequence[str]) -> bool:
    """Return whether zig builds for glibc of long ago; systems with another libc build for themselves."""
    import platform

    known = _processor() in {"x86_64", "aarch64"}
    return _is_zig(command) and sys.platform == "linux" and known and platform.libc_ver()[0] == "glibc"


def _processor() -> str:
    """Return the kind of this machine's processor; Python of 32 bits sees another one, of no name."""
    import platform

    name = platform.machine().lower()
    return _PROCESSORS.get(name, name) if sys.maxsize > 2**32 else f"{name}-32"


if __name__ == "__main__":
    into = Path(sys.argv[1])
    into.parent.mkdir(parents=True, exist_ok=True)
    try:
        build(options=sys.argv[2:], folder=into)
    except BuildError as error:
        sys.exit(str(error))
