"""Tests that the reference lists exactly the settings, tools, commands and errors of the code."""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import click
import pytest

import carrel
from carrel import config as configuration
from carrel import errors
from carrel.config import file as config_file
from carrel.config import rules as config_rules
from carrel.config import store as config_store
from carrel.config.values import Rule
from carrel.contract import contract_file
from carrel.exchange import Limits
from carrel.runtime import ffi
from support.pages import ROOT, Page, page, pages

DEFAULTS = {
    "fetch": configuration.FetchConfig(),
    "runtime": configuration.RuntimeConfig(),
    "server": configuration.ServerConfig(),
    "documents": configuration.DocumentsConfig(),
    "papers": configuration.PapersConfig(),
    "limits": Limits(),
}

# Settings


def rules() -> dict[str, Rule]:
    """Returns setting → rule, for every setting that is not a table."""
    found: dict[str, Rule] = {}
    for section, keys in config_rules.RULES.items():
        found |= {f"{section}.{key}" if section else key: rule for key, rule in keys.items()}
    found |= {f"limits.{key}": rule for key, rule in config_rules.LIMIT_RULES.items()}
    entry = {**config_file._ENTRY_RULES}
    entry |= {f"runtime_config.{k}": r for k, r in config_file._RUNTIME_CONFIG_RULES.items()}
    return found | {f"plugins.<name>.{key}": rule for key, rule in entry.items()}


def settings_rows() -> dict[str, list[str]]:
    """Returns setting → its row: meaning, range, default."""
    rows = page("docs/reference/settings.md").section("All settings").rows()
    return {row[0].strip("`"): row[1:] for row in rows}


def test_every_setting_is_described_and_no_other() -> None:
    further = {"plugins.<name>.limits", "plugins.<name>.settings"}
    further |= {"plugins.<name>.runtime_config.limits"}
    assert set(settings_rows()) == set(rules()) | further


def default_of(setting: str) -> Any:
    section, _, key = setting.rpartition(".")
    return getattr(DEFAULTS[section], key)


@pytest.mark.parametrize("setting", [name for name in rules() if name.split(".")[0] in DEFAULTS])
def test_defaults_are_the_code_s(setting: str) -> None:
    cell = settings_rows()[setting][-1]
    default = default_of(setting)
    if default is None or default == ():
        assert cell == "none"
    else:
        shown = re.findall(r"`([^`]+)`", cell)
        assert shown, cell
        assert type(default)(shown[0].replace(",", "")) == default


@pytest.mark.parametrize("setting", rules())
def test_ranges_are_the_code_s(setting: str, tmp_path: Path) -> None:
    rule, cell = rules()[setting], settings_rows()[setting][-2]
    stated = re.fullmatch(r"(above |from )?([\d,]+) to ([\d,]+)", cell)
    if stated is None:
        # Ranges that are not numeric: a type, or a list of all values.
        for word in re.findall(r"`([^`]+)`", cell):
            rule(word, tmp_path)
        with pytest.raises(ValueError, match="expected"):
            rule(4.5, tmp_path)
        return
    low, high = (int(text.replace(",", "")) for text in stated.groups()[1:])
    above = stated[1] == "above "
    assert rule(high, tmp_path) == high
    assert rule(low + 1 if above else low, tmp_path) >= low
    for wrong in (high + 1, low if above else low - 1):
        with pytest.raises(ValueError, match="expected"):
            rule(wrong, tmp_path)


def test_the_readme_s_settings_have_the_reference_s_defaults() -> None:
    rows = page("README.md").section("Settings").rows()
    names = [row[0].strip("`") for row in rows]
    assert names
    assert set(names) <= set(settings_rows())
    for name, row in zip(names, rows, strict=True):
        if name.split(".")[0] in DEFAULTS:
            assert re.findall(r"`([^`]+)`|none", row[-1]) == re.findall(
                r"`([^`]+)`|none", settings_rows()[name][-1]
            ), name


