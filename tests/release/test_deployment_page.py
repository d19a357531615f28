"""Executes the command blocks of the deployment page as written, in a copy of the repository with a release.

Programs that this machine can't have are replaced: `docker compose` is podman-compose, `systemctl enable --now` starts
what the unit says, and `kubectl apply` plays the Pod of the rendered manifests with podman.
"""

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from parlour.testing.network import free_port
from tests.docs.pages import blocks
from tests.support.harness import ROOT, eventually

from .containers import BASE, IMAGE, OBJECTS, POSTGRES, Engine, answers
from .manifests import objects

pytestmark = [pytest.mark.long, pytest.mark.root, pytest.mark.timeout(1800)]

PAGE = ROOT / "docs" / "operate" / "deployment.md"
CODE = [block.code for block in blocks(PAGE) if block.language == "sh"]
BEGINNINGS = {
    "signature": "ssh-keygen -Y verify",  # test_signature.py
    "systemd": "useradd",
    "image": "make release",
    "sandboxes": "podman run --rm --name parlour-sandboxes",
    "compose": "docker compose --file deploy/compose/compose.yaml up",
    "postgres": "mkdir -p -m 700 deploy/compose/secrets\ncd",
    "runtime": "mkdir -p -m 700 deploy/compose/secrets\ndocker compose --profile runtime",
    "box": "mkdir -p -m 700 deploy/compose/secrets\ndocker compose --profile box",
    "kubernetes": "kubectl apply",
    "offline": "pip download",
}
"""How the blocks begin that tests execute, by the name of the test."""
DOCKER = """#!/bin/sh
shift  # compose
exec {uvx} --quiet --from podman-compose==1.6.0 podman-compose "$@"
"""
SYSTEMCTL = """#!/bin/sh
# Starts the unit as systemd would, as its user and with its directory.
[ "$1 $2" = "enable --now" ] || exit 0
unit=/etc/systemd/system/$3.service
user=$(sed -n 's/^User=//p' "$unit")
install -d -m 700 -o "$user" "/var/lib/$(sed -n 's/^StateDirectory=//p' "$unit")"
setpriv --reuid "$user" --regid "$user" --clear-groups --no-new-privs \\
    $(sed -n 's/^ExecStart=//p' "$unit") --port 5300 >/tmp/log 2>&1 &
for try in $(seq 300); do
    python3 -c "import urllib.request as r; r.urlopen('http://127.0.0.1:5300/readyz')" 2>/dev/null && exit 0
    sleep 0.2
done
cat /tmp/log
exit 1
"""
KUBECTL = """#!/bin/sh
case "$*" in
"apply --kustomize deploy/kubernetes/base")
    PATH=/usr/bin kubectl kustomize deploy/kubernetes/base >/dev/null && podman kube play pod.yaml ;;
*"rollout status statefulset/parlour")
    for try in $(seq 300); do curl -sf {address} && exit 0; sleep 0.3; done; exit 1 ;;
*"logs statefulset/parlour") podman logs parlour-parlour ;;
*) exit 1 ;;
esac
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Returns a copy of the repository with the release; `make release` was run for the image."""
    copied = tmp_path / "repository"
    copied.mkdir()
    for name in ("deploy", "dist"):
        shutil.copytree(ROOT / name, copied / name, ignore=shutil.ignore_patterns("secrets"))
    return copied


class Reader:
    """Runs blocks in a folder, with programs in place of those that are missing here."""

    def __init__(self, engine: Engine, folder: Path) -> None:
        self.engine = engine
        self.folder = folder
        self.port = free_port()
        self._programs = folder.parent / "bin"
        self._programs.mkdir()
        self.program("docker", DOCKER.format(uvx=ROOT / ".tools" / "bin" / "uvx"))
        self.program("make", '#!/bin/sh\n[ "$*" = release ]\n')

    def program(self, name: str, script: str) -> None:
        (self._programs / name).write_text(script)
        (self._programs / name).chmod(0o755)

    def run(self, code: str) -> str:
        environment = {
            **self.engine.environment,
            "PATH": f"{self._programs}{os.pathsep}{os.environ['PATH']}",
            "PARLOUR_PORT": str(self.port),
            "PARLOUR_SECCOMP": str(self.folder / "deploy" / "image" / "seccomp.json"),
            "POSTGRES_IMAGE": POSTGRES,
            "OBJECTS_IMAGE": OBJECTS,
        }
        script = code.replace("127.0.0.1:5300:5300", f"127.0.0.1:{self.port}:5300")
        finished = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", script],
            cwd=self.folder,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert finished.returncode == 0, finished.stdout[-1500:] + finished.stderr[-2500:]
        return finished.stdout + finished.stderr

    def until_ready(self) -> None:
        eventually(lambda: answers(f"http://127.0.0.1:{self.port}/readyz"), "the Host is ready", seconds=120)


