"""Tests the sources of credentials, and that only the registry and its realms receive them."""

from __future__ import annotations

import base64
import json
import os
import secrets
import stat
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from carrel.errors import RegistryError
from carrel.oci.challenge import Challenge, read_challenge
from carrel.oci.credentials import Credential, find_credential
from carrel.oci.documents import OCI_MANIFEST, sha256
from carrel.oci.layout import write_plugin
from carrel.oci.pull import pull
from carrel.oci.push import push
from carrel.oci.registry import open_repository
from carrel.oci.store import PluginStore
from support.registries import Registry, docker_registry
from support.staged_registry import BASIC, ELSEWHERE, PASSWORD, REGISTRY, USER, Staged
from support.token_server import token_server
from support.upstream import Reply, Seen

MANIFEST = json.dumps({"schemaVersion": 2, "mediaType": OCI_MANIFEST}).encode()
ANSWER = Reply(headers=(("Content-Type", OCI_MANIFEST),), body=MANIFEST)
TAG_PATH = "/v2/plugins/demo/manifests/1"
COMPONENT = b"\0asm\x0d\x00\x01\x00" + b"x" * 1000


def read(staged: Staged, host: str = REGISTRY) -> str | None:
    with staged.repository(host) as repository:
        document = repository.manifest("1")
        return document.digest if document else None


def refusal(staged: Staged, host: str = REGISTRY) -> str:
    with pytest.raises(RegistryError) as caught:
        read(staged, host)
    assert PASSWORD not in caught.value.message
    return caught.value.message


def bearer_only(realm: str, token: str = "the-token") -> Callable[[Seen], Reply]:
    def handler(seen: Seen) -> Reply:
        if seen.headers.get("authorization") == f"Bearer {token}":
            return ANSWER
        challenge = f'Bearer realm="{realm}",service="plugins",scope="repository:other:push"'
        return Reply(401, headers=(("WWW-Authenticate", challenge),))

    return handler


def token(value: str = "the-token") -> Reply:
    return Reply(body=json.dumps({"token": value}).encode())


