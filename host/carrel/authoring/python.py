"""Python: componentize-py makes a component of a module, with the interpreter inside.

The module is `app.py` unless `[tool.carrel]` in `pyproject.toml` names another, and holds a class
`Source`; with `bytes = true` in that table also a class `Documents`. Nothing of WASI is left in the
component: it was run once, and is a picture of that.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from carrel.errors import ArgumentError, BuildError

from .kit import contract_wit, world
from .project import Project, read_toml
from .steps import Say, run_step

REMEDY = "install it into this environment: pip install componentize-py"


def build_python(project: Project, say: Say) -> bytes:
    """Returns the component of a Python module.

    Raises:
        ArgumentError: the project's settings are wrong, or there is no such module.
        BuildError: componentize-py is not here, or failed.
    """
    settings = read_toml(project.folder / "pyproject.toml").get("tool", {}).get("carrel", {})
    module = _module(project.folder, settings)
    reads_bytes = settings.get("bytes", False)
    if not isinstance(reads_bytes, bool):
        raise ArgumentError([f"{project.folder}: tool.carrel.bytes is neither true nor false"])
    tool = installed_tool()
    if tool is None:
        raise BuildError("componentize-py is not installed", remedy=REMEDY)
    say("componentising with componentize-py")
    with tempfile.TemporaryDirectory(prefix="carrel-build-") as name:
        output = Path(name) / "component.wasm"
        target = world(reads_bytes=reads_bytes)
        options: list[str | Path] = ["--quiet", "--wit-path", contract_wit(), "--world", target]
        command: list[str | Path] = [
            tool,
            *options,
            "componentize",
            module,
            "--stub-wasi",
            "--output",
            output,
        ]
        run_step(command, purpose="componentise the plugin", folder=project.folder, remedy=REMEDY)
        return output.read_bytes()


def installed_tool() -> str | None:
    """Returns the program componentize-py next to this interpreter, else the one on the path."""
    beside = Path(sys.executable).parent
    return shutil.which("componentize-py", path=str(beside)) or shutil.which("componentize-py")


def _module(folder: Path, settings: Mapping[str, Any]) -> str:
    module = settings.get("module", "app")
    if not isinstance(module, str) or not (folder / f"{module}.py").is_file():
        raise ArgumentError(
            [f"{folder}: no {module}.py; name the module as tool.carrel.module in pyproject.toml"]
        )
    return module
