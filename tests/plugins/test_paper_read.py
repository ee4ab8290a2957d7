"""`paper_read` over the built-in plugins and a real fetch layer: arXiv's forms, PMC's JATS."""

from __future__ import annotations

import gzip
import json
import re
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from carrel.api import Carrel
from carrel.config import Config, PluginConfig
from carrel.errors import Cancelled
from carrel.papers.opening import open_store
from carrel.papers.reading import PaperReader
from carrel.papers.reading.download import NoCopyError
from carrel.papers.reading.judging import require_text
from carrel.tools import Toolbox
from support.paper_copies import LICENCE, TITLE, jats, landing_page, page, pdf, source
from support.toolboxes import MakeToolbox
from support.upstream import Reply, Seen, Upstream

Raw = dict[str, Any]
FEED = f"""<feed xmlns="http://www.w3.org/2005/Atom"
  xmlns:opensearch="http://a9.com/-/spec/opensearch/1.1/">
  <opensearch:totalResults>1</opensearch:totalResults>
  <entry><id>http://arxiv.org/abs/2301.00001v2</id><title>{TITLE}</title>
  <summary>About desks.</summary><author><name>Ada Reader</name></author>
  <published>2023-01-01T00:00:00Z</published><updated>2023-02-01T00:00:00Z</updated></entry>
</feed>"""
#: A page that redirects to a host that the plugin has no grant for.
ELSEWHERE = Reply(302, headers=[("location", "https://api.crossref.org/html/2301.00001")])


def feed(seen: Seen) -> Reply:
    """Answers with the version that was asked for, the second by default."""
    version = "v1" if "2301.00001v1" in seen.path else "v2"
    return Reply(body=FEED.replace("00001v2", f"00001{version}").encode())


@pytest.fixture
def arxiv(make_toolbox: MakeToolbox, upstream: Upstream) -> Callable[..., Raw]:
    """Returns a function that reads an e-print."""
    upstream.on("/api/query", feed)
    toolbox = make_toolbox("arxiv", keep=True)

    def read(ref: str = "arXiv:2301.00001", **arguments: Any) -> Raw:
        result: Raw = toolbox.call_sync("paper_read", {"ref": ref, **arguments}).data
        return result

    return read


def pubmed(upstream: Upstream, body: str) -> None:
    """Has PubMed know the article PMC12, and PubMed Central answer with `body`."""
    record = (
        "<PubmedArticleSet><PubmedArticle><MedlineCitation><PMID>7</PMID><Article>"
        f"<ArticleTitle>{TITLE}</ArticleTitle></Article></MedlineCitation><PubmedData>"
        '<ArticleIdList><ArticleId IdType="pmc">PMC12</ArticleId></ArticleIdList></PubmedData>'
        "</PubmedArticle></PubmedArticleSet>"
    )
    known = {"requested-id": "PMC12", "pmid": "7", "pmcid": "PMC12"}
    converted = json.dumps({"status": "ok", "records": [known]}).encode()
    upstream.on("/tools/idconv/api/v1/articles/", Reply(body=converted))

    def efetch(seen: Seen) -> Reply:
        return Reply(body=(pmc_set(body) if "db=pmc" in seen.path else record).encode())

    upstream.on("/entrez/eutils/efetch.fcgi", efetch)


def pmc_set(body: str) -> str:
    """Returns what EFetch answers: articles in one element."""
    article = body[body.index("<article") :] if "<article" in body else body
    return (
        '<?xml version="1.0" ?><!DOCTYPE pmc-articleset PUBLIC "-//NLM//DTD ARTICLE SET 2.0//EN" '
        '"https://dtd.nlm.nih.gov/ncbi/pmc/articleset/nlm-articleset-2.0.dtd">'
        f"<pmc-articleset>{article}</pmc-articleset>"
    )


def paths(upstream: Upstream) -> list[str]:
    return [one.path.partition("?")[0] for one in upstream.seen]


def test_arxiv_s_page_is_read_and_cached(arxiv: Callable[..., Raw], upstream: Upstream) -> None:
    upstream.on(
        "/html/2301.00001", Reply(body=page().encode(), headers=[("content-type", "text/html")])
    )
    result = arxiv()
    assert (result["ok"], result["source"], result["form"]) == (True, "arxiv", "html"), result
    assert result["version"] == "submittedVersion"
    assert result["landing_url"] == "https://arxiv.org/abs/2301.00001"
    assert paths(upstream) == ["/api/query", "/html/2301.00001"]
    arxiv(format="text")  # another rendering of a response that the cache has
    assert paths(upstream) == ["/api/query", "/html/2301.00001"]


@pytest.mark.parametrize(
    "first",
    [
        Reply(404, body=b"no page"),
        Reply(200, body=landing_page().encode(), headers=[("content-type", "text/html")]),
        Reply(503, body=b"busy"),
        ELSEWHERE,
    ],
    ids=["missing", "landing", "busy", "redirected"],
)
@pytest.mark.requirement("sandbox:hosts:copies")
def test_without_a_page_the_source_is_read(
    arxiv: Callable[..., Raw], upstream: Upstream, first: Reply
) -> None:
    upstream.on("/html/2301.00001", first)
    upstream.on("/e-print/2301.00001", Reply(body=source()))
    result = arxiv()
    assert (result["ok"], result["form"]) == (True, "tex"), result
    assert "secondword" in result["text"]
    assert "api.crossref.org" not in {one.host for one in upstream.seen}


