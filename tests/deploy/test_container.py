"""Tests the container file, and runs its steps as far as they go without a container engine."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import httpx2
import jwt
import pytest
import yaml

from carrel.config import load_config
from carrel.plugins.approval.lockfile import encode_lock, read_lock
from support.http_server import BOTH, answer_of, envelope, modern_headers, request

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
CONTAINERFILE = DEPLOY / "Containerfile"
SECRET = "s" * 48


def instructions() -> list[tuple[str, str]]:
    """Returns the instructions: the word and the rest, with continued lines joined."""
    text = re.sub(r"^\s*#.*\n", "", CONTAINERFILE.read_text("utf-8"), flags=re.MULTILINE)
    joined = text.replace("\\\n", " ")
    lines = [line.split(None, 1) for line in joined.splitlines() if line.strip()]
    return [(word, re.sub(r"\s+", " ", rest)) for word, rest in lines]


def of(word: str) -> list[str]:
    """Returns what the last stage says with an instruction."""
    every = instructions()
    last = max(at for at, (one, _) in enumerate(every) if one == "FROM")
    return [rest for one, rest in every[last:] if one == word]


def test_the_linter_has_no_complaint() -> None:
    hadolint = Path(sys.executable).with_name("hadolint")
    if not hadolint.exists():
        pytest.skip("hadolint is not here; the development environment has it on Linux")
    done = subprocess.run(
        [hadolint, "--format", "json", "--failure-threshold", "style", CONTAINERFILE],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert json.loads(done.stdout) == []
    assert done.returncode == 0


def test_the_image_runs_as_a_user_that_owns_only_the_volume() -> None:
    [user] = of("USER")
    assert user == "65532:65532"
    assert of("VOLUME") == ['["/var/lib/carrel"]']
    [made] = of("RUN")
    assert made == "install --directory --owner=65532 --group=65532 --mode=0700 /var/lib/carrel"
    environment = " ".join(of("ENV"))
    for name in ("CARREL_CACHE_DIR", "CARREL_DATA_DIR", "HOME"):
        assert re.search(rf"\b{name}=/var/lib/carrel", environment), name
    assert "PASSWORD" not in CONTAINERFILE.read_text("utf-8")


def test_the_last_stage_copies_files_that_are_here() -> None:
    copied = [rest.split() for rest in of("COPY")]
    assert ["--from=build", "/opt/carrel", "/opt/carrel"] in copied
    for words in copied:
        if not words[0].startswith("--from"):
            assert (ROOT / words[0]).exists(), words[0]
    assert "COPY . ." in CONTAINERFILE.read_text("utf-8")


def ignored() -> set[str]:
    """Returns what is not sent to the build."""
    lines = (DEPLOY / "Containerfile.dockerignore").read_text("utf-8").splitlines()
    return {line for line in lines if line and not line.startswith("#")}


def test_what_is_needed_to_build_is_not_ignored() -> None:
    needed = {"host", "contract", "pyproject.toml", "constraints.txt", "README.md", "deploy"}
    needed |= {"LICENSE", "Cargo.toml", "Cargo.lock", "plugins", "componentize"}
    assert not needed & ignored()


def test_the_secrets_beside_the_compose_file_are_in_no_layer_of_the_build() -> None:
    """`COPY . .` copies everything that is not ignored."""
    lines = (ROOT / ".gitignore").read_text("utf-8").splitlines()
    secrets = {line.strip("/") for line in lines if line.startswith("/deploy/")}
    assert secrets == {"deploy/secrets", "deploy/carrel.env"}
    assert secrets <= ignored()


def test_the_image_has_what_settings_of_a_server_need() -> None:
    """It has no pip, so an operator cannot add the extra that `server.traces` needs."""
    extras = re.search(r"\$\{wheel\}\[([a-z,]+)\]", CONTAINERFILE.read_text("utf-8"))
    assert extras is not None
    assert {*extras[1].split(",")} == {"redis", "otel"}


def test_the_configuration_of_the_image_is_valid(tmp_path: Path) -> None:
    config = load_config(DEPLOY / "carrel.toml", {"HOME": str(tmp_path)})
    assert config.store is None, "the environment names it"
    assert config.identity.resource == "https://carrel.example.org/mcp"


def test_plugins_are_approved_beside_the_configuration_that_the_image_reads() -> None:
    """The server reads the lock where it cannot write it."""
    [environment] = of("ENV")
    variables = dict(word.split("=", 1) for word in environment.split())
    configured = Path(variables["CARREL_CONFIG"])
    config = replace(load_config(DEPLOY / "carrel.toml", variables), source_path=configured)
    names = {configured.name, config.lock_path.name}
    assert config.lock_path.parent == configured.parent
    copied = [rest.split() for rest in of("COPY")]
    [words] = [one for one in copied if one[-1] == f"{configured.parent}/"]
    assert {Path(word).name for word in words[:-1]} == names
    compose = yaml.safe_load((DEPLOY / "compose.yaml").read_text("utf-8"))
    mounted = compose["services"]["carrel"]["volumes"]
    assert {f"./{name}:{configured.parent}/{name}:ro" for name in names} <= set(mounted)
    kustomization = yaml.safe_load((DEPLOY / "kubernetes/kustomization.yaml").read_text("utf-8"))
    assert set(kustomization["configMapGenerator"][0]["files"]) == names
    for folder in (DEPLOY, DEPLOY / "kubernetes"):
        lock = folder / config.lock_path.name
        assert lock.read_bytes() == encode_lock({}), "nothing is approved yet"
        assert read_lock(lock) == {}


def healthcheck() -> list[str]:
    """Returns the command of HEALTHCHECK with this Python and this checkout's script."""
    [line] = of("HEALTHCHECK")
    words = json.loads(line.partition("CMD ")[2])
    assert words[:2] == ["/opt/carrel/bin/python", "/opt/carrel/healthcheck.py"]
    return [sys.executable, str(DEPLOY / "healthcheck.py"), *words[2:]]


