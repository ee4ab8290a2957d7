"""Uploads a blob in one piece, or in chunks if a registry wants them."""

from __future__ import annotations

from collections.abc import Callable

from carrel.errors import RegistryError
from carrel.fetch.registries.url import RegistryUrl

from .client import RegistryClient, Reply
from .repository import Descriptor

_ACTIONS = "pull,push"
_TYPE = "application/octet-stream"

#: The status of a proxy in front of a registry for a body that is too large.
_TOO_LARGE = 413


def upload_blob(
    client: RegistryClient,
    descriptor: Descriptor,
    data: bytes,
    on_progress: Callable[[float, float | None, str], None],
) -> None:
    """Uploads a blob unless the repository has it.

    Raises:
        RegistryError: the registry refused it.
    """
    what = f"upload {descriptor.digest} to {client.host}/{client.repository}"
    if _exists(client, descriptor):
        on_progress(len(data), len(data), "bytes")
        return
    begun = _begin(client, what)
    done = client.ask(
        "PUT",
        _closing(client, begun, descriptor),
        actions=_ACTIONS,
        headers={"Content-Type": _TYPE},
        body=data,
        on_sent=lambda sent: on_progress(sent, len(data), "bytes"),
    )
    if done.status in {_TOO_LARGE, 404, 416}:
        # The body is too large, or a broken attempt used the session up.
        done = _upload_in_chunks(client, descriptor, data, on_progress, what)
    if done.status not in {201, 204}:
        raise client.refused(done, what)
    on_progress(len(data), len(data), "bytes")


def _exists(client: RegistryClient, descriptor: Descriptor) -> bool:
    url = client.url(f"blobs/{descriptor.digest}")
    return client.ask("HEAD", url, actions=_ACTIONS).status == 200


def _begin(client: RegistryClient, what: str) -> Reply:
    begun = client.ask("POST", client.url("blobs/uploads/"), actions=_ACTIONS)
    if begun.status != 202:
        raise client.refused(begun, what)
    return begun


def _closing(client: RegistryClient, reply: Reply, descriptor: Descriptor) -> RegistryUrl:
    """Returns the URL that completes the upload: the session's, with the blob's digest."""
    location = _location(client, reply)
    mark = "&" if "?" in location.resource else "?"
    return RegistryUrl(location.site, f"{location.resource}{mark}digest={descriptor.digest}")


def _location(client: RegistryClient, reply: Reply) -> RegistryUrl:
    return client.locate(reply.url, reply.headers.get("location"), "a place for the upload")


def _upload_in_chunks(
    client: RegistryClient,
    descriptor: Descriptor,
    data: bytes,
    on_progress: Callable[[float, float | None, str], None],
    what: str,
) -> Reply:
    last = _begin(client, what)
    size = max(client.settings.chunk_bytes, _least(last))
    for at in range(0, len(data), size):
        chunk = data[at : at + size]
        last = client.ask(
            "PATCH",
            _location(client, last),
            actions=_ACTIONS,
            headers={
                "Content-Type": _TYPE,
                "Content-Range": f"{at}-{at + len(chunk) - 1}",
            },
            body=chunk,
        )
        if last.status not in {202, 204}:
            raise client.refused(last, what)
        on_progress(at + len(chunk), len(data), "bytes")
    return client.ask("PUT", _closing(client, last, descriptor), actions=_ACTIONS)


def _least(begun: Reply) -> int:
    text = begun.headers.get("oci-chunk-min-length", "")
    least = int(text[:12]) if text.isascii() and text.isdigit() else 0
    if least > 2**30:
        raise RegistryError("the registry wants chunks of more than a gibibyte")
    return least
