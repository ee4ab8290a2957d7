"""One server with everything on, for the tests that only look."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from support.operated_server import Collector, OperatedServer, an_upstream
from support.upstream import Reply, Upstream


@pytest.fixture(scope="package")
def upstream() -> Iterator[Upstream]:
    with an_upstream() as one:
        one.on("/v1/paper", Reply(headers=[("content-type", "text/plain")], body=b"a paper"))
        one.on("/v1/missing", Reply(404, body=b"none"))
        yield one


@pytest.fixture(scope="package")
def collector() -> Iterator[Collector]:
    with Collector() as one:
        yield one


@pytest.fixture(scope="package")
def server(
    upstream: Upstream,
    collector: Collector,
    tmp_path_factory: pytest.TempPathFactory,
    code_folder: Path,
) -> Iterator[OperatedServer]:
    folder = tmp_path_factory.mktemp("operated")
    with OperatedServer(
        folder,
        upstream,
        code_folder,
        server={
            "log_level": "debug",
            "log_format": "json",
            "audit_log": str(folder / "audit.jsonl"),
            "traces": collector.url,
        },
        http={"metrics_by_principal": True},
    ) as one:
        yield one.ready()
