"""Tests what the surface `reference-manager` answers, call by call, against its document.

The toolbox is opened in this process; `test_reference_manager_document.py` has the wire.
"""

from __future__ import annotations

import errno
import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from carrel.bibliography import read_bibliography
from carrel.config import Config, LibraryConfig, ServerConfig
from carrel.errors import ArgumentError, CarrelError, RequestRefusedError, SourceError, StorageError
from carrel.features import FEATURES
from carrel.library.errors import LibraryError
from carrel.surfaces import find_surface, open_toolbox
from carrel.surfaces.reference_manager import shapes
from carrel.tools import Toolbox
from support.library_world import (
    Exchange,
    crossref,
    crossref_work,
    item,
    library_settings,
    pubmed,
    write_library,
)

DOI, PMID = "10.5555/new.2020", "99000777"
BIBTEX = "@article{desk1, title={One desk}, year={2001}}"
RIS = "TY  - JOUR\nTI  - Two desks\nAU  - Reyes, Lea\nPY  - 2002\nER  - \n"
CSL_JSON = json.dumps([{"id": "four", "type": "book", "title": "Four desks"}])

Opens = Callable[..., Toolbox]


@pytest.fixture
def opens(config: Config, tmp_path: Path) -> Iterator[Opens]:
    """Opens the surface on `library.json` of the test's folder, with recorded exchanges."""
    opened: list[Toolbox] = []

    def opening(exchanges: Iterable[Exchange] = (), **library: Any) -> Toolbox:
        chosen = replace(
            library_settings(config, tmp_path, exchanges, folders=(tmp_path,)),
            library=LibraryConfig(tmp_path / "library.json", **library),
            server=ServerConfig(surface="reference-manager"),
        )
        opened.append(open_toolbox(chosen, features=FEATURES))
        return opened[-1]

    yield opening
    for one in opened:
        one.close()


def texts(toolbox: Toolbox, tool: str, **arguments: Any) -> list[str]:
    """Returns the texts of a result, which has nothing else."""
    return [block["text"] for block in toolbox.call_sync(tool, arguments).content or ()]


def refusal(toolbox: Toolbox, tool: str, **arguments: Any) -> tuple[int, str]:
    """Returns code and message of the JSON-RPC error that answers a call."""
    with pytest.raises(RequestRefusedError) as caught:
        toolbox.call_sync(tool, arguments)
    return caught.value.rpc_code, caught.value.message


def resource(toolbox: Toolbox, uri: str) -> Any:
    """Returns the JSON value of a resource."""
    [content] = toolbox.read_resource_sync(uri).content or ()
    assert (content["uri"], content["mimeType"]) == (uri, "application/json")
    return json.loads(content["text"])


