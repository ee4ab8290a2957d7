"""Tests properties: parsers never crash, text is kept, policy refuses other URLs.

Run with more examples by `--hypothesis-profile=thorough`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from urllib.parse import urlsplit
from xml.sax.saxutils import escape, quoteattr

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from carrel.api import Carrel
from carrel.config import Config, PluginConfig
from carrel.errors import CODES, CarrelError
from carrel.exchange import Failure
from carrel.fetch import HostRule, Policy
from carrel.fetch.url import UrlFault, parse_url
from carrel.text.printable import printable
from support.hostile_documents import HEAD, feed

pytestmark = pytest.mark.property

#: Text that XML can contain, without ampersands and angle brackets, which the text rules would
#: interpret as markup.
PLAIN = st.text(
    st.characters(exclude_categories=("Cs", "Cc", "Cn", "Co"), exclude_characters="&<>"),
    min_size=1,
    max_size=60,
)


@pytest.fixture(scope="module")
def api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Carrel]:
    folder = tmp_path_factory.mktemp("desk")
    plugin = PluginConfig("arxiv", "builtin:arxiv", allowed_hosts=None)
    with Carrel(Config(cache_dir=folder, data_dir=folder, plugins=(plugin,))) as opened:
        yield opened


relaxed = settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.mark.requirement("result:typed:any-input")
@relaxed
@given(st.text(max_size=400))
def test_any_text_is_a_result_or_a_typed_error(api: Carrel, text: str) -> None:
    for document in (text, HEAD + text, feed(text)):
        try:
            result = api.parse("arxiv", "feed", document)
        except CarrelError as error:
            assert error.error_code in CODES
        else:
            assert isinstance(result["entries"], list)


@relaxed
@given(
    st.lists(st.sampled_from(["<entry>", "</entry>", "<title>", "</title>", "<id>", "</id>", "x"])),
)
def test_any_sequence_of_tags_is_a_result_or_a_typed_error(api: Carrel, tags: list[str]) -> None:
    try:
        api.parse("arxiv", "feed", f"{HEAD}{''.join(tags)}</feed>")
    except CarrelError as error:
        assert error.error_code == "invalid_document"
        assert "position" in error.to_dict()


@relaxed
@given(PLAIN, PLAIN, st.integers(min_value=0, max_value=3))
def test_text_survives_with_its_white_space_collapsed(
    api: Carrel, title: str, name: str, indent: int
) -> None:
    space = "\n" + " " * indent
    document = (
        f"{HEAD}<entry><id>http://arxiv.org/abs/2001.00001v1</id>"
        f"<title>{space}{escape(title)}{space}</title>"
        f"<author><name>{escape(name)}</name></author>"
        f"<category term={quoteattr('cs.DL')}/></entry></feed>"
    )
    [entry] = api.parse("arxiv", "feed", document)["entries"]
    assert entry.get("title", "") == " ".join(title.split())
    if name.split():
        assert entry["authors"][0]["name"] == " ".join(name.split())


@relaxed
@given(st.text(max_size=300), st.integers(min_value=1, max_value=200))
def test_printable_text_is_one_safe_line(text: str, limit: int) -> None:
    safe = printable(text, limit)
    assert len(safe) <= limit + 1
    assert not any(ord(one) < 32 or 127 <= ord(one) < 160 for one in safe)
    assert len(safe.splitlines()) <= 1


HOSTS = st.sampled_from(
    [
        "export.arxiv.org",
        "EXPORT.arxiv.org.",
        "evil.example",
        "127.0.0.1",
        "[::1]",
        "export.arxiv.org.evil.example",
        "a.ncbi.nlm.nih.gov",
        "ncbi.nlm.nih.gov",
        "a.b.ncbi.nlm.nih.gov",
    ]
)


@pytest.mark.requirement("sandbox:hosts:any-url")
@relaxed
@given(
    st.one_of(
        st.text(max_size=80),
        st.builds(
            "{}{}{}{}{}".format,
            st.sampled_from(["https://", "http://", "https:", "//", "HTTPS://", "ftp://", ""]),
            st.sampled_from(["", "user@", "u:p@", "export.arxiv.org@", "%00", "\\"]),
            HOSTS,
            st.sampled_from(["", ":443", ":80", ":0443", ":x", "%2e", "\t"]),
            st.text(max_size=20),
        ),
    )
)
def test_no_url_outside_the_policy_passes(url: str) -> None:
    policy = Policy(
        "sample",
        [
            HostRule("export.arxiv.org", frozenset({"GET"})),
            HostRule("*.ncbi.nlm.nih.gov", frozenset({"GET"})),
        ],
    )
    target = parse_url(url)
    if isinstance(target, UrlFault) or isinstance(policy.check("GET", target), Failure):
        return
    split = urlsplit(url)
    assert split.scheme == "https"
    assert "@" not in split.netloc
    host = (split.hostname or "").rstrip(".")
    assert host == "export.arxiv.org" or (
        host.endswith(".ncbi.nlm.nih.gov") and host.count(".") == 4
    )


@relaxed
@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=20),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
        max_leaves=10,
    )
)
def test_any_arguments_end_in_a_typed_error_or_an_offline_request(
    api: Carrel, value: object
) -> None:
    arguments = value if isinstance(value, dict) else {"search_query": value}
    json.dumps(arguments)
    try:
        api.toolbox.call_sync("arxiv_query", {**arguments, "max_results": 0})
    except CarrelError as error:
        assert error.error_code == "invalid_arguments"
    else:
        raise AssertionError("zero results were accepted")