@pytest.mark.requirement("registry:secrets:realm")
class TestRealm:
    def test_the_registry_s_own_realm_gets_the_credentials(self, staged: Staged) -> None:
        staged.log_in()
        staged.on(TAG_PATH, bearer_only(f"https://{REGISTRY}/token"))
        staged.on("/token", token())
        assert read(staged) == sha256(MANIFEST)
        asked = staged.seen[1]
        assert asked.headers["authorization"] == BASIC
        assert asked.path == "/token?service=plugins&scope=repository%3Aplugins%2Fdemo%3Apull"

    def test_a_realm_on_another_host_gets_no_credentials(self, staged: Staged) -> None:
        staged.log_in()
        staged.on(TAG_PATH, bearer_only(f"https://{ELSEWHERE}/token"))
        staged.on("/token", token())
        assert read(staged) == sha256(MANIFEST)
        assert [seen.host for seen in staged.seen] == [REGISTRY, ELSEWHERE, REGISTRY]
        assert BASIC not in [seen.headers.get("authorization") for seen in staged.seen]

    def test_a_realm_on_another_host_is_refused_with_the_remedy(self, staged: Staged) -> None:
        staged.log_in()
        staged.on(TAG_PATH, bearer_only(f"https://{ELSEWHERE}/token"))
        staged.on("/token", Reply(401))
        message = refusal(staged)
        assert f"were not sent to {ELSEWHERE}" in message
        assert "realm_hosts" in message

    def test_a_configured_realm_on_another_host_gets_credentials(self, staged: Staged) -> None:
        staged.log_in()
        staged.configure(realm_hosts=frozenset({(REGISTRY, ELSEWHERE)}))
        staged.on(TAG_PATH, bearer_only(f"https://{ELSEWHERE}/token"))
        staged.on("/token", token())
        assert read(staged) == sha256(MANIFEST)
        assert staged.seen[1].headers["authorization"] == BASIC

    def test_an_unconfigured_realm_may_not_be_private_even_for_a_private_registry(
        self, staged: Staged
    ) -> None:
        staged.log_in()
        staged.upstream.names.table |= {REGISTRY: ["10.0.0.1"], ELSEWHERE: ["10.0.0.2"]}
        staged.configure(private_hosts=frozenset({REGISTRY}))
        staged.on(TAG_PATH, bearer_only(f"https://{ELSEWHERE}/token"))
        staged.on("/token", token())
        assert "not public (private)" in refusal(staged)
        staged.configure(realm_hosts=frozenset({(REGISTRY, ELSEWHERE)}))
        assert read(staged) == sha256(MANIFEST)

    def test_docker_hub_s_realm_is_known(self, staged: Staged) -> None:
        staged.log_in("https://index.docker.io/v1/")
        staged.on(TAG_PATH, bearer_only("https://auth.docker.io/token"))
        staged.on("/token", token())
        assert read(staged, "docker.io") == sha256(MANIFEST)
        sent = [(seen.host, seen.headers.get("authorization")) for seen in staged.seen]
        assert sent == [
            ("registry-1.docker.io", None),
            ("auth.docker.io", BASIC),
            ("registry-1.docker.io", "Bearer the-token"),
        ]

    @pytest.mark.parametrize(
        ("realm", "says"),
        [
            (f"http://{REGISTRY}/token", "over http, which is refused"),
            ("https://127.0.0.1:8080/token", "not public (loopback)"),
            ("https://inside.example.org/token", "not public (link-local)"),
            ("ftp://elsewhere/token", "scheme is not https"),
            (f"https://u:p@{REGISTRY}/token", "user name or password"),
        ],
    )
    def test_a_realm_with_a_private_address_is_refused(
        self, staged: Staged, realm: str, says: str
    ) -> None:
        staged.log_in()
        staged.upstream.names.table["inside.example.org"] = ["169.254.169.254"]
        staged.on(TAG_PATH, bearer_only(realm))
        assert says in refusal(staged)
        assert len(staged.seen) == 1

    @pytest.mark.parametrize(
        ("answer", "says"),
        [
            (Reply(body=b"<html>"), "is not JSON"),
            (Reply(body=b"{}"), "answered without a token"),
            (token("a\r\nX-Injected: 1"), "answered without a token"),
            (token("x" * 20_000), "answered without a token"),
            (Reply(302, headers=(("Location", f"https://{ELSEWHERE}/"),)), "answered 302"),
            (Reply(401), "refuses the credentials"),
            (Reply(body=b" " * (5 * 2**20)), "more than 4194304 bytes"),
        ],
    )
    def test_a_realm_that_gives_no_token_is_one_clear_error(
        self, staged: Staged, answer: Reply, says: str
    ) -> None:
        staged.log_in()
        staged.on(TAG_PATH, bearer_only("/token"))
        staged.on("/token", answer)
        assert says in refusal(staged)

    def test_an_unsatisfiable_401_ends_with_an_error(self, staged: Staged) -> None:
        staged.log_in()
        staged.on(TAG_PATH, bearer_only("/token", "another-token"))
        staged.on("/token", token())
        assert "refuses the credentials" in refusal(staged)
        assert len(staged.seen) == 3

    def test_an_expired_token_is_fetched_again(self, staged: Staged) -> None:
        accepted = ["first"]

        def handler(seen: Seen) -> Reply:
            if seen.headers.get("authorization") == f"Bearer {accepted[-1]}":
                return ANSWER
            return Reply(401, headers=(("WWW-Authenticate", 'Bearer realm="/token"'),))

        staged.on(TAG_PATH, handler)
        staged.on("/token", token("first"), token("second"))
        with staged.repository() as repository:
            assert repository.manifest("1")
            accepted.append("second")
            assert repository.manifest("1")

    def test_an_identity_token_is_exchanged_by_post(self, staged: Staged) -> None:
        staged.log_in(identitytoken="refresh-me")
        staged.on(TAG_PATH, bearer_only("/token"))
        staged.on("/token", Reply(body=b'{"access_token": "the-token"}'))
        assert read(staged) == sha256(MANIFEST)
        asked = staged.seen[1]
        assert asked.method == "POST"
        assert b"grant_type=refresh_token&refresh_token=refresh-me" in asked.body
        assert "authorization" not in asked.headers

    def test_without_credentials_the_error_names_the_login_command(self, staged: Staged) -> None:
        staged.on(TAG_PATH, Reply(401, headers=(("WWW-Authenticate", 'Basic realm="x"'),)))
        assert f"`docker login {REGISTRY}`" in refusal(staged)

    @pytest.mark.parametrize("header", ["", "Negotiate", "Digest realm=x", "Bearer", '"' * 9000])
    def test_an_unknown_challenge_is_an_error(self, staged: Staged, header: str) -> None:
        staged.log_in()
        staged.on(TAG_PATH, Reply(401, headers=(("WWW-Authenticate", header),)))
        assert "cannot read the manifest" in refusal(staged)
        assert len(staged.seen) == 1


