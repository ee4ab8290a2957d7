"""Tests that references are parsed by the distribution specification's grammar only."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from carrel.errors import RegistryError
from carrel.oci.reference import ImageReference, parse_reference

DIGEST = "sha256:" + "a" * 64


@pytest.mark.parametrize(
    ("text", "reference"),
    [
        ("oci://ghcr.io/o/n:1.0", ImageReference("ghcr.io", "o/n", "1.0")),
        ("ghcr.io/o/n", ImageReference("ghcr.io", "o/n")),
        ("GHCR.io/o/n:V1", ImageReference("ghcr.io", "o/n", "V1")),
        ("OCI://localhost/n", ImageReference("localhost", "n")),
        ("localhost:5000/n:1", ImageReference("localhost:5000", "n", "1")),
        ("127.0.0.1:5000/n:1", ImageReference("127.0.0.1:5000", "n", "1")),
        ("[::1]:5000/n", ImageReference("[::1]:5000", "n")),
        ("oci://your-registry/arxiv-plugin:latest",
         ImageReference("your-registry", "arxiv-plugin", "latest")),
        (f"ghcr.io/o/n@{DIGEST}", ImageReference("ghcr.io", "o/n", None, DIGEST)),
        (f"ghcr.io/o/n:1@{DIGEST}", ImageReference("ghcr.io", "o/n", "1", DIGEST)),
        ("ghcr.io/a.b/c_d/e__f/g---h/0", ImageReference("ghcr.io", "a.b/c_d/e__f/g---h/0")),
    ],
)  # fmt: skip
def test_a_reference_is_read(text: str, reference: ImageReference) -> None:
    assert parse_reference(text) == reference
    assert parse_reference(str(reference)) == reference


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "no registry host"),
        ("arxiv", "no registry host"),
        ("arxiv:1", "no registry host"),
        ("library/arxiv:1", "no registry host"),
        ("oci:///arxiv", "no registry host"),
        ("ghcr.io", "no registry host"),
        ("-bad.example/n", "no registry host"),
        ("host:0/n", "no registry host"),
        ("host:99999/n", "no registry host"),
        ("https://ghcr.io/o/n", "another scheme"),
        ("oci://oci://ghcr.io/n", "another scheme"),
        ("oci://user:pass@ghcr.io/n", "a user name or password"),
        ("ghcr.io/O/n", "lower-case words"),
        ("ghcr.io/o//n", "lower-case words"),
        ("ghcr.io/o/n/", "lower-case words"),
        ("ghcr.io/../n", "lower-case words"),
        ("ghcr.io/o/n?x=1", "lower-case words"),
        ("ghcr.io/a___b", "lower-case words"),
        ("ghcr.io/o/n:", "a tag that is not"),
        ("ghcr.io/o/n:.x", "a tag that is not"),
        ("ghcr.io/o/n:a/b", "a tag that is not"),
        ("ghcr.io/o/n:" + "x" * 129, "a tag that is not"),
        ("ghcr.io/o/n@", "a digest that is not"),
        ("ghcr.io/o/n@sha256:abc", "a digest that is not"),
        ("ghcr.io/o/n@sha512:" + "a" * 128, "a digest that is not"),
        (f"ghcr.io/o/n@{DIGEST.upper()}", "a digest that is not"),
        ("ghcr.io/" + "a/" * 130 + "a", "more than 255 characters"),
        ("ghcr.io/o/n\n", "lower-case words"),
        ("ghcr.io/\x1b[31m", "lower-case words"),
    ],
)
def test_an_invalid_reference_is_refused_with_an_example(text: str, says: str) -> None:
    with pytest.raises(RegistryError) as caught:
        parse_reference(text)
    assert says in caught.value.message
    assert "write oci://REGISTRY[:PORT]/NAME" in caught.value.message
    assert caught.value.message.isprintable()


@given(
    st.text(max_size=60) | st.from_regex(r"(oci://)?[a-z.:]{1,9}/[a-z/:@.]{1,9}", fullmatch=True)
)
def test_any_text_is_a_reference_that_reads_back_or_a_typed_error(text: str) -> None:
    try:
        reference = parse_reference(text)
    except RegistryError:
        return
    assert parse_reference(str(reference)) == reference
    assert parse_reference(f"oci://{reference.name}") == reference
