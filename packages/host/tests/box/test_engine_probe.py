"""The probe of container engines, with programs on PATH that answer as real engines do."""

import getpass
import json
import os
import stat
from pathlib import Path
from typing import Any

import pytest

from parlour.box.available_backends import make_backend
from parlour.box.backend import BackendUnavailable
from parlour.box.containers.engine import find_engine
from parlour.core.box.messages import BoxConfig

SOCKET = "unix:///var/run/docker.sock"
NOT_RUNNING = f"Cannot connect to the Docker daemon at {SOCKET}. Is the docker daemon running?"
NO_RIGHT = (
    "permission denied while trying to connect to the Docker daemon socket at unix:///var/run/docker.sock: Get "
    '"http://%2Fvar%2Frun%2Fdocker.sock/v1.50/info": dial unix /var/run/docker.sock: connect: permission denied'
)
NO_USER_IDS = 'cannot set up namespace using "/usr/bin/newuidmap": exit status 1'
DOCKER_FACTS = {
    "MemoryLimit": True,
    "PidsLimit": True,
    "CpuCfsQuota": True,
    "CgroupVersion": "2",
    "SecurityOptions": [],
}
PODMAN_FACTS = {
    "host": {
        "cgroupVersion": "v2",
        "cgroupControllers": ["cpu", "io", "memory", "pids"],
        "security": {"rootless": True},
    }
}
ENGINE = """#!/bin/sh
echo "$@" >> "{log}"
case "$1" in
info) {info} ;;
image) {image} ;;
run) {run} ;;
esac
"""


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A PATH on which there is nothing but what a test puts there."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", f"{folder}:/nowhere")
    (folder / "apt-get").write_text("#!/bin/sh\n")
    (folder / "apt-get").chmod(0o755)
    return folder


def put(folder: Path, name: str, info: str = "exit 0", image: str = "exit 0", run: str = "exit 0") -> Path:
    """Puts a program there that answers as the engine would, and returns the file with the commands that it got."""
    log = folder / f"{name}.log"
    file = folder / name
    file.write_text(ENGINE.format(log=log, info=info, image=image, run=run))
    file.chmod(file.stat().st_mode | stat.S_IXUSR)
    return log


def printing(facts: dict[str, Any]) -> str:
    return f"echo '{json.dumps(facts)}'"


def failing(message: str) -> str:
    return f"echo '{message}' >&2; exit 1"


SUCCEEDING = "echo parlour-probe-succeeded"


async def problem(name: Any, tmp_path: Path) -> BackendUnavailable:
    with pytest.raises(BackendUnavailable) as found:
        await find_engine(name, "image", "owner", tmp_path / "profile")
    return found.value


def as_root(command: str) -> str:
    return command if os.geteuid() == 0 else f"sudo {command}"


async def test_missing_engine_is_named_with_the_command_that_installs_it(programs: Path, tmp_path: Path) -> None:
    found = await problem("podman", tmp_path)
    assert (found.problem, found.command) == ("not_installed", as_root("apt-get install podman"))
    found = await problem("docker", tmp_path)
    assert (found.problem, found.command) == ("not_installed", as_root("apt-get install docker.io"))


async def test_stopped_engine_is_named_with_the_command_that_starts_it(programs: Path, tmp_path: Path) -> None:
    put(programs, "docker", failing(NOT_RUNNING))
    found = await problem("docker", tmp_path)
    assert (found.problem, found.command) == ("stopped", as_root("systemctl start docker"))
    assert SOCKET in found.reason


async def test_stopped_engine_that_still_prints_its_facts_is_found(programs: Path, tmp_path: Path) -> None:
    put(programs, "docker", printing({"ServerErrors": [NOT_RUNNING]}))
    assert (await problem("docker", tmp_path)).problem == "stopped"


async def test_missing_right_to_the_socket_is_named_with_the_command_that_gives_it(
    programs: Path, tmp_path: Path
) -> None:
    put(programs, "docker", failing(NO_RIGHT))
    found = await problem("docker", tmp_path)
    assert (found.problem, found.command) == ("denied", as_root(f"usermod -aG docker {getpass.getuser()}"))


async def test_missing_user_ids_are_named_with_the_command_that_gives_them(programs: Path, tmp_path: Path) -> None:
    put(programs, "podman", failing(NO_USER_IDS.replace("'", "")))
    found = await problem("podman", tmp_path)
    assert found.problem == "denied"
    assert "usermod --add-subuids" in found.command


