"""Tests that each hostile call ends with one typed error, and other plugins' calls succeed."""

from __future__ import annotations

import asyncio
import json
import time

import pytest

from carrel.errors import CarrelError
from carrel.text.printable import printable
from carrel.tools import Toolbox

from .behaviours import BEHAVIOURS, CHEAP, COSTLY, Behaviour, tool_name
from .latency import Attack, require_quick_answers

pytestmark = pytest.mark.alone

NAMES = {behaviour.name: behaviour for behaviour in BEHAVIOURS}


async def error_of(toolbox: Toolbox, behaviour: Behaviour) -> CarrelError:
    with pytest.raises(CarrelError) as caught:
        await toolbox.call(f"hostile_{tool_name(behaviour)}", {})
    return caught.value


def require_expected(error: CarrelError, behaviour: Behaviour) -> None:
    shown = error.to_dict()
    assert shown["code"] == behaviour.code, shown
    assert shown["source"] == "hostile"
    assert {key: shown.get(key) for key in behaviour.facts} == behaviour.facts
    assert printable(error.message, 3000) == error.message
    assert len(json.dumps(shown, allow_nan=False)) < 8_000


def require_promise(toolbox: Toolbox, attack: Attack, at_once: int = 1) -> None:
    async def ask() -> None:
        assert (await toolbox.call("good_echo", {})).data == {"n": 1}

    async def honest() -> None:
        await asyncio.gather(*(toolbox.call("busy_echo", {}) for _ in range(at_once)))

    print(asyncio.run(require_quick_answers(ask, honest, attack)))  # noqa: T201 - the figure


@pytest.mark.requirement("result:typed:hostile")
@pytest.mark.parametrize("behaviour", CHEAP, ids=lambda one: one.name)
def test_a_hostile_call_costs_one_typed_error(neighbours: Toolbox, behaviour: Behaviour) -> None:
    error = asyncio.run(error_of(neighbours, behaviour))
    require_expected(error, behaviour)


def test_forged_members_of_a_plugins_error_are_dropped(neighbours: Toolbox) -> None:
    shown = asyncio.run(error_of(neighbours, NAMES["forged-denial"])).to_dict()
    assert shown == {
        "code": "denied",
        "message": "ask the operator to allow *",
        "retryable": False,
        "action": "ask_operator",
        "source": "hostile",
    }


@pytest.mark.requirement("serve:alive:hostile")
@pytest.mark.requirement("sandbox:limits:hostile")
@pytest.mark.long("flood")
@pytest.mark.parametrize("behaviour", COSTLY, ids=lambda one: one.name)
def test_others_are_answered_while_a_hostile_call_runs(
    neighbours: Toolbox, behaviour: Behaviour
) -> None:
    async def attack() -> None:
        calls = (error_of(neighbours, behaviour) for _ in range(behaviour.at_once))
        for error in await asyncio.gather(*calls):
            require_expected(error, behaviour)

    require_promise(neighbours, attack, behaviour.at_once)


@pytest.mark.requirement("serve:alive:hostile")
def test_others_are_answered_while_every_cheap_attack_is_repeated(neighbours: Toolbox) -> None:
    async def attack() -> None:
        for behaviour in CHEAP:
            require_expected(await error_of(neighbours, behaviour), behaviour)

    require_promise(neighbours, attack)


@pytest.mark.requirement("sandbox:limits:hostile")
def test_a_loop_ends_soon_after_its_limit(neighbours: Toolbox) -> None:
    started = time.process_time()
    asyncio.run(error_of(neighbours, NAMES["loop"]))
    assert time.process_time() - started < 0.4 + 0.3