def test_the_readme_counts_the_sources_that_are_on() -> None:
    prose = " ".join(page("README.md").lines)
    numbers = ("six", "seven", "eight", "nine", "ten")
    found = re.search(r"server for ((?:\w+, )+\w+) and (\w+) more sources", prose)
    assert found is not None
    counted = len(found[1].split(", ")) + 6 + numbers.index(found[2])
    assert counted == len(configuration.DEFAULT_PLUGINS)


def test_unsupported_settings_are_reported() -> None:
    section = page("docs/reference/settings.md").section("Keys that are refused")
    assert set(section.first_cells()) == set(config_file._NOT_OFFERED)


def test_environment_variables_are_described_and_no_other() -> None:
    section = page("docs/reference/settings.md").section("Environment variables")
    rows = {row[0].strip("`"): row[1] for row in section.rows()}
    known = {
        **configuration.ENVIRONMENT,
        configuration.TOOL_IDENTIFIER: "software",
        "CARREL_CONFIG": "",
        config_store.PASSWORD: "",
        config_store.PASSWORD_FILE: "",
        ffi.VARIABLE: "",
        **dict.fromkeys(configuration.AGREEMENTS.values(), ""),
        "CARREL_SECRET_<PLUGIN>_<NAME>": "",
    }
    assert set(rows) == set(known)
    for variable, setting in known.items():
        assert f"`{setting}`" in rows[variable] or not setting


def test_no_page_names_a_variable_that_is_not_read() -> None:
    known = {*configuration.ENVIRONMENT, "CARREL_CONFIG", ffi.VARIABLE}
    known |= {config_store.PASSWORD, config_store.PASSWORD_FILE}
    known |= set(configuration.AGREEMENTS.values())
    for one in pages():
        text = one.prose + "".join(block.text for block in one.blocks)
        named = set(re.findall(r"\bCARREL_[A-Z_]+\b", text))
        # The page shows a misspelling that `doctor` reports.
        named -= {"CARREL_CONTAKT"}
        named = {name for name in named if not name.startswith("CARREL_SECRET_")}
        assert named <= known, one.path


# Tools


@pytest.fixture(scope="module")
def tools(code_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Any]:
    api = carrel.Carrel(
        configuration.Config(
            cache_dir=code_folder,
            data_dir=tmp_path_factory.mktemp("data"),
            plugins=tuple(configuration.builtin(name) for name in configuration.BUILTIN_PLUGINS),
            documents=configuration.DocumentsConfig(folders=(ROOT,)),
            web=configuration.WebConfig(hosts="public-web", search=configuration.SEARCH_PLUGINS),
            library=configuration.LibraryConfig(tmp_path_factory.mktemp("library") / "l.json"),
        )
    )
    with api:
        listed = {tool.name: tool for tool in api.tools()}
        formats = {
            state.name: [one.name for one in state.manifest.formats]
            for state in api.plugins()
            if state.manifest is not None
        }
        limits = {
            state.name: state.manifest.limits
            for state in api.plugins()
            if state.manifest is not None
        }
    return {"tools": listed, "formats": formats, "limits": limits}


def fields(schema: Mapping[str, Any], root: Mapping[str, Any], place: str = "") -> Iterator[str]:
    """Yields the paths of everything a schema describes: `entries[].dois[].url`."""
    if schema.get("$ref") == "#/$defs/record":
        return  # the record's own schema describes every field
    if {"sections", "quality"} <= set(schema.get("properties", {})):
        return  # a document, which has a page of its own
    if "$ref" in schema:
        schema = root["$defs"][schema["$ref"].rpartition("/")[2]]
    for key, value in schema.get("properties", {}).items():
        yield f"{place}{key}"
        yield from fields(value, root, f"{place}{key}.")
    if "items" in schema:
        yield from fields(schema["items"], root, f"{place.rstrip('.')}[].")


