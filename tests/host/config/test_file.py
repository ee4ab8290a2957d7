"""Tests `carrel.config.file`: accepted settings, and the errors for others."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from carrel.config import DEFAULT_PLUGINS, Config, PluginConfig, load_config
from carrel.errors import ConfigError


@pytest.fixture
def env(tmp_path: Path) -> dict[str, str]:
    return {
        "HOME": str(tmp_path),
        "CARREL_CACHE_DIR": str(tmp_path),
        "CARREL_DATA_DIR": str(tmp_path),
    }


class Loader:
    """Writes a file and loads it."""

    def __init__(self, folder: Path, env: Mapping[str, str]) -> None:
        self.folder = folder
        self.env = env

    def toml(self, text: str) -> Config:
        return self.file("carrel.toml", text.encode())

    def json(self, value: Any) -> Config:
        return self.file("carrel.json", json.dumps(value).encode())

    def file(self, name: str, data: bytes) -> Config:
        path = self.folder / name
        path.write_bytes(data)
        return load_config(path, self.env)

    def faults(self, text: str) -> tuple[str, ...]:
        with pytest.raises(ConfigError) as caught:
            self.toml(text)
        assert caught.value.path == str(self.folder / "carrel.toml")
        return caught.value.faults

    def fault(self, text: str) -> str:
        [fault] = self.faults(text)
        return fault


@pytest.fixture
def load(tmp_path: Path, env: dict[str, str]) -> Loader:
    return Loader(tmp_path, env)


def entry(config: Config, name: str) -> PluginConfig:
    plugin = config.plugin(name)
    assert plugin is not None
    return plugin


class TestPlugins:
    def test_the_documented_json_loads_unchanged(self, load: Loader) -> None:
        config = load.json(
            {
                "plugins": {
                    "arxiv": {
                        "url": "oci://registry.example.org/arxiv-plugin:latest",
                        "runtime_config": {"allowed_hosts": ["export.arxiv.org", "arxiv.org"]},
                    }
                }
            }
        )
        plugin = entry(config, "arxiv")
        assert plugin.url == "oci://registry.example.org/arxiv-plugin:latest"
        assert plugin.allowed_hosts == ("export.arxiv.org", "arxiv.org")
        names = sorted(plugin.name for plugin in config.plugins)
        assert names == sorted(DEFAULT_PLUGINS), "the entry takes the built-in plugin's place"

    def test_a_placeholder_registry_is_unchanged(self, load: Loader) -> None:
        config = load.json(
            {"plugins": {"arxiv": {"url": "oci://your-registry/arxiv-plugin:latest"}}}
        )
        assert entry(config, "arxiv").url == "oci://your-registry/arxiv-plugin:latest"

    def test_a_local_component_loads_from_its_file_url(self, load: Loader) -> None:
        config = load.toml(
            '[plugins.mine]\nurl = "file:///opt/plugins/mine.wasm"\n'
            'runtime_config.allowed_hosts = ["*.Example.org"]'
        )
        mine = entry(config, "mine")
        assert mine.url == "file:///opt/plugins/mine.wasm"
        assert mine.allowed_hosts == ("*.example.org",)
        assert [plugin.name for plugin in config.plugins] == [*DEFAULT_PLUGINS, "mine"]

    @pytest.mark.requirement("sandbox:hosts:no-grant-by-default")
    def test_a_plugin_without_a_grant_gets_no_host(self, load: Loader) -> None:
        config = load.toml('plugins.mine.url = "file:///mine.wasm"')
        assert entry(config, "mine").allowed_hosts == ()

    @pytest.mark.requirement("sandbox:hosts:no-grant-by-default")
    def test_another_component_under_a_built_in_name_gets_no_host(self, load: Loader) -> None:
        config = load.toml('plugins.arxiv.url = "file:///mine.wasm"')
        assert entry(config, "arxiv").allowed_hosts == ()

    def test_an_entry_without_url_means_the_built_in_plugin(self, load: Loader) -> None:
        config = load.toml('plugins.arxiv.description = "papers"')
        plugin = entry(config, "arxiv")
        assert (plugin.url, plugin.allowed_hosts) == ("builtin:arxiv", None)

    @pytest.mark.requirement("sandbox:hosts:grant-narrows-built-in")
    def test_a_grant_narrows_a_built_in_plugin(self, load: Loader) -> None:
        config = load.toml("plugins.arxiv.runtime_config.allowed_hosts = []")
        assert entry(config, "arxiv").allowed_hosts == ()

    def test_a_built_in_plugin_can_have_another_name(self, load: Loader) -> None:
        config = load.toml('plugins.preprints.url = "builtin:arxiv"')
        assert entry(config, "preprints").allowed_hosts is None

    def test_a_built_in_plugin_can_be_switched_off(self, load: Loader) -> None:
        assert not entry(load.toml("plugins.arxiv.enabled = false"), "arxiv").enabled

    def test_path_is_an_alias_of_url(self, load: Loader) -> None:
        assert entry(load.toml('plugins.m.path = "file:///m.wasm"'), "m").url == "file:///m.wasm"

    def test_skip_tools_matches_whole_names(self, load: Loader) -> None:
        plugin = entry(load.toml('plugins.arxiv.runtime_config.skip_tools = ["que.*"]'), "arxiv")
        assert plugin.skips("query")
        assert not plugin.skips("requery")

    def test_settings_arrive_as_they_are(self, load: Loader) -> None:
        plugin = entry(load.toml('plugins.arxiv.settings = {pages = [1, 2], mode = "x"}'), "arxiv")
        assert plugin.settings == {"pages": [1, 2], "mode": "x"}

    @pytest.mark.requirement("sandbox:limits:settable-per-plugin")
    def test_a_plugins_limits_win_over_those_for_all(self, load: Loader) -> None:
        config = load.toml(
            "[limits]\ncpu_seconds = 3\nfetches = 9\n[plugins.arxiv.limits]\ncpu_seconds = 5"
        )
        limits = config.limits_for("arxiv")
        assert (limits.cpu_seconds, limits.fetches) == (5.0, 9)

    @pytest.mark.parametrize(
        ("url", "says"),
        [
            ("https://example.org/p.wasm", "not loaded over https"),
            ("s3://bucket/p.wasm", "not loaded over s3"),
            ("file://p.wasm", "two slashes name a machine"),
            ("file://host/p.wasm", "or none and a path relative to this file's folder"),
            ("file:", "expected a path after file:"),
            ("file:///", "two slashes name a machine"),
            ("lists", "expected builtin:NAME, file:PATH or oci://"),
            ("builtin:arxvi", "did you mean 'arxiv'?"),
            ("oci://me:pass@registry.example.org/p:1", "does not belong into the file"),
            ("oci://registry.example.org", "expected oci://REGISTRY/NAME"),
        ],
    )
    def test_a_url_that_cannot_be_loaded_is_a_fault(
        self, load: Loader, url: str, says: str
    ) -> None:
        fault = load.fault(f'plugins.mine.url = "{url}"')
        assert fault.startswith("plugins.mine.url: ")
        assert says in fault
        assert "pass@" not in fault

    @pytest.mark.parametrize(
        ("url", "path"),
        [
            ("file:x.wasm", "x.wasm"),
            ("FILE:./deep/../x%20y.wasm", "x y.wasm"),
            ("file:../beside/x.wasm?a#b", "../beside/x.wasm"),
            ("file:~x.wasm", "~x.wasm"),
            ("x.wasm", "x.wasm"),
            ("./dist/x y.wasm", "dist/x y.wasm"),
            ("../x%20y.wasm", "../x%20y.wasm"),
        ],
    )
    def test_a_relative_path_starts_at_the_files_folder(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, url: str, path: str
    ) -> None:
        elsewhere = tmp_path / "elsewhere"
        elsewhere.mkdir()
        monkeypatch.chdir(elsewhere)
        load = Loader(tmp_path, {"HOME": str(tmp_path)})
        for key in ("url", "path"):
            mine = entry(load.toml(f"plugins.mine.{key} = '{url}'"), "mine")
            assert mine.url == Path(os.path.normpath(tmp_path / path)).as_uri()
            assert mine.locked_url == "file:" + quote(path)

    @pytest.mark.parametrize(
        ("url", "found"),
        [
            ("file:///opt/x.wasm", "file:///opt/x.wasm"),
            ("file:/opt/x.wasm", "file:///opt/x.wasm"),
            ("/opt/x y.wasm", "file:///opt/x%20y.wasm"),
            ("~/x.wasm", "{home}/x.wasm"),
        ],
    )
    def test_an_absolute_path_is_unchanged(
        self, load: Loader, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, url: str, found: str
    ) -> None:
        monkeypatch.setenv("HOME", str(tmp_path))
        monkeypatch.setenv("USERPROFILE", str(tmp_path))
        mine = entry(load.toml(f"plugins.mine.url = '{url}'"), "mine")
        assert mine.url == mine.locked_url == found.format(home=tmp_path.as_uri())

    @pytest.mark.parametrize("url", ["arxiv", "registry.example.org/plugins/lists:0.1.0"])
    def test_text_that_is_no_path_is_not_taken_for_one(self, load: Loader, url: str) -> None:
        assert "expected builtin:NAME" in load.fault(f'plugins.mine.url = "{url}"')

    def test_a_plugin_that_is_not_built_in_needs_a_url(self, load: Loader) -> None:
        assert load.fault("[plugins.mine]").startswith("plugins.mine: expected a `url`")

    def test_url_and_path_together_are_a_fault(self, load: Loader) -> None:
        text = 'plugins.m = {url = "file:///a.wasm", path = "file:///b.wasm"}'
        assert "give one of them" in load.fault(text)

    @pytest.mark.parametrize("name", ["Arxiv", "a__b", "_a", "a-b", "1a", "a b", "ä", "a" * 41])
    def test_a_name_that_cannot_prefix_tools_is_a_fault(self, load: Loader, name: str) -> None:
        fault = load.fault(f'[plugins."{name}"]\nurl = "file:///p.wasm"')
        assert fault.startswith("plugins.")
        assert "expected" in fault

    @pytest.mark.parametrize(
        "host", ["*", "https://arxiv.org", "arxiv.org:443", "10.0.0.1", "a b.org", "", "x*.org"]
    )
    @pytest.mark.requirement("sandbox:hosts:grant-names-hosts")
    def test_a_grant_of_anything_but_host_names_is_a_fault(self, load: Loader, host: str) -> None:
        fault = load.fault(f'plugins.arxiv.runtime_config.allowed_hosts = ["arxiv.org", "{host}"]')
        assert fault.startswith("plugins.arxiv.runtime_config.allowed_hosts[1]: ")

    @pytest.mark.parametrize("key", ["allowed_paths", "memory_limit"])
    def test_settings_of_hyper_mcp_without_an_equivalent_are_refused(
        self, load: Loader, key: str
    ) -> None:
        fault = load.fault(f"plugins.arxiv = {{ enabled = true, runtime_config.{key} = [] }}")
        assert fault.startswith(f"plugins.arxiv.runtime_config.{key}: not offered: ")


class TestFaults:
    def test_all_are_reported_at_once_with_their_places(self, load: Loader) -> None:
        faults = load.faults(
            "cache_dri = 'x'\n"
            "[fetch]\nretries = -1\nconnect_seconds = 'soon'\n"
            "[plugins.arxiv]\nenabled = 1\nlimits.cpu_seconds = true\n"
            "[server]\nlog_level = 'loud'\n"
        )
        assert sorted(fault.partition(":")[0] for fault in faults) == [
            "cache_dri",
            "fetch.connect_seconds",
            "fetch.retries",
            "plugins.arxiv.enabled",
            "plugins.arxiv.limits.cpu_seconds",
            "server.log_level",
        ]

    @pytest.mark.parametrize(
        ("text", "hint"),
        [
            ("plugin = 1", "did you mean 'plugins'?"),
            ("fetch.retrys = 1", "did you mean 'retries'?"),
            ("retries = 1", "it belongs to fetch.retries"),
            ("plugins.arxiv.allowed_hosts = []", "plugins.<name>.runtime_config.allowed_hosts"),
            ("limits.cpu = 1", "the nearest is 'cpu_seconds'"),
            ("plugins.arxiv.runtime_config.allow_hosts = []", "did you mean 'allowed_hosts'?"),
        ],
    )
    def test_an_unknown_key_is_refused_with_the_nearest_known_one(
        self, load: Loader, text: str, hint: str
    ) -> None:
        fault = load.fault(text)
        assert "unknown key" in fault
        assert hint in fault

    @pytest.mark.parametrize(
        ("text", "found"),
        [
            ("fetch.retries = -1", "found -1"),
            ("fetch.retries = 1.5", "found 1.5"),
            ("fetch.retries = true", "found True"),
            ("fetch.connect_seconds = 0", "found 0"),
            ("fetch.connect_seconds = nan", "found nan"),
            ("server.burst = 1979-05-27", "found a date"),
            ("fetch = []", "found a list"),
            ("plugins = 'x'", "found text"),
            ("plugins.arxiv = 1", "found a whole number"),
            ("plugins.arxiv.runtime_config.allowed_hosts = 'arxiv.org'", "found text"),
            ("plugins.arxiv.runtime_config.allowed_hosts = [1]", "found a whole number"),
            ("plugins.arxiv.settings.when = 1979-05-27", "found a date"),
            ("limits.memory_bytes = 1", "found 1"),
        ],
    )
    def test_a_wrong_value_is_reported_with_the_expected_type(
        self, load: Loader, text: str, found: str
    ) -> None:
        fault = load.fault(text)
        assert "expected" in fault
        assert found in fault

    def test_the_stack_is_not_a_single_plugins(self, load: Loader) -> None:
        assert "top-level `limits`" in load.fault("plugins.arxiv.limits.stack_bytes = 1048576")
        assert load.toml("limits.stack_bytes = 2097152").limits == {"stack_bytes": 2097152}

    def test_the_store_is_not_a_setting_of_fetch(self, load: Loader) -> None:
        fault = load.fault('fetch.store = "redis://localhost"')
        assert fault == "fetch.store: unknown key; it belongs to store"

    def test_recording_and_replaying_exclude_each_other(self, load: Loader) -> None:
        assert "exclude each other" in load.fault('record_dir = "a"\nreplay_dir = "b"')

    def test_a_pattern_that_is_no_regular_expression_is_a_fault(self, load: Loader) -> None:
        fault = load.fault('plugins.arxiv.runtime_config.skip_tools = ["("]')
        assert "skip_tools[0]: '(' is not a regular expression" in fault

    def test_a_certificate_file_must_exist(self, load: Loader) -> None:
        assert load.fault('fetch.ca_bundle = "none.pem"').startswith("fetch.ca_bundle: ")

    def test_a_folder_that_is_a_file_is_a_fault(self, load: Loader, tmp_path: Path) -> None:
        (tmp_path / "taken").touch()
        assert "is a file" in load.fault('cache_dir = "taken"')

    def test_relative_paths_start_at_the_file(self, load: Loader, tmp_path: Path) -> None:
        assert load.toml('record_dir = "../r"').record_dir == tmp_path.parent / "r"


@pytest.mark.requirement("sandbox:secrets:never-in-the-file")
class TestSecretsInTheFile:
    @pytest.mark.parametrize(
        "text",
        [
            "fetch.api_key = 'hunter2'",
            "plugins.arxiv.settings.apiKey = 'hunter2'",
            "plugins.arxiv.settings.deep = [{access_token = 'hunter2'}]",
            "plugins.arxiv.password = 'hunter2'",
            "secret = 'hunter2'",
        ],
    )
    def test_a_setting_that_looks_like_a_secret_is_refused_and_not_shown(
        self, load: Loader, text: str
    ) -> None:
        fault = load.fault(text)
        assert "looks like a secret" in fault
        assert "CARREL_SECRET_" in fault
        assert "hunter2" not in fault

    @pytest.mark.parametrize("key", ["max_tokens", "author", "keyword", "key"])
    def test_ordinary_settings_are_not_taken_for_secrets(self, load: Loader, key: str) -> None:
        assert entry(load.toml(f"plugins.arxiv.settings.{key} = 1"), "arxiv").settings == {key: 1}


class TestFilesThatCannotBeRead:
    @pytest.mark.parametrize(
        ("name", "data", "says"),
        [
            ("c.toml", b"a = 1\nb = = 2", "line 2, column 5: "),
            ("c.toml", b"[a]\nb = [1,", "line 2, column 8: "),
            ("c.toml", b"a = 1\na = 2", "line 2, column 6: "),
            ("c.json", b'{"fetch":\n {,}}', "line 2, column 3: "),
            ("c.json", b"", "line 1, column 1: "),
            ("c.json", b'{"fetch": {"read_seconds": NaN}}', "NaN is not JSON"),
            ("c.json", b"[1]", "expected a table of settings but found a list"),
            ("c.json", b"[" * 100_000, "nested too deep"),
            ("c.toml", b"a = 1\nb = \xff", "line 2, column 5: not UTF-8"),
            ("c.yaml", b"fetch:\n\t- a", "line 2, column 1: "),
            ("c.toml", b"#" * (2**20 + 1), "larger than 1,048,576 bytes"),
        ],
    )
    def test_the_fault_gives_its_position(
        self, load: Loader, name: str, data: bytes, says: str
    ) -> None:
        with pytest.raises(ConfigError) as caught:
            load.file(name, data)
        assert says in caught.value.faults[0]

    def test_a_key_given_twice_in_json_is_a_fault(self, load: Loader) -> None:
        twice = b'{"plugins": {"arxiv": {}, "arxiv": {"enabled": false}}}'
        with pytest.raises(ConfigError) as caught:
            load.file("c.json", twice)
        assert caught.value.faults == ("plugins.arxiv: the key is given twice",)

    def test_a_folder_is_a_fault(self, tmp_path: Path, env: dict[str, str]) -> None:
        with pytest.raises(ConfigError) as caught:
            load_config(tmp_path, env)
        assert "cannot be read" in caught.value.faults[0]

    @pytest.mark.parametrize("name", ["carrel.conf", "carrel"])
    def test_without_a_known_suffix_the_content_decides(self, load: Loader, name: str) -> None:
        assert load.file(name, b'\xef\xbb\xbf {"fetch": {"retries": 4}}').fetch.retries == 4
        assert load.file(name, b"\xef\xbb\xbffetch.retries = 5").fetch.retries == 5
