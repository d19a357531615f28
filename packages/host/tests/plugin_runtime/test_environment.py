"""Environments of plugins are built by the real uv from the real registry, completely or not at all, and reused."""

import asyncio
import errno
import fcntl
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from parlour.plugin_runtime.environments import sdk_wheel, uv
from parlour.plugin_runtime.environments.build_tracker import BuildTracker
from parlour.plugin_runtime.environments.environment import (
    MARKER,
    UNUSED_CACHE_SECONDS,
    UNUSED_ENVIRONMENT_SECONDS,
    EnvironmentFailed,
    EnvironmentFull,
    EnvironmentRules,
    Environments,
    environment_key,
)
from parlour.plugin_runtime.packages.requirements import Requirements

SIX = Requirements(("six==1.17.0",))


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "the environments"


@pytest.fixture
def environments(root: Path) -> Environments:
    return Environments(root, EnvironmentRules())


@pytest.fixture
def no_uv(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Hides uv on the path, beside Python and in the workspace."""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    monkeypatch.setattr(sys, "prefix", str(tmp_path / "prefix"))


def program(folder: Path, script: str) -> Path:
    """Writes a program that is used in place of uv."""
    file = folder / "fake-uv"
    file.write_text(f"#!/bin/sh\n{script}\n")
    file.chmod(0o755)
    return file


def wait_for_file(file: Path) -> None:
    deadline = time.monotonic() + 10
    while not file.exists():
        assert time.monotonic() < deadline, f"{file} does not appear"
        time.sleep(0.01)


def listed(folder: Path) -> set[str]:
    """Returns the entries of the folder without the installer's cache."""
    return {path.name for path in folder.iterdir()} - {".cache"} if folder.exists() else set()


def run_python(python: Path, code: str) -> str:
    clean = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    return subprocess.run([python, "-c", code], check=True, capture_output=True, text=True, env=clean).stdout.strip()


async def test_a_plugin_without_requirements_has_the_hosts_own_python(environments: Environments, root: Path) -> None:
    assert await environments.ensure_environment(Requirements()) == Path(sys.executable)
    assert listed(root) == set()


async def test_an_environment_has_the_requirements_and_the_sdk_and_nothing_of_the_host(
    environments: Environments,
) -> None:
    python = await environments.ensure_environment(SIX)

    assert run_python(python, "import six; print(six.__version__)") == "1.17.0"
    assert run_python(python, "import parlour_sdk.worker; print(parlour_sdk.__file__)").startswith(
        str(python.parent.parent)
    )
    assert run_python(python, "import importlib.metadata as m; print(m.version('parlour-sdk'))") == "0.1.0"
    assert (
        run_python(python, "import importlib.util as u; print(u.find_spec('fastapi'), u.find_spec('parlour'))")
        == "None None"
    )


async def test_a_built_environment_is_reused_without_uv_and_without_a_network(
    root: Path, environments: Environments, tmp_path: Path
) -> None:
    built = await environments.ensure_environment(SIX)
    broken = EnvironmentRules(uv=tmp_path / "not there")

    again = await Environments(root, broken).ensure_environment(Requirements(SIX.lines))

    assert again == built
    with pytest.raises(EnvironmentFailed):
        await Environments(root, broken).ensure_environment(Requirements(("idna",)))


async def test_concurrent_builds_of_the_same_environment_build_once(root: Path, tmp_path: Path) -> None:
    """The builds may come from different processes, each with its own object."""
    counted = program(tmp_path, f'echo "$@" >> "{tmp_path}/calls"; exec "{uv.find_uv(None)}" "$@"')

    pythons = await asyncio.gather(
        *(Environments(root, EnvironmentRules(uv=counted, sandbox="off")).ensure_environment(SIX) for _ in range(4))
    )

    assert len(set(pythons)) == 1
    calls = (tmp_path / "calls").read_text().splitlines()
    assert [line.split()[3:5] for line in calls] == [["venv", "--relocatable"], ["pip", "install"]]


async def test_a_package_that_does_not_exist_is_named_and_leaves_nothing(
    environments: Environments, root: Path
) -> None:
    missing = "parlour-test-no-such-package==1.0"

    with pytest.raises(EnvironmentFailed, match=f"its requirement '{missing}' can't be installed: .*not found"):
        await environments.ensure_environment(Requirements((missing, "six")))

    assert listed(root) == {f"{environment_key(Requirements((missing, 'six')))}.lock"}


async def test_a_package_that_conflicts_with_the_sdk_is_named(environments: Environments) -> None:
    with pytest.raises(EnvironmentFailed, match="its requirement 'pydantic<2' can't be installed"):
        await environments.ensure_environment(Requirements(("pydantic<2",)))


async def test_a_package_without_a_wheel_is_refused_with_the_setting_that_allows_it(environments: Environments) -> None:
    with pytest.raises(EnvironmentFailed, match=r"'docopt==0\.6\.2'.*plugins\.allow_building"):
        await environments.ensure_environment(Requirements(("docopt==0.6.2",)))


async def test_a_requirement_on_the_sdk_means_the_hosts_own(environments: Environments) -> None:
    python = await environments.ensure_environment(Requirements(("parlour-sdk>=0.1",)))

    assert run_python(python, "import parlour_sdk.plugin; print('here')") == "here"


@pytest.mark.parametrize("by", ["uv", "the Host"])
async def test_a_full_disk_is_reported_with_the_remedy_and_names_no_requirement(
    root: Path, tmp_path: Path, by: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    output = f"error: Failed to install: six.whl\n  Caused by: failed to copy file from /a to {root}/.building-x/b/c: "
    full = program(tmp_path, f"echo '{output}No space left on device (os error 28)'; exit 2")

    def no_room(*arguments: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    if by == "the Host":
        monkeypatch.setattr(sdk_wheel, "write", no_room)
    with pytest.raises(EnvironmentFull) as refused:
        await Environments(root, EnvironmentRules(uv=full, sandbox="off")).ensure_environment(SIX)

    assert str(refused.value) == (
        "its environment can't be written: No space left on device; make room on the disk of the data directory and "
        "try again"
    )
    assert listed(root) == {f"{environment_key(SIX)}.lock"}


async def test_the_build_folder_is_not_part_of_the_failure_reason(root: Path, tmp_path: Path) -> None:
    broken = program(tmp_path, f"echo 'error: six: {root}/.building-x/environment/lib/a.py is damaged'; exit 2")

    with pytest.raises(EnvironmentFailed) as refused:
        await Environments(root, EnvironmentRules(uv=broken, sandbox="off")).ensure_environment(Requirements(("six",)))

    assert str(refused.value) == "its requirement 'six' can't be installed: six: environment/lib/a.py is damaged"


async def test_a_cancelled_build_is_never_used(root: Path, tmp_path: Path) -> None:
    start_marker = tmp_path / "begun"
    hanging = program(tmp_path, f'for last; do :; done; mkdir -p "$last/bin"; touch "{start_marker}"; exec sleep 60')
    building = asyncio.create_task(
        Environments(root, EnvironmentRules(uv=hanging, sandbox="off")).ensure_environment(SIX)
    )
    await asyncio.to_thread(wait_for_file, start_marker)

    building.cancel()
    with pytest.raises(asyncio.CancelledError):
        await building

    assert not Environments(root, EnvironmentRules()).is_built(SIX)
    assert listed(root) == {f"{environment_key(SIX)}.lock"}


@pytest.mark.long
async def test_a_folder_without_its_marker_or_its_python_is_built_again(environments: Environments, root: Path) -> None:
    python = await environments.ensure_environment(SIX)
    folder = python.parent.parent
    (folder / MARKER).unlink()
    assert not environments.is_built(SIX)
    assert await environments.ensure_environment(SIX) == python

    python.unlink()
    assert not environments.is_built(SIX)
    assert await environments.ensure_environment(SIX) == python
    assert run_python(python, "import six; print('here')") == "here"


async def test_a_build_that_takes_too_long_is_ended_and_reported(root: Path, tmp_path: Path) -> None:
    pid = tmp_path / "pid"
    slow = program(tmp_path, f'echo $$ > "{pid}"; exec sleep 60')

    with pytest.raises(EnvironmentFailed, match=r"within 0\.5 s; the setting plugins\.environment_seconds"):
        await Environments(root, EnvironmentRules(uv=slow, seconds=0.5, sandbox="off")).ensure_environment(SIX)

    with pytest.raises(ProcessLookupError):
        os.kill(int(pid.read_text()), 0)


async def test_a_missing_uv_is_reported_with_the_remedy(environments: Environments, no_uv: None) -> None:
    with pytest.raises(EnvironmentFailed, match=r"pip install uv.*plugins\.uv"):
        await environments.ensure_environment(SIX)


def test_uv_is_found_by_setting_then_path_then_beside_python_then_workspace(
    no_uv: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tools = tmp_path / ".tools" / "bin"
    tools.mkdir(parents=True)
    monkeypatch.setattr(sys, "prefix", str(tmp_path / ".venv"))
    workspace = program(tools, "").rename(tools / "uv")
    assert uv.find_uv(None) == workspace

    (tmp_path / "beside").mkdir()
    beside = program(tmp_path / "beside", "").rename(tmp_path / "beside" / "uv")
    monkeypatch.setattr(sys, "executable", str(tmp_path / "beside" / "python"))
    assert uv.find_uv(None) == beside

    (tmp_path / "path").mkdir()
    on_path = program(tmp_path / "path", "").rename(tmp_path / "path" / "uv")
    monkeypatch.setenv("PATH", str(tmp_path / "path"))
    assert uv.find_uv(None) == on_path

    assert uv.find_uv(program(tmp_path, "")) == tmp_path / "fake-uv"
    with pytest.raises(uv.UvMissing):
        uv.find_uv(tmp_path / "not there")


def test_uv_gets_the_operators_settings_and_no_secret_of_the_host() -> None:
    own = {"PATH": "/bin", "PARLOUR__KEY": "secret", "UV_INDEX_URL": "https://mirror.example", "https_proxy": "p"}

    passed = uv.environment(own | {"UV_COMPILE_BYTECODE": "1", "UV_CACHE_DIR": "/elsewhere"}, Path("/cache"))

    assert passed == {"PATH": "/bin", "UV_INDEX_URL": "https://mirror.example", "https_proxy": "p"} | {
        "UV_CACHE_DIR": "/cache",
        "UV_LINK_MODE": "copy",
        "UV_PYTHON_DOWNLOADS": "never",
    }


async def test_only_old_unused_environments_are_deleted(environments: Environments, root: Path) -> None:
    for name, age in (
        ("needed", UNUSED_ENVIRONMENT_SECONDS + 60),
        ("young", 0.0),
        ("old", UNUSED_ENVIRONMENT_SECONDS + 60),
    ):
        (root / name).mkdir(parents=True)
        (root / name / MARKER).write_text("{}")
        then = time.time() - age
        os.utime(root / name / MARKER, (then, then))

    environments.delete_unused({"needed"})

    assert listed(root) == {"needed", "young"}


async def test_leftovers_of_a_killed_build_are_deleted_and_an_active_build_is_not(root: Path, tmp_path: Path) -> None:
    start_marker = tmp_path / "begun"
    hanging = program(tmp_path, f'echo > "{start_marker}"; exec sleep 60')
    environments = Environments(root, EnvironmentRules(uv=hanging, sandbox="off"))
    building = asyncio.create_task(environments.ensure_environment(SIX))
    await asyncio.to_thread(wait_for_file, start_marker)
    left = root / f".building-{environment_key(Requirements(('six',)))}-left"
    left.mkdir()
    before = listed(root)

    environments.delete_unused(set())

    assert listed(root) - {f"{environment_key(Requirements(('six',)))}.lock"} == before - {left.name}
    building.cancel()
    await asyncio.wait([building])


async def test_the_lock_of_an_active_build_is_kept_however_old_it_is(root: Path, tmp_path: Path) -> None:
    start_marker = tmp_path / "begun"
    hanging = program(tmp_path, f'echo > "{start_marker}"; exec sleep 60')
    environments = Environments(root, EnvironmentRules(uv=hanging, sandbox="off"))
    building = asyncio.create_task(environments.ensure_environment(SIX))
    await asyncio.to_thread(wait_for_file, start_marker)
    lock = root / f"{environment_key(SIX)}.lock"
    then = time.time() - UNUSED_ENVIRONMENT_SECONDS - 60
    os.utime(lock, (then, then))

    environments.delete_unused(set())
    is_kept = lock.exists()
    building.cancel()
    await asyncio.wait([building])
    environments.delete_unused(set())

    assert (is_kept, lock.exists()) == (True, False)


async def test_a_build_that_waited_for_a_deleted_lock_file_locks_the_new_one(root: Path, tmp_path: Path) -> None:
    start_marker = tmp_path / "begun"
    hanging = program(tmp_path, f'echo > "{start_marker}"; exec sleep 60')
    lock = root / f"{environment_key(SIX)}.lock"
    os.mkdir(root)
    with lock.open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        rules = EnvironmentRules(uv=hanging, sandbox="off")
        building = asyncio.create_task(Environments(root, rules).ensure_environment(SIX))
        await asyncio.sleep(0)  # it has opened the file and waits
        lock.unlink()
    await asyncio.to_thread(wait_for_file, start_marker)

    with lock.open("w") as other, pytest.raises(BlockingIOError):
        fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)
    building.cancel()
    await asyncio.wait([building])


@pytest.mark.long
async def test_using_an_environment_resets_its_age(environments: Environments, root: Path) -> None:
    python = await environments.ensure_environment(SIX)
    marker = python.parent.parent / MARKER
    then = time.time() - UNUSED_ENVIRONMENT_SECONDS - 60
    os.utime(marker, (then, then))

    await environments.ensure_environment(SIX)
    environments.delete_unused(set())

    assert python.exists()


def test_the_key_of_an_environment_depends_on_its_requirements() -> None:
    assert environment_key(SIX) == environment_key(Requirements(SIX.lines))
    assert environment_key(SIX) != environment_key(Requirements(("six",)))


async def test_active_builds_are_listed_and_their_output_is_kept(root: Path, tmp_path: Path) -> None:
    gate, marker = tmp_path / "gate", tmp_path / "begun"
    os.mkfifo(gate)
    failing = program(tmp_path, f'touch "{marker}"; echo working; read line < "{gate}"; echo "error: no luck"; exit 1')
    builds = BuildTracker(Environments(root, EnvironmentRules(uv=failing, sandbox="off")))
    building = asyncio.create_task(builds.ensure_environment("acme/hello", SIX))
    await asyncio.to_thread(wait_for_file, marker)
    assert builds.active() == {"acme/hello"}

    await asyncio.to_thread(gate.write_text, "go\n")

    with pytest.raises(EnvironmentFailed, match="no luck"):
        await building
    assert builds.active() == set()
    without, *said = builds.lines("acme/hello")
    assert "only wheels are installed, and nothing is compiled" in without
    assert said[:2] == ["working", "error: no luck"]


@pytest.mark.parametrize(("age", "stays"), [(UNUSED_CACHE_SECONDS - 60, True), (UNUSED_CACHE_SECONDS + 60, False)])
def test_the_download_cache_is_deleted_after_long_disuse(
    environments: Environments, root: Path, age: float, stays: bool
) -> None:
    (root / ".cache" / "wheels").mkdir(parents=True)
    then = time.time() - age
    os.utime(root / ".cache", (then, then))

    environments.delete_unused(set())

    assert (root / ".cache").exists() is stays
