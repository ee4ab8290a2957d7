"""Tests which compiled dependencies a new project reuses from earlier ones."""

from __future__ import annotations

import errno
import os
import shutil
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from carrel.authoring.dependencies import Build, Dependencies, locked_crates
from carrel.authoring.toolchain import TARGET

HASH = "0123456789abcdef"
LONG_AGO = 1_000_000_000
HOST, WASM = Path("release"), Path(TARGET) / "release"


class Author:
    """Makes projects without a compiler; writes their target folders as cargo does."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.cache = folder / "cache"
        self.messages: list[str] = []

    def project(
        self, name: str, *crates: str, toolchain: str = "rustc 1", own: str = "lists_plugin"
    ) -> Build:
        folder = self.folder / name
        folder.mkdir()
        packages = [f'[[package]]\nname = "{own}"\nversion = "0.1.0"\n']
        packages += [
            f'[[package]]\nname = "{crate}"\nversion = "1.0.0"\nsource = "registry+x"\n'
            for crate in crates
        ]
        (folder / "Cargo.lock").write_text("\n".join(packages), "utf-8")
        own_crates = frozenset({own, "carrel_pdk"})
        return Build(folder / "target", folder / "Cargo.lock", own_crates, toolchain)

    def kept(self) -> Dependencies:
        return Dependencies(self.cache, self.messages.append)

    def build(self, build: Build, code: str = "code") -> None:
        """Builds a project; units that cannot be reused are compiled."""
        is_first = self.kept().reuse(build)
        for crate in [one.partition(" ")[0] for one in locked_crates(build.lock)]:
            compile_unit(build.target, crate, f"{crate} of {code}")
        for crate in build.own:
            compile_unit(build.target, crate, f"{crate} of {code}")
        if is_first:
            self.kept().keep(build)


def compile_unit(target: Path, crate: str, code: str) -> None:
    """Writes the files that cargo writes for one crate, unless they exist."""
    for profile in (HOST, WASM):
        fingerprint = target / profile / ".fingerprint" / f"{crate}-{HASH}"
        if fingerprint.exists():
            continue
        fingerprint.mkdir(parents=True)
        name = crate.replace("-", "_")
        files = {
            fingerprint / f"lib-{name}": "fingerprint",
            target / profile / "deps" / f"lib{name}-{HASH}.rlib": code,
            target / profile / "deps" / f"{name}-{HASH}.d": "files",
            target / profile / "build" / f"{crate}-{HASH}" / "out" / "made.rs": code,
        }
        for path, text in files.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, "utf-8")
            os.utime(path, (LONG_AGO, LONG_AGO))


def compiled(build: Build) -> dict[str, str]:
    """Returns crate → the code of its library."""
    files = (build.target / WASM / "deps").glob("*.rlib")
    return {
        path.name.removeprefix("lib").partition("-")[0]: path.read_text("utf-8") for path in files
    }


@pytest.fixture
def author(tmp_path: Path) -> Author:
    return Author(tmp_path)


def test_a_second_project_starts_with_the_dependencies_of_the_first(author: Author) -> None:
    author.build(author.project("first", "serde", "wit-bindgen"))
    second = author.project("second", "serde", "wit-bindgen")
    assert author.kept().reuse(second)
    assert compiled(second) == {"serde": "serde of code", "wit_bindgen": "wit-bindgen of code"}
    assert author.messages == ["reusing 2 crates that an earlier project compiled"]
    for profile in (HOST, WASM):
        assert (second.target / profile / "build" / f"serde-{HASH}" / "out" / "made.rs").is_file()


def test_reused_files_keep_their_times_by_which_cargo_orders_units(author: Author) -> None:
    author.build(author.project("first", "serde"))
    second = author.project("second", "serde")
    author.kept().reuse(second)
    files = [path for path in second.target.rglob("*") if path.is_file()]
    assert files
    assert {int(path.stat().st_mtime) for path in files} == {LONG_AGO}


def test_a_project_never_gets_the_local_crates_of_another(author: Author) -> None:
    # Two projects of one name, such as two checkouts; cargo gives their units the same names.
    author.build(author.project("one", "serde"), code="one")
    other = author.project("other", "serde")
    author.build(other, code="other")
    assert compiled(other) == {
        "serde": "serde of one",
        "lists_plugin": "lists_plugin of other",
        "carrel_pdk": "carrel_pdk of other",
    }


def test_an_already_built_project_is_not_changed(author: Author) -> None:
    author.build(author.project("first", "serde", "itoa"))
    second = author.project("second", "serde", "itoa")
    (second.target / WASM).mkdir(parents=True)
    assert not author.kept().reuse(second)
    assert compiled(second) == {}


def test_another_toolchain_has_its_own_set_of_dependencies(author: Author) -> None:
    author.build(author.project("first", "serde"), code="rustc 1")
    other = author.project("other", "serde", toolchain="rustc 2")
    author.build(other, code="rustc 2")
    assert compiled(other)["serde"] == "serde of rustc 2"
    third = author.project("third", "serde", toolchain="rustc 2")
    author.build(third)
    assert compiled(third)["serde"] == "serde of rustc 2"


def test_the_set_with_most_crates_is_reused_and_extended(
    author: Author,
) -> None:
    author.build(author.project("first", "serde"))
    author.build(author.project("second", "memchr", "itoa", own="other"), code="second")
    author.messages.clear()
    third = author.project("third", "serde", "itoa", "memchr")
    author.build(third, code="third")
    assert author.messages == ["reusing 2 crates that an earlier project compiled"]
    author.messages.clear()
    author.build(author.project("fourth", "serde", "itoa", "memchr"))
    assert author.messages == ["reusing 3 crates that an earlier project compiled"]


def test_a_dependency_set_is_stored_once_and_the_oldest_is_removed(author: Author) -> None:
    names = [f"crate{number}" for number in range(5)]
    for number, name in enumerate(names):
        author.build(author.project(f"project{number}", name))
        author.build(author.project(f"again{number}", name))
        for kept in author.cache.rglob("set.json"):
            if name in kept.read_text("utf-8"):
                os.utime(kept, (LONG_AGO + number, LONG_AGO + number))
    texts = [path.read_text("utf-8") for path in author.cache.rglob("set.json")]
    assert sorted(name for name in names if any(name in text for text in texts)) == names[-3:]
    assert len(texts) == 3


def test_a_cache_folder_that_cannot_be_written_costs_a_line_and_no_build(author: Author) -> None:
    author.cache.write_text("a file", "utf-8")
    first = author.project("first", "serde")
    author.build(first)
    assert compiled(first)["serde"] == "serde of code"
    [line] = author.messages
    assert line.startswith("the compiled dependencies are not kept for other projects: ")
    assert str(author.cache) in line


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EROFS, errno.EACCES])
def test_a_disk_that_fills_up_leaves_no_half_set_and_no_half_target(
    author: Author, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    def failing(copy: Callable[..., object], after: int) -> Callable[..., object]:
        left = [after]

        def work(source: str, target: str, **options: object) -> object:
            left[0] -= 1
            if left[0] < 0:
                raise OSError(code, os.strerror(code), target)
            return copy(source, target, **options)

        return work

    real = shutil.copy2
    first = author.project("first", "serde")
    monkeypatch.setattr(shutil, "copy2", failing(real, 3))
    author.build(first)
    assert os.strerror(code) in author.messages[-1]
    assert list(author.cache.rglob("*.rlib")) == []
    monkeypatch.setattr(shutil, "copy2", real)
    author.kept().keep(first)
    second = author.project("second", "serde")
    monkeypatch.setattr(shutil, "copy2", failing(real, 3))
    assert author.kept().reuse(second)
    assert author.messages[-1].startswith("compiled dependencies are not reused: ")
    assert [path for path in second.target.rglob("*") if path.is_file()] == []


def test_a_damaged_set_is_passed_over(author: Author) -> None:
    author.build(author.project("first", "serde"))
    [kept] = author.cache.rglob("set.json")
    kept.write_text("{", "utf-8")
    second = author.project("second", "serde")
    author.build(second, code="second")
    assert compiled(second)["serde"] == "serde of second"


def test_without_links_files_are_copied(author: Author, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise OSError(errno.EXDEV, "another file system")

    monkeypatch.setattr(os, "link", refuse)
    author.build(author.project("first", "serde"))
    second = author.project("second", "serde")
    author.kept().reuse(second)
    assert compiled(second) == {"serde": "serde of code"}


@pytest.mark.parametrize("same_project", [True, False])
def test_builds_at_the_same_time_all_end_well(author: Author, same_project: bool) -> None:
    author.build(author.project("first", "serde"))
    builds = [author.project(f"project{number}", "serde", "itoa") for number in range(6)]
    if same_project:
        builds = builds[:1] * 6
    barrier = threading.Barrier(len(builds))

    def work(build: Build) -> None:
        barrier.wait()
        author.kept().reuse(build)
        author.kept().keep(build)

    with ThreadPoolExecutor(len(builds)) as threads:
        list(threads.map(work, builds))
    assert not [line for line in author.messages if "not" in line]
    assert all(compiled(build) == {"serde": "serde of code"} for build in builds)
    assert list(author.folder.rglob(".carrel-*")) == []
    assert list(author.folder.rglob(".new-*")) == []
