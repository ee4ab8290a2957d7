"""Tests that hyper-mcp's configuration files load, with warnings for unsupported settings."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from carrel.config import Config, PluginConfig, load_config
from carrel.errors import ConfigError, LockError
from carrel.tools import Toolbox
from carrel.trust.policy import Identity, TrustPolicy

#: The example of hyper-mcp's arXiv plugin, with other names.
DOCUMENTED = {
    "plugins": {
        "arxiv": {
            "url": "oci://your-registry/arxiv-plugin:latest",
            "runtime_config": {"allowed_hosts": ["export.arxiv.org", "arxiv.org"]},
        }
    }
}


class Loader:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.env = {"HOME": str(folder)}

    def __call__(self, document: Any, name: str = "config.json", **env: str) -> Config:
        text = document if isinstance(document, str) else json.dumps(document)
        file = self.folder / name
        file.write_text(text, "utf-8")
        return load_config(file, {**self.env, **env})

    def plugin(self, **entry: Any) -> PluginConfig:
        return found(self({"plugins": {"one": {"url": "file:///one.wasm", **entry}}}))

    def granted(self, **runtime_config: Any) -> PluginConfig:
        return self.plugin(runtime_config=runtime_config)


def found(config: Config, name: str = "one") -> PluginConfig:
    entry = config.plugin(name)
    assert entry is not None
    return entry


@pytest.fixture
def load(tmp_path: Path) -> Loader:
    return Loader(tmp_path)


class TestTheDocumentedFile:
    @pytest.mark.requirement("plugin:pinned:lock-hyper-file")
    def test_the_documented_file_serves_all_plugins_but_the_unapproved_one(
        self, load: Loader, code_folder: Path
    ) -> None:
        config = load(DOCUMENTED, CARREL_CACHE_DIR=str(code_folder))
        assert config.warnings == ()
        arxiv = found(config, "arxiv")
        assert arxiv.allowed_hosts == ("export.arxiv.org", "arxiv.org")
        toolbox = Toolbox(config)
        try:
            states = {state.name: state for state in toolbox.plugins()}
            assert isinstance(states["arxiv"].error, LockError)
            assert "carrel plugin lock arxiv" in states["arxiv"].error.message
            assert states["crossref"].loaded
            assert states["eutils"].loaded
            tools = [tool.name for tool in toolbox.tools()]
            assert "crossref_works" in tools
            assert "pubmed_search" in tools
            assert "arxiv_query" not in tools
        finally:
            toolbox.close()

    @pytest.mark.parametrize(
        ("name", "text"),
        [
            ("c.yaml", "plugins:\n  one:\n    url: file:///one.wasm\n    description: One\n"),
            ("c.yml", "plugins: {one: {path: 'file:///one.wasm', runtime_config: null}}"),
            ("c.toml", '[plugins.one]\nurl = "file:///one.wasm"\n'),
            ("c.toml", 'dynamic_loading = false\n[plugins.one]\nurl = "file:///one.wasm"\n'),
        ],
    )
    def test_every_format_is_read(self, load: Loader, name: str, text: str) -> None:
        assert found(load(text, name)).url == "file:///one.wasm"


class TestVariables:
    @pytest.mark.parametrize(
        ("text", "url"),
        [
            ("file:///${WHERE}.wasm", "file:///here.wasm"),
            ("file:///${WHERE:-there}.wasm", "file:///here.wasm"),
            ("file:///${NONE:-there}.wasm", "file:///there.wasm"),
            ("file:///${EMPTY:-there}.wasm", "file:///there.wasm"),
            ("file:///${NONE:-}x.wasm", "file:///x.wasm"),
            ("file:///$${WHERE}.wasm", "file:///${WHERE}.wasm"),
            ("file:///$${NONE:-x}.wasm", "file:///${NONE:-x}.wasm"),
            ("file:///$WHERE.wasm", "file:///$WHERE.wasm"),
        ],
    )
    def test_variables_are_replaced(self, load: Loader, text: str, url: str) -> None:
        document = {"plugins": {"one": {"url": text}}}
        assert found(load(document, WHERE="here", EMPTY="")).url == url

    def test_variables_fill_in_values_that_are_no_text(self, load: Loader) -> None:
        text = "dynamic_loading: ${DYNAMIC:-true}\nplugins: {}\n"
        assert "dynamic_loading: not offered" in load(text, "c.yaml").warnings[0]

    def test_every_unset_variable_is_a_fault_with_its_line(self, load: Loader) -> None:
        with pytest.raises(ConfigError) as caught:
            load('{"plugins": {"one":\n {"url": "${A}", "description": "${B} ${A}"}}}')
        assert [fault[:35] for fault in caught.value.faults] == [
            "line 2: the environment variable A ",
            "line 2: the environment variable B ",
        ]


class TestTranslated:
    @pytest.mark.parametrize(
        ("pattern", "hidden", "shown"),
        [
            ("admin", ["admin"], ["admin_x", "x_admin"]),
            ("^admin", ["admin", "admin_x"], ["x_admin"]),
            ("admin$", ["admin", "x_admin"], ["admin_x"]),
            (r"\Aadmin\z", ["admin"], ["admin_x", "x_admin"]),
            ("a|b", ["a", "b"], ["ab", "ax"]),
        ],
    )
    def test_patterns_hide_the_same_tools_as_in_hyper_mcp(
        self, load: Loader, pattern: str, hidden: list[str], shown: list[str]
    ) -> None:
        entry = load.granted(skip_tools=[pattern])
        assert [name for name in hidden + shown if entry.skips(name)] == hidden

    def test_settings_of_modules_are_kept(self, load: Loader) -> None:
        entry = load.granted(
            skip_prompts=["p"], skip_resources=["r"], skip_resource_templates=["t"],
            env_vars={"KEY": "value", "NUMBER": 3},
            allowed_secrets=[{"service": "s", "user": "u"}],
        )  # fmt: skip
        assert (entry.skip_prompts, entry.skip_resources) == (("p",), ("r",))
        assert entry.skip_resource_templates == ("t",)
        assert entry.env_vars == {"KEY": "value", "NUMBER": "3"}
        assert entry.allowed_secrets == (("s", "u"),)

    @pytest.mark.parametrize(
        ("size", "number"),
        [("256MB", 256_000_000), ("512Mi", 512 * 2**20), ("1GB", 10**9), ("1.5GiB", 3 * 2**29),
         ("64 MiB", 2**26), ("2097152", 2**21), ("100k", 2**20), ("1TB", 2**32)],
    )  # fmt: skip
    def test_sizes_of_memory_are_read(self, load: Loader, size: str, number: int) -> None:
        entry = load.granted(memory_limit=size)
        assert entry.limits == {"memory_bytes": number}

    @pytest.mark.parametrize("place", ["entry", "runtime_config"])
    def test_limits_and_a_memory_limit_can_be_combined(self, load: Loader, place: str) -> None:
        limits = {"fetches": 5}
        granted: dict[str, Any] = {"memory_limit": "64MiB", "skip_tools": ["^a"]}
        if place == "entry":
            entry = load.plugin(limits=limits, runtime_config=granted)
        else:
            entry = load.granted(limits=limits, **granted)
        assert entry.limits == {"fetches": 5, "memory_bytes": 2**26}
        assert entry.skips("also")  # read as a file of hyper-mcp's
        assert entry.notes == ()

    def test_the_limit_of_the_same_name_overrides_a_memory_limit(self, load: Loader) -> None:
        entry = load.granted(memory_limit="64MiB", limits={"memory_bytes": 2**25})
        assert entry.limits == {"memory_bytes": 2**25}
        assert "memory_limit: not used" in entry.notes[0]

    def test_a_file_with_only_limits_is_not_hyper_mcps(self, load: Loader) -> None:
        entry = load.granted(limits={"fetches": 5}, skip_tools=["^a"])
        assert not entry.skips("also")

    @pytest.mark.requirement("sandbox:hosts:grant-hyper-globs")
    def test_hyper_mcp_globs_never_widen_a_grant(self, load: Loader) -> None:
        entry = load.granted(allowed_hosts=["a.example.org", "*.b.example.org", "api.*.org", "x*"])
        assert entry.allowed_hosts == ("a.example.org", "*.b.example.org")
        assert [note.partition(" is not granted")[0] for note in entry.notes] == [
            "plugins.one.runtime_config.allowed_hosts[2]: 'api.*.org'",
            "plugins.one.runtime_config.allowed_hosts[3]: 'x*'",
        ]
        everything = load.granted(allowed_hosts=["*"])
        assert everything.allowed_hosts is None
        assert "name its hosts" in everything.notes[0]
        assert load.granted().allowed_hosts == ()

    def test_names_are_those_of_hyper_mcp(self, load: Loader) -> None:
        document = {"plugins": {"MyPlugin2": {"url": "file:///one.wasm"}}}
        assert found(load(document), "MyPlugin2").name == "MyPlugin2"
        with pytest.raises(ConfigError, match="expected a name"):
            load({"plugins": {"my-plugin": {"url": "file:///one.wasm"}}})

    @pytest.mark.parametrize(
        ("oci", "subject", "issuer"),
        [
            ({"cert_email": "a@example.org"}, "a@example.org", ".*"),
            ({"cert_url": "https://x/.*", "cert_issuer": "https://i"}, "https://x/.*", "https://i"),
            ({"insecure_skip_signature": False}, ".*", ".*"),
        ],
    )
    def test_a_signature_required_by_hyper_mcp_is_required_here(
        self, load: Loader, oci: dict[str, Any], subject: str, issuer: str
    ) -> None:
        identity = Identity(subject, issuer, None, subject_is_pattern=True, issuer_is_pattern=True)
        assert load({"oci": oci, "plugins": {}}).trust == TrustPolicy(identities=(identity,))

    def test_a_signature_not_required_by_hyper_mcp_is_not_required_here(self, load: Loader) -> None:
        assert load({"oci": {"insecure_skip_signature": True}, "plugins": {}}).trust is None
        assert load({"plugins": {}}).trust is None


class TestNotOffered:
    @pytest.mark.parametrize(
        ("document", "says"),
        [
            ({"auths": {"https://r": {"type": "token", "token": "hunter2"}}}, "auths: not used"),
            ({"dynamic_loading": True}, "dynamic_loading: not offered"),
            ({"oci": {"rekor_pub_keys": "x"}}, "oci.rekor_pub_keys: not used"),
        ],
    )
    def test_a_warning_names_the_key_and_the_reason(
        self, load: Loader, document: dict[str, Any], says: str
    ) -> None:
        config = load({**document, "plugins": {"one": {"url": "file:///one.wasm"}}})
        assert config.warnings[0].startswith(says)
        assert "hunter2" not in str(config)
        assert found(config).notes == ()

    @pytest.mark.parametrize(
        ("entry", "says"),
        [
            ({"runtime_config": {"allowed_paths": ["/srv:/data"]}}, ".allowed_paths: not offered"),
            ({"url": "s3://bucket/one.wasm"}, ".url: not loaded"),
            ({"runtime_config": {"memory_limit": "much"}}, ".memory_limit: not a size"),
        ],
    )
    def test_a_plugins_readme_lists_its_limitations(
        self, load: Loader, entry: dict[str, Any], says: str
    ) -> None:
        notes = load.plugin(**entry).notes
        assert len(notes) == 1
        assert re.match(r"plugins\.one(\.runtime_config)?" + re.escape(says), notes[0])

    def test_an_unsupported_address_fails_only_its_plugin(
        self, load: Loader, code_folder: Path
    ) -> None:
        document = {"plugins": {"one": {"url": "https://example.org/one.wasm"}}}
        toolbox = Toolbox(load(document, CARREL_CACHE_DIR=str(code_folder)))
        states = {state.name: state for state in toolbox.plugins()}
        toolbox.close()
        assert "no component is loaded over https" in str(states["one"].error)
        assert states["one"].notes
        assert states["arxiv"].loaded


class TestNotOneOfThose:
    """A key of Carrel's, or an unknown key, makes it a Carrel file, which is checked strictly."""

    @pytest.mark.parametrize(
        ("document", "fault"),
        [
            ({"auths": {}, "server": {}}, "auths: not offered"),
            ({"plugins": {"one": {"url": "file:///o", "enabled": True,
                                  "runtime_config": {"allowed_paths": []}}}},
             "plugins.one.runtime_config.allowed_paths: not offered"),
            ({"plugins": {"one": {"url": "file:///o",
                                  "runtime_config": {"allowed_host": ["*"]}}}},
             "plugins.one.runtime_config.allowed_host: unknown key; did you mean"),
            ({"dynamic_lading": True, "plugins": {}}, "dynamic_lading: unknown key"),
        ],
    )  # fmt: skip
    def test_a_reserved_tool_that_is_not_offered_is_a_fault(
        self, load: Loader, document: dict[str, Any], fault: str
    ) -> None:
        with pytest.raises(ConfigError) as caught:
            load(document)
        assert caught.value.faults[0].startswith(fault)

    def test_toml_without_keys_of_hyper_mcp_is_checked_strictly(self, load: Loader) -> None:
        text = '[plugins.one]\nurl = "file:///o"\nruntime_config.allowed_hosts = ["*"]\n'
        with pytest.raises(ConfigError, match="would grant every host"):
            load(text, "c.toml")
        assert found(load(f"dynamic_loading = false\n{text}", "c.toml")).allowed_hosts is None


class TestYaml:
    @pytest.mark.parametrize(
        ("text", "says"),
        [
            ("plugins: {a: 1, a: 2}", "plugins.a: the key is given twice"),
            ("a: &x [*x]", "recursive"),
            ("- a", "expected a table"),
            ("!!python/object/apply:os.system [ls]", "constructor"),
            ("fetch: {contact: 2020-01-01}", "date or time"),
            ("a: [" + "x," * 60_000 + "]", "holds more than"),
        ],
    )
    def test_invalid_yaml_is_reported(self, load: Loader, text: str, says: str) -> None:
        with pytest.raises(ConfigError, match=says):
            load(text, "c.yaml")

    def test_merged_keys_may_be_overridden(self, load: Loader) -> None:
        text = (
            "plugins:\n  one: &one {url: 'file:///one.wasm', description: a}\n"
            "  two: {<<: *one, description: b}\n"
        )
        config = load(text, "c.yaml")
        two = found(config, "two")
        assert (two.url, two.description) == ("file:///one.wasm", "b")
