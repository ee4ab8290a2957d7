"""Tests the settings of every TLS connection that Carrel opens."""

from __future__ import annotations

import socket
import ssl
from collections.abc import Callable
from pathlib import Path

import pytest
import trustme

from carrel.fetch.tls import client_context
from support.staged_registry import REGISTRY, staged_registry
from support.upstream import Reply, Upstream

HOST = "api.example.org"


def shake_hands(upstream: Upstream, context: ssl.SSLContext, host: str = HOST) -> str | None:
    """Returns the protocol version of a handshake with the upstream."""
    with (
        socket.create_connection(("127.0.0.1", upstream.port), timeout=10) as plain,
        context.wrap_socket(plain, server_hostname=host) as connection,
    ):
        return connection.version()


@pytest.fixture
def key_log(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Returns the file that SSLKEYLOGFILE names."""
    monkeypatch.delenv("SSL_CERT_FILE", raising=False)
    monkeypatch.delenv("SSL_CERT_DIR", raising=False)
    path = tmp_path / "keys.log"
    monkeypatch.setenv("SSLKEYLOGFILE", str(path))
    return path


def trust_by_file(monkeypatch: pytest.MonkeyPatch, authority: Path) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(authority))


def trust_by_folder(monkeypatch: pytest.MonkeyPatch, authority: Path) -> None:
    monkeypatch.setenv("SSL_CERT_DIR", str(authority.parent))


def trust_the_system(_monkeypatch: pytest.MonkeyPatch, _authority: Path) -> None:
    return None


@pytest.mark.requirement("sandbox:secrets:key-log")
@pytest.mark.parametrize("trust", [trust_by_file, trust_by_folder, trust_the_system])
def test_no_session_key_is_written_whatever_chooses_the_trust_store(
    trust: Callable[[pytest.MonkeyPatch, Path], None],
    monkeypatch: pytest.MonkeyPatch,
    key_log: Path,
    tmp_path: Path,
) -> None:
    with Upstream(HOST) as upstream:
        authority = upstream.write_authority(tmp_path)
        trust(monkeypatch, authority)
        assert shake_hands(upstream, client_context(authority)) == "TLSv1.3"
    assert not key_log.exists()


@pytest.mark.requirement("sandbox:secrets:key-log")
def test_a_request_to_a_registry_writes_no_session_key(
    monkeypatch: pytest.MonkeyPatch, key_log: Path, tmp_path: Path
) -> None:
    with staged_registry(tmp_path) as staged:
        assert staged.settings.ca_bundle is not None
        trust_by_file(monkeypatch, staged.settings.ca_bundle)
        staged.on("*", Reply(404))
        with staged.repository(REGISTRY) as repository:
            assert repository.manifest("1") is None
        assert staged.seen
    assert not key_log.exists()


@pytest.mark.requirement("sandbox:hosts:tls")
def test_certificates_and_names_are_verified_and_old_versions_refused(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for variable in ("SSL_CERT_FILE", "SSL_CERT_DIR"):
        monkeypatch.delenv(variable, raising=False)
    context = client_context(None)
    assert (context.verify_mode, context.check_hostname) == (ssl.CERT_REQUIRED, True)
    assert context.minimum_version == ssl.TLSVersion.TLSv1_2
    with Upstream(HOST) as upstream:
        authority = upstream.write_authority(tmp_path)
        with pytest.raises(ssl.SSLCertVerificationError):
            shake_hands(upstream, context)
        with pytest.raises(ssl.SSLCertVerificationError):
            shake_hands(upstream, client_context(authority), "other.example.org")


@pytest.mark.requirement("sandbox:hosts:tls")
def test_the_file_of_the_environment_replaces_the_systems_trust_store(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    with Upstream(HOST) as upstream:
        trust_by_file(monkeypatch, upstream.write_authority(tmp_path))
        assert shake_hands(upstream, client_context(None)) == "TLSv1.3"
        trustme.CA().cert_pem.write_to_path(str(tmp_path / "another.pem"))
        trust_by_file(monkeypatch, tmp_path / "another.pem")
        with pytest.raises(ssl.SSLCertVerificationError):
            shake_hands(upstream, client_context(None))


def test_a_bundle_that_is_no_pem_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "bundle.pem").write_text("no certificate", "utf-8")
    with pytest.raises(ssl.SSLError):
        client_context(tmp_path / "bundle.pem")
