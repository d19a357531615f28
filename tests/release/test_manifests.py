"""Tests that compose files and Kubernetes manifests are valid, hardened, and never run two Hosts on one volume."""

import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.support.harness import ROOT

from .manifests import VARIANTS, objects, pod_specs, write

COMPOSE = ROOT / "deploy" / "compose"
UVX = ROOT / ".tools" / "bin" / "uvx"
COMBINATIONS = {
    "single": ("compose.yaml",),
    "postgres": ("compose.yaml", "compose.postgres.yaml"),
    "runtime": ("compose.yaml", "compose.runtime.yaml"),
    "box": ("compose.yaml", "compose.box.yaml"),
    "sandbox": ("compose.yaml", "compose.sandbox.yaml"),
}
NAMESPACES = ["seccomp=../image/seccomp.json", "apparmor=unconfined", "systempaths=unconfined"]
"""Options with which bubblewrap makes sandboxes in a container."""
PROFILES = ("--profile", "runtime", "--profile", "box")
SCHEMAS = ("1.28", "1.31", "1.37")

pytestmark = [pytest.mark.long, pytest.mark.root, pytest.mark.timeout(600)]


def run(*command: object, cwd: Path = ROOT) -> str:
    finished = subprocess.run([str(word) for word in command], cwd=cwd, capture_output=True, text=True, check=False)
    assert finished.returncode == 0, finished.stdout[-2000:] + finished.stderr[-3000:]
    return finished.stdout


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("schema", SCHEMAS)
def test_the_manifests_are_valid_for_the_supported_versions(variant: str, schema: str, tmp_path: Path) -> None:
    file = write(variant, tmp_path / "manifests.yaml")
    run(UVX, "--from", "kubernetes-validate==1.37.0", "kubernetes-validate", "--strict", "-k", schema, file)


@pytest.mark.parametrize("variant", VARIANTS)
def test_pods_are_hardened_and_probed(variant: str) -> None:
    for spec in pod_specs(objects(variant)):
        makes_sandboxes = spec["containers"][0]["name"] == "box"
        assert spec["automountServiceAccountToken"] is False
        assert spec["securityContext"]["runAsNonRoot"] is True
        profile = spec["securityContext"]["seccompProfile"]["type"]
        assert profile == ("Localhost" if makes_sandboxes else "RuntimeDefault")
        assert spec.get("hostUsers", True) is not makes_sandboxes
        assert not any("hostPath" in volume for volume in spec["volumes"])
        for container in [*spec["containers"], *spec.get("initContainers", [])]:
            assert container["securityContext"] == {
                "allowPrivilegeEscalation": False,
                "readOnlyRootFilesystem": True,
                "capabilities": {"drop": ["ALL"]},
                **({"procMount": "Unmasked"} if makes_sandboxes else {}),
            }
            assert container["resources"]["limits"]["memory"]
            assert re.search(r":\d", container["image"]), "an image has a version, never `latest`"
        for container in spec["containers"]:
            assert {"readinessProbe", "livenessProbe"} <= container.keys()


@pytest.mark.parametrize("variant", VARIANTS)
def test_each_host_owns_its_volume_and_nodes_can_be_drained(variant: str) -> None:
    found = objects(variant)
    for each in found:
        if each["kind"] == "StatefulSet":
            assert each["spec"]["replicas"] == (2 if variant == "overlays/cluster" else 1)
            [claim] = each["spec"]["volumeClaimTemplates"]
            assert claim["spec"]["accessModes"] == ["ReadWriteOnce"]
    [budget] = [each for each in found if each["kind"] == "PodDisruptionBudget"]
    assert budget["spec"]["maxUnavailable"] == 1
    assert "minAvailable" not in budget["spec"]