def test_every_tool_has_a_section_with_its_arguments_and_fields(tools: Mapping[str, Any]) -> None:
    reference = page("docs/reference/tools.md")
    for name, tool in tools["tools"].items():
        section = reference.section(name)
        arguments = section.section("Arguments")
        properties = tool.input_schema["properties"]
        assert set(arguments.first_cells()) == set(properties)
        for row in arguments.rows():
            default = properties[row[0].strip("`")].get("default")
            shown = re.findall(r"`([^`]+)`", row[-1])
            assert shown == ([] if default is None else [json.dumps(default)]), row
        results = section.section("Result")
        described = results.first_cells()
        assert len(described) == len(set(described))
        assert set(described) == set(fields(tool.output_schema, tool.output_schema))


def test_the_readme_s_table_of_tools_is_complete(tools: Mapping[str, Any]) -> None:
    assert page("README.md").section("Tools").first_cells() == list(tools["tools"])


def test_every_format_is_described(tools: Mapping[str, Any]) -> None:
    rows = page("docs/reference/tools.md").section("Document formats").rows()
    described = [(row[0].strip("`"), row[1].strip("`")) for row in rows]
    assert described == [(name, one) for name, all_ in tools["formats"].items() for one in all_]


# Command line


def leaves(command: click.Command, name: str) -> Iterator[tuple[str, click.Command]]:
    yield name, command
    if isinstance(command, click.Group):
        context = click.Context(command)
        for word in command.list_commands(context):
            child = command.get_command(context, word)
            assert child is not None
            yield from leaves(child, f"{name} {word}")


def every_command() -> dict[str, click.Command]:
    from carrel.cli.app import app

    return dict(leaves(app, "carrel"))


def options(command: click.Command) -> set[str]:
    context = click.Context(command, help_option_names=["-h", "--help"])
    return {
        option
        for parameter in command.get_params(context)
        if isinstance(parameter, click.Option)
        for option in parameter.opts
        if option.startswith("--")
    }


#: Command groups.
GROUPS = {
    "carrel library",
    "carrel papers",
    "carrel plugin",
    "carrel plugin keys",
    "carrel web",
    "carrel web research",
}


def test_every_command_is_described_and_no_other() -> None:
    reference = page("docs/reference/command-line.md")
    headings = [line.lstrip("# ") for line in reference.lines if re.match(r"###? carrel", line)]
    assert sorted(headings) == sorted(name for name in every_command() if name not in GROUPS)


@pytest.mark.parametrize("name", [name for name in every_command() if name not in GROUPS])
def test_every_option_is_described_and_no_other(name: str) -> None:
    reference = page("docs/reference/command-line.md")
    common = {"--config", "--debug", "--json-errors", "--help"}
    section = reference.section(name)
    described = {cell.split()[0] for cell in section.first_cells() if cell.startswith("--")}
    if name == "carrel":
        assert described == options(every_command()[name])
    else:
        assert described == options(every_command()[name]) - common


def test_exit_codes_are_the_code_s() -> None:
    from carrel.cli import report

    rows = page("docs/reference/command-line.md").section("Exit codes").rows()
    codes = {report.OK, report.FAILED, report.MISUSE, report.DENIED}
    codes |= {report.INTERRUPTED, report.PIPE_CLOSED}
    assert {int(row[0].strip("`")) for row in rows} == codes
    misuse = next(row for row in rows if row[0] == "`2`")[1]
    assert set(re.findall(r"`([a-z_]+)`", misuse)) == report._MISUSE


# Errors and the contract


def closed_lists() -> dict[str, Any]:
    lists: dict[str, Any] = json.loads(contract_file("errors.json").read_text("utf-8"))
    return lists


