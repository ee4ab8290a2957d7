"""Tests that each fault of a hostile registry is one typed error, and that it gets no secret."""

from __future__ import annotations

import gzip
import json
import time

import pytest

from carrel.errors import RegistryError
from carrel.oci.documents import OCI_INDEX, OCI_MANIFEST, sha256
from carrel.oci.repository import Descriptor
from support.staged_registry import BASIC, ELSEWHERE, REGISTRY, Staged
from support.upstream import PUBLIC, Reply, Seen

pytestmark = pytest.mark.long("flood")

MANIFEST = json.dumps({"schemaVersion": 2, "mediaType": OCI_MANIFEST}).encode()
TYPED = (("Content-Type", OCI_MANIFEST),)
DATA = bytes(range(256)) * 64
BLOB = Descriptor("application/wasm", sha256(DATA), len(DATA))
BLOB_PATH = f"/v2/plugins/demo/blobs/{BLOB.digest}"
TAG_PATH = "/v2/plugins/demo/manifests/1"


def manifest_at(staged: Staged, wanted: str = "1") -> str | None:
    with staged.repository() as repository:
        document = repository.manifest(wanted)
        return document.digest if document else None


def blob_of(staged: Staged, descriptor: Descriptor = BLOB) -> bytes:
    with staged.repository() as repository:
        return repository.blob(descriptor, max_bytes=2**20)


def refusal(staged: Staged, wanted: str = "1") -> str:
    with pytest.raises(RegistryError) as caught:
        manifest_at(staged, wanted)
    return caught.value.message


def blob_refusal(staged: Staged, descriptor: Descriptor = BLOB) -> str:
    with pytest.raises(RegistryError) as caught:
        blob_of(staged, descriptor)
    return caught.value.message


@pytest.mark.requirement("registry:bytes:manifests")
class TestManifests:
    def test_the_digest_is_computed_and_never_taken_from_a_header(self, staged: Staged) -> None:
        lie = ("Docker-Content-Digest", "sha256:" + "0" * 64)
        staged.on(TAG_PATH, Reply(headers=(*TYPED, lie), body=MANIFEST))
        assert manifest_at(staged) == sha256(MANIFEST)

    def test_another_manifest_than_the_digest_names_is_refused(self, staged: Staged) -> None:
        staged.on("*", Reply(headers=TYPED, body=MANIFEST))
        wanted = "sha256:" + "1" * 64
        assert f"the registry sent {sha256(MANIFEST)} in its place" in refusal(staged, wanted)

    @pytest.mark.parametrize(
        ("headers", "body", "says"),
        [
            ((("Content-Type", "text/html"),), b"<html>", "a web page; it is not a registry"),
            (TYPED, b"<html>", "is not JSON"),
            (TYPED, b"[]", "is not a JSON object"),
            (TYPED, b"[" * 100_000, "is not JSON"),
            ((("Content-Type", OCI_INDEX),), MANIFEST, "but calls itself"),
            (
                (("Content-Type", "application/json"),),
                b"{}",
                "which is not a supported manifest type",
            ),
            (TYPED, b'{"manifests": [], "layers": []}', "a manifest and an index at once"),
            (TYPED, b" " * (5 * 2**20), "more than 4194304 bytes"),
            ((*TYPED, ("Content-Encoding", "gzip")), gzip.compress(MANIFEST, mtime=0), "encoding"),
        ],
    )
    def test_an_invalid_manifest_is_one_clear_error(
        self, staged: Staged, headers: tuple[tuple[str, str], ...], body: bytes, says: str
    ) -> None:
        staged.on(TAG_PATH, Reply(headers=headers, body=body))
        assert says in refusal(staged)
        assert len(staged.seen) == 1

    def test_a_tag_that_is_not_there_is_no_error(self, staged: Staged) -> None:
        assert manifest_at(staged) is None

    def test_a_referrers_page_on_another_host_gets_no_credentials(self, staged: Staged) -> None:
        staged.log_in()
        listed = json.dumps({"schemaVersion": 2, "manifests": []}).encode()
        link = ("Link", f'<https://{ELSEWHERE}/more>; rel="next"')
        index = ("Content-Type", OCI_INDEX)
        path = f"/v2/plugins/demo/referrers/{BLOB.digest}"
        staged.on(path, basic_then(Reply(headers=(index, link), body=listed)))
        staged.on("/more", Reply(headers=(index,), body=listed))
        with staged.repository() as repository:
            assert repository.referrers(BLOB.digest) == []
        assert staged.seen[-1].host == ELSEWHERE
        assert "authorization" not in staged.seen[-1].headers

    def test_referrers_without_end_are_refused(self, staged: Staged) -> None:
        listed = json.dumps({"schemaVersion": 2, "manifests": []}).encode()
        link = ("Link", '</more>; rel="next"')
        staged.on("*", Reply(headers=(("Content-Type", OCI_INDEX), link), body=listed))
        with (
            staged.repository() as repository,
            pytest.raises(RegistryError, match="more than 8 pages"),
        ):
            repository.referrers(BLOB.digest)


