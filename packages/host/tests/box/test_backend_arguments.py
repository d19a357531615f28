"""The command lines of container engines and nsjail: what isolates, what limits, and what is shown."""

import itertools
import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from parlour.box.backend import SandboxFolders
from parlour.box.containers.arguments import ContainerPaths, Engine, list_arguments, remove_arguments, run_arguments
from parlour.box.errors import BoxError
from parlour.box.inside import ShownPath
from parlour.box.nsjail_backend import session_arguments
from parlour.core.box.messages import SessionSpec

PODMAN = Engine("podman", "/usr/bin/podman", "image:1", "owner", 10001, 10001)
DOCKER = replace(PODMAN, name="docker", program="/usr/bin/docker")
FOLDERS = SandboxFolders(Path("/data/ws"), {"greet": Path("/data/skills/greet")})
PATHS = ContainerPaths(
    FOLDERS, Path("/data/socket"), [ShownPath(Path("/bin/uv"), Path("/run/parlour-uv"))], ["/srv/a,b"]
)
ALWAYS = (
    *("--detach", "--rm", "--pull=never", "--name=n", "--label=parlour.box=owner", "--cap-drop=ALL", "--read-only"),
    *("--security-opt=no-new-privileges", "--user=10001:10001", "--memory=256m", "--memory-swap=256m", "--cpus=0.5"),
    *("--pids-limit=64", "--entrypoint=python3", "--ulimit=core=0:0", "--log-driver=none"),
    "--mount=type=bind,source=/data/socket,target=/run/parlour-socket,readonly",
    "--mount=type=bind,source=/bin/uv,target=/run/parlour-uv,readonly",
    '--mount=type=bind,"source=/srv/a,b","target=/srv/a,b",readonly',
    "--mount=type=bind,source=/data/skills/greet,target=/workspace/.skills/greet,readonly",
)


def spec(**fields: Any) -> SessionSpec:
    return SessionSpec(session_id="one", **{"cpus": 0.5, "memory_mb": 256, "processes": 64, **fields})


def run_words(engine: Engine, paths: ContainerPaths = PATHS, **fields: Any) -> list[str]:
    return run_arguments(engine, "n", spec(**fields), paths, {"RLIMIT_CORE": 0})


@pytest.mark.parametrize("engine", [PODMAN, DOCKER])
def test_every_container_is_isolated_and_limited(engine: Engine) -> None:
    words = run_words(engine)
    assert words[:2] == [engine.program, "run"]
    assert set(ALWAYS) <= set(words)
    assert not [
        word for word in words if word.startswith(("--privileged", "--cap-add", "--device", "--volume", "--pid="))
    ]
    image = words.index("image:1")
    assert words[image + 1 :] == ["-I", "-S", "/run/parlour-agent", '{"RLIMIT_CORE": 0}', "/run/parlour-socket/s"]


@pytest.mark.parametrize("engine", [PODMAN, DOCKER])
def test_network_is_off_unless_the_session_has_one(engine: Engine) -> None:
    assert "--network=none" in run_words(engine)
    assert not [word for word in run_words(engine, network=True) if word.startswith("--network")]


def test_workspace_is_writable_read_only_or_in_memory() -> None:
    bind = "--mount=type=bind,source=/data/ws,target=/workspace"
    assert bind in run_words(DOCKER)
    assert f"{bind},readonly" in run_words(DOCKER, read_only=True)
    paths = replace(PATHS, folders=replace(FOLDERS, memory_mb=8))
    words = run_words(DOCKER, paths)
    assert "--tmpfs=/workspace:rw,nosuid,nodev,mode=1777,size=8388608" in words
    assert not [word for word in words if "/data/ws" in word]


def test_engines_differ_only_in_what_one_of_them_lacks() -> None:
    podman, docker = run_words(PODMAN), run_words(DOCKER)
    assert {word for word in set(docker) - set(podman) if not word.startswith("--tmpfs")} == {DOCKER.program}
    only = {word.split("=")[0] for word in set(podman) - set(docker) if not word.startswith("--tmpfs")}
    assert only == {PODMAN.program, "--read-only-tmpfs", "--ulimit"}


def test_rootless_podman_keeps_the_user() -> None:
    words = run_words(replace(PODMAN, is_rootless=True, user=1000, group=1000))
    assert {"--userns=keep-id", "--user=1000:1000"} <= set(words)


def test_without_control_groups_the_engine_is_asked_for_no_limits() -> None:
    words = run_words(replace(PODMAN, limits="rlimit"))
    assert not [word for word in words if word.startswith(("--memory", "--cpus", "--pids-limit"))]


def test_containers_are_found_by_their_owner_and_removed_by_force() -> None:
    assert list_arguments(DOCKER)[1:] == ["ps", "--all", "--quiet", "--filter=label=parlour.box=owner"]
    assert remove_arguments(DOCKER, ["a", "b"])[1:] == ["rm", "--force", "a", "b"]


def pairs(words: list[str]) -> set[tuple[str, str]]:
    return set(itertools.pairwise(words))


def test_nsjail_isolates_limits_and_shows_the_same() -> None:
    words = session_arguments(spec(), FOLDERS, [ShownPath(Path("/bin/uv"), Path("/run/parlour-uv"))], True)
    assert {
        ("--bindmount", "/data/ws:/workspace"),
        ("--bindmount_ro", "/bin/uv:/run/parlour-uv"),
        ("--bindmount_ro", "/data/skills/greet:/workspace/.skills/greet"),
        ("--user", f"1000:{os.geteuid()}:1"),
        ("--cwd", "/workspace"),
        ("--rlimit_core", "0"),
        ("--time_limit", "0"),
    } <= pairs(words)
    assert "--disable_clone_newnet" not in words
    limits = json.loads(words[-1])
    assert (limits["RLIMIT_AS"], limits["RLIMIT_NPROC"]) == (256 * 1024 * 1024, 64)
    assert "RLIMIT_AS" not in json.loads(session_arguments(spec(), FOLDERS, [], False)[-1])


def test_nsjail_opens_the_network_and_closes_the_workspace_as_asked() -> None:
    words = session_arguments(spec(network=True, read_only=True), FOLDERS, [], False)
    assert "--disable_clone_newnet" in words
    assert ("--bindmount_ro", "/data/ws:/workspace") in pairs(words)
    in_memory = session_arguments(spec(), SandboxFolders(Path("/data/ws"), {}, 8), [], False)
    assert ("--mount", "none:/workspace:tmpfs:size=8388608,mode=0777") in pairs(in_memory)


def test_nsjail_can_not_show_a_path_that_it_would_split() -> None:
    with pytest.raises(BoxError) as refused:
        session_arguments(spec(), SandboxFolders(Path("/data/a:b")), [], False)
    assert refused.value.code == "mount_refused"
