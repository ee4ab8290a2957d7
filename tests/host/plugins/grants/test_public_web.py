"""Tests that the public web takes a manifest that asks, an explicit grant, and no secrets."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from carrel.config import Config, PluginConfig, WebConfig, load_config
from carrel.errors import ConfigError, LoadError
from carrel.exchange import Failure
from carrel.fetch.policy.rules import HostRule, Policy
from carrel.fetch.url import Target
from carrel.plugins.approval.lock import first_sight, lock_entry
from carrel.plugins.grants.access import effective_policy, granted_hosts
from carrel.plugins.grants.public_web import PageRule
from carrel.plugins.grants.review import in_vain, review
from carrel.plugins.manifests.manifest import Manifest, parse_manifest
from support.manifests import manifest_text

pytestmark = pytest.mark.requirement("sandbox:hosts:public-web")

ASKS = {"contract": "1.1", "hosts": [], "public_web": {"methods": ["GET"], "cache_seconds": 60}}
ANYWHERE = Target("www.example.org", "/page")
SECRET = {"name": "api_key", "hosts": ["api.example.org"], "attach": {"query": "key"}}


def read(**changes: Any) -> Manifest:
    return parse_manifest(manifest_text(**{**ASKS, **changes}), "sample")


def entry(**given: Any) -> PluginConfig:
    return PluginConfig("sample", "file:///sample.wasm", **given)


@pytest.fixture
def config(tmp_path: Path) -> Config:
    return Config(cache_dir=tmp_path, data_dir=tmp_path)


def policy_of(config: Config, plugin: PluginConfig, manifest: Manifest) -> Policy:
    return effective_policy(config, plugin, manifest)[0]


class TestManifest:
    def test_a_plugin_asks_by_a_member_of_its_manifest(self) -> None:
        assert read().public_web
        assert not parse_manifest(manifest_text(), "sample").public_web

    @pytest.mark.requirement("sandbox:secrets:public-web")
    @pytest.mark.parametrize("name", ["api_key", "contact"])
    def test_a_plugin_with_a_secret_cannot_ask(self, name: str) -> None:
        hosts = [{"host": "api.example.org", "methods": ["GET"]}]
        with pytest.raises(LoadError, match="a plugin that has secrets cannot ask for the public"):
            read(hosts=hosts, secrets=[{**SECRET, "name": name}])

    @pytest.mark.requirement("sandbox:secrets:public-web")
    def test_a_trusted_manifest_with_a_secret_is_refused_too(self, config: Config) -> None:
        hosts = [{"host": "api.example.org", "methods": ["GET"]}]
        text = manifest_text(**ASKS | {"hosts": hosts, "secrets": [SECRET]})
        with pytest.raises(ValueError, match="cannot ask for the public web"):
            parse_manifest(text, "sample", trusted=True)

    def test_it_needs_contract_1_1(self) -> None:
        with pytest.raises(LoadError, match=r"public_web needs contract 1\.1, but found 1\.0"):
            read(contract="1.0")

    @pytest.mark.parametrize("asked", [{}, {"methods": []}, {"methods": ["POST"]}, True])
    def test_only_reading_methods_can_be_asked_for(self, asked: object) -> None:
        with pytest.raises(LoadError, match="public_web"):
            read(public_web=asked)


class TestGrant:
    def test_it_takes_the_manifest_and_an_explicit_grant(self, config: Config) -> None:
        rule = policy_of(config, entry(allowed_hosts=("public-web",)), read()).check(
            "GET", ANYWHERE
        )
        assert isinstance(rule, HostRule)
        assert rule.robots
        assert rule.cache_seconds == 60

    @pytest.mark.parametrize(
        "plugin",
        [
            entry(),
            entry(allowed_hosts=("www.example.com",)),
            PluginConfig("sample", "builtin:sample", allowed_hosts=None),
        ],
    )
    def test_without_the_grant_a_denial_names_it(
        self, config: Config, plugin: PluginConfig
    ) -> None:
        refusal = policy_of(config, plugin, read()).check("GET", ANYWHERE)
        assert isinstance(refusal, Failure)
        assert refusal.reason == "host_not_granted"
        assert refusal.grant == 'plugins.sample.runtime_config.allowed_hosts += "public-web"'

    def test_a_grant_that_no_manifest_asks_for_is_in_vain(self, config: Config) -> None:
        plugin = entry(allowed_hosts=("public-web",))
        manifest = parse_manifest(manifest_text(), "sample")
        assert isinstance(policy_of(config, plugin, manifest).check("GET", ANYWHERE), Failure)
        assert in_vain(plugin, manifest) == [
            "plugins.sample.runtime_config.allowed_hosts: public-web"
        ]
        assert in_vain(plugin, read()) == []

    def test_the_operators_limits_hold(self, config: Config) -> None:
        web = WebConfig(blocked_hosts=("example.com",), interval_ms=2500, concurrency=1)
        policy = policy_of(replace(config, web=web), entry(allowed_hosts=("public-web",)), read())
        rule = policy.check("GET", ANYWHERE)
        assert isinstance(rule, HostRule)
        assert (rule.pace.interval, rule.concurrency) == (2.5, 1)
        refusal = policy.check("GET", Target("www.example.com", "/"))
        assert isinstance(refusal, Failure)
        assert refusal.reason == "host_blocked"

    def test_inspect_shows_what_is_asked_and_granted(self, config: Config) -> None:
        [before] = [one for one in review(config, entry(), read()) if one.name == "public-web"]
        assert (before.kind, before.granted, before.refused) == ("host", "", "everything")
        assert before.grant == 'plugins.sample.runtime_config.allowed_hosts += "public-web"'
        granted = entry(allowed_hosts=("public-web",))
        [after] = [one for one in review(config, granted, read()) if one.name == "public-web"]
        assert after.granted == after.asked == "GET every public host"

    def test_an_operator_approves_it_like_a_host(self) -> None:
        locked = lock_entry(read(), url="file:///x.wasm", digest=None, wasm="0" * 64, signer=None)
        assert locked.hosts == ("public-web",)
        assert "host: public-web" in first_sight(locked)

    def test_public_web_is_not_among_the_granted_hosts(self) -> None:
        assert granted_hosts(entry(allowed_hosts=("public-web",)), read()) == ()


class TestPages:
    def test_the_toolset_has_nothing_without_its_own_grant(self, config: Config) -> None:
        assert isinstance(PageRule(config).policy().check("GET", ANYWHERE), Failure)

    @pytest.mark.parametrize("by_person", [False, True])
    def test_only_a_persons_single_request_passes_by_robots_rules(
        self, config: Config, by_person: bool
    ) -> None:
        config = replace(config, web=WebConfig(hosts="public-web"))
        rule = PageRule(config, by_person=by_person)
        found = rule.policy().check("GET", ANYWHERE)
        assert isinstance(found, HostRule)
        assert found.robots is not by_person
        assert rule.secrets() == ()


class TestConfiguration:
    def load(self, tmp_path: Path, text: str) -> Config:
        path = tmp_path / "carrel.toml"
        path.write_text(text, encoding="utf-8")
        return load_config(path, env={})

    @pytest.mark.parametrize("value", ['"public-web"', '["public-web"]'])
    def test_the_grant_is_a_text_or_an_item_of_the_list(self, tmp_path: Path, value: str) -> None:
        config = self.load(
            tmp_path,
            '[plugins.sample]\nurl = "./sample.wasm"\n[plugins.sample.runtime_config]\n'
            f"allowed_hosts = {value}\n",
        )
        found = config.plugin("sample")
        assert found is not None
        assert found.allowed_hosts == ("public-web",)

    def test_a_star_names_the_grant(self, tmp_path: Path) -> None:
        with pytest.raises(ConfigError, match="public-web"):
            self.load(
                tmp_path,
                '[plugins.sample]\nurl = "./sample.wasm"\n[plugins.sample.runtime_config]\n'
                'allowed_hosts = ["*"]\n',
            )

    def test_the_toolset_is_off_without_a_setting(self, tmp_path: Path) -> None:
        assert self.load(tmp_path, "").web == WebConfig()
        config = self.load(tmp_path, '[web]\nhosts = "public-web"\nblocked_hosts = ["a.example"]\n')
        assert config.web == WebConfig(hosts="public-web", blocked_hosts=("a.example",))

    def test_another_value_is_refused(self, tmp_path: Path) -> None:
        with pytest.raises(ConfigError, match=r"web\.hosts.*'public-web'"):
            self.load(tmp_path, '[web]\nhosts = "*"\n')
