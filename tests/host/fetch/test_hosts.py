from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import publicsuffixlist
import pytest

from carrel.fetch.policy import hosts
from carrel.fetch.policy.hosts import matches, parse_host_entry


def refusal(entry: str) -> str:
    with pytest.raises(ValueError, match=r"\w") as refused:
        parse_host_entry(entry)
    return str(refused.value)


@pytest.mark.parametrize(
    ("entry", "parsed"),
    [
        ("export.arxiv.org", "export.arxiv.org"),
        ("API.Crossref.ORG", "api.crossref.org"),
        ("*.ncbi.nlm.nih.gov", "*.ncbi.nlm.nih.gov"),
        ("*.arxiv.org", "*.arxiv.org"),
        ("*.ox.ac.uk", "*.ox.ac.uk"),
        ("xn--bcher-kva.example", "xn--bcher-kva.example"),
    ],
)
def test_a_name_or_a_one_label_wildcard_is_accepted(entry: str, parsed: str) -> None:
    assert parse_host_entry(entry) == parsed


@pytest.mark.requirement("sandbox:hosts:entry")
@pytest.mark.parametrize(
    "entry",
    [
        "", " ", "*", "*.", "*.*", "**.arxiv.org", "*.*.arxiv.org", "a.*.org", "exp*.arxiv.org",
        "arxiv.*", "*arxiv.org", "*.org", "*.co.uk", "*.com.au", "*.ac.jp", "*.github.io",
        "*.s3.amazonaws.com", "*.k12.ca.us", "localhost", "metadata", "*.localhost", "db.internal",
        "printer.local", "router.home.arpa", "127.0.0.1", "*.0.0.1", "0x7f.1", "2130706433",
        "[::1]", "::1", "10.0.0.0/8", "https://arxiv.org", "arxiv.org/path", "arxiv.org:443",
        "user@arxiv.org", "arxiv.org.", ".arxiv.org", "arxiv..org", "arxiv_x.org", "arxiv.org\0",
        "arxiv.org\n", "\u0430rxiv.org", "a" * 64 + ".org", "arxiv.org evil.example", "\u212a.org",
    ],
)  # fmt: skip
def test_an_ambiguous_host_entry_is_refused(entry: str) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        parse_host_entry(entry)


@pytest.mark.requirement("sandbox:hosts:wildcard")
def test_a_wildcard_matches_exactly_one_label() -> None:
    entry = "*.ncbi.nlm.nih.gov"
    assert matches(entry, "eutils.ncbi.nlm.nih.gov")
    assert not matches(entry, "ncbi.nlm.nih.gov")
    assert not matches(entry, "a.b.ncbi.nlm.nih.gov")
    assert not matches(entry, "notncbi.nlm.nih.gov")
    assert not matches(entry, ".ncbi.nlm.nih.gov")
    assert not matches(entry, "xn--eutls-7ua.ncbi.nlm.nih.gov"), "a look-alike has to be named"
    assert matches("xn--eutls-7ua.ncbi.nlm.nih.gov", "xn--eutls-7ua.ncbi.nlm.nih.gov")
    assert not matches("arxiv.org", "export.arxiv.org")
    assert not matches("export.arxiv.org", "arxiv.org")


@pytest.mark.requirement("sandbox:hosts:shared-name")
@pytest.mark.parametrize(
    ("entry", "shared"),
    [
        ("*.r2.dev", "r2.dev"),
        ("*.trycloudflare.com", "trycloudflare.com"),
        ("*.ts.net", "ts.net"),
        ("*.a.run.app", "a.run.app"),
        ("*.run.app", "run.app"),
        ("*.blob.core.windows.net", "blob.core.windows.net"),
        ("*.deno.dev", "deno.dev"),
        ("*.github.io", "github.io"),
        ("*.GitHub.io", "github.io"),
        ("*.storage.googleapis.com", "storage.googleapis.com"),
        ("*.nip.io", "nip.io"),
        ("*.app.nip.io", "nip.io"),
        ("*.10-0-0-1.sslip.io", "sslip.io"),
        ("*.xn--p1acf", None),
        ("*.xn--55qx5d.cn", "xn--55qx5d.cn"),
    ],
)
def test_a_wildcard_below_a_public_suffix_is_refused(entry: str, shared: str | None) -> None:
    message = refusal(entry)
    if shared is not None:
        assert f"{shared} " in message or message.count(shared) > 1
        assert "write out each host" in message


@pytest.mark.requirement("sandbox:hosts:shared-name")
@pytest.mark.parametrize(
    ("entry", "below"),
    [
        ("*.amazonaws.com", "amazonaws.com is on"),
        ("*.us-east-1.amazonaws.com", "amazonaws.com is on"),
        ("*.windows.net", "windows.net is on"),
        ("*.core.windows.net", "windows.net is on"),
        ("*.on.aws", "on.aws is on"),
        ("*.googleapis.com", "storage.googleapis.com"),
        ("*.azure.com", "cloudapp.azure.com"),
    ],
)
def test_a_wildcard_above_a_public_suffix_is_refused(entry: str, below: str) -> None:
    message = refusal(entry)
    assert below in message
    assert "write out each host" in message


