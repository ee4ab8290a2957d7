"""Tests that a plugin's effective policy is manifest ∩ grant, and that `inspect` shows it."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from carrel.config import Config, FetchConfig, PaceGrant, PluginConfig, builtin
from carrel.errors import DeadlineExceeded, HiddenToolError, LimitExceeded
from carrel.exchange import Failure
from carrel.fetch.policy.rules import HostGrant, HostRule
from carrel.fetch.url import Target, parse_url
from carrel.plugins.grants.access import effective_policy
from carrel.plugins.grants.pace import paced
from carrel.plugins.grants.review import ReviewItem, bucket_lines, in_vain, review
from carrel.plugins.manifests.manifest import Manifest, parse_manifest
from carrel.tools import Toolbox
from support.guests import guest
from support.manifests import manifest, manifest_text
from support.neighbours import builtin_manifest

HOSTS = [
    {"host": "api.example.org", "methods": ["GET", "POST"], "paths": ["/v1", "/v2"]},
    {"host": "*.cdn.example.org", "methods": ["GET"]},
]


def read(**changes: Any) -> Manifest:
    return parse_manifest(manifest_text(**{"hosts": HOSTS, **changes}), "sample")


def entry(**given: Any) -> PluginConfig:
    return PluginConfig("sample", "file:///sample.wasm", **given)


@pytest.fixture
def config(tmp_path: Path) -> Config:
    return Config(cache_dir=tmp_path, data_dir=tmp_path)


Ask = Callable[..., HostRule | Failure]


@pytest.fixture
def ask(config: Config) -> Ask:
    """Returns the decision of a grant's effective policy on a request."""

    def ask(url: str, *granted: str | HostGrant, method: str = "GET") -> HostRule | Failure:
        policy, _ = effective_policy(config, entry(allowed_hosts=granted), read())
        target = parse_url(url)
        assert isinstance(target, Target)
        return policy.check(method, target)

    return ask


V1 = "https://api.example.org/v1/x"


class TestHosts:
    @pytest.mark.requirement("sandbox:hosts:grant-methods")
    def test_a_method_needs_the_manifest_and_the_grant(self, ask: Ask) -> None:
        only_get = HostGrant("api.example.org", methods=frozenset({"GET"}))
        assert isinstance(ask(V1, only_get), HostRule)
        refusal = ask(V1, only_get, method="POST")
        assert isinstance(refusal, Failure)
        assert refusal.reason == "method_not_allowed"
        assert refusal.grant == (
            "plugins.sample.runtime_config.allowed_hosts += "
            '{ host = "api.example.org", methods = ["POST"] }'
        )
        head = HostGrant("api.example.org", methods=frozenset({"HEAD"}))
        assert isinstance(ask(V1, head, method="HEAD"), Failure)

    @pytest.mark.requirement("sandbox:hosts:grant-paths")
    def test_a_path_needs_the_manifest_and_the_grant(self, ask: Ask) -> None:
        narrow = HostGrant("api.example.org", paths=("/v1/x", "/v3"))
        assert isinstance(ask("https://api.example.org/v1/x/y", narrow), HostRule)
        refusal = ask("https://api.example.org/v1/xy", narrow)
        assert isinstance(refusal, Failure)
        assert refusal.reason == "path_not_allowed"
        assert refusal.grant == (
            "plugins.sample.runtime_config.allowed_hosts += "
            '{ host = "api.example.org", methods = ["GET"], paths = ["/v1/xy"] }'
        )
        refusal = ask("https://api.example.org/v3", narrow)  # granted, but not declared
        assert isinstance(refusal, Failure)
        assert refusal.grant == ""

    @pytest.mark.requirement("sandbox:hosts:grant-helps")
    @pytest.mark.parametrize(
        ("url", "method", "granted"),
        [
            (V1, "GET", ()),
            (V1, "POST", (HostGrant("api.example.org", methods=frozenset({"GET"})),)),
            (V1, "GET", (HostGrant("api.example.org", paths=("/v2",)),)),
            ("https://a.cdn.example.org/", "GET", ("api.example.org",)),
        ],
    )
    def test_the_grant_that_a_denial_names_allows_the_request(
        self, config: Config, ask: Ask, url: str, method: str, granted: tuple[Any, ...]
    ) -> None:
        import tomllib

        from carrel.config.rules import hosts

        refusal = ask(url, *granted, method=method)
        assert isinstance(refusal, Failure)
        place, _, item = refusal.grant.partition(" += ")
        assert place == "plugins.sample.runtime_config.allowed_hosts"
        [added] = hosts([tomllib.loads(f"item = {item}")["item"]], config.cache_dir)
        assert isinstance(ask(url, *granted, added, method=method), HostRule)

    @pytest.mark.requirement("sandbox:hosts:grant-narrows-wildcard")
    def test_a_granted_name_narrows_a_declared_wildcard(self, ask: Ask) -> None:
        rule = ask("https://a.cdn.example.org/", "a.cdn.example.org")
        assert isinstance(rule, HostRule)
        assert rule.upstream == "*.cdn.example.org"  # the bucket is the same as without the grant
        assert isinstance(ask("https://b.cdn.example.org/", "a.cdn.example.org"), Failure)

    def test_several_items_of_a_host_add_up(self, ask: Ask) -> None:
        items = (
            HostGrant("api.example.org", frozenset({"GET"}), ("/v1",)),
            HostGrant("api.example.org", frozenset({"POST"}), ("/v2",)),
        )
        assert isinstance(ask(V1, *items), HostRule)
        assert isinstance(ask("https://api.example.org/v2", *items, method="POST"), HostRule)
        assert isinstance(ask(V1, *items, method="POST"), Failure)


