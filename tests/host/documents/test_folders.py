"""Tests that only files in granted folders are opened."""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from carrel.documents import folders as opening
from carrel.documents.folders import read_granted
from carrel.errors import ArgumentError, CarrelError, SourceError

MOST = 1000

posix = pytest.mark.skipif(os.name != "posix", reason="Windows makes no such files")


@pytest.fixture(autouse=True, params=["by descriptor", "by path"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Selects a way to open files: by folder descriptors, and by paths, for systems without."""
    if request.param == "by path" or not opening._BY_DESCRIPTOR:
        monkeypatch.setattr(opening, "_BY_DESCRIPTOR", False)
        return "by path"
    return "by descriptor"


@pytest.fixture
def granted(tmp_path: Path) -> Path:
    """Returns a folder with a file and a subfolder; its parent contains a secret."""
    folder = tmp_path / "papers"
    (folder / "2024").mkdir(parents=True)
    (folder / "a.txt").write_text("a")
    (folder / "2024" / "b.txt").write_text("b")
    (tmp_path / "secret.txt").write_text("secret")
    (tmp_path / "papers-private").mkdir()
    (tmp_path / "papers-private" / "c.txt").write_text("secret")
    return folder


def refusal(path: str | Path, folder: Path) -> CarrelError:
    with pytest.raises(CarrelError) as caught:
        read_granted(str(path), [folder], MOST)
    assert "secret" not in str(caught.value.to_dict().get("denial_context"))
    return caught.value


@pytest.mark.requirement("documents:granted:inside")
def test_files_are_read_by_relative_and_absolute_path(granted: Path) -> None:
    for path in ("a.txt", "./a.txt", granted / "a.txt"):
        assert read_granted(str(path), [granted], MOST) == b"a"
    for path in ("2024/b.txt", "2024//b.txt", granted / "2024" / "b.txt"):
        assert read_granted(str(path), [granted], MOST) == b"b"


def test_a_relative_path_is_looked_for_in_each_folder(granted: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "c.txt").write_text("c")
    assert read_granted("c.txt", [granted, other], MOST) == b"c"
    assert read_granted("a.txt", [tmp_path / "missing", granted], MOST) == b"a"


@pytest.mark.requirement("documents:granted:outside")
@pytest.mark.parametrize(
    "path",
    [
        "../secret.txt",
        "2024/../../secret.txt",
        "2024/../a.txt",
        "{beside}/secret.txt",
        "{beside}/papers-private/c.txt",
        "{beside}/papers/../secret.txt",
        "/etc/passwd",
        "/dev/zero",
        "/proc/self/environ",
    ],
)
def test_a_path_outside_the_folders_is_denied(granted: Path, path: str) -> None:
    error = refusal(path.format(beside=granted.parent), granted)
    assert error.error_code == "denied"
    assert error.details()["denial_context"]["reason"] == "file_not_granted"
    assert error.action == "ask_operator"


@posix
@pytest.mark.requirement("documents:granted:links")
def test_links_are_not_followed_wherever_they_lead(granted: Path) -> None:
    (granted / "file").symlink_to(granted.parent / "secret.txt")
    (granted / "inside").symlink_to(granted / "a.txt")
    (granted / "up").symlink_to(granted.parent)
    (granted / "loop").symlink_to(granted / "loop")
    (granted / "dangling").symlink_to(granted / "nothing")
    for path in ("file", "inside", "up/secret.txt", "up/papers/a.txt", "loop", "dangling", "up"):
        error = refusal(path, granted)
        assert (error.error_code, "link" in error.message) == ("denied", True), path


@posix
def test_the_folder_itself_may_be_a_link(granted: Path, tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(granted)
    for path in ("a.txt", link / "a.txt", granted / "a.txt"):
        assert read_granted(str(path), [link], MOST) == b"a"


@posix
@pytest.mark.requirement("documents:granted:devices")
def test_pipes_sockets_and_devices_are_denied_and_never_opened(granted: Path) -> None:
    os.mkfifo(granted / "pipe")
    listener = socket.socket(socket.AF_UNIX)
    here = Path.cwd()
    os.chdir(granted)  # a socket's path may have at most about 100 bytes
    try:
        listener.bind("socket")
    finally:
        os.chdir(here)
        listener.close()
    for path in ("pipe", "socket"):
        assert refusal(path, granted).message.endswith("it is not an ordinary file")
    assert refusal("null", Path("/dev")).error_code == "denied"
    assert refusal("pipe/a", granted).error_code == "not_found"


def test_a_file_that_is_too_large_is_not_read(granted: Path) -> None:
    with (granted / "large").open("wb") as file:
        file.truncate(2**40)
    assert refusal("large", granted).error_code == "too_large"
    (granted / "fits").write_bytes(bytes(MOST))
    assert len(read_granted("fits", [granted], MOST)) == MOST
    (granted / "over").write_bytes(bytes(MOST + 1))
    assert refusal("over", granted).error_code == "too_large"


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs Linux's /proc")
def test_a_file_of_unknown_size_is_read_up_to_the_limit() -> None:
    assert b"Name" in read_granted("status", [Path("/proc/self")], 10**5)
    with pytest.raises(SourceError) as caught:
        read_granted("status", [Path("/proc/self")], 100)
    assert caught.value.error_code == "too_large"


def test_a_folders_error_lists_its_files(granted: Path) -> None:
    (granted / ".hidden").write_text("x")
    for path in (".", granted, "2024"):
        with pytest.raises(ArgumentError, match="is a folder, not a file; it has") as caught:
            read_granted(str(path), [granted], MOST)
        assert ".hidden" not in caught.value.message
    assert "b.txt" in caught.value.message


@pytest.mark.parametrize("path", ["nothing.txt", "2024/nothing", "a.txt/b", "x" * 5000, "a/b/c"])
def test_a_missing_file_is_not_found(granted: Path, path: str) -> None:
    assert refusal(path, granted).error_code == "not_found"


@pytest.mark.parametrize("path", ["a\0.txt", " ", "\ud800"])
def test_what_is_no_path_is_refused(granted: Path, path: str) -> None:
    assert refusal(path, granted).error_code == "invalid_arguments"


@pytest.mark.skipif(os.name != "posix" or os.uname().sysname == "Darwin", reason="names are text")
def test_names_that_are_no_utf_8_are_names(granted: Path) -> None:
    name = b"caf\xe9.txt"
    (granted / os.fsdecode(name)).write_text("e")
    assert read_granted(os.fsdecode(name), [granted], MOST) == b"e"


def test_an_unreadable_file_is_an_error_with_its_name(
    granted: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(opening, "_open_by_descriptor", refuse)
    monkeypatch.setattr(opening, "_open_by_path", refuse)
    error = refusal("a.txt", granted)
    assert (error.error_code, "Permission denied" in error.message) == ("storage", True)


@posix
@pytest.mark.requirement("documents:granted:races")
def test_a_name_that_changes_meanwhile_never_leads_out(granted: Path, way: str) -> None:
    """A thread keeps replacing a file and a folder by links to the secret, and back."""
    if way == "by path":
        pytest.skip("where no folder can be opened, nothing is promised of races")
    outside = granted.parent / "outside"
    outside.mkdir()
    (outside / "b.txt").write_text("secret")
    over = threading.Event()

    def swap(path: Path, target: Path) -> Callable[[], None]:
        aside, link = path.with_suffix(".aside"), path.with_suffix(".link")
        link.symlink_to(target)

        def once() -> None:
            path.rename(aside)
            link.rename(path)
            path.rename(link)
            aside.rename(path)

        return once

    swaps = [
        swap(granted / "2024", outside),
        swap(granted / "a.txt", granted.parent / "secret.txt"),
    ]

    def keep_swapping() -> None:
        while not over.is_set():
            for one in swaps:
                one()

    thread = threading.Thread(target=keep_swapping)
    thread.start()
    found = set()
    try:
        for _ in range(1500):
            for path in ("a.txt", "2024/b.txt"):
                try:
                    found.add(read_granted(path, [granted], MOST))
                except SourceError:
                    pass
    finally:
        over.set()
        thread.join()
    assert found <= {b"a", b"b"}


@posix
def test_no_descriptor_is_left_open(granted: Path) -> None:
    folder = Path("/proc/self/fd")
    if not folder.exists():
        pytest.skip("needs Linux's /proc")
    (granted / "link").symlink_to(granted / "a.txt")
    before = len(list(folder.iterdir()))
    for path in ("a.txt", "2024/b.txt", "link", ".", "2024", "nothing", "2024/x/y") * 20:
        try:
            read_granted(path, [granted], MOST)
        except CarrelError:
            pass
    assert len(list(folder.iterdir())) == before
