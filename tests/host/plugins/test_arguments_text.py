"""Tests the JSON text of arguments, as a component receives it."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest

from carrel.plugins.component_plugin import arguments_text


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"query": 'a "quoted" \\ path/ with\n\t\x00\x1f\x7f', "words": "é\u2028\U0001f600"},
        {"nested": [{"a": [1, -1, 0.5, True, False, []]}, {}], "none": None},
        {"large": 2**70, "exact": 2**63, "small": 5e-324, "round": 1e22, "negative": -0.0},
        {"said": "null", "none": None},
        {"lone": "\ud800"},
    ],
)
def test_a_guest_receives_the_arguments_of_the_client(arguments: dict[str, Any]) -> None:
    text = arguments_text(arguments)
    assert json.loads(text) == arguments
    usual = json.dumps(arguments, ensure_ascii=False, separators=(",", ":"))
    assert text == usual or "large" in arguments  # 1e22 may be written in two ways


@pytest.mark.parametrize("number", [math.inf, -math.inf, math.nan])
def test_a_number_that_json_does_not_have_is_refused(number: float) -> None:
    with pytest.raises(ValueError, match="Out of range"):
        arguments_text({"a": [{"b": number}]})
