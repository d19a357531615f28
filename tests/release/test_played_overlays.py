"""Plays the Kubernetes overlays `runtime`, `box`, `ingress` and `cluster` with podman, as Pods of one network."""

import secrets
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from parlour.testing.network import free_port
from tests.support.harness import ROOT, Json, bearer, eventually
from tests.support.nginx import Nginx

from .containers import Engine, answered, answers
from .manifests import objects
from .pods import NETWORK, play, played_network, pod, run, secret, stores, workload

pytestmark = [pytest.mark.long, pytest.mark.root, pytest.mark.timeout(1800)]

NAME = "chat.example.org"
OWNER = {"email": "owner@example.org", "password": "correct horse battery"}


@pytest.fixture
def network(images: Engine) -> Iterator[str]:
    with played_network(images):
        yield NETWORK


def wait_until_ready(port: int, what: str) -> None:
    eventually(lambda: answers(f"http://127.0.0.1:{port}/readyz"), what, seconds=180)


@pytest.mark.usefixtures("network")
def test_plugins_run_in_the_pod_of_the_overlay_runtime(images: Engine, tmp_path: Path) -> None:
    runtime = play(images, pod(workload("overlays/runtime", "parlour-runtime"), "parlour-runtime"), tmp_path)
    create = ("runtime", "token", "create", "--name", "main")
    token = eventually(lambda: images.parlour(runtime, *create), "the runtime has made a token")
    port = free_port()
    given = {"parlour-runtime": secret(tmp_path / "token", token=token)}

    host = play(images, pod(workload("overlays/runtime", "parlour"), "parlour", given, port=port), tmp_path)
    wait_until_ready(port, "the Host is ready, and with it the plugins in the other Pod")

    key = images.parlour(host, "keys", "create", "--name", "test")
    assert "add a provider" in answered(f"http://127.0.0.1:{port}", key)
    assert "local-agent" in images.podman("exec", runtime, "ls", "/data/plugins/parlour")
    assert "CapEff:\t0000000000000000" in images.podman("exec", runtime, "cat", "/proc/1/status")


@pytest.mark.usefixtures("network")
def test_commands_of_agents_run_in_the_pod_of_the_overlay_box(images: Engine, tmp_path: Path) -> None:
    """The profile is where the kubelet would look for it."""
    profiles = tmp_path / "seccomp"
    profiles.mkdir()
    (profiles / "parlour.json").write_bytes((ROOT / "deploy" / "image" / "seccomp.json").read_bytes())
    made = pod(workload("overlays/box", "parlour-box"), "parlour-box")
    box = run(images, made, profiles, alias="parlour-box.parlour-box")
    read = ("exec", box, "sh", "-c", "cat /data/box/token || true")
    token = eventually(lambda: images.podman(*read), "the Box has made its token", seconds=60)
    port = free_port()
    given = {"parlour-box": secret(tmp_path / "token", token=token)}

    host = play(images, pod(workload("overlays/box", "parlour"), "parlour", given, port=port), tmp_path)
    wait_until_ready(port, "the Host is ready")

    assert "CapEff:\t0000000000000000" in images.podman("exec", box, "cat", "/proc/1/status")
    key = images.parlour(host, "keys", "create", "--name", "test")
    with httpx.Client(base_url=f"http://127.0.0.1:{port}/api/v1", headers=bearer(key), timeout=120) as client:
        tried = client.post("/box/test")
    assert tried.status_code == 200, tried.text
    assert tried.json()["ok"] is True, tried.text


@pytest.mark.usefixtures("network")
def test_the_host_of_the_overlay_ingress_is_reached_by_its_name_over_tls(images: Engine, tmp_path: Path) -> None:
    """nginx with the configuration of the guide stands for the controller; the rule says for which name and service."""
    [ingress] = [each for each in objects("overlays/ingress") if each["kind"] == "Ingress"]
    [service] = [each for each in objects("overlays/ingress") if each["kind"] == "Service"]
    [rule] = ingress["spec"]["rules"]
    assert rule["http"]["paths"][0]["backend"]["service"]["name"] == service["metadata"]["name"]
    assert ingress["spec"]["tls"][0]["hosts"] == [rule["host"]] == [NAME]
    port = free_port()
    host = play(images, pod(workload("overlays/ingress", "parlour"), "parlour", port=port), tmp_path)
    wait_until_ready(port, "the Host is ready")
    proxy = Nginx(tmp_path / "proxy", NAME)
    proxy.start(f"http://127.0.0.1:{port}")
    try:
        browser = httpx.Client(
            base_url=proxy.local_url,
            headers={"Host": NAME, "Origin": f"https://{NAME}"},
            transport=httpx.HTTPTransport(verify=proxy.context()),
            timeout=60,
        )
        with browser:
            log = images.podman("logs", host, check=False)
            token = log.partition("set-up token for the first owner: ")[2].split()[0]
            made = browser.post("/api/v1/auth/setup", json={**OWNER, "token": token})
            page = browser.get("/", headers={"Accept": "text/html"})
            foreign = browser.get("/api/v1/agents", headers={"Origin": "https://evil.example"})
            named = browser.get("/api/v1/agents", headers={"Host": "evil.example"})
    finally:
        proxy.stop()

    assert made.status_code == 201, made.text
    assert "Secure" in made.headers["set-cookie"], "the Host trusts the proxy, which says that it is https"
    assert (page.status_code, foreign.status_code, named.status_code) == (200, 403, 403)


