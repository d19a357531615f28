"""Tests that the image is built by buildah on a minimal Debian, and that podman runs it hardened, with any user."""

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.support.harness import ROOT, eventually

pytestmark = [pytest.mark.long, pytest.mark.root, pytest.mark.timeout(1800)]

PACKAGES = ("buildah", "podman", "debootstrap", "runc", "catatonit")
BASE = "localhost/parlour-test-base"
IMAGE = "localhost/parlour-test"
CERTIFICATES = Path("/etc/ssl/certs/ca-certificates.crt")
HARDENED = (
    "--read-only",
    "--cap-drop=ALL",
    "--security-opt=no-new-privileges",
    "--memory=768m",
    "--network=none",
    "--no-healthcheck",
)
CONFIGURATION = '[containers]\ndefault_ulimits = ["nofile=4096:4096", "nproc=4096:4096"]\n[engine]\nruntime = "runc"\n'
"""Containers in a container may not raise limits, and have no systemd that manages control groups."""
HEALTHY = "import urllib.request as r; print(r.urlopen('http://127.0.0.1:5300/{}', timeout=4).status)"


def run(*command: object, check: bool = True) -> str:
    finished = subprocess.run([str(word) for word in command], cwd=ROOT, capture_output=True, text=True, check=False)
    assert finished.returncode == 0 or not check, finished.stdout[-2000:] + finished.stderr[-3000:]
    return finished.stdout + finished.stderr


@pytest.fixture(scope="module")
def podman(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[str]]:
    """Yields the podman command, which keeps its images below a folder of this test."""
    if any(shutil.which(program) is None for program in ("buildah", "podman", "debootstrap", "runc")):
        run("apt-get", "install", "--yes", "--no-install-recommends", *PACKAGES)
    folder = tmp_path_factory.mktemp("containers")
    (folder / "containers.conf").write_text(CONFIGURATION)
    os.environ["CONTAINERS_CONF"] = str(folder / "containers.conf")
    stores = [f"--root={folder}/root", f"--runroot={folder}/run", "--storage-driver=vfs"]
    yield ["podman", *stores, "--cgroup-manager=cgroupfs"]
    run("buildah", *stores, "unshare", "true", check=False)
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="module")
def image(podman: list[str], tmp_path_factory: pytest.TempPathFactory) -> str:
    """Builds the image on a base that debootstrap made, with this machine's package sources and certificates."""
    run("make", "release")
    root = tmp_path_factory.mktemp("base") / "root"
    run("debootstrap", "--variant=minbase", "--include=ca-certificates", "bookworm", root)
    shutil.copy(CERTIFICATES, root / CERTIFICATES.relative_to("/"))
    (root / "etc" / "pip.conf").write_text(f"[global]\ncert = {CERTIFICATES}\n")
    shutil.copytree("/etc/apt/apt.conf.d", root / "etc" / "apt" / "apt.conf.d", dirs_exist_ok=True)
    archive = root.with_suffix(".tar")
    run("tar", "--create", "--file", archive, "--directory", root, ".")
    run(*podman, "import", archive, BASE)
    stores = podman[1:4]
    file = "deploy/image/Containerfile"
    built = ("--isolation=chroot", "--pull-never", "--format=docker", f"--build-arg=BASE={BASE}", "--file", file)
    run("buildah", *stores, "bud", *built, "--tag", IMAGE, ".")
    return IMAGE


@contextmanager
def running(podman: list[str], image: str, *options: str) -> Iterator[str]:
    """Runs the image with these options and the hardened ones; yields the container's id when the Host is ready."""
    container = run(*podman, "run", "--detach", *HARDENED, "--tmpfs=/tmp:mode=1777", *options, image).strip()
    try:
        eventually(lambda: answers(podman, container, "readyz"), "the Host in the container is ready", seconds=60)
        yield container
    finally:
        run(*podman, "rm", "--force", "--time=10", container, check=False)


def answers(podman: list[str], container: str, path: str) -> bool:
    return run(*podman, "exec", container, "python3", "-c", HEALTHY.format(path), check=False).strip() == "200"


def parlour(podman: list[str], container: str, *words: str) -> str:
    return run(*podman, "exec", container, "parlour", *words, "--data", "/data").strip()


def test_the_image_runs_hardened_and_keeps_its_volume(podman: list[str], image: str) -> None:
    volume = "--volume=parlour-test-data:/data"
    with running(podman, image, volume) as container:
        assert answers(podman, container, "healthz")
        parlour(podman, container, "keys", "create", "--name", "kept")
        status = run(*podman, "exec", container, "cat", "/proc/1/status")
        assert "CapEff:\t0000000000000000" in status
        assert "NoNewPrivs:\t1" in status
        run(*podman, "stop", "--time=20", container)
        assert json.loads(run(*podman, "inspect", container))[0]["State"]["ExitCode"] == 0
    with running(podman, image, volume) as container:
        assert "kept" in parlour(podman, container, "keys", "list")


def test_any_user_of_group_root_can_run_the_image(podman: list[str], image: str) -> None:
    with running(podman, image, "--user=1000730000:0", "--tmpfs=/data:mode=1777") as container:
        assert run(*podman, "exec", container, "id", "-u").strip() == "1000730000"


def test_the_image_says_how_its_plugins_are_isolated(podman: list[str], image: str) -> None:
    with running(podman, image) as container:
        assert "Plugins run without a sandbox" in run(*podman, "logs", container)


def test_the_image_has_no_pip_and_no_compiler(podman: list[str], image: str) -> None:
    found = "for each in pip pip3 gcc cc make; do command -v $each; done; true"
    assert (
        run(*podman, "run", "--rm", "--network=none", "--no-healthcheck", "--entrypoint=sh", image, "-c", found).strip()
        == ""
    )