class TestSecrets:
    SECRETS = ({"name": "key", "hosts": ["api.example.org"], "attach": {"query": "key"}},)

    @pytest.mark.requirement("sandbox:secrets:grant-by-name")
    @pytest.mark.parametrize(
        ("url", "given", "attached"),
        [
            ("file:///x.wasm", {}, []),
            ("file:///x.wasm", {"secrets": ("key",)}, ["key"]),
            ("file:///x.wasm", {"secrets": ("other",)}, []),
            ("builtin:arxiv", {}, ["key"]),
            ("builtin:arxiv", {"secrets": ()}, []),
        ],
    )
    def test_a_plugin_that_is_not_built_in_gets_only_named_secrets(
        self, config: Config, monkeypatch: pytest.MonkeyPatch,
        url: str, given: dict[str, Any], attached: list[str],
    ) -> None:  # fmt: skip
        monkeypatch.setenv("CARREL_SECRET_SAMPLE_KEY", "hunter2")
        one = PluginConfig("sample", url, allowed_hosts=("api.example.org",), **given)
        _, secrets = effective_policy(config, one, read(secrets=list(self.SECRETS)))
        assert [secret.name for secret in secrets] == attached

    @pytest.mark.requirement("sandbox:secrets:grant-contact")
    def test_the_contact_address_is_a_secret_too(self, config: Config) -> None:
        config = replace(config, fetch=FetchConfig(contact="me@example.org"))
        contact = [{**self.SECRETS[0], "name": "contact"}]
        _, secrets = effective_policy(config, entry(), read(secrets=contact))
        assert secrets == ()


class TestPace:
    @staticmethod
    def rule(host: str = "api.example.org", milliseconds: int = 100) -> HostRule:
        one = {"host": host, "methods": ["GET"], "pace": {"interval_ms": milliseconds}}
        return read(hosts=[one]).hosts[0]

    @pytest.mark.requirement("sandbox:hosts:grant-pace")
    def test_the_operator_sets_the_rate_limit_of_an_unknown_host(self) -> None:
        for milliseconds in (50, 5000):
            given = entry(pace={"api.example.org": PaceGrant(milliseconds, burst=2)})
            pace = paced(given, self.rule()).pace
            assert (pace.interval, pace.burst) == (milliseconds / 1000, 2)

    @pytest.mark.requirement("sandbox:hosts:grant-pace-upstream-rule")
    def test_a_known_upstreams_rate_limit_applies_unless_configured(self) -> None:
        known = paced(entry(), self.rule("export.arxiv.org", 0))
        assert (known.pace.interval, known.pace.burst) == (3.0, 1)
        assert known.upstream == paced_builtin("export.arxiv.org").upstream
        quick = {"export.arxiv.org": PaceGrant(10)}
        assert paced(entry(pace=quick), self.rule("export.arxiv.org", 0)).pace.interval == 3.0
        slow = {"export.arxiv.org": PaceGrant(9000)}
        assert paced(entry(pace=slow), self.rule("export.arxiv.org", 0)).pace.interval == 9.0
        ignoring = {"export.arxiv.org": PaceGrant(10, ignore_upstream_rule=True)}
        assert paced(entry(pace=ignoring), self.rule("export.arxiv.org", 0)).pace.interval == 0.01

    def test_a_built_in_plugin_keeps_its_rule_and_can_be_slowed(self) -> None:
        rule = paced_builtin("export.arxiv.org")
        arxiv = PluginConfig("arxiv", "builtin:arxiv", allowed_hosts=None)
        assert paced(arxiv, rule) == rule
        quick = replace(arxiv, pace={"export.arxiv.org": PaceGrant(10)})
        assert paced(quick, rule).pace.interval == 3.0
        slow = replace(arxiv, pace={"*.arxiv.org": PaceGrant(4000)})
        assert paced(slow, rule).pace.interval == 4.0


