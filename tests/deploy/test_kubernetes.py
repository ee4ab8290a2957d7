"""Tests the Kubernetes manifests: the API's schemas, kustomize, and what they must not allow."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from carrel.config import load_config
from carrel.version import __version__

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "scripts"))
import peers  # noqa: E402 -- it is a script, beside the tests

FOLDER = ROOT / "deploy" / "kubernetes"
FILES = sorted(path for path in FOLDER.glob("*.yaml") if path.name != "kustomization.yaml")


def documents(path: Path) -> list[dict[str, Any]]:
    return [one for one in yaml.safe_load_all(path.read_text("utf-8")) if one]


def every(kind: str) -> list[dict[str, Any]]:
    return [one for path in FILES for one in documents(path) if one["kind"] == kind]


def one(kind: str, name: str = "carrel") -> dict[str, Any]:
    [found] = [item for item in every(kind) if item["metadata"]["name"] == name]
    return found


WORKLOADS = [*every("Deployment"), *every("StatefulSet")]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_manifests_conform_to_the_schemas_of_the_api(path: Path) -> None:
    validator = pytest.importorskip(
        "kubernetes_validate", reason="kubernetes-validate is not installed"
    )
    for document in documents(path):
        for version in ("1.30", validator.latest_version()):
            validator.validate(document, version, strict=True)


def test_the_linter_has_no_complaint() -> None:
    kube_score = peers.find("kube-score")
    if kube_score is None:
        pytest.skip("kube-score is not here; `just peers kube-score` gets it or says why not")
    done = subprocess.run(
        [kube_score, "score", "--output-format", "ci", *FILES],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    complaints = [
        line for line in done.stdout.splitlines() if not line.startswith(("[OK]", "[SKIPPED]"))
    ]
    assert (done.returncode, complaints) == (0, [])


def test_kustomize_renders_every_file() -> None:
    listed = yaml.safe_load((FOLDER / "kustomization.yaml").read_text("utf-8"))["resources"]
    assert sorted(listed) == [path.name for path in FILES]
    if shutil.which("kubectl") is None:
        pytest.skip("kubectl is not installed")
    done = subprocess.run(
        ["kubectl", "kustomize", FOLDER], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    rendered = list(yaml.safe_load_all(done.stdout))
    kinds = [document["kind"] for document in rendered]
    assert sorted(kinds) == sorted(
        ["ConfigMap", *(document["kind"] for path in FILES for document in documents(path))]
    )
    [deployment] = [document for document in rendered if document["kind"] == "Deployment"]
    [map_] = [document for document in rendered if document["kind"] == "ConfigMap"]
    volumes = deployment["spec"]["template"]["spec"]["volumes"]
    names = [volume["configMap"]["name"] for volume in volumes if "configMap" in volume]
    assert names == [map_["metadata"]["name"]], "a changed configuration starts new pods"


def test_the_configuration_is_that_of_the_image() -> None:
    assert (FOLDER / "carrel.toml").read_text("utf-8") == (FOLDER.parent / "carrel.toml").read_text(
        "utf-8"
    )


@pytest.mark.parametrize("workload", WORKLOADS, ids=lambda item: item["metadata"]["name"])
def test_pods_have_no_root_no_capability_and_a_read_only_file_system(
    workload: dict[str, Any],
) -> None:
    pod = workload["spec"]["template"]["spec"]
    assert pod["automountServiceAccountToken"] is False
    assert pod["securityContext"]["runAsNonRoot"] is True
    assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    for container in pod["containers"]:
        context = container["securityContext"]
        assert context["allowPrivilegeEscalation"] is False
        assert context["readOnlyRootFilesystem"] is True
        assert context["capabilities"] == {"drop": ["ALL"]}
        assert set(container["resources"]["limits"]) >= {"cpu", "memory"}
        assert set(container["resources"]["requests"]) >= {"cpu", "memory"}
        assert ":" in container["image"]
        assert not container["image"].endswith(":latest")
        assert {"livenessProbe", "readinessProbe"} <= set(container)


def test_probes_ask_the_server_s_paths_under_a_name_that_it_serves() -> None:
    [container] = one("Deployment")["spec"]["template"]["spec"]["containers"]
    names = ("startup", "liveness", "readiness")
    paths = {name: container[f"{name}Probe"]["httpGet"] for name in names}
    assert [paths[name]["path"] for name in paths] == ["/healthz", "/healthz", "/readyz"]
    for probe in paths.values():
        assert probe["httpHeaders"] == [{"name": "Host", "value": "localhost"}]
        assert probe["port"] == "http"


def test_selectors_select_the_pods() -> None:
    for workload in WORKLOADS:
        labels = workload["spec"]["template"]["metadata"]["labels"]
        assert workload["spec"]["selector"]["matchLabels"].items() <= labels.items()
        name = workload["metadata"]["name"]
        assert one("Service", name)["spec"]["selector"].items() <= labels.items()
        policy = one("NetworkPolicy", name)["spec"]
        assert policy["podSelector"]["matchLabels"].items() <= labels.items()
        assert policy["policyTypes"] == ["Ingress", "Egress"]
    budget = one("PodDisruptionBudget")["spec"]["selector"]["matchLabels"]
    assert budget == one("Deployment")["spec"]["selector"]["matchLabels"]
    target = one("HorizontalPodAutoscaler")["spec"]
    assert (target["scaleTargetRef"]["name"], target["minReplicas"] >= 2) == ("carrel", True)
    assert "replicas" not in one("Deployment")["spec"], "the autoscaler sets it"


def ports_of(workload: dict[str, Any]) -> dict[str, int]:
    """Returns the named ports of a workload's container."""
    [container] = workload["spec"]["template"]["spec"]["containers"]
    return {port["name"]: port["containerPort"] for port in container["ports"]}


