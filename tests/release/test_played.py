"""Plays the Compose files and the Kubernetes manifests with podman, against a real PostgreSQL and an S3 server."""

import copy
import secrets
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml

from parlour.testing.network import free_port
from tests.support.harness import ROOT, bearer, eventually

from .containers import OBJECTS, POSTGRES, Engine, answers
from .manifests import objects

pytestmark = [pytest.mark.long, pytest.mark.root, pytest.mark.timeout(1800)]

NETWORK = "parlour-test"


class Composed:
    """Runs podman-compose in a copy of the files, with a port of its own."""

    def __init__(self, engine: Engine, folder: Path) -> None:
        self._engine = engine
        self._folder = folder / "compose"
        shutil.copytree(ROOT / "deploy" / "compose", self._folder)
        self.secrets = self._folder / "secrets"
        self.secrets.mkdir(mode=0o700, exist_ok=True)
        self.port = free_port()
        self._environment = {
            "PARLOUR_PORT": str(self.port),
            "PARLOUR_SECCOMP": str(ROOT / "deploy" / "image" / "seccomp.json"),
            "POSTGRES_IMAGE": POSTGRES,
            "OBJECTS_IMAGE": OBJECTS,
        }

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def run(self, files: tuple[str, ...], *words: str) -> str:
        named = [word for name in files for word in ("--file", self._folder / name)]
        compose = (ROOT / ".tools" / "bin" / "uvx", "--quiet", "--from", "podman-compose==1.6.0", "podman-compose")
        profiles = ("--profile", "box", "--profile", "runtime") if "exec" in words or "down" in words else ()
        return self._engine.run(*compose, *profiles, *named, *words, **self._environment)

    def up(self, files: tuple[str, ...], *words: str) -> None:
        self.run(files, *words, "up", "--detach")
        eventually(lambda: answers(f"{self.address}/readyz"), "the composed Host is ready", seconds=120)

    def parlour(self, *words: str) -> str:
        return self._engine.parlour("parlour_parlour_1", *words)


@pytest.fixture
def composed(images: Engine, tmp_path: Path) -> Iterator[Composed]:
    composed = Composed(images, tmp_path)
    yield composed
    composed.run(("compose.yaml", "compose.postgres.yaml"), "down", "--timeout", "5", "--volumes")
    images.podman("rm", "--all", "--force", "--time=2")


def answered(address: str, key: str) -> str:
    with httpx.Client(base_url=f"{address}/api/v1", headers=bearer(key), timeout=90) as client:
        [agent] = eventually(lambda: client.get("/agents").json()["items"], "the built-in agent is there", seconds=60)
        event = {"agent_id": agent["agent_id"], "input": {"text": "hello"}}
        said = client.post("/events", params={"wait": "result"}, json=event)
        assert said.status_code == 200, said.text
    return str(said.json()["messages"])


def test_compose_runs_the_host_on_postgresql_and_an_object_store(images: Engine, composed: Composed) -> None:
    files = ("compose.yaml", "compose.postgres.yaml")
    password = secrets.token_hex(24)
    (composed.secrets / "database_password").write_text(password)
    (composed.secrets / "objects_key").write_text(secrets.token_hex(24))
    (composed.secrets / "database_url").write_text(f"postgresql://parlour:{password}@database:5432/parlour")

    composed.up(files)
    key = composed.parlour("keys", "create", "--name", "test")
    assert "add a provider" in answered(composed.address, key)
    found = composed.parlour("doctor")
    assert "PostgreSQL, revision" in found
    assert "the bucket parlour answers" in found
    assert password not in images.podman("inspect", "parlour_parlour_1")

    images.podman("kill", "parlour_database_1")
    with httpx.Client(base_url=f"{composed.address}/api/v1", headers=bearer(key), timeout=60) as client:
        refused = client.get("/agents")
        assert (refused.status_code, refused.json()["error"]["code"]) == (503, "storage_unreachable")
    images.podman("start", "parlour_database_1")
    eventually(lambda: answers(f"{composed.address}/api/v1/agents", bearer(key)), "the Host has its database again")
    assert "add a provider" in answered(composed.address, key)


def test_compose_runs_commands_of_agents_in_the_box(composed: Composed) -> None:
    composed.run(("compose.yaml",), "--profile", "box", "up", "--detach", "box")
    eventually(lambda: save_token(composed), "the Box has made its token", seconds=60)
    composed.up(("compose.yaml", "compose.box.yaml"))

    assert "agents run commands in the Box at ws://box:5410" in composed.parlour("doctor")
    key = composed.parlour("keys", "create", "--name", "test")
    with httpx.Client(base_url=f"{composed.address}/api/v1", headers=bearer(key), timeout=90) as client:
        tried = client.post("/box/test")
    assert tried.status_code == 200, tried.text
    assert tried.json()["ok"] is True, tried.text


