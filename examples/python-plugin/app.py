"""What the contract asks of a plugin: `Source`, and `Documents`. componentize-py starts here."""

import gzip
import json
import zlib
from urllib.parse import urlencode

import datacite
from componentize_py_types import Err
from manifest import MANIFEST, PAGE
from wit_world.imports import http

WORKS = "https://api.datacite.org/dois"


class Source:
    """The exports of `carrel:plugin/source`, under the name that componentize-py looks for."""

    def describe(self) -> str:
        """The manifest."""
        return json.dumps(MANIFEST)

    def call(self, tool: str, arguments: str) -> str:
        """Runs a tool of the manifest."""
        if tool != "search":
            raise report("invalid_arguments", f"this plugin has no tool {tool!r}")
        asked = json.loads(arguments)
        size = asked.get("page_size", PAGE)
        query = urlencode({"query": asked["query"], "page[size]": size})
        return self.parse("works", fetch(f"{WORKS}?{query}"))

    def parse(self, format: str, document: str) -> str:  # noqa: A002 - the contract's name
        """Reads a document in a format of the manifest."""
        if format != "works":
            raise report("invalid_arguments", f"this plugin has no format {format!r}")
        return works(document)


class Documents:
    """The exports of `carrel:plugin/documents`: the formats that are bytes."""

    def parse_bytes(self, format: str, document: bytes, options: str) -> str:  # noqa: A002
        """Reads a file in a format of the manifest."""
        if format != "works_gz":
            raise report("invalid_arguments", f"this plugin has no format of bytes {format!r}")
        unknown = sorted(set(json.loads(options)) - {"first"})
        if unknown:
            raise report("invalid_arguments", f"{format} has no option {unknown[0]!r}")
        try:
            text = gzip.decompress(document).decode()
        except (OSError, EOFError, zlib.error, UnicodeDecodeError) as error:
            message = f"expected a page of works in gzip but found: {error}".lower()
            position = {"position": {"offset": 0, "path": ""}}
            raise report("invalid_document", message, **position) from error
        return works(text, json.loads(options).get("first"))


def works(document: str, first: int | None = None) -> str:
    """The works of a page, as JSON text; of a file, no more than the first ones that are asked."""
    try:
        page = datacite.read_works(document)
    except datacite.InvalidDocumentError as error:
        position = {"position": {"offset": error.offset, "path": error.path}}
        raise report("invalid_document", str(error), **position) from error
    page["works"] = page["works"][:first]
    return json.dumps(page, ensure_ascii=False)


def fetch(url: str) -> str:
    """The body of an answer with status 200; the host has retried where that can help."""
    accept = [http.Header("accept", "application/vnd.api+json")]
    request = http.Request(http.Method.GET, url, accept, "", http.CacheMode.DEFAULT)
    try:
        response = http.fetch(request)
    except Err as error:
        raise failed(error.value) from error
    if response.status != 200:
        raise report("upstream_unavailable", f"DataCite answered with {response.status}")
    return response.body


def failed(failure: http.FetchFailure) -> Err[str]:
    """What a failed request means to the caller."""
    match failure.error:
        case http.FetchError_Denied():
            return report("denied", failure.message)
        case http.FetchError_Timeout():
            return report("timeout", failure.message)
        case http.FetchError_RateLimited(pause):
            return report("rate_limited", failure.message, retry_after_seconds=pause.seconds)
        case http.FetchError_TooLarge():
            return report("too_large", failure.message)
        case http.FetchError_Undecodable():
            return report("upstream_invalid", failure.message)
    return report("upstream_unavailable", failure.message)


def report(code: str, message: str, **more: object) -> Err[str]:
    """An error as `contract/v1/errors.json` describes it, to be raised."""
    return Err(json.dumps({"code": code, "message": message, **more}))