@pytest.mark.requirement("registry:bytes:blobs")
class TestBlobs:
    def test_a_download_reports_progress(self, staged: Staged) -> None:
        staged.on(BLOB_PATH, Reply(body=DATA))
        assert blob_of(staged) == DATA
        assert staged.progress[-1] == (len(DATA), len(DATA))

    @pytest.mark.parametrize(
        ("reply", "says"),
        [
            (Reply(body=DATA[:-1] + b"x"), "in its place"),
            (Reply(body=DATA + b"x"), "but 16385 are sent"),
            (Reply(body=DATA[:-1]), "but 16383 are sent"),
            (Reply(headers=(("Content-Encoding", "gzip"),), body=DATA), "encoding"),
            (Reply(raw=b"HTTP/1.1 200 OK\r\n\r\n" + DATA + b"x" * 9), "more than the 16384 bytes"),
            (Reply(raw=b"HTTP/1.1 200 OK\r\n\r\n" + DATA[:9]), "and has 9"),
            (Reply(404), "it answered 404"),
        ],
    )
    def test_a_wrong_blob_is_one_clear_error(self, staged: Staged, reply: Reply, says: str) -> None:
        staged.on(BLOB_PATH, reply)
        assert says in blob_refusal(staged)
        assert len(staged.seen) == 1

    def test_a_blob_with_too_large_a_size_is_not_requested(self, staged: Staged) -> None:
        large = Descriptor("application/wasm", BLOB.digest, 2**40)
        assert "at most 1048576 are taken" in blob_refusal(staged, large)
        assert staged.seen == []

    def test_a_body_without_end_is_cut_at_the_announced_size(self, staged: Staged) -> None:
        head = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
        staged.on(BLOB_PATH, Reply(raw=head + (b"1000\r\n" + b"x" * 4096 + b"\r\n") * 1000))
        assert "more than the 16384 bytes" in blob_refusal(staged)

    def test_a_broken_transfer_is_resumed(self, staged: Staged) -> None:
        rest = Reply(
            206,
            headers=(("Content-Range", f"bytes 5000-{len(DATA) - 1}/{len(DATA)}"),),
            body=DATA[5000:],
        )
        staged.on(BLOB_PATH, Reply(body=DATA, cut=5000), rest)
        assert blob_of(staged) == DATA
        assert [seen.headers.get("range") for seen in staged.seen] == [None, "bytes=5000-"]
        assert len(staged.waits) == 1

    @pytest.mark.parametrize(
        "second",
        [
            Reply(body=DATA),
            Reply(416),
            Reply(206, headers=(("Content-Range", "bytes 0-9/10"),), body=DATA[:10]),
        ],
        ids=["whole", "refused", "another part"],
    )
    def test_a_registry_without_ranges_sends_the_whole_blob(
        self, staged: Staged, second: Reply
    ) -> None:
        staged.on(BLOB_PATH, Reply(body=DATA, cut=5000), second, Reply(body=DATA))
        assert blob_of(staged) == DATA

    def test_a_download_that_keeps_failing_ends_with_an_error(self, staged: Staged) -> None:
        staged.on(BLOB_PATH, Reply(body=DATA, cut=0))
        assert "cut its answer short" in blob_refusal(staged)
        assert len(staged.seen) == 3

    def test_a_body_that_drips_is_cut_off_in_time(self, staged: Staged) -> None:
        staged.configure(total_seconds=0.5, retries=0)
        staged.on(BLOB_PATH, Reply(body=DATA, drip=0.05))
        started = time.monotonic()
        assert "did not answer in time" in blob_refusal(staged)
        assert time.monotonic() - started < 3

    def test_a_silent_registry_times_out(self, staged: Staged) -> None:
        staged.configure(read_seconds=0.2, retries=1)
        staged.on(TAG_PATH, Reply(silent=True))
        assert "did not answer in time" in refusal(staged)
        assert len(staged.seen) == 2