async def test_missing_image_is_named_with_the_command_that_fetches_it(programs: Path, tmp_path: Path) -> None:
    put(programs, "docker", printing(DOCKER_FACTS), image="exit 1")
    found = await problem("docker", tmp_path)
    assert (found.problem, found.command) == ("no_image", "docker pull image")


async def test_container_that_does_not_start_is_told_with_the_words_of_the_engine(
    programs: Path, tmp_path: Path
) -> None:
    put(programs, "podman", printing(PODMAN_FACTS), run=failing("runc: no space left"))
    found = await problem("podman", tmp_path)
    assert found.problem == "failed"
    assert "runc: no space left" in found.reason


async def test_engine_that_prints_no_facts_is_refused(programs: Path, tmp_path: Path) -> None:
    for answer in ("exit 0", "echo '{'", "echo '[]'", "exit 7"):
        put(programs, "docker", answer)
        assert (await problem("docker", tmp_path)).problem == "failed"


async def test_working_engine_says_what_limits_its_containers(programs: Path, tmp_path: Path) -> None:
    put(programs, "podman", f"echo WARNING: something; {printing(PODMAN_FACTS)}", run=SUCCEEDING)
    engine = await find_engine("podman", "image", "owner", tmp_path / "profile")
    assert (engine.limits, engine.is_rootless) == ("cgroup2", True)
    log = put(programs, "docker", printing({**DOCKER_FACTS, "CgroupVersion": "1"}), run=SUCCEEDING)
    engine = await find_engine("docker", "image", "owner", tmp_path / "profile")
    assert (engine.limits, engine.is_rootless) == ("cgroup1", False)
    [probe] = [line for line in log.read_text().splitlines() if line.startswith("run")]
    for option in ("--cap-drop=ALL", "--security-opt=no-new-privileges", "--read-only", "--network=none"):
        assert option in probe.split()
    put(programs, "docker", printing({**DOCKER_FACTS, "PidsLimit": False}), run=SUCCEEDING)
    assert (await find_engine("docker", "image", "owner", tmp_path / "profile")).limits == "rlimit"


async def test_profile_of_podman_is_made_stricter_for_its_containers(programs: Path, tmp_path: Path) -> None:
    own = tmp_path / "seccomp.json"
    allowed = {"names": ["clone", "clone3", "read", "unshare"], "action": "SCMP_ACT_ALLOW"}
    own.write_text(json.dumps({"defaultAction": "SCMP_ACT_ERRNO", "syscalls": [allowed]}))
    facts = {"host": {**PODMAN_FACTS["host"], "security": {"rootless": True, "seccompProfilePath": str(own)}}}
    log = put(programs, "podman", printing(facts), run=SUCCEEDING)
    engine = await find_engine("podman", "image", "owner", tmp_path / "folder" / "stricter")
    assert engine.seccomp_profile == str(tmp_path / "folder" / "stricter")
    rules = json.loads((tmp_path / "folder" / "stricter").read_text())["syscalls"]
    free = {
        name for rule in rules if rule["action"] == "SCMP_ACT_ALLOW" and "args" not in rule for name in rule["names"]
    }
    assert free == {"read"}
    assert f"--security-opt=seccomp={engine.seccomp_profile}" in log.read_text()


async def test_backends_are_tried_in_their_order_and_each_says_why_not(programs: Path, tmp_path: Path) -> None:
    put(programs, "docker", failing(NOT_RUNNING))
    backend = make_backend(BoxConfig(root=str(tmp_path), image="image", bubblewrap="/nowhere/bwrap"))
    with pytest.raises(BackendUnavailable) as found:
        await backend.probe()
    assert [(each.name, each.error.problem) for each in backend.refused] == [
        ("bubblewrap", "not_installed"),
        ("podman", "not_installed"),
        ("docker", "stopped"),
        ("nsjail", "not_installed"),
    ]
    assert found.value.problem == "stopped", "what is installed is named first"
    put(programs, "podman", printing(PODMAN_FACTS), run=SUCCEEDING)
    info = await backend.probe()
    assert info.name == "podman"
    assert [each.name for each in backend.refused] == ["bubblewrap"]
    only = make_backend(BoxConfig(root=str(tmp_path), backend="nsjail"))
    with pytest.raises(BackendUnavailable, match="nsjail is not installed"):
        await only.probe()
