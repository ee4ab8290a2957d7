"""A repository over plain HTTP that accepts any content, as an attacker would write it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from http.client import HTTPConnection
from typing import Any
from urllib.parse import urljoin, urlsplit

from carrel.errors import RegistryError
from carrel.oci.repository import Descriptor, Document

MANIFEST = "application/vnd.oci.image.manifest.v1+json"
INDEX = "application/vnd.oci.image.index.v1+json"


@dataclass(frozen=True)
class HttpRepository:
    """A repository of a local registry, without credentials."""

    host: str
    name: str

    def manifest(self, reference: str) -> Document | None:
        status, headers, data = self._ask("GET", f"manifests/{reference}", accept=True)
        if status == 404:
            return None
        self._check(status, 200)
        return Document(headers.get("Content-Type", MANIFEST), data, digest_of(data))

    def blob(self, descriptor: Descriptor, *, max_bytes: int) -> bytes:
        if descriptor.size > max_bytes:
            raise RegistryError(f"the blob is larger than {max_bytes} bytes")
        status, _, data = self._ask("GET", f"blobs/{descriptor.digest}")
        self._check(status, 200)
        if len(data) != descriptor.size or digest_of(data) != descriptor.digest:
            raise RegistryError("the blob is not what it was asked for by")
        return data

    def referrers(self, digest: str) -> Sequence[Descriptor]:
        status, _, data = self._ask("GET", f"referrers/{digest}", accept=True)
        if status == 404:
            document = self.manifest(digest.replace(":", "-"))
            data = document.data if document else b'{"manifests":[]}'
        else:
            self._check(status, 200)
        return [
            Descriptor(one["mediaType"], one["digest"], one["size"])
            for one in json.loads(data)["manifests"]
        ]

    def put_blob(self, data: bytes, media_type: str) -> Descriptor:
        digest = digest_of(data)
        status, headers, _ = self._ask("POST", "blobs/uploads/", b"")
        self._check(status, 202)
        where = urljoin(f"http://{self.host}/", headers["Location"])
        mark = "&" if urlsplit(where).query else "?"
        status, _, _ = self._send(
            "PUT", f"{where}{mark}digest={digest}", data, "application/octet-stream"
        )
        self._check(status, 201)
        return Descriptor(media_type, digest, len(data))

    def put_manifest(
        self, data: bytes, media_type: str, reference: str | None = None
    ) -> Descriptor:
        digest = digest_of(data)
        url = f"http://{self.host}/v2/{self.name}/manifests/{reference or digest}"
        status, headers, _ = self._send("PUT", url, data, media_type)
        self._check(status, 201)
        descriptor = Descriptor(media_type, digest, len(data))
        subject = json.loads(data).get("subject")
        if subject and "OCI-Subject" not in headers and not self._has_referrers(subject["digest"]):
            self._list_in_fallback(subject["digest"], descriptor)
        return descriptor

    def put_json(self, value: Any, media_type: str, reference: str | None = None) -> Descriptor:
        return self.put_manifest(json.dumps(value).encode(), media_type, reference)

    def delete(self, reference: str) -> None:
        self._ask("DELETE", f"manifests/{reference}")

    def _has_referrers(self, digest: str) -> bool:
        return self._ask("GET", f"referrers/{digest}")[0] == 200

    def _list_in_fallback(self, digest: str, descriptor: Descriptor) -> None:
        tag = digest.replace(":", "-")
        document = self.manifest(tag)
        listed = json.loads(document.data)["manifests"] if document else []
        entry = {
            "mediaType": descriptor.media_type,
            "digest": descriptor.digest,
            "size": descriptor.size,
        }
        if entry["digest"] not in {one["digest"] for one in listed}:
            index = {"schemaVersion": 2, "mediaType": INDEX, "manifests": [*listed, entry]}
            self.put_json(index, INDEX, tag)

    def _check(self, status: int, wanted: int) -> None:
        if status != wanted:
            raise RegistryError(f"the registry answered {status}", status=status)

    def _ask(
        self, method: str, path: str, data: bytes | None = None, *, accept: bool = False
    ) -> tuple[int, Any, bytes]:
        wanted = {"Accept": f"{MANIFEST}, {INDEX}"} if accept else {}
        return self._send(method, f"http://{self.host}/v2/{self.name}/{path}", data, **wanted)

    def _send(
        self,
        method: str,
        url: str,
        data: bytes | None,
        content_type: str | None = None,
        **headers: str,
    ) -> tuple[int, Any, bytes]:
        parts = urlsplit(url)
        connection = HTTPConnection(str(parts.hostname), parts.port, timeout=20)
        if content_type:
            headers["Content-Type"] = content_type
        target = parts.path + (f"?{parts.query}" if parts.query else "")
        try:
            connection.request(method, target, data, headers)
            answer = connection.getresponse()
            return answer.status, answer.headers, answer.read()
        finally:
            connection.close()


def digest_of(data: bytes) -> str:
    return f"sha256:{hashlib.sha256(data).hexdigest()}"