def kept(tmp_path: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads((tmp_path / "library.json").read_text("utf-8"))
    return found


@pytest.mark.requirement("reference-manager:add-formats:each")
@pytest.mark.requirement("reference-manager:add:string-or-list")
@pytest.mark.parametrize("as_list", [False, True], ids=["string", "list"])
@pytest.mark.parametrize(
    ("given", "title", "exchanges"),
    [
        pytest.param(PMID, "Posture at sloped desks", [pubmed(PMID)], id="pmid"),
        pytest.param(f"PMID: {PMID}", "Posture at sloped desks", [pubmed(PMID)], id="named pmid"),
        pytest.param(
            DOI, "New desks", crossref(DOI, crossref_work(DOI, title=["New desks"])), id="doi"
        ),
        pytest.param(BIBTEX, "One desk", [], id="bibtex"),
        pytest.param(RIS, "Two desks", [], id="ris"),
        pytest.param(CSL_JSON, "Four desks", [], id="csl-json"),
    ],
)
def test_add_takes_each_format_as_a_string_and_in_a_list(  # noqa: PLR0917 - of a table
    opens: Opens, tmp_path: Path, given: str, title: str, exchanges: list[Exchange], as_list: bool
) -> None:
    [text] = texts(opens(exchanges), "add", input=[given] if as_list else given)
    [one] = kept(tmp_path)
    assert one["title"] == title
    assert text == f"Added 1 reference(s):\n  - {one['id']}: {title}"


@pytest.mark.requirement("reference-manager:add:nothing")
@pytest.mark.parametrize("given", ["", " \n", [], [""]])
def test_add_of_nothing_says_so_and_adds_nothing(
    opens: Opens, tmp_path: Path, given: str | list[str]
) -> None:
    toolbox = opens()
    try:
        [text] = texts(toolbox, "add", input=given)
    except RequestRefusedError as error:
        assert error.rpc_code == shapes.INVALID_PARAMS
    else:
        assert text == "No references were processed."
    assert not (tmp_path / "library.json").exists()


@pytest.mark.requirement("reference-manager:list:all")
@pytest.mark.requirement("reference-manager:search:all")
def test_list_and_search_return_all_references_and_not_a_page(opens: Opens, tmp_path: Path) -> None:
    keys = [f"desk-{number}" for number in range(45)]
    items = [item(key, DOI=f"10.5555/{key}", title=f"Desks, part {key}") for key in keys]
    items[7]["custom"] = {"superseded_by": "desk-8"}
    write_library(tmp_path / "library.json", *items)
    toolbox = opens()
    found = json.loads(texts(toolbox, "list", format="json")[0])
    assert sorted(one["id"] for one in found) == sorted(keys)
    assert found[0].keys() >= {"author", "container-title", "DOI", "issued"}
    lines = texts(toolbox, "list")[0].splitlines()
    assert texts(toolbox, "list", format="pretty")[0].splitlines() == lines
    assert sorted(line.split("]")[0] for line in lines) == sorted(f"[{key}" for key in keys)
    bibtex = read_bibliography(texts(toolbox, "list", format="bibtex")[0], "bibtex")
    assert sorted(entry.item["id"] for entry in bibtex.entries) == sorted(keys)
    assert len(json.loads(texts(toolbox, "search", query="desks")[0])) == 45
    assert json.loads(texts(toolbox, "search", query="nothing")[0]) == []


@pytest.mark.requirement("reference-manager:list:empty")
@pytest.mark.parametrize(("form", "text"), [("json", "[]"), ("bibtex", ""), ("pretty", "")])
def test_a_list_of_an_empty_library_is_empty(opens: Opens, form: str, text: str) -> None:
    assert [one.strip() for one in texts(opens(), "list", format=form)] == [text]


@pytest.mark.requirement("reference-manager:remove-force:unchanged")
def test_remove_without_force_leaves_the_file_as_it_is(opens: Opens, tmp_path: Path) -> None:
    path = write_library(tmp_path / "library.json", item(), item("other", DOI="10.5555/o"))
    before = path.read_bytes()
    toolbox = opens()
    assert "requires force: true" in texts(toolbox, "remove", id="other", force=False)[0]
    assert path.read_bytes() == before
    texts(toolbox, "remove", id="other", force=True)
    assert [one["id"] for one in kept(tmp_path)] == ["marlow-2019"]


@pytest.mark.requirement("reference-manager:cite-defaults:setting")
@pytest.mark.parametrize(
    ("given", "setting", "style", "form"),
    [
        ({}, {}, "apa", "text"),
        ({"style": "vancouver"}, {}, "nlm-citation-sequence", "text"),
        ({"format": "html"}, {}, "apa", "html"),
        ({}, {"style": "ieee"}, "ieee", "text"),
        ({"style": "apa"}, {"style": "ieee"}, "apa", "text"),
        ({"style": " ", "format": ""}, {}, "apa", "text"),
    ],
)
def test_cite_is_in_apa_and_text_unless_chosen_otherwise(
    opens: Opens,
    given: dict[str, str],
    setting: dict[str, str],
    style: str,
    form: str,
) -> None:
    toolbox = opens(**setting)
    result = toolbox.call_sync("cite", {"ids": ["nobody"], **given})
    assert (result.data["style"], result.data["format"]) == (style, form)
    assert resource(toolbox, "library://styles")["default"] == setting.get("style", "apa")


@pytest.mark.requirement("reference-manager:markdown:whole")
def test_a_long_markdown_text_is_given_whole(opens: Opens, tmp_path: Path) -> None:
    write_library(tmp_path / "library.json", item())
    text = "# Desks\n\n" + "A paragraph of a long text, in Zürich.\n\n" * 10_000
    (tmp_path / "long.md").write_text(text, "utf-8")
    toolbox = opens()
    texts(toolbox, "fulltext_attach", id="marlow-2019", path=str(tmp_path / "long.md"))
    assert texts(toolbox, "fulltext_get", id="marlow-2019") == [text]
    [message] = texts(toolbox, "fulltext_detach", id="marlow-2019")
    assert message == "Detached from 'marlow-2019': fulltext.md"
    assert refusal(toolbox, "fulltext_get", id="marlow-2019")[0] == shapes.APPLICATION_ERROR


@pytest.mark.requirement("reference-manager:template")
@pytest.mark.requirement("reference-manager:reference:names")
@pytest.mark.parametrize("key", ["marlow-2019", "Desk: a/b", "机-2020", "100%25", "a?b#c"])
def test_a_reference_is_read_by_any_id_through_the_template(
    opens: Opens, tmp_path: Path, key: str
) -> None:
    write_library(tmp_path / "library.json", item(key, custom={"uuid": "0-uuid"}))
    toolbox = opens()
    [template] = toolbox.resource_templates()
    assert (template.uri_template, template.mime_type) == (
        "library://reference/{id}", "application/json",
    )  # fmt: skip
    listed = {one.uri: one for one in toolbox.resources()}
    assert list(listed)[:2] == ["library://references", "library://styles"]
    assert {one.mime_type for one in listed.values()} == {"application/json"}
    [uri] = [one for one in listed if one.startswith("library://reference/")]
    assert resource(toolbox, uri)["id"] == key
    assert resource(toolbox, "library://reference/0-uuid")["id"] == key
    [one] = resource(toolbox, "library://references")
    assert one == resource(toolbox, uri)
    with pytest.raises(RequestRefusedError, match="Reference not found: smith 2024") as caught:
        resource(toolbox, "library://reference/smith%202024")
    assert caught.value.rpc_code == shapes.APPLICATION_ERROR


@pytest.mark.requirement("reference-manager:own-library")
@pytest.mark.requirement("reference-manager:error-32000:damaged")
def test_a_damaged_library_is_an_error_until_it_is_mended(opens: Opens, tmp_path: Path) -> None:
    path = tmp_path / "library.json"
    path.write_text('[{"id": ', "utf-8")
    toolbox = opens()
    assert [one.name for one in toolbox.tools()] == list(find_surface("reference-manager").tools)
    for tool, arguments in (
        ("list", {}),
        ("search", {"query": "desk"}),
        ("add", {"input": CSL_JSON}),
        ("remove", {"id": "a", "force": True}),
        ("cite", {"ids": ["a"]}),
        ("fulltext_get", {"id": "a"}),
        ("fulltext_detach", {"id": "a"}),
    ):
        code, message = refusal(toolbox, tool, **arguments)
        assert code == shapes.APPLICATION_ERROR, tool
        assert "line 1" in message, tool
    assert path.read_text("utf-8") == '[{"id": '
    write_library(path, item())
    assert len(json.loads(texts(toolbox, "list", format="json")[0])) == 1


@pytest.mark.requirement("reference-manager:error-32602:named")
@pytest.mark.parametrize(
    ("tool", "arguments", "named"),
    [
        ("search", {"query": "desk", "limit": 5}, "limit"),
        ("search", {"querry": "desk"}, "query"),
        ("list", {"format": "xml"}, "bibtex"),
        ("remove", {"id": "a", "force": "true"}, "force"),
        ("remove", {"force": True}, "id"),
        ("cite", {"ids": [7]}, "ids"),
        ("cite", {"ids": ["a"], "style": "apaa"}, "apa"),
        ("fulltext_attach", {"id": "a"}, "path"),
        ("fulltext_get", {}, "id"),
        ("add", {}, "input"),
    ],
)
def test_invalid_params_name_the_argument(
    opens: Opens, tool: str, arguments: dict[str, Any], named: str
) -> None:
    code, message = refusal(opens(), tool, **arguments)
    assert code == shapes.INVALID_PARAMS
    assert message.startswith("Invalid params: ")
    assert named in message


@pytest.mark.requirement("reference-manager:error-32000:each")
@pytest.mark.parametrize(
    ("error", "code", "message"),
    [
        (LibraryError("NOT_FOUND", "no entry"), -32000, "Reference not found: smith2024"),
        (LibraryError("DUPLICATE", "smith2024 is taken"), -32000, "smith2024 is taken"),
        (LibraryError("CONFLICT", "changed meanwhile"), -32000, "changed meanwhile"),
        (LibraryError("READ_ERROR", "l.json: line 3"), -32000, "l.json: line 3"),
        (LibraryError("WRITE_ERROR", "the disk is full"), -32000, "the disk is full"),
        (LibraryError("LOCK_TIMEOUT", "held by another"), -32000, "held by another"),
        (LibraryError("INVALID", "a quote is not closed"), -32602, "a quote is not closed"),
        (ArgumentError(["query: too long"]), -32602, "query: too long"),
        (SourceError("upstream_error", "crossref: 503", plugin="", tool=""), -32000, "503"),
        (StorageError("x", f"cannot be written: {errno.ENOSPC}"), -32000, "cannot be written"),
    ],
)
def test_every_failure_is_a_json_rpc_error(error: CarrelError, code: int, message: str) -> None:
    for shape in shapes.SHAPES.values():
        assert shape.failure is not None
        with pytest.raises(RequestRefusedError) as caught:
            shape.failure({"id": "smith2024"}, error)
        assert caught.value.rpc_code == code
        assert message in caught.value.message


@pytest.mark.requirement("reference-manager:error-32000:unreachable")
def test_a_source_that_does_not_answer_is_no_missing_reference(opens: Opens) -> None:
    code, message = refusal(opens(), "add", input="10.5555/unrecorded")
    assert code == shapes.APPLICATION_ERROR
    assert "(fetch_error)" in message
    assert "not every source answered" in message