def test_several_hosts_have_one_key_and_reach_each_other_by_name() -> None:
    found = objects("overlays/cluster")
    [host] = [each for each in found if each["kind"] == "StatefulSet"]
    [names] = [each for each in found if each["kind"] == "Service" and each["spec"].get("clusterIP") == "None"]
    spec = host["spec"]["template"]["spec"]
    [container] = spec["containers"]
    order = [each["name"] for each in container["env"]]
    variables = {each["name"]: each.get("value", "") for each in container["env"]}

    assert host["spec"]["serviceName"] == names["metadata"]["name"]
    assert names["spec"]["publishNotReadyAddresses"] is True, "a Host that is leaving still has parts"
    assert variables["PARLOUR__CLUSTER__ENABLED"] == "true"
    port = container["ports"][0]["containerPort"]
    assert variables["PARLOUR__CLUSTER__ADDRESS"] == (
        f"http://$(PARLOUR__CLUSTER__NAME).{names['metadata']['name']}:{port}"
    )
    used, using = (order.index(f"PARLOUR__CLUSTER__{name}") for name in ("NAME", "ADDRESS"))
    assert used < using, "Kubernetes expands only variables that stand before"
    assert [each["name"] for each in spec["initContainers"]] == ["key", "check"]
    assert {each["secret"]["secretName"] for each in spec["volumes"] if "secret" in each} == {
        *("parlour-key", "parlour-secrets"),
    }
    assert spec["topologySpreadConstraints"]


def test_only_the_host_reaches_the_runtime() -> None:
    found = objects("overlays/runtime")
    [policy] = [
        each for each in found if each["kind"] == "NetworkPolicy" and each["metadata"]["name"] == "parlour-runtime"
    ]
    [rule] = policy["spec"]["ingress"]
    assert rule["from"] == [{"podSelector": {"matchLabels": {"app.kubernetes.io/name": "parlour"}}}]


def test_only_the_host_reaches_the_box_and_no_engine_is_mounted() -> None:
    found = objects("overlays/box")
    assert "docker.sock" not in str(found)
    [policy] = [each for each in found if each["kind"] == "NetworkPolicy" and each["metadata"]["name"] == "parlour-box"]
    [rule] = policy["spec"]["ingress"]
    assert rule["from"] == [
        {
            "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "parlour"}},
            "podSelector": {"matchLabels": {"app.kubernetes.io/name": "parlour"}},
        }
    ]
    [service] = [each for each in found if each["kind"] == "Service" and each["metadata"]["name"] == "parlour-box"]
    [host] = [each for each in found if each["kind"] == "StatefulSet"]
    variables = {each["name"]: each["value"] for each in host["spec"]["template"]["spec"]["containers"][0]["env"]}
    address = f"{service['metadata']['name']}.{service['metadata']['namespace']}:{service['spec']['ports'][0]['port']}"
    assert variables["PARLOUR__BOX__ENDPOINT"] == f"ws://{address}"


def composed(names: tuple[str, ...], folder: Path) -> dict[str, Any]:
    """Returns the merged compose files, as podman-compose reads them."""
    if shutil.which("podman") is None:
        run("apt-get", "install", "--yes", "--no-install-recommends", "podman")
    copies = folder / "compose"
    (copies / "secrets").mkdir(parents=True)
    for file in COMPOSE.glob("*.yaml"):
        (copies / file.name).write_text(file.read_text())
    for name in ("database_url", "database_password", "objects_key", "runtime_token", "box_token"):
        (copies / "secrets" / name).write_text("secret")
    files = [word for name in names for word in ("--file", copies / name)]
    text = run(UVX, "--from", "podman-compose==1.6.0", "podman-compose", *files, *PROFILES, "config")
    merged: dict[str, Any] = yaml.safe_load(text)
    return merged


@pytest.mark.parametrize("name", COMBINATIONS)
def test_compose_files_are_hardened_and_keep_secrets_in_files(name: str, tmp_path: Path) -> None:
    services = composed(COMBINATIONS[name], tmp_path)["services"]
    for own in ("parlour", "runtime", "box"):
        service, options = services[own], ["no-new-privileges:true"]
        assert service["read_only"] is True
        assert service["cap_drop"] == ["ALL"]
        assert service["security_opt"] == options + (NAMESPACES if own == "box" or name == "sandbox" else [])
        assert "docker.sock" not in str(service)
    assert str(services["parlour"]["ports"][0]).startswith("127.0.0.1:")
    for service in services.values():
        assert not service["image"].endswith(":latest")
        for key, value in dict(service.get("environment") or {}).items():
            assert key.endswith("_FILE") or not re.search("PASSWORD|SECRET|TOKEN|URL$", key) or "://" in str(value), key


def test_compose_files_have_no_errors_for_a_linter(tmp_path: Path) -> None:
    run("npm", "install", "--silent", "--no-audit", "--no-fund", "dclint@3.1.0", cwd=tmp_path)
    run(tmp_path / "node_modules" / ".bin" / "dclint", "--max-warnings", "1000", COMPOSE, cwd=tmp_path)
