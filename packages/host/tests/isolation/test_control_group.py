"""Control groups: where they can be created, their CPU weight, and their removal."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from parlour.isolation import cgroup
from parlour.isolation.cgroup import CgroupParent, ControlGroup, find_cgroup_parent

FIRST_VERSION = "3:memory:/some\n1:cpu,cpuacct:/user\n0::/\n"
SECOND_VERSION = "0::/parlour.service/host\n"


@pytest.fixture
def system(tmp_path: Path) -> Path:
    """A folder like /sys/fs/cgroup, for both versions."""
    for folder in ("cpu,cpuacct/user", "memory/some", "parlour.service/host"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "parlour.service" / "cgroup.subtree_control").write_text("cpu memory\n")
    return tmp_path


def found(system: Path, own: str) -> CgroupParent | None:
    own_groups = system / "own"
    own_groups.write_text(own)
    return find_cgroup_parent(own_groups, system)


def test_cgroups_v1_are_created_below_the_host(system: Path) -> None:
    assert found(system, FIRST_VERSION) == CgroupParent(system / "cpu,cpuacct" / "user", "cpu.shares", 1024)


def test_cgroups_v2_are_created_beside_the_host(system: Path) -> None:
    assert found(system, SECOND_VERSION) == CgroupParent(system / "parlour.service", "cpu.weight", 100)


@pytest.mark.parametrize("own", ["0::/\n", "3:memory:/some\n", "0::/elsewhere/host\n", "1:cpu:/gone\n", ""])
def test_there_is_no_parent_without_a_usable_cpu_controller(system: Path, own: str) -> None:
    assert found(system, own) is None


def test_there_is_no_parent_without_kernel_support(tmp_path: Path) -> None:
    assert find_cgroup_parent(tmp_path / "missing", tmp_path) is None


def test_the_niceness_becomes_the_cpu_weight_of_the_group(tmp_path: Path) -> None:
    group = ControlGroup("mark", CgroupParent(tmp_path, "cpu.shares", 1024))
    group.add([1], 5)  # plain files instead of the kernel's, so the group has no process
    [folder] = tmp_path.iterdir()
    assert folder.name == f"parlour-{os.getpid()}-mark"
    assert (folder / "cpu.shares").read_text() == "336"


def test_a_group_without_a_parent_changes_nothing() -> None:
    group = ControlGroup("mark", None)
    before = cgroup.OWN_CGROUP_FILE.read_text()
    group.add([os.getpid()], 5)
    group.close()
    assert cgroup.OWN_CGROUP_FILE.read_text() == before


def test_only_the_groups_of_a_dead_host_are_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    for name in (f"parlour-{dead.pid}-mark", f"parlour-{os.getpid()}-mark", "parlour-else", "other"):
        (tmp_path / name).mkdir()
    monkeypatch.setattr(cgroup, "find_cgroup_parent", lambda own, system: CgroupParent(tmp_path, "cpu.shares", 1024))
    assert cgroup.cgroup_parent.__wrapped__() == CgroupParent(tmp_path, "cpu.shares", 1024)
    assert {each.name for each in tmp_path.iterdir()} == {f"parlour-{os.getpid()}-mark", "parlour-else", "other"}


def test_a_real_group_contains_a_process_and_its_children() -> None:
    """On a machine where this user may not create control groups, there is none."""
    code = "import os, subprocess; input(); subprocess.run(['cat', '/proc/self/cgroup'], start_new_session=True)"
    group = ControlGroup("test", cgroup.cgroup_parent())
    with subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        group.add([process.pid], 5)
        group.close()  # the group still has a process, so it stays
        output, _ = process.communicate(b"\n", timeout=30)
    assert (f"/parlour-{os.getpid()}-test\n" in output.decode()) == (cgroup.cgroup_parent() is not None)
    group.close()
    if (place := cgroup.cgroup_parent()) is not None:
        assert not (place.folder / f"parlour-{os.getpid()}-test").exists()
