"""A new plugin project that builds and passes its own fixtures at once."""

from __future__ import annotations

import re
import shutil
import tempfile
from pathlib import Path

from carrel.config import BUILTIN_PLUGINS
from carrel.errors import ArgumentError

from .kit import GUEST_KIT, copy_crates, kit_root

_TEMPLATES = Path(__file__).parent / "templates"
#: Languages with a template.
LANGUAGES = ("rust",)

# The rule for a manifest's `name`, see `contract/v1/manifest.schema.json`.
_NAME = re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)*")
_MAX_NAME = 40
#: Names that are taken: the built-in plugins, and the host's own tools.
_TAKEN = frozenset({*BUILTIN_PLUGINS, "carrel", "work"})
#: Files of a language's template that the other kinds of projects have too.
_SHARED = ("Cargo.toml", "gitignore")
#: Files whose names would be obeyed where the templates lie.
_RENAMED = {"gitignore": ".gitignore"}


def new_project(
    name: str,
    into: Path,
    language: str = "rust",
    *,
    reads_bytes: bool = False,
    public_web: bool = False,
) -> list[str]:
    """Writes a project and returns its files, without those of the copied kit.

    Args:
        name: the plugin's name, as its manifest will have it.
        into: the project's folder; there must be none of that name yet.
        language: one of `LANGUAGES`.
        reads_bytes: whether its format is one of bytes, and not of text with a tool.
        public_web: whether its tool reads pages of any public host.

    Raises:
        ArgumentError: the name is not one for a plugin, or the folder exists.
    """
    faults = name_faults(name)
    if reads_bytes and public_web:
        faults.append("a project has either a binary format or the public web; choose one")
    if into.exists() or into.is_symlink():
        faults.append(f"{into}: exists already; nothing was written")
    if faults:
        raise ArgumentError(faults)
    into.parent.mkdir(parents=True, exist_ok=True)
    # Atomic: created under a temporary name, then renamed.
    with tempfile.TemporaryDirectory(dir=into.parent, prefix=".carrel-new-") as folder:
        project = Path(folder) / "project"
        template = _TEMPLATES / language
        shared = [template / file_name for file_name in _SHARED]
        if reads_bytes or public_web:
            template = _TEMPLATES / f"{language}-{'bytes' if reads_bytes else 'web'}"
            files = _render(template, project, name) + [
                _render_file(source, project / _renamed(source.name), name, project)
                for source in shared
            ]
        else:
            files = _render(template, project, name)
        copy_crates([GUEST_KIT], project / "kit")
        # Cargo keeps the versions of what the project needs and drops the rest at the first build.
        shutil.copyfile(kit_root() / "Cargo.lock", project / "Cargo.lock")
        shutil.copyfile(kit_root() / "LICENSE", project / "LICENSE")
        project.rename(into)
    return sorted([*files, "Cargo.lock", "LICENSE"])


def name_faults(name: str) -> list[str]:
    """Returns what is wrong with a name for a plugin; empty when nothing is."""
    if not _NAME.fullmatch(name) or len(name) > _MAX_NAME:
        guess = re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_0123456789")[:_MAX_NAME]
        hint = f"; did you mean {guess!r}?" if guess and name_faults(guess) == [] else ""
        rule = (
            "lower-case letters, digits and single underscores between them, a letter first, "
            f"at most {_MAX_NAME} characters"
        )
        return [f"{name!r} is not a plugin's name: {rule}{hint}"]
    if name in _TAKEN:
        return [f"{name!r} is the name of something that comes with Carrel; choose another"]
    return []


def _render(template: Path, project: Path, name: str) -> list[str]:
    """Copies a template with the plugin's name in its place; returns the files."""
    return [
        _render_file(source, project / _renamed(source.relative_to(template)), name, project)
        for source in sorted(template.rglob("*"))
        if source.is_file() and "__pycache__" not in source.parts
    ]


def _renamed(relative: str | Path) -> Path:
    relative = Path(relative)
    return relative.with_name(_RENAMED.get(relative.name, relative.name))


def _render_file(source: Path, target: Path, name: str, project: Path) -> str:
    """Copies a file with the plugin's name in its place, a fixture's document as it is."""
    data = source.read_bytes()
    if not source.name.startswith("document."):
        for word, value in (("name", name), ("title", name.replace("_", " ").capitalize())):
            data = data.replace(b"{{" + word.encode() + b"}}", value.encode())
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(data)
    return target.relative_to(project).as_posix()
