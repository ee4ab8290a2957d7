"""TLS settings of every outbound connection."""

from __future__ import annotations

import os
import ssl
import sys
from pathlib import Path

import httpcore2


def client_context(ca_bundle: Path | None) -> ssl.SSLContext:
    """Returns a context for client connections: TLS 1.2 or newer, certificate and name verified.

    The trust store is the one that httpcore2 chooses: `SSL_CERT_FILE`, else `SSL_CERT_DIR`, else
    the system's. `SSLKEYLOGFILE` is ignored: `ssl.create_default_context` would write each
    connection's session keys to the file that it names, and with them API keys can be read from
    captured traffic.

    Args:
        ca_bundle: a PEM file of authorities that are trusted besides those of the trust store.

    Raises:
        OSError: a file of authorities cannot be read.
        ssl.SSLError: a file of authorities is not PEM.
    """
    named = os.environ.get("SSL_CERT_FILE"), os.environ.get("SSL_CERT_DIR")
    context = _context_for(*named) if any(named) else httpcore2.default_ssl_context()
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    if ca_bundle is not None:
        context.load_verify_locations(cafile=ca_bundle)
    return context


def _context_for(cafile: str | None, capath: str | None) -> ssl.SSLContext:
    """Returns what httpcore2 makes of the two variables, without the key log."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    if sys.version_info >= (3, 13):
        context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN | ssl.VERIFY_X509_STRICT
    if cafile:
        context.load_verify_locations(cafile=cafile)
    else:
        context.load_verify_locations(capath=capath)
    return context