def test_without_page_and_source_the_pdf_is_read(
    arxiv: Callable[..., Raw], upstream: Upstream
) -> None:
    upstream.on("/html/2301.00001", Reply(404))
    # arXiv gives the PDF in the place of the source where authors sent no other.
    upstream.on("/e-print/2301.00001", Reply(body=pdf()))
    upstream.on("/pdf/2301.00001", Reply(body=pdf()))
    result = arxiv()
    assert (result["ok"], result["form"]) == (True, "pdf"), result
    assert "expected a TeX source but found a PDF" in result["attempts"][1]["detail"]


def test_two_versions_are_two_texts(arxiv: Callable[..., Raw], upstream: Upstream) -> None:
    for version, word in (("v1", "oaken"), ("v2", "pinewood")):
        body = page().replace("firstword", word).encode()
        upstream.on(
            f"/html/2301.00001{version}", Reply(body=body, headers=[("content-type", "text/html")])
        )
    first = arxiv("arXiv:2301.00001v1")
    assert "oaken" in first.get("text", ""), first
    assert "pinewood" in arxiv("arXiv:2301.00001v2")["text"]


def test_pmc_s_jats_is_asked_with_the_plugin_s_key(
    make_toolbox: MakeToolbox, upstream: Upstream, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NCBI_API_KEY", "sesame")
    pubmed(upstream, jats())
    toolbox = make_toolbox("eutils")
    result: Raw = toolbox.call_sync("paper_read", {"ref": "PMC12"}).data
    assert (result["ok"], result["form"]) == (True, "jats"), result
    [asked] = [one for one in upstream.seen if "db=pmc" in one.path]
    assert "api_key=sesame" in asked.path
    assert "sesame" not in str(result)
    assert (result["license"], result["id"]["id"]) == (LICENCE, "PMC12")


@pytest.mark.parametrize(
    "body",
    [
        '<Reply Id="12" error="The following PMCID is not available"></Reply>',
        jats(body=False),
        "",
    ],
    ids=["refused", "front", "empty"],
)
def test_what_pmc_answers_without_a_body_is_no_text(
    make_toolbox: MakeToolbox, upstream: Upstream, body: str
) -> None:
    pubmed(upstream, body)
    result: Raw = make_toolbox("eutils").call_sync("paper_read", {"ref": "PMC12"}).data
    assert result["error"]["code"] == "TEXT_UNAVAILABLE", result


@pytest.mark.requirement("serve:alive:read")
def test_a_cancelled_reading_ends(make_toolbox: MakeToolbox, upstream: Upstream) -> None:
    arrived = threading.Event()

    def hanging(_seen: Seen) -> Reply:
        arrived.set()
        return Reply(silent=True)

    upstream.on("/api/query", feed)
    upstream.on("/html/2301.00001", hanging)
    toolbox = make_toolbox("arxiv")
    reader = _reader(toolbox)
    call = reader.new_call("paper_read")
    ended: list[BaseException] = []

    def read() -> None:
        try:
            reader.read("arXiv:2301.00001", call)
        except BaseException as error:  # noqa: BLE001 - compared below
            ended.append(error)

    thread = threading.Thread(target=read)
    thread.start()
    assert arrived.wait(60)
    call.cancel()
    thread.join(10)
    assert not thread.is_alive()
    assert isinstance(ended[0], Cancelled)


def _reader(toolbox: Toolbox) -> PaperReader:
    return PaperReader(toolbox.plugin_set, toolbox.config, lambda: open_store(toolbox.config))


def test_a_plugin_without_the_host_s_grant_reads_nothing(
    make_toolbox: MakeToolbox, upstream: Upstream
) -> None:
    narrow = PluginConfig("arxiv", "builtin:arxiv", allowed_hosts=("arxiv.org",))
    toolbox = make_toolbox(narrow)
    result: Raw = toolbox.call_sync("paper_read", {"ref": "arXiv:2301.00001"}).data
    assert result["error"]["code"] == "TEXT_UNAVAILABLE"
    assert upstream.seen == []


#: Captured pages that show the whole article; the others are about a paper.
WHOLE = {"APS_PhysRevX.12.041027", "Fallback_peerj"}


@pytest.mark.long("corpus")
@pytest.mark.requirement("text:own:captures")
def test_no_captured_page_about_a_paper_is_taken_for_it(corpus: Path, config: Config) -> None:
    pages = [*(corpus / "html/scholarly").glob("*.html.gz"), *(corpus / "html/challenge").glob("*")]
    taken = set()
    with Carrel(config) as api:
        for path in pages:
            data = path.read_bytes()
            read = api.read(gzip.decompress(data) if path.suffix == ".gz" else data)
            try:
                require_text(read, "html", None, None)
            except NoCopyError:
                continue
            taken.add(path.name.removesuffix(".html.gz"))
    assert len(pages) > 40
    assert taken == WHOLE


@pytest.mark.long("corpus")
def test_captured_jats_is_taken_if_it_has_a_body(corpus: Path, config: Config) -> None:
    with Carrel(config) as api:
        for path in sorted((corpus / "jats").rglob("*.nxml.gz")):
            text = gzip.decompress(path.read_bytes()).decode()
            require_text(api.read(text.encode()), "jats", None, None)
            front = re.sub(r"<body\b.*</body>", "", text, flags=re.DOTALL)
            if front != text and "</sub-article>" not in front:
                with pytest.raises(NoCopyError, match="only front matter"):
                    require_text(api.read(front.encode()), "jats", None, None)