def test_every_error_code_has_its_row() -> None:
    rows = page("docs/reference/errors.md").section("Codes").rows()
    documented = {
        row[0].strip("`"): (row[1], row[2] == "yes", row[3].strip("`"), row[4]) for row in rows
    }
    assert documented == {
        code: (" and ".join(is_["by"]), is_["retryable"], is_["action"], is_["meaning"])
        for code, is_ in closed_lists()["codes"].items()
    }


@pytest.mark.parametrize(
    ("heading", "name"),
    [("Actions", "actions"), ("Denial reasons", "denial_reasons"), ("Limits", "limits")],
)
def test_closed_lists_are_complete_and_worded_alike(heading: str, name: str) -> None:
    rows = page("docs/reference/errors.md").section(heading).rows()
    assert {row[0].strip("`"): row[1].replace("`", "") for row in rows} == closed_lists()[name]


def test_exception_classes_are_described() -> None:
    section = page("docs/reference/python.md").section("Exceptions")
    classes = {
        name
        for name, value in vars(errors).items()
        if isinstance(value, type) and issubclass(value, errors.CarrelError)
    }
    assert set(section.first_cells()) == classes


def wit_names() -> dict[str, list[str]]:
    """Returns interface → its functions, according to the WIT file."""
    text = re.sub(r"///.*", "", contract_file("plugin.wit").read_text("utf-8"))
    return {
        found[1]: re.findall(r"^  ([a-z-]+): func\(", found[2], re.MULTILINE)
        for found in re.finditer(
            r"^interface ([a-z-]+) \{\n(.*?)^\}", text, re.DOTALL | re.MULTILINE
        )
    }


def test_every_function_of_the_contract_is_described() -> None:
    rows = page("docs/reference/contract.md").section("Functions").rows()
    described = [(row[0].strip("`"), row[1].strip("`").partition("(")[0]) for row in rows]
    expected = [(name, one) for name, functions in wit_names().items() for one in functions]
    assert sorted(described) == sorted(expected)


def test_helpers_of_the_rust_example_are_in_the_guest_kit() -> None:
    [example] = [
        one for one in page("docs/how-to/run-an-own-plugin.md").blocks if one.info == "rust"
    ]
    used = re.findall(r"use carrel_pdk::(?:\w+::)?\{?([\w, ]+)\}?;", example.text)
    names = {name.strip() for group in used for name in group.split(",")}
    assert {"Plugin", "Manifest", "HostRule"} <= names
    kit = "".join(path.read_text("utf-8") for path in (ROOT / "plugins/pdk/src").rglob("*.rs"))
    public = set(re.findall(r"pub (?:fn|struct|enum|trait) (\w+)", kit))
    assert names - public == set()


def test_the_files_of_the_contract_are_all_named() -> None:
    names = {path.name for path in contract_file("plugin.wit").parent.iterdir() if path.is_file()}
    text = "\n".join(
        [page("docs/reference/contract.md").prose, (ROOT / "contract/README.md").read_text("utf-8")]
    )
    assert {name for name in names if name not in text} == set()


# Python


def public(value: object) -> set[str]:
    return {name for name in vars(value) if not name.startswith("_")}


def test_the_python_interface_is_described_and_no_other() -> None:
    reference = page("docs/reference/python.md")
    assert set(reference.section("Names").first_cells()) == set(carrel.__all__)
    for kind in (carrel.Carrel, carrel.AsyncCarrel):
        described = {
            code.partition("(")[0] for code in reference.section(kind.__name__).first_cells()
        }
        assert described == public(kind)
    fields = {one.name for one in dataclasses.fields(carrel.Tool)}
    assert set(reference.section("Tool").first_cells()) == fields
    assert set(reference.section("Result").first_cells()) == public(carrel.Result)


# The server


def test_the_protocol_s_revisions_are_the_sdk_s() -> None:
    from mcp_types.version import SUPPORTED_PROTOCOL_VERSIONS

    rows = page("docs/reference/mcp.md").section("Revisions").rows()
    assert [row[0].strip("`") for row in rows] == list(SUPPORTED_PROTOCOL_VERSIONS)