@pytest.mark.requirement("sandbox:hosts:shared-name")
@pytest.mark.parametrize(
    "entry",
    [
        "s3.amazonaws.com",
        "bucket.s3.amazonaws.com",
        "name.github.io",
        "*.name.github.io",
        "*.my-app.deno.dev",
        "*.oup.co.uk",
        "*.city.kawasaki.jp",
        "*.www.ck",
        "*.inria.fr",
        "*.lu.se",
        "*.export.arxiv.org",
    ],
)
def test_a_name_of_one_organisation_is_accepted_even_below_a_shared_one(entry: str) -> None:
    assert parse_host_entry(entry) == entry


@pytest.mark.requirement("sandbox:hosts:shared-name")
@pytest.mark.parametrize(
    "entry",
    [
        "*.compute.amazonaws.com",
        "*.us-east-1.compute.amazonaws.com",
        "*.kawasaki.jp",
        "*.anything.kawasaki.jp",
        "*.foo.ck",
        "*.co.ca.us",
    ],
)
def test_wildcard_rules_of_the_list_cover_every_name_but_their_exceptions(entry: str) -> None:
    assert "names of many organisations" in refusal(entry)


#: Names that are refused without the public suffix list.
_REFUSED_BEFORE = """
    amazonaws.com appspot.com azureedge.net azurewebsites.net blogspot.com cloudapp.net
    cloudflare.net cloudfront.net cloudfunctions.net digitaloceanspaces.com duckdns.org
    dyndns.org firebaseapp.com fly.dev github.io gitlab.io glitch.me googleapis.com
    googleusercontent.com herokuapp.com lambda-url.us-east-1.on.aws netlify.app ngrok.app
    ngrok.io ngrok-free.app nip.io on.aws onrender.com pages.dev readthedocs.io repl.co
    run.app sslip.io s3.amazonaws.com storage.googleapis.com surge.sh vercel.app web.app
    windows.net workers.dev xip.io co.uk com.au ac.jp k12.ca.us gv.at gouv.fr nhs.uk id.au
"""


@pytest.mark.requirement("sandbox:hosts:shared-name")
@pytest.mark.parametrize("name", _REFUSED_BEFORE.split())
def test_large_shared_names_are_refused(name: str) -> None:
    assert "names of many organisations" in refusal(f"*.{name}")


@pytest.mark.requirement("sandbox:hosts:local-name")
@pytest.mark.parametrize(
    "name",
    [
        "kubernetes.default.svc",
        "kubernetes.default",
        "api.team.svc",
        "x.svc.cluster.local",
        "db.cluster",
        "metadata.google.internal",
        "host.docker.internal",
        "printer.local",
        "vault.service.consul",
        "registry.docker",
        "node.kubernetes",
        "proxy.kube-system",
        "nas.lan",
        "router.home.arpa",
        "svc",
        "kubernetes",
        "localhost",
    ],
)
@pytest.mark.parametrize("star", ["", "*."])
def test_a_name_of_a_cluster_or_a_local_network_is_refused(star: str, name: str) -> None:
    message = refusal(star + name)
    assert "a cluster or a local network" in message


def _listed() -> Iterator[str]:
    """Yields every name of the list, one label below and one above, in punycode."""
    for line in Path(publicsuffixlist.PSLFILE).read_text("utf-8").splitlines():
        if line and not line.startswith("//"):
            name = line.lstrip("!*").lstrip(".").encode("idna").decode()
            yield from (name, f"x.{name}", f"a.x.{name}", name.partition(".")[2])


@pytest.mark.requirement("sandbox:hosts:shared-name")
@pytest.mark.long("matrix")
def test_searching_the_list_agrees_with_a_parser_of_it_on_every_rule() -> None:
    parser = publicsuffixlist.PublicSuffixList()
    names = {name for name in _listed() if "." in name}
    assert len(names) > 25_000
    differing = [
        name
        for name in names
        if (hosts._public_suffix(name, name.split(".")) == name) != parser.is_public(name)
    ]
    assert differing == []


def test_no_local_name_is_a_delegated_top_level_domain() -> None:
    reserved = {"arpa", "onion"}  # on the list, and not open for registration
    assert {
        name for name in hosts._LOCAL_TLDS if f"\n{name}\n".encode() in hosts._suffix_rules()
    } == (reserved)


def test_names_that_the_list_has_need_no_entry_of_their_own() -> None:
    parser = publicsuffixlist.PublicSuffixList()
    assert [name for name in hosts._SHARED_NAMES if parser.is_public(name)] == []


def test_an_exact_name_is_checked_without_reading_the_list() -> None:
    check = (
        "import sys; from carrel.fetch.policy.hosts import parse_host_entry as parse; "
        "parse('export.arxiv.org'); print('publicsuffixlist' in sys.modules); "
        "parse('*.arxiv.org'); print('publicsuffixlist' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", check], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.split() == ["False", "True"]
