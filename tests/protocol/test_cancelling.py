"""Tests that cancelling interrupts the guest and does not affect other calls."""

from __future__ import annotations

import pytest

from support.stdio_client import StdioClient

#: An interrupt has no response, so tests poll for it; this many polls suffice.
ATTEMPTS = 2000


def interrupted(client: StdioClient, key: str) -> bool:
    """Returns whether the call with `key` has been interrupted; polls until it has."""
    return any(
        key in client.result("cancelled")["structuredContent"]["keys"] for _ in range(ATTEMPTS)
    )


@pytest.mark.requirement("serve:alive:cancelled")
def test_a_cancelled_call_is_interrupted_and_never_answered(era_client: StdioClient) -> None:
    waiting = era_client.start_call("wait", token="t", key="c1")
    other = era_client.start_call("wait", key="c2")
    era_client.notification("notifications/progress")
    era_client.notify("notifications/cancelled", {"requestId": waiting, "reason": "no need"})
    assert interrupted(era_client, "c1")
    era_client.result("release", key="c2")
    assert era_client.answer(other)["result"]["structuredContent"] == {"released": "c2"}
    assert waiting not in [frame.get("id") for frame, _ in era_client.pairs]


def test_a_call_that_is_cancelled_at_once_leaves_nothing_behind(era_client: StdioClient) -> None:
    waiting = era_client.start_call("wait", key="at-once")
    era_client.notify("notifications/cancelled", {"requestId": waiting})
    again = era_client.request_frame("ping") if era_client.revision != "2026-07-28" else None
    if again is not None:
        again["id"] = waiting
        era_client.methods[waiting] = "ping"
        # After cancellation its id can be used again.
        assert any("result" in _send(era_client, again) for _ in range(ATTEMPTS))
    assert era_client.result("echo", value=1)["structuredContent"] == {"value": 1}


def _send(client: StdioClient, frame: dict[str, object]) -> dict[str, object]:
    client.send(frame)
    return client.wait_for(lambda answer: "error" in answer or answer.get("id") == frame["id"])


@pytest.mark.parametrize("request_id", [99_999, "nobody", None, 1.5, {}])
def test_cancelling_an_unknown_request_has_no_effect(
    era_client: StdioClient, request_id: object
) -> None:
    era_client.notify("notifications/cancelled", {"requestId": request_id})
    assert era_client.result("echo", value=1)["structuredContent"] == {"value": 1}