def test_the_health_check_fails_where_nothing_answers() -> None:
    command = [*healthcheck()[:2], "http://127.0.0.1:1/healthz"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.startswith("http://127.0.0.1:1/healthz: ")


@pytest.fixture
def installed(tmp_path: Path) -> Iterator[Path]:
    """Builds the wheel and installs it into an empty folder of root's, as the image does.

    Its dependencies are this environment's.
    """
    if os.geteuid() != 0:
        pytest.skip("only root can become the image's user")
    build = [sys.executable, "-m", "build", "--no-isolation", "--wheel", "--outdir"]
    subprocess.run([*build, str(tmp_path), str(ROOT)], check=True, stdout=subprocess.DEVNULL)
    wheel = next(tmp_path.glob("*.whl"))
    folder = Path("/opt") / f"carrel-test-{os.getpid()}"
    install = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index"]
    subprocess.run([*install, "--target", str(folder), str(wheel)], check=True)
    yield folder
    shutil.rmtree(folder)


def call_a_tool(url: str) -> None:
    """Calls a tool; without a network its source cannot be reached, which takes a plugin to say."""
    name, arguments = "arxiv_query", {"search_query": "all:desk", "verify_source_url": False}
    params = {"name": name, "arguments": arguments, "_meta": envelope()}
    headers = {"accept": BOTH, **modern_headers("tools/call", name)}
    with httpx2.Client(headers=headers, timeout=120, trust_env=False) as client:
        call = request("tools/call", params)
        assert client.post(url, json=call).status_code == 401
        audience = "https://carrel.example.org/mcp"
        claims = {"sub": "alice", "aud": audience, "exp": int(time.time()) + 600}
        token = jwt.encode(claims, SECRET, "HS256")
        response = client.post(url, json=call, headers={"authorization": f"Bearer {token}"})
        assert "result" in answer_of(response), response.text


@pytest.mark.long("builds")
@pytest.mark.skipif(sys.platform != "linux", reason="namespaces are Linux's")
def test_the_server_runs_read_only_with_one_writable_folder(
    installed: Path, tmp_path: Path
) -> None:
    """The steps of the image: wheel, empty target, unprivileged user, health check, SIGTERM."""
    volume = Path("/var/lib") / f"carrel-test-{os.getpid()}"
    volume.mkdir(mode=0o700)
    os.chown(volume, 65532, 65532)
    script = tmp_path / "run.sh"
    # A mount namespace of its own: the whole tree read-only, but for the volume.
    script.write_text(
        f"mount --make-rprivate / && mount --bind {volume} {volume} "
        f"&& mount -o remount,ro,bind / && cd {volume} && exec setpriv --reuid=65532 "
        f"--regid=65532 --clear-groups --no-new-privs --bounding-set=-all "
        f"{sys.executable} -m carrel serve --http 0.0.0.0:0\n",
        "utf-8",
    )
    if subprocess.run(["unshare", "--mount", "true"], check=False).returncode != 0:
        pytest.skip("mount namespaces are not allowed here")
    environment = {
        "PATH": os.environ["PATH"],
        "PYTHONPATH": str(installed),
        "PYTHONDONTWRITEBYTECODE": "1",
        "CARREL_CACHE_DIR": f"{volume}/cache",
        "CARREL_DATA_DIR": f"{volume}/data",
        "CARREL_CONFIG": str(DEPLOY / "carrel.toml"),
        "MCP_AUTH_SECRET_KEY": SECRET,
        "HOME": str(volume),
    }
    server = subprocess.Popen(
        ["unshare", "--mount", "sh", str(script)],
        env=environment, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert server.stderr is not None
    try:
        lines = iter(server.stderr.readline, "")
        line = next(one for one in lines if "serving" in one)
        url = line.split()[-1].rpartition("/")[0].replace("0.0.0.0", "127.0.0.1")
        status = Path(f"/proc/{server.pid}/status").read_text("utf-8")
        assert re.search(r"Uid:\s+65532\s+65532", status)
        assert re.search(r"CapEff:\s+0+\n", status)
        check = [*healthcheck()[:2], f"{url}/healthz"]
        assert subprocess.run(check, check=False).returncode == 0
        ready = [*healthcheck()[:2], f"{url}/readyz"]
        end = time.monotonic() + 120
        while subprocess.run(ready, check=False, stderr=subprocess.DEVNULL).returncode != 0:
            assert time.monotonic() < end
            time.sleep(0.2)
        assert "Read-only" in (subprocess.run(
            ["nsenter", f"--target={server.pid}", "--mount", "touch", "/tmp/carrel-test"],
            capture_output=True, text=True, check=False,
        ).stderr)  # fmt: skip
        call_a_tool(f"{url}/mcp")
        assert any((volume / "cache" / "code").iterdir()), "compiled code is in the volume"
        server.terminate()
        assert server.wait(30) == 0
    finally:
        server.kill()
        server.wait()
        server.stderr.close()
        shutil.rmtree(volume)