class Hosts:
    """The Pods of the overlay `cluster`, by their names."""

    def __init__(self, engine: Engine, folder: Path) -> None:
        self._engine = engine
        self._folder = folder
        self._variables, given = stores(engine, folder)
        self._secrets = {
            "parlour-secrets": given,
            "parlour-key": secret(folder / "key", **{"secret.key": secrets.token_hex(16)}),
        }
        self.ports: dict[str, int] = {}
        self.key = ""

    def start(self, name: str) -> None:
        made_by = workload("overlays/cluster", "parlour")
        [container] = made_by["spec"]["template"]["spec"]["containers"]
        variables = {each["name"]: each.get("value", "") for each in container["env"]}
        address = variables["PARLOUR__CLUSTER__ADDRESS"].replace("$(PARLOUR__CLUSTER__NAME)", name)
        named = {"PARLOUR__CLUSTER__NAME": name, "PARLOUR__CLUSTER__ADDRESS": address}
        self.ports[name] = free_port()
        made = pod(made_by, name, self._secrets, {**self._variables, **named}, self.ports[name])
        alias = f"{name}.{made_by['spec']['serviceName']}"
        container_name = play(self._engine, made, self._folder, alias=alias)
        wait_until_ready(self.ports[name], f"{name} is ready")
        self.key = self.key or self._engine.parlour(container_name, "keys", "create", "--name", "test")

    def address(self, name: str) -> str:
        return f"http://127.0.0.1:{self.ports[name]}"

    def client(self, name: str) -> httpx.Client:
        return httpx.Client(base_url=f"{self.address(name)}/api/v1", headers=bearer(self.key), timeout=90)

    def parts(self, name: str) -> dict[str, int]:
        """Returns how many parts each living Host has, as this one says."""
        with self.client(name) as client:
            listed: list[Json] = client.get("/hosts").json()["items"]
        return {each["name"]: len(each["parts"]) for each in listed if each["state"] == "live"}

    def podman(self, *words: str) -> str:
        return self._engine.podman(*words)

    def exit_status(self, name: str) -> str:
        return self.podman("inspect", "--format", "{{.State.ExitCode}}", f"{name}-parlour")


@pytest.mark.usefixtures("network")
def test_two_hosts_of_the_overlay_cluster_share_the_work_and_take_it_over(images: Engine, tmp_path: Path) -> None:
    hosts = Hosts(images, tmp_path)
    first, second = names = ("parlour-0", "parlour-1")
    for name in names:
        hosts.start(name)
    eventually(lambda: all(hosts.parts(first).get(name) for name in names), "both Hosts have parts", seconds=60)
    for name in names:
        assert "add a provider" in answered(hosts.address(name), hosts.key)
    with hosts.client(first) as client:
        found = client.get("/conversations").json()["items"]
        deleted = [client.delete(f"/conversations/{each['conversation_id']}").status_code for each in found]
    assert deleted, "each conversation was answered through another Host"
    assert set(deleted) <= {200, 202, 204}, "the owner is reached at its address"

    hosts.podman("pause", f"{first}-parlour")
    eventually(lambda: first not in hosts.parts(second), "the second Host has fenced the first", seconds=60)
    assert "add a provider" in answered(hosts.address(second), hosts.key)
    hosts.podman("unpause", f"{first}-parlour")
    eventually(lambda: hosts.parts(second).get(first), "the first Host was started again", seconds=180)

    hosts.podman("stop", "--time=60", f"{second}-parlour")
    assert hosts.exit_status(second) == "0"
    assert list(hosts.parts(first)) == [first], "it gave its work away before it ended"
    assert "add a provider" in answered(hosts.address(first), hosts.key)