@pytest.mark.parametrize(
    ("header", "challenge"),
    [
        ('Basic realm="a, b"', Challenge("basic", "a, b")),
        ('Basic realm="x", Bearer realm="https://r/t",service="s"',
         Challenge("bearer", "https://r/t", "s")),
        ("bearer realm=https://r/t , service=s", Challenge("bearer", "https://r/t", "s")),
        (r'Bearer realm="a\"b"', Challenge("bearer", 'a"b')),
        ("Negotiate, Basic", Challenge("basic")),
        ("", None),
    ],
)  # fmt: skip
def test_challenges_are_read_as_rfc_9110_writes_them(
    header: str, challenge: Challenge | None
) -> None:
    assert read_challenge(header) == challenge


@pytest.mark.requirement("registry:secrets:helpers")
class TestDockerConfiguration:
    def write(self, folder: Path, config: object) -> None:
        (folder / "config.json").write_text(
            config if isinstance(config, str) else json.dumps(config), "utf-8"
        )

    def find(self, folder: Path, host: str = REGISTRY) -> Credential | None:
        return find_credential(host, folder, helper_seconds=5)

    def helper(
        self, folder: Path, monkeypatch: pytest.MonkeyPatch, script: str, name: str = "test"
    ) -> None:
        path = folder / f"docker-credential-{name}"
        path.write_text(f"#!/bin/sh\n{script}\n", "utf-8")
        path.chmod(path.stat().st_mode | stat.S_IEXEC)
        monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")

    def test_without_docker_configuration_there_are_no_credentials(self, tmp_path: Path) -> None:
        assert self.find(tmp_path) is None

    @pytest.mark.parametrize("key", [REGISTRY, f"https://{REGISTRY}", f"https://{REGISTRY}/v1/"])
    def test_a_login_is_found_under_every_spelling(self, tmp_path: Path, key: str) -> None:
        pair = base64.b64encode(b"me:pass:word").decode()
        self.write(tmp_path, {"auths": {key: {"auth": pair}}})
        assert self.find(tmp_path) == Credential("me", "pass:word")

    def test_another_registry_s_login_is_not_taken(self, tmp_path: Path) -> None:
        pair = base64.b64encode(b"me:secret").decode()
        others = [f"x{REGISTRY}", f"{REGISTRY}.evil.org", f"{REGISTRY}:8443", "example.org"]
        self.write(tmp_path, {"auths": {host: {"auth": pair} for host in others}})
        assert self.find(tmp_path) is None

    @pytest.mark.parametrize(
        ("config", "says"),
        [
            ("{", "is not JSON"),
            ({"auths": {REGISTRY: {"auth": "%%%"}}}, "that is not base64"),
            ({"credsStore": "../../bin/sh"}, "names an invalid helper"),
            ({"credsStore": "none-of-this-name"}, "cannot be started"),
        ],
    )
    def test_an_invalid_configuration_is_reported(
        self, tmp_path: Path, config: object, says: str
    ) -> None:
        self.write(tmp_path, config)
        with pytest.raises(RegistryError, match=says):
            self.find(tmp_path)

    def test_a_credential_helper_is_called_for_its_registry_only(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        output = '{"Username": "me", "Secret": "from-helper"}'
        self.helper(tmp_path, monkeypatch, f"cat > {tmp_path}/asked; echo '{output}'")
        self.write(tmp_path, {"credHelpers": {REGISTRY: "test"}, "credsStore": "other"})
        assert self.find(tmp_path) == Credential("me", "from-helper")
        assert (tmp_path / "asked").read_text() == REGISTRY

    def test_a_helper_s_token_is_an_identity_token(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        output = '{"Username": "<token>", "Secret": "refresh"}'
        self.helper(tmp_path, monkeypatch, f"cat > /dev/null; echo '{output}'")
        self.write(tmp_path, {"credsStore": "test"})
        assert self.find(tmp_path) == Credential(identity_token="refresh")

    def test_without_a_helpers_credentials_the_file_is_used(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        nothing = "credentials not found in native keychain"
        self.helper(tmp_path, monkeypatch, f"cat > /dev/null; echo '{nothing}'; exit 1")
        self.write(tmp_path, {"credsStore": "test", "auths": {REGISTRY: {"username": "me"}}})
        assert self.find(tmp_path) == Credential("me")

    def test_a_failing_credential_helper_is_reported_without_its_output(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        self.helper(tmp_path, monkeypatch, "echo secret-in-error >&2; exit 3")
        self.write(tmp_path, {"credsStore": "test"})
        with pytest.raises(RegistryError, match="failed with exit 3") as caught:
            self.find(tmp_path)
        assert "secret-in-error" not in caught.value.message

    def test_secrets_are_not_printed(self) -> None:
        assert "hidden" not in repr(Credential("me", "hidden", "hidden", "hidden"))


class TestRealRegistries:
    def round_trip(self, registry: Registry, folder: Path) -> None:
        where = registry.reference("plugins/private:1")
        with open_repository(where, registry.settings) as repository:
            push(write_plugin(COMPONENT, name="private"), where, repository)
        with open_repository(where, registry.settings) as repository:
            got = pull(where, repository, PluginStore(folder / "store"), max_bytes=2**20)
        assert got.wasm == COMPONENT

    def test_a_private_key_opens_only_with_its_password(self, tmp_path: Path) -> None:
        with docker_registry(tmp_path, with_login=True) as registry:
            self.round_trip(registry, tmp_path)
            registry.run("oras", "repo", "ls", "--plain-http", registry.host)
            registry.log_in("reader", "wrong")
            with pytest.raises(RegistryError, match="it refuses the credentials") as caught:
                self.round_trip(registry, tmp_path)
            assert caught.value.status == 401
            registry.log_out()
            with pytest.raises(RegistryError, match="docker login"):
                self.round_trip(registry, tmp_path)

    def test_tokens_of_a_realm_open_as_far_as_they_go(self, tmp_path: Path) -> None:
        password = secrets.token_urlsafe(12)
        with (
            token_server(tmp_path, {USER: password}) as realm,
            docker_registry(tmp_path, auth=realm.auth) as registry,
        ):
            pairs = frozenset({(registry.host, realm.host)})
            settings = replace(registry.settings, realm_hosts=pairs)
            where = registry.reference("plugins/private:1")
            package = write_plugin(COMPONENT, name="private")
            with (
                open_repository(where, settings) as repository,
                pytest.raises(RegistryError, match="docker login"),
            ):
                push(package, where, repository)
            registry.log_in(USER, password)
            with open_repository(where, settings) as repository:
                push(package, where, repository)
            assert realm.asked[-1] == (USER, "repository:plugins/private:pull,push")
            registry.log_out()
            with open_repository(where, settings) as repository:
                got = pull(where, repository, PluginStore(tmp_path / "store"), max_bytes=2**20)
            assert got.wasm == COMPONENT
            assert realm.asked[-1] == ("", "repository:plugins/private:pull")
