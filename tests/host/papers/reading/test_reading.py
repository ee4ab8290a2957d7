"""`paper_read`: the best form there is, and what is never taken for a text."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from carrel.config import Config
from carrel.exchange import FailureKind
from carrel.papers.opening import open_store
from carrel.papers.store.safekey import safekey
from carrel.papers.store.works import entry_of
from carrel.records import RawResult, checked_work, parse_id
from support.guests import Guest, guest
from support.lookups import LOOP, found, record, says
from support.lookups import source as lookup
from support.manifests import manifest_text
from support.paper_copies import (
    DOI,
    TITLE,
    WORK,
    RecordedCopies,
    challenge_page,
    copy,
    jats,
    landing_page,
    login_page,
    page,
    pdf,
    source,
    texts,
)  # fmt: skip
from support.paper_tools import Make

Raw = dict[str, Any]


def knowing(**members: Any) -> Guest:
    """Returns a plugin that knows the paper's metadata."""
    return lookup(says([found("doi", DOI, **{**WORK, **members})]), "doi", contract="1.1")


def outcomes(result: Raw) -> list[tuple[str, str, str | None]]:
    attempts = result["attempts"] if result["ok"] else result["error"]["attempts"]
    return [(one["source"], one.get("form", ""), one["outcome"]) for one in attempts]


def details(result: Raw) -> str:
    return " | ".join(one.get("detail", "") for one in result["error"]["attempts"])


@pytest.mark.requirement("text:own:best-form")
def test_the_best_form_is_read_first(make: Make, copies: RecordedCopies) -> None:
    forms = [
        copy(copies.file("/a.pdf", pdf()), "pdf"),
        copy(copies.file("/e-print", source()), "tex"),
        copy(copies.text("/a.html", page()), "html"),
        copy(copies.text("/a.xml", jats()), "jats", license="cc-by", version="publishedVersion"),
    ]
    call = make(works=knowing(), one=texts(forms))
    for form in ("jats", "html", "tex", "pdf"):
        result = call("paper_read", ref=DOI, form=form)
        assert (result["ok"], result["form"], result["source"]) == (True, form, "one"), result
        for word in ("firstword", "secondword", "thirdword"):
            assert word in result["text"]
    result = call("paper_read", ref=DOI)
    assert result["form"] == "jats"
    assert (result["license"], result["version"], result["stored"]) == (
        "cc-by",
        "publishedVersion",
        False,
    )
    assert (result["title"], result["quality"]) == (TITLE, "complete")
    assert result["url"].endswith("/a.xml")
    assert result["id"] == {"type": "doi", "id": DOI}
    assert outcomes(result) == [("one", "jats", "consulted_resolved")]


def test_the_form_decides_before_the_order_of_sources(make: Make, copies: RecordedCopies) -> None:
    first = texts([copy(copies.text("/a.html", page()), "html")])
    second = texts([copy(copies.text("/a.xml", jats()), "jats")])
    result = make(works=knowing(), one=first, two=second)("paper_read", ref=DOI)
    assert (result["source"], result["form"]) == ("two", "jats")
    assert outcomes(result)[-1] == (
        "one",
        "",
        "not_consulted_not_needed",
    )


@pytest.mark.requirement("text:own:falls-back")
def test_what_is_no_text_falls_to_the_next_form(make: Make, copies: RecordedCopies) -> None:
    forms = [
        copy(copies.text("/front.xml", jats(body=False)), "jats"),
        copy(copies.text("/wrong.xml", page()), "jats"),
        copy(copies.text("/challenge", challenge_page()), "html"),
        copy(copies.text("/landing", landing_page()), "html"),
        copy(copies.text("/login", login_page()), "html"),
        copy(copies.text("/gone", "gone", 404), "html"),
    ]
    good = texts([copy(copies.file("/e-print", source()), "tex")])
    result = make(works=knowing(), one=texts(forms), two=good)("paper_read", ref=DOI)
    assert (result["ok"], result["source"], result["form"]) == (True, "two", "tex")
    assert outcomes(result) == [
        ("one", "jats", "consulted_failed"),
        ("one", "jats", "consulted_failed"),
        ("one", "html", "consulted_failed"),
        ("one", "html", "consulted_failed"),
        ("one", "html", "consulted_failed"),
        ("one", "html", "consulted_no_record"),
        ("two", "tex", "consulted_resolved"),
    ]
    reasons = [one.get("detail", "") for one in result["attempts"]]
    for number, word in enumerate(
        ("only front matter", "expected an article in JATS", "challenge", "about the paper",
         "login", "404")
    ):  # fmt: skip
        assert word in reasons[number]


