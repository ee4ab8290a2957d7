"""Tests that a failing or slow source is reported as such, never as `not_found`."""

from __future__ import annotations

import threading
import time

import pytest

from carrel.errors import Cancelled
from support.guests import Guest, guest
from support.lookups import LOOP, A, found, lookup_of, one, says, source, trace

from .conftest import Open

pytestmark = pytest.mark.long("matrix")


@pytest.mark.requirement("result:typed:no-false-empty")
@pytest.mark.parametrize(
    ("broken", "code"),
    [
        pytest.param(source(body="unreachable"), "plugin_failed", id="trap"),
        pytest.param(source("nonsense"), "contract_violation", id="no-json"),
        pytest.param(source('{"works": []}'), "contract_violation", id="envelope"),
        pytest.param(source(says()), "contract_violation", id="silent"),
        pytest.param(
            source(says([found("doi", "10.1000/A", title="")])),
            "contract_violation",
            id="bad-record",
        ),
        pytest.param(
            source(says(failed=[{"id": A, "code": "made_up", "message": "x"}])),
            "contract_violation",
            id="unknown-code",
        ),
        pytest.param(
            source(says(failed=[{"id": A, "code": "rate_limited", "message": "x"}])),
            "rate_limited",
            id="reported-for-one",
        ),
        pytest.param(
            source('{"code": "upstream_unavailable", "message": "x"}', failed=True),
            "upstream_unavailable",
            id="reported-for-all",
        ),
        pytest.param(guest(version="1.0.0", manifest="nonsense"), None, id="no-manifest"),
    ],
)
def test_a_source_that_fails_is_never_not_found_and_hides_no_other(
    open_api: Open, broken: Guest, code: str | None
) -> None:
    good = source(says([found("doi", "10.1000/A")]))
    result = open_api(broken=broken, good=good).lookup(["10.1000/A"])
    item = one(result)
    assert item.outcome == "found"
    if code is None:
        assert "broken was not asked" in result.notices[0]
        return
    assert trace(item) == [("broken", "failed", code), ("good", "found", "10.1000/A")]
    alone = one(open_api(broken=broken).lookup(["10.1000/A"]))
    assert alone.outcome == "failed"
    assert alone.problem is not None
    assert alone.problem.code == code


def test_an_invalid_record_fails_only_its_own_identifier(open_api: Open) -> None:
    works = [found("doi", "10.1000/A", issued="soon"), found("doi", "10.1000/b")]
    result = open_api(one=source(says(works))).lookup(["10.1000/A", "10.1000/b"])
    assert [item.outcome for item in result.items] == ["failed", "found"]
    problem = result.items[0].problem
    assert problem is not None
    assert "issued" in problem.message


def test_an_invalid_identifier_fails_only_its_own_item(open_api: Open) -> None:
    api = open_api(one=source(says([found("doi", "10.1000/A")])))
    bad, good = api.lookup(["what\x1b[2J is this", "10.1000/A"]).items
    assert (bad.outcome, good.outcome) == ("failed", "found")
    assert bad.problem is not None
    assert bad.problem.code == "invalid_arguments"
    assert "\x1b" not in bad.given + bad.problem.message


def test_not_found_requires_that_every_queried_source_says_so(open_api: Open) -> None:
    lacking = source(says(not_found=[A]))
    assert one(open_api(one=lacking).lookup(["10.1000/A"])).outcome == "not_found"
    both = open_api(one=lacking, two=source(body="unreachable"))
    assert one(both.lookup(["10.1000/A"])).outcome == "failed"


def test_a_wait_that_helps_is_passed_on(open_api: Open) -> None:
    report = {"id": A, "code": "rate_limited", "message": "x", "retry_after_seconds": 7}
    item = one(open_api(one=source(says(failed=[report]))).lookup(["10.1000/A"]))
    assert item.to_json()["error"]["retry_after_seconds"] == 7


@pytest.mark.requirement("serve:alive:lookup")
def test_the_deadline_ends_the_wait_and_keeps_earlier_answers(open_api: Open) -> None:
    api = open_api(
        quick=source(says([found("doi", "10.1000/A", ids={"pmid": "7"})])),
        slow=source(body=LOOP),
        late=source(says(), "pmid"),
        limits={"wall_seconds": 2},  # enough for a busy machine to compile the fast plugin
    )
    started = time.monotonic()
    item = one(api.lookup(["10.1000/A"]))
    assert time.monotonic() - started < 10
    assert trace(item) == [
        ("quick", "found", "10.1000/A"),
        ("slow", "failed", "timeout"),
        ("late", "not_asked", "deadline"),
    ]


def test_cancelling_interrupts_the_guests(open_api: Open) -> None:
    api = open_api(slow=source(body=LOOP))
    lookup = lookup_of(api.toolbox)
    call = lookup.new_call()
    reported = threading.Event()
    call.on_progress = lambda *_: reported.set()

    def cancel() -> None:
        reported.wait(30)
        call.cancel()

    thread = threading.Thread(target=cancel)
    thread.start()
    with pytest.raises(Cancelled):
        lookup.run(["10.1000/A"], call)
    thread.join()
