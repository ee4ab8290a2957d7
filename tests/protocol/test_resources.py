"""Tests plugins' resources, and the server's own health resource."""

from __future__ import annotations

import pytest

from support.scripted_toolbox import SECRET
from support.stdio_client import StdioClient


def test_the_plugins_resources_are_listed_after_health(era_client: StdioClient) -> None:
    health, facts, *_ = era_client.request("resources/list")["result"]["resources"]
    assert health["uri"] == "carrel://health"
    assert facts == {
        "uri": "scripted://facts",
        "name": "facts",
        "title": "Facts",
        "description": "Something from outside.",
        "mimeType": "application/json",
    }


def test_a_resource_is_the_plugins_text_and_labelled_as_from_outside(
    era_client: StdioClient,
) -> None:
    result = era_client.request("resources/read", {"uri": "scripted://facts"})["result"]
    assert result["contents"] == [
        {
            "uri": "scripted://facts",
            "mimeType": "application/json",
            "text": '{ "n": 1 }',
            "_meta": {"carrel/content": "untrusted-external-content"},
        }
    ]


@pytest.mark.requirement("result:typed:resource")
def test_a_source_that_fails_is_an_error_with_its_code(era_client: StdioClient) -> None:
    error = era_client.request("resources/read", {"uri": "scripted://broken"})["error"]
    assert error["code"] == -32603
    assert error["data"]["error"]["code"] == "upstream_unavailable"
    assert "\x1b" not in error["message"]


def test_no_exceptions_text_reaches_the_client(era_client: StdioClient) -> None:
    answer = era_client.request("resources/read", {"uri": "scripted://crash"})
    assert answer["error"]["message"] == "internal error"
    assert SECRET not in str(answer)