@pytest.mark.requirement("text:own:no-text")
def test_without_a_text_the_attempts_are_reported_and_no_abstract_is_given(
    make: Make, copies: RecordedCopies
) -> None:
    forms = [
        copy(copies.text("/landing", landing_page()), "html"),
        copy(copies.file("/page.pdf", challenge_page().encode()), "pdf"),
        copy(copies.file("/front.pdf", pdf(body=False)), "pdf"),
    ]
    result = make(works=knowing(), one=texts(forms), two=texts())("paper_read", ref=DOI)
    assert result["error"]["code"] == "TEXT_UNAVAILABLE"
    assert "text" not in result
    assert "expected a PDF but found a challenge page" in details(result)
    assert "only front matter" in details(result)
    assert ("two", "", "consulted_no_record") in outcomes(result)
    assert result["error"]["message"].endswith("a free PDF that paper_fetch stores is read too")


def test_a_page_of_another_paper_is_refused(make: Make, copies: RecordedCopies) -> None:
    other = jats(title="Lamps of the northern stacks", doi="10.5555/lamp.9")
    call = make(works=knowing(), one=texts([copy(copies.text("/x.xml", other), "jats")]))
    assert "another paper, 10.5555/lamp.9" in details(call("paper_read", ref=DOI))


def test_a_text_says_nothing_of_its_charset_that_counts(make: Make, copies: RecordedCopies) -> None:
    text = jats(encoding="ISO-8859-1").replace("Desks have", "Müller\u2019s desks have")
    call = make(works=knowing(), one=texts([copy(copies.text("/a.xml", text), "jats")]))
    assert "Müller\u2019s desks" in call("paper_read", ref=DOI)["text"]


@pytest.mark.requirement("text:own:outline")
def test_a_long_text_has_its_outline_first_and_sections_by_name_and_number(
    make: Make, copies: RecordedCopies
) -> None:
    url = copies.text("/a.html", page())
    call = make(works=knowing(), one=texts([copy(url, "html")]))
    result = call("paper_read", ref=DOI, max_chars=400)
    headings = [one["heading"] for one in result["outline"]]
    assert headings[-3:] == ["1. Introduction", "2. Methods", "3. Results"]
    assert "firstword" not in result["text"]
    for name in ("methods", "2", "2. Methods", "METHODS"):
        part = call("paper_read", ref=DOI, section=name)
        assert "secondword" in part["text"]
        assert "thirdword" not in part["text"]
        assert part["tokens"] > 0
    assert call("paper_read", ref=DOI, section="Desks")["error"]["code"] == "INVALID_REF"
    texts_read, start = "", 0
    for _ in range(50):
        part = call("paper_read", ref=DOI, max_chars=300, **{"from": start})
        texts_read += part["text"]
        if "next" not in part:
            break
        start = part["next"]
    assert texts_read.count("thirdword") == 1
    plain = call("paper_read", ref=DOI, format="text")
    assert "## " not in plain["text"]


@pytest.mark.requirement("text:own:once")
def test_the_next_part_makes_no_request(make: Make, copies: RecordedCopies, tmp_path: Path) -> None:
    call = make(works=knowing(), one=texts([copy(copies.file("/a.pdf", pdf()), "pdf")]))
    first = call("paper_read", ref=DOI, max_chars=300)
    assert first["next"]
    for path in copies.folder.iterdir():
        path.unlink()  # any request would be one that was not recorded
    part = call("paper_read", ref=f"https://doi.org/{DOI}", **{"from": first["next"]})
    assert (part["ok"], part["form"]) == (True, "pdf")


