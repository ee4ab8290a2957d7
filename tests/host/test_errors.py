"""Tests that the error tree agrees with the contract, and that errors can be serialized."""

from __future__ import annotations

import json
import pickle

import pytest

from carrel import errors
from carrel.contract import contract_file
from carrel.errors import CODES, CarrelError, SourceError
from carrel.plugins.calls.report import PLUGIN_CODES

CONTRACT = json.loads(contract_file("errors.json").read_text("utf-8"))


def tree(kind: type[CarrelError]) -> list[type[CarrelError]]:
    """Returns the class and its subclasses in `carrel.errors`; tests define others."""
    own = [one for one in kind.__subclasses__() if one.__module__ == errors.__name__]
    return [kind] + [below for one in own for below in tree(one)]


EXAMPLES: list[CarrelError] = [
    errors.ConfigError(["a", "b"], path="carrel.toml"),
    errors.ArgumentError(["count: 0 is too small"], plugin="p", tool="t"),
    errors.RequestRefusedError(-32000, "Reference not found: nobody"),
    errors.FailedResultError(
        "not found\n\n{}", SourceError("not_found", "not found", plugin="p", tool="t")
    ),
    errors.UnknownNameError("tool", "arxiv_qery", known=["arxiv_query"]),
    errors.HiddenToolError("p_t", plugin="p", grant='plugins.p.runtime_config.tools += "t"'),
    errors.MissingPluginsError("p_t", known=["q_t"], failed={"p": errors.LoadError("p: gone")}),
    errors.LoadError("p: gone", plugin="p"),
    errors.RegistryError("p: 502 from the registry", plugin="p", status=502),
    errors.SignatureError("p: no signature", plugin="p", tried=["key: another key"]),
    errors.LockError("p: not approved", plugin="p", changes=["digest"]),
    errors.BuildError("p: no compiler", remedy="install one", plugin="p"),
    errors.Trap("unreachable", "it gave up", trace="0: m!f", plugin="p", tool="t"),
    errors.LimitExceeded("cpu", 10.0, plugin="p", tool="t"),
    errors.DeadlineExceeded(plugin="p", tool="t", seconds=60),
    errors.Cancelled(plugin="p", tool="t"),
    errors.ContractViolation("p: not JSON", plugin="p", tool="t"),
    SourceError("not_found", "no such paper", plugin="p", tool="t", extra={"x": 1}),
    errors.ModuleError("p: alas", plugin="p", tool="t", content=[{"type": "text", "text": "x"}]),
    errors.NotRecordedError("GET", "https://example.org/", "recordings"),
    errors.StorageError("/path", "disk full"),
    errors.StateError("/state/x.sqlite", "full", remedy="try again"),
    errors.StateError("redis://h:6379/0", "no answer within 1 s", retry_after_seconds=0.1),
    errors.BusyError(64),
    errors.InternalError(),
]


@pytest.mark.requirement("result:typed:codes")
def test_codes_and_actions_are_those_of_the_contract() -> None:
    assert {
        code: (entry["retryable"], entry["action"]) for code, entry in CONTRACT["codes"].items()
    } == dict(CODES)
    assert dict(errors.ACTIONS) == CONTRACT["actions"]
    assert {action for _, action in CODES.values()} <= set(errors.ACTIONS)
    assert {
        code for code, entry in CONTRACT["codes"].items() if "plugin" in entry["by"]
    } == PLUGIN_CODES


def test_every_class_has_an_example_here_and_a_code_of_the_list() -> None:
    abstract = {CarrelError, errors.PluginError}
    assert {type(example) for example in EXAMPLES} == set(tree(CarrelError)) - abstract
    assert {kind.code for kind in tree(CarrelError)} <= set(CODES)


def test_the_module_docstring_draws_the_whole_tree() -> None:
    assert errors.__doc__ is not None
    assert all(kind.__name__ in errors.__doc__ for kind in tree(CarrelError))


@pytest.mark.requirement("result:typed:shape")
@pytest.mark.parametrize("error", EXAMPLES, ids=lambda error: type(error).__name__)
def test_an_error_has_message_retryable_and_action(error: CarrelError) -> None:
    payload = error.to_dict()
    assert payload["code"] in CODES
    assert payload["message"] == str(error) != ""
    assert payload["retryable"] in (True, False)
    assert payload["action"] in CONTRACT["actions"]
    json.dumps(payload)


@pytest.mark.parametrize("error", EXAMPLES, ids=lambda error: type(error).__name__)
def test_an_error_survives_pickling(error: CarrelError) -> None:
    copy = pickle.loads(pickle.dumps(error))
    assert type(copy) is type(error)
    assert copy.to_dict() == error.to_dict()


def test_an_unknown_name_without_a_close_match_lists_all_names() -> None:
    error = errors.UnknownNameError("tool", "zzz", known=["arxiv_query"])
    assert error.nearest is None
    assert "known: arxiv_query" in str(error)


def test_limits_of_the_contract_are_those_that_are_enforced() -> None:
    settable = {"cpu", "memory", "stack", "output", "fetches", "fetched_bytes"}
    fixed = {"reports", "memories", "tables", "table_elements", "instances"}
    assert set(CONTRACT["limits"]) == settable | fixed
    for limit in fixed:
        assert "to allow more" not in str(errors.LimitExceeded(limit, 4, plugin="p", tool="t"))
