"""Tests `carrel.config`: sources of settings, and defaults."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from carrel.config import (
    BUILTIN_PLUGINS,
    DEFAULT_PLUGINS,
    ENVIRONMENT,
    READING_PLUGINS,
    SEARCH_PLUGINS,
    Config,
    DocumentsConfig,
    FetchConfig,
    PapersConfig,
    RuntimeConfig,
    ServerConfig,
    load_config,
)
from carrel.config.rules import LIMIT_RULES, RULES
from carrel.errors import ConfigError
from carrel.exchange import Limits


@pytest.fixture
def env(tmp_path: Path) -> dict[str, str]:
    """Returns an environment whose home directory is empty."""
    return {
        "HOME": str(tmp_path),
        "XDG_CONFIG_HOME": str(tmp_path / "config"),
        "XDG_CACHE_HOME": str(tmp_path / "cache"),
        "XDG_DATA_HOME": str(tmp_path / "data"),
    }


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")
    return path


def faults_of(path: Path | None, env: dict[str, str]) -> tuple[str, ...]:
    with pytest.raises(ConfigError) as caught:
        load_config(path, env)
    return caught.value.faults


class TestWithoutAFile:
    def test_the_built_in_plugins_are_on_with_the_hosts_they_declare(
        self, env: dict[str, str]
    ) -> None:
        config = load_config(None, env)
        assert [plugin.name for plugin in config.plugins] == list(DEFAULT_PLUGINS)
        for plugin in config.plugins:
            assert plugin.enabled
            assert plugin.url == f"builtin:{plugin.name}"
            assert plugin.allowed_hosts is None

    def test_a_built_in_plugin_that_is_not_on_by_default_is_turned_on_by_an_entry(
        self, tmp_path: Path, env: dict[str, str]
    ) -> None:
        others = set(BUILTIN_PLUGINS) - set(DEFAULT_PLUGINS)
        assert set(READING_PLUGINS) == others - set(SEARCH_PLUGINS)
        assert set(SEARCH_PLUGINS) <= others
        assert {"jats", "page", "pdf", "render"} <= set(READING_PLUGINS)
        path = tmp_path / "carrel.toml"
        path.write_text("[plugins.jats]\n", "utf-8")
        config = load_config(path, env)
        assert [plugin.name for plugin in config.plugins] == [*DEFAULT_PLUGINS, "jats"]
        assert config.plugins[-1].url == "builtin:jats"

    def test_a_reader_without_an_entry_can_be_used_and_is_not_listed(
        self, tmp_path: Path, env: dict[str, str]
    ) -> None:
        path = tmp_path / "carrel.toml"
        path.write_text("[plugins.jats]\nenabled = false\n", "utf-8")
        config = load_config(path, env)
        assert "jats" not in config.unlisted_readers
        assert "render" in config.unlisted_readers
        found = [config.plugin(name) for name in ("jats", "render", "sample")]
        assert [one.enabled if one else None for one in found] == [False, True, None]

    def test_a_provider_of_searches_without_an_entry_is_there_if_it_is_named(
        self, tmp_path: Path, env: dict[str, str]
    ) -> None:
        path = tmp_path / "carrel.toml"
        path.write_text('[web]\nsearch = ["brave", "exa"]\n[plugins.exa]\n', "utf-8")
        config = load_config(path, env)
        assert config.unlisted_providers == ("brave",)
        found = [config.plugin(name) for name in ("brave", "exa", "tavily")]
        assert [one.url if one else None for one in found] == ["builtin:brave", "builtin:exa", None]
        assert "brave" not in config.unlisted_readers

    @pytest.mark.parametrize(
        ("text", "fault"),
        [
            ('[web]\nsearch = ["Brave Search"]\n', "web.search"),
            ("[web]\nsearch = 5\n", "web.search"),
            (
                '[plugins.searxng.runtime_config]\nendpoint = "http://127.0.0.1:8080"\n',
                "private = true",
            ),
            (
                "[plugins.searxng.runtime_config]\nendpoint = { private = true }\n",
                "expected a url",
            ),
            (
                "[plugins.searxng.runtime_config]\nendpoint = { url = 5 }\n",
                "runtime_config.endpoint",
            ),
        ],
    )
    def test_faults_of_searches_and_endpoints_have_their_place(
        self, tmp_path: Path, env: dict[str, str], text: str, fault: str
    ) -> None:
        path = tmp_path / "carrel.toml"
        path.write_text(text, "utf-8")
        with pytest.raises(ConfigError, match=fault):
            load_config(path, env)

    def test_an_endpoint_is_read(self, tmp_path: Path, env: dict[str, str]) -> None:
        path = tmp_path / "carrel.toml"
        path.write_text(
            "[plugins.searxng.runtime_config]\n"
            'endpoint = { url = "http://127.0.0.1:8080", private = true }\n',
            "utf-8",
        )
        entry = load_config(path, env).plugin("searxng")
        assert entry is not None
        assert entry.endpoint is not None
        assert entry.endpoint.url == "http://127.0.0.1:8080"

    def test_folders_of_documents_start_at_the_file(
        self, tmp_path: Path, env: dict[str, str]
    ) -> None:
        path = tmp_path / "carrel.toml"
        path.write_text('[documents]\nfolders = ["papers", "/srv/papers", "papers/"]\n', "utf-8")
        assert load_config(path, env).documents.folders == (
            tmp_path / "papers",
            Path("/srv/papers"),
        )
        assert load_config(None, env).documents.folders == ()
        path.write_text('[documents]\nfolders = ["papers", 5]\nfolder = "x"\n', "utf-8")
        with pytest.raises(ConfigError) as caught:
            load_config(path, env)
        assert any("folders[1]" in fault for fault in caught.value.faults)

    def test_the_built_in_plugins_are_those_in_the_package(self) -> None:
        from carrel.plugins.sources.source import builtin_names

        assert set(BUILTIN_PLUGINS) == set(builtin_names())

    def test_the_source_names_no_file(self, env: dict[str, str]) -> None:
        assert load_config(None, env).source_path is None

    def test_neither_a_file_reader_nor_platformdirs_is_imported(self, env: dict[str, str]) -> None:
        script = (
            "import sys; from carrel.config import load_config; load_config();"
            "print(sorted({'tomllib', 'json', 'platformdirs', 'carrel.config.file',"
            "'carrel.config.rules', 'difflib'} & set(sys.modules)))"
        )
        allowed = [] if sys.platform not in {"win32", "darwin"} else ["platformdirs"]
        done = subprocess.run(
            [sys.executable, "-c", script], env={**env}, capture_output=True, text=True, check=True
        )
        assert done.stdout.strip() == str(allowed)

    def test_limits_are_those_of_the_exchange(self, env: dict[str, str]) -> None:
        assert load_config(None, env).limits_for("arxiv") == Limits()


class TestWhichFile:
    def test_the_argument_wins_over_the_variable_and_the_folder(
        self, env: dict[str, str], tmp_path: Path
    ) -> None:
        first = write(tmp_path / "a.toml", "fetch.retries = 1")
        second = write(tmp_path / "b.toml", "fetch.retries = 2")
        write(tmp_path / "config/carrel/carrel.toml", "fetch.retries = 3")
        named = {**env, "CARREL_CONFIG": str(second)}
        assert load_config(first, named).fetch.retries == 1
        assert load_config(None, named).fetch.retries == 2

    @pytest.mark.skipif(sys.platform in {"win32", "darwin"}, reason="XDG folders only")
    def test_the_users_folder_comes_last(self, env: dict[str, str], tmp_path: Path) -> None:
        found = write(tmp_path / "config/carrel/carrel.toml", "fetch.retries = 3")
        config = load_config(None, env)
        assert (config.fetch.retries, config.source_path) == (3, found)

    @pytest.mark.skipif(sys.platform in {"win32", "darwin"}, reason="XDG folders only")
    def test_the_users_folder_may_hold_json(self, env: dict[str, str], tmp_path: Path) -> None:
        write(tmp_path / "config/carrel/carrel.json", '{"fetch": {"retries": 4}}')
        assert load_config(None, env).fetch.retries == 4

    def test_a_named_file_that_is_missing_is_a_fault(
        self, env: dict[str, str], tmp_path: Path
    ) -> None:
        missing = str(tmp_path / "nowhere.toml")
        assert "no such file" in faults_of(Path(missing), env)[0]
        assert "no such file" in faults_of(None, {**env, "CARREL_CONFIG": missing})[0]

    @pytest.mark.skipif(sys.platform in {"win32", "darwin"}, reason="XDG folders only")
    def test_a_dangling_link_in_the_users_folder_is_reported(
        self, env: dict[str, str], tmp_path: Path
    ) -> None:
        link = tmp_path / "config/carrel/carrel.toml"
        link.parent.mkdir(parents=True)
        link.symlink_to(tmp_path / "gone")
        assert "no such file" in faults_of(None, env)[0]

    def test_a_blank_variable_counts_as_unset(self, env: dict[str, str]) -> None:
        assert load_config(None, {**env, "CARREL_CONFIG": " "}).source_path is None


class TestEnvironment:
    def test_each_variable_sets_its_setting(self, env: dict[str, str], tmp_path: Path) -> None:
        bundle = write(tmp_path / "ca.pem", "certificates")
        config = load_config(
            None,
            {
                **env,
                "CARREL_CACHE_DIR": str(tmp_path / "c"),
                "CARREL_DATA_DIR": str(tmp_path / "d"),
                "CARREL_RECORD_DIR": str(tmp_path / "r"),
                "CARREL_CONTACT": "someone@example.org",
                "CARREL_CA_BUNDLE": str(bundle),
                "CARREL_LOG_LEVEL": "Debug",
            },
        )
        assert config.cache_dir == tmp_path / "c"
        assert config.data_dir == tmp_path / "d"
        assert config.record_dir == tmp_path / "r"
        assert config.fetch.contact == "someone@example.org"
        assert config.fetch.ca_bundle == bundle
        assert config.server.log_level == "debug"

    def test_ncbis_tool_identifier_is_a_setting_of_the_built_in_plugin(
        self, env: dict[str, str], tmp_path: Path
    ) -> None:
        file = tmp_path / "c.toml"
        file.write_text(
            'plugins.eutils = { url = "builtin:eutils", settings = { software = "a", more = 1 } }\n'
            'plugins.other = { url = "file:///other.wasm" }'
        )
        config = load_config(file, env | {"NCBI_TOOL_IDENTIFIER": " pubmed-desk/2 "})
        settings = {plugin.name: dict(plugin.settings) for plugin in config.plugins}
        assert settings["eutils"] == {"software": "pubmed-desk/2", "more": 1}
        assert settings["other"] == settings["arxiv"] == {}
        [eutils] = (one for one in load_config(None, env).plugins if one.name == "eutils")
        assert eutils.settings == {}

    @pytest.mark.parametrize("bad", ["two words", "n\u00e4me", "x" * 101, "a\x07"])
    def test_a_tool_identifier_that_ncbi_does_not_take_is_a_fault(
        self, env: dict[str, str], bad: str
    ) -> None:
        with pytest.raises(ConfigError, match=r"NCBI_TOOL_IDENTIFIER .*without blanks"):
            load_config(None, env | {"NCBI_TOOL_IDENTIFIER": bad})

    def test_every_variable_names_a_setting_that_exists(self) -> None:
        for setting in ENVIRONMENT.values():
            section, _, key = setting.rpartition(".")
            assert key in RULES[section]

    def test_a_variable_overrides_the_file(self, env: dict[str, str], tmp_path: Path) -> None:
        path = write(tmp_path / "c.toml", 'cache_dir = "from-file"')
        config = load_config(path, {**env, "CARREL_CACHE_DIR": str(tmp_path / "from-env")})
        assert config.cache_dir == tmp_path / "from-env"

    def test_replaying_by_variable_replaces_recording_in_the_file(
        self, env: dict[str, str], tmp_path: Path
    ) -> None:
        path = write(tmp_path / "c.toml", 'record_dir = "r"')
        config = load_config(path, {**env, "CARREL_REPLAY_DIR": str(tmp_path / "p")})
        assert (config.record_dir, config.replay_dir) == (None, tmp_path / "p")

    def test_its_faults_come_with_those_of_the_file(
        self, env: dict[str, str], tmp_path: Path
    ) -> None:
        path = write(tmp_path / "c.toml", "fetch.retries = -1")
        faults = faults_of(path, {**env, "CARREL_LOG_LEVEL": "loud"})
        assert len(faults) == 2
        assert faults[0].startswith("fetch.retries: ")
        assert faults[1].startswith("CARREL_LOG_LEVEL (environment): ")

    @pytest.mark.skipif(sys.platform in {"win32", "darwin"}, reason="XDG folders only")
    def test_a_relative_xdg_folder_is_ignored(self, env: dict[str, str], tmp_path: Path) -> None:
        config = load_config(None, {**env, "XDG_CACHE_HOME": "relative"})
        assert config.cache_dir == tmp_path / ".cache" / "carrel"

    @pytest.mark.skipif(sys.platform in {"win32", "darwin"}, reason="XDG folders only")
    def test_the_folders_are_those_of_platformdirs(self) -> None:
        import platformdirs

        config = load_config(None)
        assert config.cache_dir == platformdirs.user_cache_path("carrel", appauthor=False)
        assert config.data_dir == platformdirs.user_data_path("carrel", appauthor=False)


class TestPrivacy:
    @pytest.mark.requirement("sandbox:secrets:contact-not-in-repr")
    def test_the_contact_address_is_not_in_the_repr(
        self, env: dict[str, str], tmp_path: Path
    ) -> None:
        path = write(tmp_path / "c.toml", 'fetch.contact = "someone@example.org"')
        config = load_config(path, env)
        assert config.fetch.contact == "someone@example.org"
        assert "someone" not in repr(config)

    @pytest.mark.requirement("sandbox:secrets:contact-not-in-fault")
    @pytest.mark.parametrize("value", ["someone", "a b@example.org", "x@example.org\r\nEvil: 1"])
    def test_a_contact_address_that_is_none_is_refused_without_showing_it(
        self, env: dict[str, str], tmp_path: Path, value: str
    ) -> None:
        path = write(tmp_path / "c.json", json.dumps({"fetch": {"contact": value}}))
        [fault] = faults_of(path, env)
        assert fault.startswith("fetch.contact: ")
        assert value not in fault


class TestShape:
    @pytest.mark.parametrize(
        ("section", "concern"),
        [
            ("fetch", FetchConfig),
            ("runtime", RuntimeConfig),
            ("server", ServerConfig),
            ("documents", DocumentsConfig),
            ("papers", PapersConfig),
        ],
    )
    def test_a_file_can_set_every_field(self, section: str, concern: type) -> None:
        assert set(RULES[section]) == set(concern.__annotations__)

    def test_a_file_can_set_every_limit(self) -> None:
        assert set(LIMIT_RULES) == set(Limits._fields)

    def test_every_default_satisfies_its_own_rule(self, tmp_path: Path) -> None:
        for section, concern in (
            ("fetch", FetchConfig()),
            ("runtime", RuntimeConfig()),
            ("server", ServerConfig()),
            ("papers", PapersConfig()),
        ):
            for key, rule in RULES[section].items():
                value = getattr(concern, key)
                if value is not None:
                    written = list(value) if isinstance(value, tuple) else value
                    assert rule(written, tmp_path) == value
        for key, rule in LIMIT_RULES.items():
            assert rule(getattr(Limits(), key), tmp_path) == getattr(Limits(), key)

    @pytest.mark.parametrize(
        "concern", [Config, DocumentsConfig, FetchConfig, PapersConfig, RuntimeConfig, ServerConfig]
    )
    def test_every_field_is_described(self, concern: type) -> None:
        for name in concern.__annotations__:
            assert f"\n        {name}: " in (concern.__doc__ or "")

    def test_defaults_agree_with_the_layers_that_use_them(self) -> None:
        from carrel.fetch.settings import FetchSettings
        from carrel.runtime.loader import RuntimeSettings

        for ours, theirs in (
            (FetchConfig(), FetchSettings()),
            (RuntimeConfig(), RuntimeSettings(code_folder=Path())),
        ):
            for name in type(ours).__annotations__:
                if hasattr(theirs, name):
                    assert getattr(ours, name) == getattr(theirs, name), name
