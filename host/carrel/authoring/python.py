"""Python: componentize-py makes a component of a module, with the interpreter inside.

The module is `app.py` unless `[tool.carrel]` in `pyproject.toml` names another, and holds a class
`Source`. Nothing of WASI is left in the component: it was run once, and is a picture of that.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path

from carrel.errors import ArgumentError, BuildError

from .kit import contract_wit
from .project import Project, read_toml
from .steps import Say, run_step

REMEDY = "install it into this environment: pip install componentize-py"


def build_python(project: Project, say: Say) -> bytes:
    """Returns the component of a Python module.

    Raises:
        ArgumentError: the project's settings are wrong, or there is no such module.
        BuildError: componentize-py is not here, or failed.
    """
    module = _module(project.folder)
    tool = installed_tool()
    if tool is None:
        raise BuildError("componentize-py is not installed", remedy=REMEDY)
    say("componentising with componentize-py")
    with tempfile.TemporaryDirectory(prefix="carrel-build-") as name:
        output = Path(name) / "component.wasm"
        options: list[str | Path] = ["--quiet", "--wit-path", contract_wit(), "--world", "plugin"]
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
    """Returns the program componentize-py beside this interpreter, else the one on the path."""
    beside = Path(sys.executable).parent
    return shutil.which("componentize-py", path=str(beside)) or shutil.which("componentize-py")


def _module(folder: Path) -> str:
    settings = read_toml(folder / "pyproject.toml").get("tool", {}).get("carrel", {})
    module = settings.get("module", "app")
    if not isinstance(module, str) or not (folder / f"{module}.py").is_file():
        raise ArgumentError(
            [f"{folder}: no {module}.py; name the module as tool.carrel.module in pyproject.toml"]
        )
    return module