def save_token(composed: Composed) -> bool:
    token = composed.run(("compose.yaml",), "exec", "box", "sh", "-c", "cat /data/box/token || true").strip()
    (composed.secrets / "box_token").write_text(token)
    return bool(token)


def test_compose_gives_plugins_sandboxes_in_the_hosts_container(composed: Composed) -> None:
    composed.up(("compose.yaml", "compose.sandbox.yaml"))

    assert "plugins run in bubblewrap, with a system call filter" in composed.parlour("doctor")


@pytest.fixture
def network(images: Engine) -> Iterator[str]:
    images.podman("network", "create", NETWORK)
    yield NETWORK
    images.podman("pod", "rm", "--all", "--force")
    images.podman("rm", "--all", "--force", "--time=2")
    images.podman("network", "rm", "--force", NETWORK)


def test_the_kubernetes_pod_is_played_on_postgresql(images: Engine, network: str, tmp_path: Path) -> None:
    """Podman knows Pods and Secrets, so the template of the StatefulSet is played as a Pod."""
    password, port = secrets.token_hex(24), free_port()
    (tmp_path / "password").write_text(password)
    given = {
        "USER": "parlour",
        "DB": "parlour",
        "PASSWORD_FILE": "/password",
        "INITDB_ARGS": "--encoding=UTF8 --locale=C",
    }
    variables = [f"--env=POSTGRES_{name}={value}" for name, value in given.items()]
    mounted = f"--volume={tmp_path / 'password'}:/password:ro"
    images.podman("run", "--detach", f"--network={network}", "--name=database", *variables, mounted, POSTGRES)
    images.podman("run", "--detach", f"--network={network}", "--name=objects", "--entrypoint=minio", OBJECTS)
    listens = ("exec", "database", "pg_isready")
    eventually(lambda: "accepting" in images.podman(*listens, check=False), "PostgreSQL is there")
    values = {"database-url": f"postgresql://parlour:{password}@database:5432/parlour"}
    values |= {"objects-access-key": "parlour", "objects-secret-key": secrets.token_hex(24)}
    played = tmp_path / "pod.yaml"
    played.write_text(yaml.safe_dump(pod(port, values, tmp_path / "secrets")))

    images.podman("kube", "play", f"--network={network}", played)
    eventually(lambda: answers(f"http://127.0.0.1:{port}/readyz"), "the Pod is ready", seconds=120)

    container = "parlour-parlour"
    assert "PostgreSQL, revision" in images.parlour(container, "doctor")
    assert "CapEff:\t0000000000000000" in images.podman("exec", container, "cat", "/proc/1/status")
    key = images.parlour(container, "keys", "create", "--name", "test")
    assert "add a provider" in answered(f"http://127.0.0.1:{port}", key)
    images.podman("kube", "down", played)


def pod(port: int, secret: dict[str, str], folder: Path) -> dict[str, Any]:
    """Returns the Pod of the overlay `postgres`, with the address of the object store replaced as its page says.

    The files of the Secret are in a folder: podman 4.3 reads Secrets neither into variables nor decoded into volumes.
    """
    folder.mkdir()
    for name, value in secret.items():
        (folder / name).write_text(value)
    [host] = [each for each in objects("overlays/postgres") if each["kind"] == "StatefulSet"]
    spec = copy.deepcopy(host["spec"]["template"]["spec"])
    spec["volumes"].append({"name": "data", "persistentVolumeClaim": {"claimName": "parlour-test-data"}})
    for container in [*spec["containers"], *spec["initContainers"]]:
        for variable in container["env"]:
            if variable["name"] == "PARLOUR__ARTIFACTS__S3__ENDPOINT":
                variable["value"] = "http://objects:9000"
            if variable.pop("valueFrom", None):
                variable["value"] = "parlour"
    for volume in spec["volumes"]:
        if "secret" in volume:
            del volume["secret"]
            volume["hostPath"] = {"path": str(folder), "type": "Directory"}
    spec["containers"][0]["ports"][0]["hostPort"] = port
    labels = host["spec"]["template"]["metadata"]["labels"]
    kept = {"io.podman.annotations.init.container.type": "always"}  # podman 4.3 removes it before it has ended
    metadata = {"name": "parlour", "labels": labels, "annotations": kept}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}