def allowed_ports(rule: dict[str, Any]) -> set[int]:
    return {port["port"] for port in rule["ports"]}


def test_whatever_is_connected_agrees_on_the_port() -> None:
    carrel, redis = ports_of(one("Deployment")), ports_of(one("StatefulSet", "redis"))
    [container] = one("Deployment")["spec"]["template"]["spec"]["containers"]
    assert container["args"] == ["serve", "--http", f"0.0.0.0:{carrel['http']}"]
    [port] = one("Service")["spec"]["ports"]
    [path] = one("Ingress")["spec"]["rules"][0]["http"]["paths"]
    assert path["backend"]["service"] == {"name": "carrel", "port": {"name": port["name"]}}
    assert carrel[port["targetPort"]] == carrel["http"]
    from_outside, from_prometheus = one("NetworkPolicy")["spec"]["ingress"]
    assert allowed_ports(from_outside) == {carrel["http"]}
    assert allowed_ports(from_prometheus) == {carrel["metrics"]}
    configuration = (FOLDER / "carrel.toml").read_text("utf-8")
    assert f'# metrics = "0.0.0.0:{carrel["metrics"]}"\n' in configuration
    to_redis, to_names, to_sources = one("NetworkPolicy")["spec"]["egress"]
    [into_redis] = one("NetworkPolicy", "redis")["spec"]["ingress"]
    [served] = one("Service", "redis")["spec"]["ports"]
    assert allowed_ports(to_redis) == allowed_ports(into_redis) == {redis["redis"]}
    assert (served["port"], redis[served["targetPort"]]) == (redis["redis"], redis["redis"])
    [store] = [item["value"] for item in container["env"] if item["name"] == "CARREL_STORE"]
    assert store == f"redis://{one('Service', 'redis')['metadata']['name']}:{redis['redis']}/0"
    assert (allowed_ports(to_names), allowed_ports(to_sources)) == ({53}, {443})


def test_network_policies_name_the_pods_that_they_let_in() -> None:
    carrel = one("Deployment")["spec"]["template"]["metadata"]["labels"]
    redis = one("StatefulSet", "redis")["spec"]["template"]["metadata"]["labels"]
    [into_redis] = one("NetworkPolicy", "redis")["spec"]["ingress"]
    [caller] = into_redis["from"]
    assert caller["podSelector"]["matchLabels"].items() <= carrel.items()
    [called] = one("NetworkPolicy")["spec"]["egress"][0]["to"]
    assert called["podSelector"]["matchLabels"].items() <= redis.items()
    assert not caller["podSelector"]["matchLabels"].items() <= redis.items()


def test_images_are_the_versions_of_the_package_and_of_the_compose_file() -> None:
    compose = yaml.safe_load((FOLDER.parent / "compose.yaml").read_text("utf-8"))["services"]
    [container] = one("Deployment")["spec"]["template"]["spec"]["containers"]
    assert compose["carrel"]["image"] == f"carrel:{__version__}"
    assert container["image"] == f"registry.example.org/carrel:{__version__}"
    [redis] = one("StatefulSet", "redis")["spec"]["template"]["spec"]["containers"]
    assert redis["image"] == compose["redis"]["image"]


def test_private_addresses_are_not_reached() -> None:
    [blocks] = [
        peer["ipBlock"]
        for rule in one("NetworkPolicy")["spec"]["egress"]
        for peer in rule["to"]
        if "ipBlock" in peer
    ]
    assert {"10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "169.254.0.0/16"} <= set(
        blocks["except"]
    )
    assert one("NetworkPolicy", "redis")["spec"]["egress"] == []


def test_secrets_are_named_and_not_given() -> None:
    assert every("Secret") == []
    [container] = one("Deployment")["spec"]["template"]["spec"]["containers"]
    assert container["envFrom"] == [{"secretRef": {"name": "carrel"}}]
    assert {item["name"]: item["value"] for item in container["env"]} == {
        "CARREL_STORE": "redis://redis:6379/0",
        "CARREL_STORE_PASSWORD_FILE": "/run/secrets/redis/redis-password",
        "CARREL_WEB_KEY_FILE": "/run/secrets/carrel/web.key",
    }


def test_all_pods_have_the_same_key_for_what_they_share() -> None:
    pod = one("Deployment")["spec"]["template"]["spec"]
    [container] = pod["containers"]
    volumes = {item["name"]: item for item in pod["volumes"]}
    [mounted] = [
        volumes[item["name"]]
        for item in container["volumeMounts"]
        if item["mountPath"] == "/run/secrets/carrel"
    ]
    assert mounted["secret"]["secretName"] == "carrel-key"
    assert mounted["secret"]["secretName"] != container["envFrom"][0]["secretRef"]["name"]
    steps = (FOLDER.parents[1] / "docs/how-to/deploy.md").read_text("utf-8")
    assert "create secret generic carrel-key --from-file=web.key\n" in steps


def test_a_session_stays_at_its_replica() -> None:
    annotations = one("Ingress")["metadata"]["annotations"]
    assert annotations["nginx.ingress.kubernetes.io/upstream-hash-by"] == "$binary_remote_addr"


def test_pods_have_longer_to_stop_than_their_calls() -> None:
    server = load_config(FOLDER / "carrel.toml", {"HOME": "/"}).server
    grace = one("Deployment")["spec"]["template"]["spec"]["terminationGracePeriodSeconds"]
    assert grace > server.drain_seconds + server.shutdown_seconds
