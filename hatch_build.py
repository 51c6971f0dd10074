"""The build hook of the package: it compiles the kernels, once for each level of processors.

A wheel gets the libraries and not their sources, and its name says for which platform it is. An editable install gets
them into its tree, where they are built again when a source changes.
"""

from __future__ import annotations

import sys
import tempfile
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

_KERNELS = "backends/apsl_backends/kernels"


class KernelsHook(BuildHookInterface[Any]):
    """Builds the kernels for wheels and editable installs."""

    PLUGIN_NAME = "custom"

    def dependencies(self) -> list[str]:
        """Return zig where there is no other compiler, or where the wheel is for another machine."""
        build = _builder(Path(self.root))
        try:
            return [build.ZIG] if build.target_asked_for() or not build.system_compiler() else []
        except build.BuildError as error:
            sys.exit(str(error))

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Build the libraries and put them into the wheel, or into the tree of an editable install."""
        build = _builder(Path(self.root))
        try:
            target = build.target_asked_for()
            if version == "editable":
                if target:
                    sys.exit(f"an editable install is for this machine; unset {build.TARGET_VARIABLE}")
                if not build.is_current():
                    build.build()
                return
            command = build.compiler(target)
            self._folder = tempfile.TemporaryDirectory()
            build.build(command, folder=Path(self._folder.name), target=target)
        except build.BuildError as error:
            sys.exit(str(error))
        machine = target or build.this_machine()
        libraries = [build.library_of(level, Path(self._folder.name), machine) for level in machine.levels]
        build_data["force_include"] |= {str(file): f"apsl_backends/kernels/built/{file.name}" for file in libraries}
        build_data |= {"pure_python": False, "tag": f"py3-none-{build.wheel_platform(command, target)}"}

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Remove the folder of the libraries."""
        del build_data, artifact_path
        if version != "editable":
            self._folder.cleanup()


def _builder(root: Path) -> Any:
    """Return the module that builds, without importing the package around it."""
    spec = spec_from_file_location("build_kernels", root / _KERNELS / "build.py")
    if spec is None or spec.loader is None:
        message = f"there is no file build.py in {_KERNELS}"
        raise ImportError(message)
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