def paced_builtin(host: str) -> HostRule:
    from carrel.plugins.grants.pace import builtin_rules

    return next(rule for rule in builtin_rules() if rule.host == host)


class TestTools:
    @pytest.mark.requirement("sandbox:hosts:grant-tools")
    @pytest.mark.parametrize(
        ("given", "grant"),
        [
            ({"skip_tools": ("ec.*",)}, 'skip_tools -= "ec.*"'),
            ({"tools": ("other",)}, 'tools += "echo"'),
            ({"tools": ("echo",), "skip_tools": ("echo",)}, 'skip_tools -= "echo"'),
        ],
    )
    def test_a_hidden_tool_names_the_grant_that_would_offer_it(
        self, tmp_path: Path, code_folder: Path, given: dict[str, Any], grant: str
    ) -> None:
        toolbox = make_toolbox(tmp_path, code_folder, **given)
        assert list(toolbox.tools()) == []
        with pytest.raises(HiddenToolError) as caught:
            toolbox.call_sync("sample_echo", {})
        assert caught.value.grant == f"plugins.sample.runtime_config.{grant}"
        assert caught.value.grant in caught.value.message
        assert caught.value.to_dict()["action"] == "ask_operator"
        toolbox.close()

    def test_only_tools_that_match_are_offered(self, tmp_path: Path, code_folder: Path) -> None:
        toolbox = make_toolbox(tmp_path, code_folder, tools=("e.*",))
        assert [tool.name for tool in toolbox.tools()] == ["sample_echo"]
        toolbox.close()


class TestLimits:
    @pytest.mark.requirement("sandbox:limits:grant-named")
    def test_a_limit_that_was_passed_names_the_setting_that_allows_more(
        self, tmp_path: Path, code_folder: Path
    ) -> None:
        toolbox = make_toolbox(
            tmp_path, code_folder, "(loop $l (br $l))", limits={"cpu_seconds": 0.1}
        )
        with pytest.raises(LimitExceeded) as caught:
            toolbox.call_sync("sample_echo", {})
        assert caught.value.grant == "plugins.sample.runtime_config.limits.cpu_seconds"
        assert caught.value.grant in caught.value.message
        assert caught.value.to_dict()["grant"] == caught.value.grant
        toolbox.close()

    @pytest.mark.parametrize(
        ("limit", "setting"),
        [("memory", "plugins.p.runtime_config.limits.memory_bytes"),
         ("output", "plugins.p.runtime_config.limits.output_bytes"),
         ("fetches", "plugins.p.runtime_config.limits.fetches"),
         ("fetched_bytes", "plugins.p.runtime_config.limits.fetched_bytes"),
         ("stack", "limits.stack_bytes")],
    )  # fmt: skip
    def test_every_limit_has_its_setting(self, limit: str, setting: str) -> None:
        assert LimitExceeded(limit, 1, plugin="p", tool="t").grant == setting
        assert DeadlineExceeded(plugin="p", tool="t", seconds=1).grant.endswith("wall_seconds")


