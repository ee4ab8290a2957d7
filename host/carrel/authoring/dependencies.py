"""Caches compiled dependencies of Rust projects, for reuse in other projects.

Cargo compiles dependencies into the project's own target folder, so every new project would compile
the same crates again. The first build of a project keeps them in the user's cache folder:

    <cache>/authoring/dependencies/<toolchain>/<units>/    one set, linked where links are possible
        set.json                                           the crates in it
        release/, wasm32-unknown-unknown/release/          as cargo lays them out

and the first build of the next project starts from the set that has most of its crates. Cargo's
fingerprints decide what fits: they name compiler, version, features, profile and flags, so a set
that does not fit is compiled over and never linked into a component.

Only crates of registries and git repositories are kept. Cargo judges a crate in a folder by the
times of its files, which say nothing about the files of another project. For that reason the target
folder itself is not shared: two projects of one name would get each other's code.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import tempfile
import tomllib
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from .steps import Say
from .toolchain import TARGET

#: The folders of a release build for the target: what runs while building, and what is linked.
_PROFILES = ("release", f"{TARGET}/release")
#: Their parts, fingerprints last: a unit with a fingerprint is complete.
_PARTS = ("deps", "build", ".fingerprint")
#: Compilers replace these files and never write into them, so they can be linked.
_LINKED = frozenset({".rlib", ".rmeta", ".so", ".dylib", ".dll"})
_UNIT = re.compile(r"(.+)-[0-9a-f]{16}")
_SET = "set.json"
_MAX_SETS = 3


@dataclass(frozen=True, slots=True)
class Build:
    """The inputs that decide which compiled crates a project can use.

    Attributes:
        target: the folder that cargo builds in.
        lock: the project's `Cargo.lock`.
        own: names of the crates that are in folders: the project's, and its guest kit.
        toolchain: equal for builds that can share.
    """

    target: Path
    lock: Path
    own: frozenset[str]
    toolchain: str


class Dependencies:
    """The cached sets of dependencies of a user. Its failures never end a build.

    Args:
        cache: the user's cache folder.
        say: called with a message when crates are reused, or cannot be cached.
    """

    def __init__(self, cache: Path, say: Say) -> None:
        self._root = cache / "authoring" / "dependencies"
        self._say = say

    def reuse(self, build: Build) -> bool:
        """Copies the set with most matching crates into a new target folder.

        Returns whether the folder was new, so that this build's dependencies should be cached.
        """
        if (build.target / _PROFILES[-1]).exists():
            return False
        crates = locked_crates(build.lock)
        found = self._nearest(self._folder(build), crates)
        if found is None:
            return True
        try:
            count = _copy_set(found, build.target)
            os.utime(found / _SET)
        except OSError as error:
            self._say(f"compiled dependencies are not reused: {_reason(error)}")
        else:
            self._say(f"reusing {count} crates that an earlier project compiled")
        return True

    def keep(self, build: Build) -> None:
        """Caches the dependencies in a target folder, unless a set has them already."""
        folder = self._folder(build)
        try:
            units = _units(build.target, build.own)
            if not units or self._have(folder, units):
                return
            folder.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryDirectory(dir=folder, prefix=".new-") as name:
                new = Path(name) / "set"
                # Fingerprints first, because a concurrent build may complete more units.
                for part in reversed(_PARTS):
                    for profile in _PROFILES:
                        _copy_units(build.target, new, f"{profile}/{part}", build.own)
                description = {"crates": sorted(locked_crates(build.lock)), "units": sorted(units)}
                (new / _SET).write_text(json.dumps(description), "utf-8")
                digest = hashlib.sha256("\n".join(sorted(units)).encode()).hexdigest()[:16]
                if not (folder / digest).exists():
                    new.rename(folder / digest)
            self._prune()
        except OSError as error:
            self._say(
                f"the compiled dependencies are not kept for other projects: {_reason(error)}"
            )

    def _folder(self, build: Build) -> Path:
        return self._root / hashlib.sha256(build.toolchain.encode()).hexdigest()[:16]

    def _nearest(self, folder: Path, crates: Collection[str]) -> Path | None:
        """Returns the set with most of the crates; of several, the one used last."""
        sets = [(path, _read(path)["crates"]) for path in _by_use(_sets(folder))]
        shared = [(len(set(names).intersection(crates)), path) for path, names in sets]
        most, found = max(shared, key=lambda pair: pair[0], default=(0, None))
        return found if most else None

    def _have(self, folder: Path, units: Collection[str]) -> bool:
        return any(set(units) <= set(_read(path)["units"]) for path in _sets(folder))

    def _prune(self) -> None:
        """Removes all but the sets that were used last, of any toolchain."""
        folders = [path for path in self._root.iterdir() if path.is_dir()]
        sets = [path for folder in folders for path in _sets(folder)]
        for path in _by_use(sets)[_MAX_SETS:]:
            shutil.rmtree(path, ignore_errors=True)
        for folder in folders:
            if not any(folder.iterdir()):
                folder.rmdir()


def locked_crates(lock: Path) -> set[str]:
    """Returns name and version of the crates that a `Cargo.lock` takes from elsewhere."""
    try:
        packages = tomllib.loads(lock.read_text("utf-8")).get("package", [])
    except (OSError, ValueError):
        return set()
    return {
        f"{package['name']} {package['version']}" for package in packages if "source" in package
    }


def _sets(folder: Path) -> list[Path]:
    return [
        path.parent for path in folder.glob(f"*/{_SET}") if not path.parent.name.startswith(".")
    ]


def _by_use(sets: Sequence[Path]) -> list[Path]:
    """Returns the sets, the one used last first."""

    def used(path: Path) -> float:
        try:
            return (path / _SET).stat().st_mtime
        except OSError:
            return 0.0

    return sorted(sets, key=used, reverse=True)


def _read(path: Path) -> dict[str, list[str]]:
    """Returns a set's description; empty if it is damaged or being removed."""
    try:
        description = json.loads((path / _SET).read_text("utf-8"))
        return {key: [str(name) for name in description[key]] for key in ("crates", "units")}
    except (OSError, ValueError, KeyError, TypeError):
        return {"crates": [], "units": []}