class TestRetries:
    def test_a_busy_registry_is_retried_after_its_retry_after(self, staged: Staged) -> None:
        busy = Reply(429, headers=(("Retry-After", "7"),))
        staged.on(TAG_PATH, busy, Reply(503), Reply(headers=TYPED, body=MANIFEST))
        assert manifest_at(staged) == sha256(MANIFEST)
        assert staged.waits[0] == 7
        assert 0 < staged.waits[1] < 8

    def test_a_wait_that_is_too_long_is_not_waited_for(self, staged: Staged) -> None:
        staged.on(TAG_PATH, Reply(429, headers=(("Retry-After", "3600"),)))
        assert "asks for slower requests" in refusal(staged)
        assert (staged.waits, len(staged.seen)) == ([], 1)

    def test_a_name_without_address_is_reported(self, staged: Staged) -> None:
        staged.upstream.names.table[REGISTRY] = []
        assert "has no address" in refusal(staged)

    def test_a_network_failure_is_reported(self, staged: Staged) -> None:
        staged.upstream.names.failing = True
        assert "cannot be looked up; check the network" in refusal(staged)
        assert len(staged.waits) == 2

    def test_a_refused_connection_is_reported(self, staged: Staged) -> None:
        staged.upstream.refusing.add(PUBLIC)
        assert f"no connection to {REGISTRY} could be made" in refusal(staged)

    def test_a_certificate_of_an_untrusted_authority_is_refused(self, staged: Staged) -> None:
        staged.configure(ca_bundle=None)
        assert "is not trusted for that name" in refusal(staged)
        assert (staged.seen, staged.waits) == ([], [])


@pytest.mark.requirement("registry:secrets:redirects")
class TestRedirects:
    def test_credentials_are_not_sent_to_another_host_of_a_blob(self, staged: Staged) -> None:
        staged.log_in()
        there = f"https://{ELSEWHERE}/blobs/1?signature=abc"
        staged.on(BLOB_PATH, basic_then(Reply(307, headers=(("Location", there),))))
        staged.on("/blobs/1", Reply(body=DATA))
        assert blob_of(staged) == DATA
        sent = [(seen.host, seen.headers.get("authorization")) for seen in staged.seen]
        assert sent == [(REGISTRY, None), (REGISTRY, BASIC), (ELSEWHERE, None)]

    def test_a_redirect_back_home_gets_no_credentials_either(self, staged: Staged) -> None:
        staged.log_in()
        there, back = f"https://{ELSEWHERE}/blobs/1", f"https://{REGISTRY}/v2/secret/blobs/2"
        staged.on(BLOB_PATH, basic_then(Reply(307, headers=(("Location", there),))))
        staged.on("/blobs/1", Reply(302, headers=(("Location", back),)))
        staged.on("/v2/secret/blobs/2", basic_then(Reply(body=DATA)))
        assert "cannot read" in blob_refusal(staged)
        assert "authorization" not in staged.seen[-1].headers

    @pytest.mark.parametrize(
        ("location", "says"),
        [
            (f"http://{ELSEWHERE}/blob", "over http, which is refused"),
            (f"http://{REGISTRY}{BLOB_PATH}", "over http, which is refused"),
            ("file:///etc/passwd", "scheme is not https"),
            (f"https://user:password@{ELSEWHERE}/", "user name or password"),
            ("https://127.0.0.1/", "not public (loopback)"),
            ("https://[::ffff:127.0.0.1]/", "not public (IPv4-mapped)"),
            ("https://169.254.169.254/latest/meta-data", "not public (link-local)"),
            ("https://127.1/", "IP address"),
            ("https://inside.example.org/", "not public (private)"),
            ("https://mixed.example.org/", "not public (private)"),
            (f"https://{ELSEWHERE}:99999/", "port is not a number"),
            ("https://else\\where/", "a backslash"),
            ("", "the URL is empty"),
        ],
    )
    def test_a_redirect_to_a_private_address_is_refused(
        self, staged: Staged, location: str, says: str
    ) -> None:
        staged.upstream.names.table["inside.example.org"] = ["10.0.0.1"]
        staged.upstream.names.table["mixed.example.org"] = [PUBLIC, "192.168.1.1"]
        staged.on(BLOB_PATH, Reply(307, headers=(("Location", location),)))
        assert says in blob_refusal(staged)
        assert len(staged.seen) == 1
        assert set(staged.upstream.dialled) == {PUBLIC}

    def test_a_public_registry_cannot_redirect_to_a_private_address(self, staged: Staged) -> None:
        there = f"https://{ELSEWHERE}/blob"
        staged.upstream.names.table[ELSEWHERE] = ["10.0.0.2"]
        staged.on(BLOB_PATH, Reply(307, headers=(("Location", there),)))
        staged.on("/blob", Reply(body=DATA))
        staged.configure(private_hosts=frozenset({ELSEWHERE}))
        assert "not public (private)" in blob_refusal(staged)
        staged.configure(private_hosts=frozenset({ELSEWHERE, REGISTRY}))
        assert blob_of(staged) == DATA

    def test_redirects_have_an_end(self, staged: Staged) -> None:
        staged.on("*", Reply(307, headers=(("Location", BLOB_PATH),)))
        assert "redirects more than 5 times" in blob_refusal(staged)
        assert len(staged.seen) == 6

    def test_a_registry_on_a_private_address_has_to_be_named(self, staged: Staged) -> None:
        staged.upstream.names.table[REGISTRY] = ["10.1.2.3"]
        staged.on(TAG_PATH, Reply(headers=TYPED, body=MANIFEST))
        assert "not public (private)" in refusal(staged)
        staged.configure(private_hosts=frozenset({REGISTRY}))
        assert manifest_at(staged) == sha256(MANIFEST)


