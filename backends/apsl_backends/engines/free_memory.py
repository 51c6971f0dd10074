"""How much memory is free."""

from __future__ import annotations

from pathlib import Path

_LIMITS = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")
_USED = ("/sys/fs/cgroup/memory.current", "/sys/fs/cgroup/memory/memory.usage_in_bytes")
_UNKNOWN = 1 << 62


def available_memory() -> int:
    """Return the bytes that are free: of the machine, of the group of processes, and of this process's own limit."""
    return max(0, min(_machine(), _group(), _process()))


def _machine() -> int:
    try:
        lines = Path("/proc/meminfo").read_text("ascii").splitlines()
    except OSError:
        return _UNKNOWN
    found = [int(line.split()[1]) << 10 for line in lines if line.startswith("MemAvailable:")]
    return found[0] if found else _UNKNOWN


def _group() -> int:
    for limit, used in zip(_LIMITS, _USED, strict=True):
        try:
            return int(Path(limit).read_text("ascii")) - int(Path(used).read_text("ascii"))
        except (OSError, ValueError):  # no such group, or "max"
            continue
    return _UNKNOWN


def _process() -> int:
    try:
        import resource
    except ImportError:  # Windows has no such limits
        return _UNKNOWN
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    if limit == resource.RLIM_INFINITY:
        return _UNKNOWN
    try:
        pages = int(Path("/proc/self/statm").read_text("ascii").split()[0])
    except OSError:
        return limit
    return limit - pages * resource.getpagesize()
