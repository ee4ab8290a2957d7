"""Tests that cosign and Carrel give the same verdicts, apart from differences with a reason."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from carrel.errors import SignatureError
from carrel.oci.registry import open_repository
from carrel.trust.policy import TrustPolicy
from carrel.trust.verify import verify
from support import bundle_cells, certificate_cells, older_cells
from support.cosign import Cosign
from support.http_repository import HttpRepository
from support.pages import page
from support.registries import KINDS, Registry
from support.signing_keys import Cell, SigningKeys

pytestmark = pytest.mark.long("matrix")

TABLES = {
    "bundle": bundle_cells.TABLE,
    "older": older_cells.TABLE,
    "certificate": certificate_cells.TABLE,
}

#: The rows of the table in the decision record.
ROWS = {
    "bundles, by key": "bundle",
    "older layout, by key": "older",
    "by certificate, both layouts": "certificate",
}


def cases() -> list[Any]:
    """Returns each cell for both kinds of registry; cells of certificates for one kind, because
    registries do not read them.
    """
    kinds = sorted(KINDS)
    return [
        pytest.param(cell, kind, id=f"{kind}: {name}: {cell.name}")
        for name, table in TABLES.items()
        for number, cell in enumerate(table.cells)
        for kind in (kinds if name != "certificate" else [kinds[number % 2]])
    ]


def ours(
    registry: Registry, repository: HttpRepository, reference: str, policy: TrustPolicy
) -> str:
    """Returns why Carrel refuses a signature; empty if it accepts."""
    document = repository.manifest(reference)
    assert document is not None
    name = registry.reference(f"{repository.name}@{document.digest}")
    with open_repository(name, registry.settings) as opened:
        try:
            verify(opened, document.digest, policy)
        except SignatureError as error:
            return str(error)
    return ""


@pytest.mark.requirement("plugin:signed:as-cosign")
@pytest.mark.parametrize(("cell", "repository"), cases(), indirect=["repository"])
def test_verdicts_are_those_of_cosign(
    cell: Cell,
    signing_keys: SigningKeys,
    repository: HttpRepository,
    registries: Mapping[str, Registry],
    cosign_home: Path,
) -> None:
    reference, asked = cell.build(signing_keys, repository)
    registry = next(one for one in registries.values() if one.host == repository.host)
    reason = ours(registry, repository, reference, asked.policy)
    assert (not reason) == cell.ours, reason
    for version, accepted in cell.cosign.items():
        refusal = Cosign(version, cosign_home).says(repository, reference, asked.arguments)
        assert (not refusal) == accepted, f"cosign {version}: {refusal}"


def test_every_difference_from_cosign_has_a_reason() -> None:
    """Carrel is never more permissive: it accepts nothing that cosign refuses."""
    for table in TABLES.values():
        for cell in table.cells:
            differs = any(verdict != cell.ours for verdict in cell.cosign.values())
            assert bool(cell.why) == differs, cell.name
            assert not cell.ours or all(cell.cosign.values()), cell.name


def test_the_decision_s_table_counts_the_cells() -> None:
    rows = page("docs/decisions/0015-signatures.md").rows()
    counts = {row[0]: [int(cell) for cell in row[1:]] for row in rows if row[0] in ROWS}
    for name, table in TABLES.items():
        accepted = sum(cell.ours for cell in table.cells)
        stricter = sum(bool(cell.why) for cell in table.cells)
        refused = len(table.cells) - accepted - stricter
        row = next(key for key, value in ROWS.items() if value == name)
        assert counts[row] == [len(table.cells), accepted, refused, stricter], row