@pytest.mark.requirement("sandbox:hosts:copies")
def test_an_address_beyond_the_grants_of_its_plugin_is_not_fetched(
    make: Make, copies: RecordedCopies
) -> None:
    urls = [
        "https://internal.example/x.xml",
        "https://127.0.0.1/x.xml",
        "https://user@copies.example.org/",
    ]
    for url in urls:
        copies.text(url, jats())
        copies.file(f"{url}#", pdf())
    forms = [copy(url, form) for url in urls for form in ("jats", "pdf")]
    result = make(works=knowing(), one=texts(forms))("paper_read", ref=DOI)
    assert result["error"]["code"] == "TEXT_UNAVAILABLE"
    assert details(result).count("refused") == 6


def test_ten_thousand_copies_are_six(make: Make, copies: RecordedCopies) -> None:
    # The result of a scripted plugin has at most 31 KiB.
    forms = [copy(f"https://copies.example.org/{number}", "jats") for number in range(400)]
    good = texts([copy(copies.text("/a.html", page()), "html")])
    for number in range(6):
        copies.text(f"/{number}", landing_page())
    result = make(works=knowing(), one=texts(forms), two=good)("paper_read", ref=DOI)
    assert (result["ok"], result["source"]) == (True, "two")
    assert [one["outcome"] for one in result["attempts"]].count("consulted_failed") == 6
    assert any("394 more copies" in one.get("detail", "") for one in result["attempts"])


@pytest.mark.parametrize(
    "result", ["[]", '{"copies": [{"url": "http://x.example/", "format": "jats"}]}', "{"]
)
def test_an_answer_that_the_contract_refuses_is_a_failed_source(
    make: Make, copies: RecordedCopies, result: str
) -> None:
    good = texts([copy(copies.text("/a.html", page()), "html")])
    response = make(works=knowing(), bad=texts(result=result), good=good)("paper_read", ref=DOI)
    assert (response["ok"], response["source"]) == (True, "good")
    assert ("bad", "", "consulted_failed") in outcomes(response)


@pytest.mark.requirement("text:own:unsure")
def test_a_failure_of_the_network_is_not_a_missing_text(make: Make, copies: RecordedCopies) -> None:
    dead = [
        copy(copies.failure("/a.xml", FailureKind.UNREACHABLE), "jats"),
        copy(copies.failure("/a.pdf", FailureKind.UNREACHABLE), "pdf"),
    ]
    result = make(works=knowing(), one=texts(dead))("paper_read", ref=DOI)
    assert result["error"]["code"] == "NETWORK_ERROR"
    assert outcomes(result) == [
        ("one", "jats", "consulted_failed"), ("one", "pdf", "consulted_failed"),
    ]  # fmt: skip
    busy = [copy(copies.failure("/b.xml", FailureKind.RATE_LIMITED), "jats")]
    result = make(works=knowing(), one=texts(busy))("paper_read", ref=DOI)
    assert result["error"]["code"] == "RATE_LIMITED"
    result = make(works=lookup(body="unreachable"), one=texts())("paper_read", ref=DOI)
    assert result["error"]["code"] == "NETWORK_ERROR"


def test_a_paper_that_no_source_knows_is_not_found(make: Make) -> None:
    lacking = lookup(says(not_found=[{"type": "doi", "id": DOI}]), "doi", contract="1.1")
    call = make(works=lacking, one=texts())
    assert call("paper_read", ref=DOI)["error"]["code"] == "NOT_FOUND"
    assert call("paper_read", ref="desks")["error"]["code"] == "INVALID_REF"


def test_a_citation_is_resolved_first(make: Make, copies: RecordedCopies) -> None:
    roles = {"search": {"max": 50, "filters": []}}
    answer = json.dumps({"works": [record(**WORK)]})
    finding = guest(result=answer, manifest=manifest_text(hosts=[], roles=roles, contract="1.1"))
    call = make(find=finding, one=texts([copy(copies.text("/a.xml", jats()), "jats")]))
    result = call("paper_read", ref=f"Reader, A. (2019). {TITLE}. Rooms 7.")
    assert (result["ok"], result["id"]["id"]) == (True, DOI)