class TestReview:
    """Tests that `carrel plugin inspect` shows the policy that fetches are decided by."""

    @staticmethod
    def items(config: Config, kind: str, declared: Manifest, **given: Any) -> dict[str, ReviewItem]:
        found = review(config, entry(**given), declared)
        return {item.name: item for item in found if item.kind == kind}

    @pytest.mark.requirement("sandbox:hosts:inspect-asked-granted-refused")
    def test_hosts_are_shown_with_methods_and_paths(self, config: Config) -> None:
        granted = (HostGrant("api.example.org", frozenset({"GET"}), ("/v1",)), "a.cdn.example.org")
        found = self.items(config, "host", read(), allowed_hosts=granted)
        api, cdn = found["api.example.org"], found["*.cdn.example.org"]
        assert (api.asked, api.granted) == ("GET, POST /v1, /v2", "GET /v1")
        assert api.refused == "POST, other paths"
        assert api.grant.endswith('allowed_hosts += "api.example.org"')
        assert (cdn.granted, cdn.refused) == ("a.cdn.example.org: GET every path", "other names")
        nothing = self.items(config, "host", read())["api.example.org"]
        assert (nothing.granted, nothing.refused) == ("", "everything")

    def test_secrets_tools_resources_lookup_limits_and_pace_are_shown(self, config: Config) -> None:
        resource = {
            "uri": "sample://facts", "name": "facts", "description": "Facts.",
            "output_schema": {"type": "object"},
        }  # fmt: skip
        declared = read(
            secrets=list(TestSecrets.SECRETS),
            resources=[resource],
            lookup={"identifiers": ["doi"]},
            limits={"cpu_seconds": 30, "fetches": 2},
            hosts=[*HOSTS, {**HOSTS[0], "host": "arxiv.org", "pace": {"interval_ms": 10}}],
        )
        given = {"skip_tools": ("echo", "lookup"), "skip_resources": ("sample:.*",)}
        place = "plugins.sample.runtime_config"
        for kind, name, granted, refused, grant in [
            ("secret", "key", "", "everything", f'{place}.secrets += "key"'),
            ("tool", "sample_echo", "", "hidden", f'{place}.skip_tools -= "echo"'),
            ("lookup", "doi", "", "hidden", f'{place}.skip_tools -= "lookup"'),
            ("resource", "sample://facts", "", "hidden", f'{place}.skip_resources -= "sample:.*"'),
            ("limit", "cpu_seconds", "10.0", "30", f"{place}.limits.cpu_seconds"),
            ("limit", "fetches", "2", "", f"{place}.limits.fetches"),
            (
                "pace",
                "arxiv.org",
                "one per 0.2 s, a bucket of its own and bucket arxiv.org",
                "",
                f'{place}.pace."arxiv.org"',
            ),
        ]:
            item = self.items(config, kind, declared, **given)[name]
            assert (item.granted, item.refused, item.grant) == (granted, refused, grant), kind

    @pytest.mark.requirement("sandbox:apart:buckets-are-shown")
    def test_the_buckets_that_requests_go_through_are_shown(self, config: Config) -> None:
        pace = {"interval_ms": 600_000, "upstream": "export.arxiv.org"}
        hosts = [
            {"host": "evil.example.com", "methods": ["GET"], "pace": pace},
            {"host": "export.arxiv.org", "methods": ["GET"]},
            {"host": "*.ncbi.nlm.nih.gov", "methods": ["GET"]},
        ]
        declared = read(hosts=hosts)
        found = self.items(config, "pace", declared)
        assert {name: (item.asked, item.granted) for name, item in found.items()} == {
            "evil.example.com": (
                "one per 600 s, bucket export.arxiv.org",
                "one per 600 s, a bucket of its own",
            ),
            "export.arxiv.org": (
                "",
                "one per 3 s, a bucket of its own and bucket export.arxiv.org",
            ),
            "*.ncbi.nlm.nih.gov": (
                "",
                "one per 0.334 s, a bucket of its own and bucket ncbi",
            ),
        }
        assert bucket_lines(config, entry(), declared) == [
            "pace at evil.example.com: a bucket of its own",
            "pace at export.arxiv.org: a bucket of its own and bucket export.arxiv.org",
            "pace at *.ncbi.nlm.nih.gov: a bucket of its own and bucket ncbi",
        ]
        arxiv = builtin_manifest("arxiv")
        own = review(config, builtin("arxiv"), arxiv)
        assert {item.granted for item in own if item.kind == "pace"} == {
            "one per 3 s, bucket export.arxiv.org",
            "one per 0.2 s, 5 at once, bucket arxiv.org",
        }

    def test_unused_grants_are_named(self) -> None:
        given = entry(
            allowed_hosts=("b.example.org", HostGrant("c.example.org")),
            secrets=("nothing",),
            pace={"d.example.org": PaceGrant(1)},
        )
        assert in_vain(given, read()) == [
            "plugins.sample.runtime_config.allowed_hosts: b.example.org",
            "plugins.sample.runtime_config.allowed_hosts: c.example.org",
            "plugins.sample.runtime_config.pace: d.example.org",
            "plugins.sample.runtime_config.secrets: nothing",
        ]


def make_toolbox(folder: Path, code_folder: Path, body: str = "", **given: Any) -> Toolbox:
    path = folder / "sample.wasm"
    one = guest(body, result=json.dumps({"n": 1}), manifest=json.dumps(manifest()))
    path.write_bytes(one.wasm)
    plugin = PluginConfig("sample", path.as_uri(), **given)
    return Toolbox(Config(cache_dir=code_folder, data_dir=folder, plugins=(plugin,)))
