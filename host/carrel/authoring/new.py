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
#: Files whose names would be obeyed where the templates lie.
_RENAMED = {"gitignore": ".gitignore"}


def new_project(name: str, into: Path, language: str = "rust") -> list[str]:
    """Writes a project and returns its files, the copied kit's left out.

    Args:
        name: the plugin's name, as its manifest will have it.
        into: the project's folder; there must be none of that name yet.
        language: one of `LANGUAGES`.

    Raises:
        ArgumentError: the name is not one for a plugin, or the folder exists.
    """
    faults = name_faults(name)
    if into.exists() or into.is_symlink():
        faults.append(f"{into}: exists already; nothing was written")
    if faults:
        raise ArgumentError(faults)
    into.parent.mkdir(parents=True, exist_ok=True)
    # Whole or not at all: made beside its place, then moved there.
    with tempfile.TemporaryDirectory(dir=into.parent, prefix=".carrel-new-") as folder:
        project = Path(folder) / "project"
        files = _render(_TEMPLATES / language, project, name)
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
    words = {"name": name, "title": name.replace("_", " ").capitalize()}
    files = []
    for source in sorted(template.rglob("*")):
        if not source.is_file() or "__pycache__" in source.parts:
            continue
        relative = source.relative_to(template)
        target = project / relative.with_name(_RENAMED.get(relative.name, relative.name))
        text = source.read_text("utf-8")
        for word, value in words.items():
            text = text.replace("{{" + word + "}}", value)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, "utf-8", newline="\n")
        files.append(target.relative_to(project).as_posix())
    return files