def keep(config: Config, data: bytes, ref: str = DOI, **members: Any) -> None:
    """Stores a PDF."""
    identifier = parse_id(ref)
    work = checked_work(RawResult(record(**{**WORK, **members})), plugin="one", tool="lookup")
    store = open_store(config)
    with store.receive(safekey(identifier)) as file:
        file.begin()
        file.write(data)
        store.write(identifier, entry_of(work, fetched={"license": "cc-by"}), file)


def test_the_stored_pdf_is_read_without_a_request(
    make: Make, configure: Callable[..., Config]
) -> None:
    plugins = {"works": lookup(body="unreachable"), "one": texts()}
    keep(configure(**plugins), pdf())
    call = make(**plugins)
    result = call("paper_read", ref=DOI, form="pdf")
    assert (result["source"], result["stored"], result["license"]) == ("store", True, "cc-by")
    assert outcomes(result) == [("store", "pdf", "consulted_resolved")]
    result = call("paper_read", ref=DOI)  # no source answers, and the store has it all the same
    assert (result["ok"], result["source"]) == (True, "store")


@pytest.mark.requirement("text:own:version")
def test_a_version_of_an_e_print_is_that_version(
    make: Make, copies: RecordedCopies, configure: Callable[..., Config]
) -> None:
    known = {**WORK, "ids": {"doi": DOI, "arxiv": "2301.00001"}}
    answer = says([found("arxiv", "2301.00001v1", **known)])
    eprints = lookup(answer, "arxiv", contract="1.1")
    article = texts([copy(copies.text("/a.xml", jats()), "jats")])
    second = texts([copy(copies.file("/v2.pdf", pdf(stamp="arXiv:2301.00001v2")), "pdf")], "arxiv")
    first = texts([copy(copies.file("/v1.pdf", pdf(stamp="arXiv:2301.00001v1")), "pdf")], "arxiv")
    plugins = {"works": eprints, "article": article, "wrong": second, "right": first}
    keep(configure(**plugins), pdf(), "arXiv:2301.00001v2")
    result = make(**plugins)("paper_read", ref="arXiv:2301.00001v1")
    assert (result["ok"], result["source"], result["id"]["id"]) == (True, "right", "2301.00001v1")
    assert outcomes(result)[:2] == [
        ("article", "", "not_consulted_not_applicable"), ("wrong", "pdf", "consulted_failed"),
    ]  # fmt: skip
    assert "2301.00001v2" in result["attempts"][1]["detail"]


def test_a_plugin_that_hangs_costs_the_others_nothing(make: Make, copies: RecordedCopies) -> None:
    good = texts([copy(copies.text("/a.xml", jats()), "jats")])
    call = make(works=knowing(), hang=texts(body=LOOP), good=good, limits={"wall_seconds": 8.0})
    result = call("paper_read", ref=DOI)
    assert (result["ok"], result["source"]) == (True, "good")
    assert ("hang", "", "consulted_failed") in outcomes(result)


def test_a_copy_that_is_too_large_is_not_received(make: Make, copies: RecordedCopies) -> None:
    data = pdf() + b"%" * 2_000_000
    forms = [copy(copies.file("/a.pdf", data), "pdf"), copy(copies.text("/a.html", page()), "html")]
    call = make(works=knowing(), one=texts(forms), limits={"response_bytes": 1_000_000})
    result = call("paper_read", ref=DOI, form="pdf")
    assert "the file has more than 1,000,000 bytes" in details(result)
    assert call("paper_read", ref=DOI)["form"] == "html"


def test_an_attempt_names_no_path_of_this_machine(
    make: Make, copies: RecordedCopies, tmp_path: Path
) -> None:
    call = make(works=knowing(), one=texts([copy("https://copies.example.org/x", "jats")]))
    result = call("paper_read", ref=DOI)
    assert "no recording" in details(result)
    assert str(tmp_path) not in str(result)
