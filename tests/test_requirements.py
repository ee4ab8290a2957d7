"""Tests that every promise has a test, and every marker names a promise."""

from __future__ import annotations

import pytest

from requirements import PROMISES, promise_of
from requirements_of_surfaces import DOIGET, REFERENCE_MANAGER, SURFACES
from requirements_of_web_researcher import WEB_RESEARCHER
from support.parts import CARRIED


def test_every_promise_has_a_test_and_every_marker_a_promise(
    request: pytest.FixtureRequest,
) -> None:
    if any(request.config.option.file_or_dir) or request.config.option.keyword:
        pytest.skip("only a part of the tests was collected")
    carried = {promise_of(name) for name in request.config.stash[CARRIED]}
    wanted = {*PROMISES, *SURFACES, *DOIGET, *REFERENCE_MANAGER, *WEB_RESEARCHER}
    assert carried - wanted == set()
    assert wanted - carried == set()