@pytest.mark.requirement("registry:secrets:uploads")
class TestUploads:
    def test_an_upload_location_on_another_host_gets_no_credentials(self, staged: Staged) -> None:
        staged.log_in()
        place = ("Location", f"https://{ELSEWHERE}/upload?state=1")
        staged.on(BLOB_PATH, basic_then(Reply(404)))
        staged.on("/v2/plugins/demo/blobs/uploads/", Reply(202, headers=(place,)))
        staged.on("/upload", Reply(201))
        with staged.repository() as repository:
            repository.put_blob(DATA, "application/wasm")
        last = staged.seen[-1]
        assert (last.host, last.path) == (ELSEWHERE, f"/upload?state=1&digest={BLOB.digest}")
        assert last.body == DATA
        assert "authorization" not in last.headers

    def test_a_registry_that_wants_chunks_gets_them(self, staged: Staged) -> None:
        staged.configure(chunk_bytes=6000)
        got: list[tuple[str, bytes]] = []

        def take(seen: Seen) -> Reply:
            if seen.method == "PATCH":
                got.append((seen.headers["content-range"], seen.body))
                return Reply(202, headers=(("Location", "/place?n=1"),))
            return Reply(201) if got else Reply(413)

        place = ("Location", "/place")
        staged.on("/v2/plugins/demo/blobs/uploads/", Reply(202, headers=(place,)))
        staged.on("/place", take)
        with staged.repository() as repository:
            repository.put_blob(DATA, "application/wasm")
        assert b"".join(body for _, body in got) == DATA
        assert [place for place, _ in got] == ["0-5999", "6000-11999", "12000-16383"]

    def test_an_upload_reports_progress(self, staged: Staged) -> None:
        data = bytes(3 * 2**20)
        place = ("Location", "/place")
        staged.on("/v2/plugins/demo/blobs/uploads/", Reply(202, headers=(place,)))
        staged.on("/place", Reply(201))
        with staged.repository() as repository:
            repository.put_blob(data, "application/wasm")
        assert [done for done, _ in staged.progress[:3]] == [2**20, 2 * 2**20, 3 * 2**20]

    def test_a_broken_upload_is_restarted(self, staged: Staged) -> None:
        place = ("Location", "/place")
        staged.on("/v2/plugins/demo/blobs/uploads/", Reply(202, headers=(place,)))
        staged.on("/place", Reply(raw=b""), Reply(201))
        with staged.repository() as repository:
            repository.put_blob(DATA, "application/wasm")
        assert [seen.body for seen in staged.seen if seen.path.startswith("/place")] == [DATA] * 2

    def test_an_upload_to_http_is_refused(self, staged: Staged) -> None:
        place = ("Location", f"http://{REGISTRY}/upload")
        staged.on("/v2/plugins/demo/blobs/uploads/", Reply(202, headers=(place,)))
        with (
            staged.repository() as repository,
            pytest.raises(RegistryError, match="over http, which is refused"),
        ):
            repository.put_blob(DATA, "application/wasm")

    def test_a_manifest_that_becomes_another_is_refused(self, staged: Staged) -> None:
        lie = ("Docker-Content-Digest", "sha256:" + "0" * 64)
        staged.on(TAG_PATH, Reply(201, headers=(lie,)))
        with staged.repository() as repository, pytest.raises(RegistryError, match="became sha256"):
            repository.put_manifest(MANIFEST, OCI_MANIFEST, "1")


def basic_then(reply: Reply) -> object:
    """Requires a password, and accepts any."""
    challenge = ("WWW-Authenticate", 'Basic realm="plugins"')

    def handler(seen: Seen) -> Reply:
        if seen.headers.get("authorization") == BASIC:
            return reply
        return Reply(401, headers=(challenge,))

    return handler