def test_resources_and_labels_are_the_server_s() -> None:
    from carrel.server import answers, app

    codes = page("docs/reference/mcp.md").codes()
    assert {app.HEALTH_URI, answers.CONTENT_LABEL, answers.UNTRUSTED, "carrel/plugin"} <= codes
    assert {code for code in codes if code.startswith("carrel://")} == {app.HEALTH_URI}


def test_the_server_s_limits_are_all_named() -> None:
    codes = page("docs/reference/mcp.md").section("Limits").codes()
    described = {code for code in codes if code.startswith("server.")}
    names = {f"server.{name}" for name in configuration.ServerConfig._fields}
    others = {"audit_failure", "audit_log", "drain_seconds", "log_format", "log_level", "surface"}
    others |= {"text", "trace_ratio", "traces"}
    assert described == names - {f"server.{one}" for one in others}


# Promises and dependencies


def markers() -> set[str]:
    """Returns every id that a test carries."""
    texts = (path.read_text("utf-8") for path in (ROOT / "tests").rglob("test_*.py"))
    pattern = re.compile(r'requirement\(\s*"([a-z:-]+)"')
    return {found for text in texts for found in pattern.findall(text)}


def test_every_promise_is_in_the_threat_table_with_tests_that_exist() -> None:
    from requirements import PROMISES

    section = page("docs/explanation/trust-boundary.md").section("Promises and their tests")
    assert section.first_cells()[:1]
    assert {row[0].strip("`") for row in section.rows()} == set(PROMISES)
    for row in section.rows():
        ids = {f"{row[0].strip('`')}:{code}" for code in re.findall(r"`([a-z-]+)`", row[-1])}
        assert ids, row
        assert ids - markers() == set(), row


def test_every_piece_of_shared_state_has_a_test() -> None:
    section = page("docs/explanation/trust-boundary.md").section("What plugins share")
    assert len(section.rows()) > 15
    for row in section.rows():
        ids = set(re.findall(r"`([a-z:-]+)`", row[-1]))
        assert ids, row
        assert ids - markers() == set(), row


@pytest.mark.parametrize("one", pages(), ids=lambda one: one.path.as_posix())
def test_ids_of_promises_are_real(one: Page) -> None:
    from requirements import PROMISES

    kinds = "|".join(sorted({name.partition(":")[0] for name in PROMISES}))
    cited = {code for code in one.codes() if re.fullmatch(rf"(?:{kinds}):[a-z:-]+", code)}
    assert cited - set(PROMISES) - markers() == set()


def dependencies() -> set[str]:
    import tomllib

    def name(requirement: str) -> str:
        return re.split(r"[<>=!\[; ]", requirement, maxsplit=1)[0]

    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    found = {name(one) for one in project["project"]["dependencies"]}
    for extra in project["project"]["optional-dependencies"].values():
        found |= {name(one) for one in extra}
    found |= {name(one) for one in project["dependency-groups"]["dev"]}
    found |= {name(one) for one in project["build-system"]["requires"]}
    crates = tomllib.loads((ROOT / "Cargo.toml").read_text("utf-8"))
    found |= set(crates["workspace"]["dependencies"])
    for member in (*crates["workspace"]["members"], "fuzz"):
        file = ROOT / member / "Cargo.toml"
        if not file.exists():
            continue
        crate = tomllib.loads(file.read_text("utf-8"))
        tables = [crate, *crate.get("target", {}).values()]
        for table in tables:
            for kind in ("dependencies", "dev-dependencies", "build-dependencies"):
                found |= set(table.get(kind, {}))
    return {one for one in found if not one.startswith("carrel")}


def test_every_dependency_has_its_reason() -> None:
    rows = page("docs/decisions/0009-dependencies.md").rows()
    described = {code for row in rows for code in re.findall(r"`([^`]+)`", row[0])}
    assert described == dependencies()
