"""Verifies bundles of a Sigstore instance: a short-lived certificate and a log's proof.

The `sigstore` library verifies them. It is an extra, because few plugins need it and it has thirty
dependencies.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from carrel.text.printable import printable

from .claims import check_statement
from .strict import RefusedError

if TYPE_CHECKING:
    from collections.abc import Callable

    from cryptography.x509 import Certificate

EXTRA = "signatures of a Sigstore instance need the extra: pip install 'carrel[sigstore]'"


def check_keyless(
    document: bytes,
    digest: str,
    root: Path | None,
    check_identity: Callable[[Certificate], None],
) -> None:
    """Verifies a bundle offline against a Sigstore instance's trusted root.

    Args:
        document: the bundle.
        digest: of the signed manifest.
        root: the instance's trusted root (JSON); None for the library's copy of the public one.
        check_identity: raises `RefusedError` for the certificate of another signer.

    Raises:
        RefusedError: verification failed, or the library is not installed.
    """
    try:
        from sigstore.errors import Error, VerificationError
        from sigstore.models import Bundle
    except ImportError:
        raise RefusedError(EXTRA) from None

    class _Signer:
        def verify(self, cert: Certificate) -> None:
            try:
                check_identity(cert)
            except RefusedError as error:
                raise VerificationError(str(error)) from None

    try:
        bundle = Bundle.from_json(document)
        payload_type, payload = _verifier(root).verify_dsse(bundle, _Signer())
    except (Error, ValueError) as error:
        raise RefusedError(printable(str(error) or type(error).__name__, 300)) from None
    check_statement(payload_type, payload, digest)


@lru_cache(maxsize=8)
def _verifier(root: Path | None) -> Any:
    import logging

    from sigstore.models import TrustedRoot
    from sigstore.verify import Verifier

    if root is not None:
        return Verifier(trusted_root=TrustedRoot.from_file(str(root)))
    # The library warns that it works offline, as it should.
    logging.getLogger("sigstore._internal.tuf").setLevel(logging.ERROR)
    return Verifier.production(offline=True)
