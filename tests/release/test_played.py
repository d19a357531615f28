"""Plays the Compose files and the overlay `postgres` with podman, against a real PostgreSQL and an S3 server."""

import secrets
import shutil
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from parlour.testing.network import free_port
from tests.support.harness import ROOT, bearer, eventually

from .containers import OBJECTS, POSTGRES, Engine, answered, answers
from .pods import play, played_network, pod, stores, workload

pytestmark = [pytest.mark.long, pytest.mark.root, pytest.mark.timeout(1800)]


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


def test_the_data_stays_when_compose_removes_the_containers(images: Engine, composed: Composed) -> None:
    composed.up(("compose.yaml",))
    composed.parlour("keys", "create", "--name", "kept")

    composed.run(("compose.yaml",), "down", "--timeout", "20")
    assert images.podman("ps", "--all", "--quiet", "--filter=name=parlour_parlour") == ""
    composed.up(("compose.yaml",))

    assert "kept" in composed.parlour("keys", "list")


def test_the_kubernetes_pod_is_played_on_postgresql(images: Engine, tmp_path: Path) -> None:
    """Podman knows Pods, so the template of the StatefulSet is played as a Pod."""
    port = free_port()
    with played_network(images):
        variables, given = stores(images, tmp_path)
        made = pod(
            workload("overlays/postgres", "parlour"), "parlour", {"parlour-secrets": given}, variables, port=port
        )
        container = play(images, made, tmp_path)
        eventually(lambda: answers(f"http://127.0.0.1:{port}/readyz"), "the Pod is ready", seconds=120)

        assert "PostgreSQL, revision" in images.parlour(container, "doctor")
        assert "CapEff:\t0000000000000000" in images.podman("exec", container, "cat", "/proc/1/status")
        key = images.parlour(container, "keys", "create", "--name", "test")
        assert "add a provider" in answered(f"http://127.0.0.1:{port}", key)
