"""`carrel papers read` and `carrel papers retractions`: what is printed, and exit codes."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from carrel.cli.app import run
from carrel.config import DEFAULT_PLUGINS
from support.guests import Guest
from support.lookups import found, says
from support.lookups import source as lookup
from support.paper_copies import (
    DOI,
    HOST,
    TITLE,
    WORK,
    RecordedCopies,
    copy,
    jats,
    landing_page,
    texts,
)  # fmt: skip

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def carrel(
    tmp_path: Path,
    code_folder: Path,
    copies: RecordedCopies,
    capsysbinary: pytest.CaptureFixture[bytes],
) -> Callable[..., Run]:
    """Makes the command line over plugins of these names."""

    def make(**guests: Guest) -> Run:
        lines = [f'cache_dir = "{code_folder}"', 'data_dir = "data"']
        for name in DEFAULT_PLUGINS:
            lines += [f"[plugins.{name}]", f'url = "builtin:{name}"', "enabled = false"]
        for name, one in guests.items():
            (tmp_path / f"{name}.wasm").write_bytes(one.wasm)
            lines += [f"[plugins.{name}]", f'url = "file://{tmp_path}/{name}.wasm"']
            lines += [f"[plugins.{name}.runtime_config]", f'allowed_hosts = ["{HOST}"]']
        file = tmp_path / "carrel.toml"
        file.write_text("\n".join(lines) + "\n")

        def one_run(*words: str) -> tuple[int, str, str]:
            code = run(["--config", str(file), "--replay", str(copies.folder), "papers", *words])
            captured = capsysbinary.readouterr()
            return code, captured.out.decode(), captured.err.decode()

        return one_run

    return make


def test_a_paper_is_read_as_markdown_and_its_origin_is_stated(
    carrel: Callable[..., Run], copies: RecordedCopies
) -> None:
    landing = copy(copies.text("/landing", landing_page()), "html")
    article = copy(copies.text("/a.xml", jats()), "jats", license="cc-by")
    works = lookup(says([found("doi", DOI, **WORK)]), "doi", contract="1.1")
    call = carrel(works=works, one=texts([landing]), two=texts([article]))
    code, out, err = call("read", DOI)
    assert (code, out.startswith(f"# {TITLE}")) == (0, True), err
    assert "thirdword" in out
    assert "read from two: form jats, licence cc-by, quality complete" in err
    code, out, err = call("read", DOI, "--section", "methods")
    assert "secondword" in out
    assert "thirdword" not in out
    code, out, err = call("read", DOI, "--max-chars", "300")
    assert "the next part: --form jats --from " in out
    code, out, err = call("read", DOI, "--json", "--max-chars", "300")
    assert "Results" in [one["heading"] for one in json.loads(out)["outline"]]
    code, out, err = call("read", DOI, "--form", "html")
    assert (code, out) == (1, "")
    assert "a page about the paper, not its text" in err
    assert call("read", "desks")[0] == 2


def test_retractions_are_printed_one_line_for_each_paper(carrel: Callable[..., Run]) -> None:
    known = {**WORK, "updated_by": [{"type": "retraction", "doi": "10.5555/notice.1"}]}
    call = carrel(works=lookup(says([found("doi", DOI, **known)]), "doi", contract="1.1"))
    code, out, err = call("retractions", DOI, "desks")
    first, second = [json.loads(line) for line in out.splitlines()]
    assert (first["status"], second["ok"]) == ("retracted", False)
    assert code == 2
    assert "desks" in err
