"""A plugin's project: its folder, the language it is written in, where its component goes."""

from __future__ import annotations

import json
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from carrel.errors import ArgumentError

Language = Literal["rust", "python", "javascript"]

#: The file that makes a folder a project of a language, in the order they are looked for.
_SIGNS: tuple[tuple[str, Language], ...] = (
    ("Cargo.toml", "rust"),
    ("package.json", "javascript"),
    ("pyproject.toml", "python"),
)


@dataclass(frozen=True, slots=True)
class Project:
    """A folder with a plugin's sources.

    Attributes:
        folder: absolute.
        language: decides how it is built.
    """

    folder: Path
    language: Language

    @property
    def fixtures(self) -> Path:
        """The folder of cases; it need not exist."""
        return self.folder / "fixtures"

    @property
    def dist(self) -> Path:
        """The folder that the built component goes to."""
        return self.folder / "dist"

    def component(self) -> Path:
        """Returns the component that was built.

        Raises:
            ArgumentError: none was, or there are several.
        """
        built = sorted(self.dist.glob("*.wasm")) if self.dist.is_dir() else []
        if not built:
            raise ArgumentError([f"{self.folder}: not built yet; run 'carrel plugin build' first"])
        if len(built) > 1:
            names = ", ".join(path.name for path in built)
            raise ArgumentError([f"{self.dist}: holds several components, {names}; name one"])
        return built[0]

    def is_stale(self, component: Path) -> bool:
        """Returns whether a source is younger than the component; dependencies are not looked
        at.
        """
        built = component.stat().st_mtime_ns
        return any(path.stat().st_mtime_ns > built for path in self._sources())

    def _sources(self) -> list[Path]:
        ends = {"rust": "*.rs", "python": "*.py", "javascript": "*.js"}[self.language]
        folder = self.folder / "src" if self.language == "rust" else self.folder
        inner = folder.rglob(ends) if self.language == "rust" else folder.glob(ends)
        return [*inner, *(path for path in self.folder.glob("*.toml") if path.is_file())]


def find_project(folder: Path) -> Project:
    """Returns the project in a folder.

    Raises:
        ArgumentError: there is no such folder, or no project in it.
    """
    folder = folder.absolute()
    if not folder.is_dir():
        raise ArgumentError([f"{folder}: there is no such folder"])
    for name, language in _SIGNS:
        if (folder / name).is_file():
            return Project(folder, language)
    signs = ", ".join(name for name, _ in _SIGNS)
    raise ArgumentError(
        [f"{folder}: no plugin's project: none of {signs}; 'carrel plugin new' makes one"]
    )


def read_toml(path: Path) -> dict[str, Any]:
    """Returns a TOML file.

    Raises:
        ArgumentError: it is none.
    """
    try:
        return tomllib.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise ArgumentError([f"{path}: {error}"]) from None


def read_json(path: Path) -> dict[str, Any]:
    """Returns a JSON file that holds an object.

    Raises:
        ArgumentError: it is none.
    """
    try:
        value = json.loads(path.read_text("utf-8"))
    except OSError as error:
        raise ArgumentError([f"{path}: {error.strerror or error}"]) from None
    except (ValueError, RecursionError) as error:
        raise ArgumentError([f"{path}: not JSON: {error}"]) from None
    if not isinstance(value, dict):
        raise ArgumentError([f"{path}: expected a JSON object"])
    return value