def _copy_set(found: Path, target: Path) -> int:
    """Copies a set's files into a target folder atomically; returns the number of crates.

    If another build of the project does so concurrently, the first one's files are used.
    """
    target.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target, prefix=".carrel-") as name:
        new = Path(name)
        for profile in _PROFILES:
            for part in _PARTS:
                _copy_units(found, new, f"{profile}/{part}", frozenset())
        count = sum(1 for _ in (new / _PROFILES[-1] / ".fingerprint").iterdir())
        for profile in _PROFILES:
            for part in _PARTS:
                _move_missing(new / profile / part, target / profile / part)
    return count


def _move_missing(source: Path, target: Path) -> None:
    if not source.is_dir():
        return
    target.mkdir(parents=True, exist_ok=True)
    for entry in source.iterdir():
        if not (target / entry.name).exists():
            try:
                entry.rename(target / entry.name)
            except OSError:
                if not (target / entry.name).exists():
                    raise


def _units(target: Path, own: Collection[str]) -> set[str]:
    """Returns the compiled units of dependencies, by the names of their fingerprints."""
    return {
        f"{profile}/{entry.name}"
        for profile in _PROFILES
        for entry in _entries(target / profile / ".fingerprint", own)
    }


def _copy_units(source: Path, target: Path, part: str, own: Collection[str]) -> None:
    into = target / part
    into.mkdir(parents=True)
    for entry in _entries(source / part, own):
        if entry.is_dir():
            shutil.copytree(entry, into / entry.name, copy_function=_copy, symlinks=True)
        else:
            _copy(str(entry), str(into / entry.name))


def _entries(folder: Path, own: Collection[str]) -> Iterator[Path]:
    """Yields the files or folders of units in a folder, those of the project's own crates left
    out.
    """
    if not folder.is_dir():
        return
    for entry in sorted(folder.iterdir()):
        unit = _UNIT.fullmatch(entry.name.partition(".")[0])
        if unit is None:
            continue
        name = unit[1].replace("-", "_")
        if name not in own and name.removeprefix("lib") not in own:
            yield entry


def _copy(source: str, target: str) -> None:
    """Links or copies a file with its times, by which cargo orders units."""
    if Path(source).suffix in _LINKED:
        try:
            os.link(source, target)
        except OSError:
            pass  # another file system, or one without links
        else:
            return
    shutil.copy2(source, target)


def _reason(error: OSError) -> str:
    if isinstance(error, shutil.Error):  # of a whole folder: source, target and reason of each
        return str(error.args[0][0][2])
    if error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    return str(error)[:200]