@pytest.fixture
def reader(images: Engine, engine: Engine, folder: Path) -> Iterator[Reader]:
    yield Reader(engine, folder)
    engine.podman("pod", "rm", "--all", "--force", check=False)
    engine.podman("rm", "--all", "--force", "--time=3", check=False)
    engine.podman("volume", "rm", "--all", "--force", check=False)


def block(name: str) -> str:
    [found] = [code for code in CODE if code.startswith(BEGINNINGS[name])]
    return found


def test_every_block_is_executed() -> None:
    assert len(CODE) == len(BEGINNINGS)
    for name in BEGINNINGS:
        assert block(name)


def test_the_image_is_built_run_and_prints_its_address(reader: Reader) -> None:
    reader.run(block("image"))
    reader.until_ready()

    assert "set-up token for the first owner" in reader.engine.podman("logs", "parlour", check=False)


def test_the_options_for_sandboxes_work(reader: Reader) -> None:
    reader.engine.podman("tag", IMAGE, "localhost/parlour:latest")

    assert "plugins run in bubblewrap" in reader.run(block("sandboxes"))


@pytest.mark.parametrize("name", ["compose", "postgres", "runtime", "box"])
def test_compose_does_what_the_page_says(reader: Reader, name: str) -> None:
    reader.run(block(name))
    reader.until_ready()

    expected, container, words = {
        "compose": ("SQLite, revision", "parlour_parlour_1", ("parlour", "doctor", "--data", "/data")),
        "postgres": ("PostgreSQL, revision", "parlour_parlour_1", ("parlour", "doctor", "--data", "/data")),
        "runtime": ("local-agent", "parlour_runtime_1", ("ls", "/data/plugins/parlour")),
        "box": ("in the Box at ws://box:5410", "parlour_parlour_1", ("parlour", "doctor", "--data", "/data")),
    }[name]
    assert expected in reader.engine.podman("exec", container, *words)


def test_the_manifests_are_applied_and_the_pod_is_ready(reader: Reader) -> None:
    [host] = [each for each in objects("base") if each["kind"] == "StatefulSet"]
    spec = host["spec"]["template"]["spec"]
    spec["volumes"].append({"name": "data", "persistentVolumeClaim": {"claimName": "parlour-test-base"}})
    spec["containers"][0]["ports"][0]["hostPort"] = reader.port
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "parlour"}, "spec": spec}
    (reader.folder / "pod.yaml").write_text(yaml.safe_dump(pod))
    address = f"http://127.0.0.1:{reader.port}/readyz"
    reader.program("kubectl", KUBECTL.format(address=address))

    assert "set-up token for the first owner" in reader.run(block("kubernetes"))


def test_an_installation_without_a_network_starts(reader: Reader) -> None:
    environment = reader.folder.parent / "environment"
    subprocess.run(["python3", "-m", "venv", environment], check=True)
    for name in ("pip", "python", "parlour"):
        reader.program(name, f'#!/bin/sh\nexec {environment}/bin/{name} "$@"\n')

    reader.run(block("offline"))

    assert "usage: parlour" in reader.run("parlour --help")


def test_the_unit_runs_a_host_that_was_installed_as_written(engine: Engine, reader: Reader) -> None:
    """In a container, so that the user and the folders of the unit are not made on this machine."""
    reader.program("systemctl", SYSTEMCTL)
    script = reader.folder / "script.sh"
    install = "apt-get update -qq && apt-get install --yes -qq --no-install-recommends python3 python3-venv >/dev/null"
    script.write_text(f"set -eu\n{install}\n{block('systemd')}cat /tmp/log\n")
    volumes = (
        f"--volume={reader.folder}:/repository",
        f"--volume={reader.folder.parent / 'bin'}/systemctl:/usr/bin/systemctl",
    )

    printed = engine.podman("run", "--rm", *volumes, "--workdir=/repository", BASE, "sh", "script.sh")

    assert "Parlour is at" in printed
