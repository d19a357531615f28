"""Project quotas of workspaces, on a kernel that has them: User Mode Linux runs a Box whose disk is an ext4 image."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from parlour.box.project_quotas import ProjectQuotas

from .kernel_with_quotas import QUOTA_MB

ROOT = Path(__file__).parents[4]
KERNEL = ROOT / ".tools" / "user-mode-linux"
MEMORY_MB, DISK_MB = 768, 128


def test_a_folder_without_project_quotas_is_known(tmp_path: Path) -> None:
    assert ProjectQuotas(QUOTA_MB).problem(tmp_path / "workspaces") != ""
    assert list(tmp_path.rglob("*probe*")) == []


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What happened in the kernel."""
    folder = tmp_path_factory.mktemp("kernel")
    disk, first = folder / "disk", folder / "first"
    with disk.open("wb") as file:
        file.truncate(DISK_MB * 1024 * 1024)
    make = shutil.which("mkfs.ext4", path="/usr/sbin:/sbin:/usr/bin:/bin")
    assert make is not None
    subprocess.run([make, "-q", "-F", "-O", "quota,project", "-E", "quotatype=prjquota", str(disk)], check=True)
    [modules] = (KERNEL / "usr/lib/uml/modules").iterdir()
    program = Path(__file__).with_name("kernel_with_quotas.py")
    bubblewrap = ROOT / ".tools/bubblewrap/usr/bin"
    first.write_text(
        f"#!/bin/sh\nexport MODULES={modules} PATH={bubblewrap}:/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin\n"
        f"exec {sys.executable} {program}\n"
    )
    first.chmod(0o755)
    command = [
        *(KERNEL / "usr/bin/linux.uml", f"mem={MEMORY_MB}M", f"ubd0={disk}", "rootfstype=hostfs", "rootflags=/", "rw"),
        *(f"init={first}", "con=null", "con0=fd:0,fd:1", "quiet", f"uml_dir={folder}/"),
    ]
    ended = subprocess.run(
        command, stdin=subprocess.DEVNULL, capture_output=True, timeout=280, env={**os.environ, "TMPDIR": str(folder)}
    )
    output = ended.stdout.decode()
    results = [line for line in output.splitlines() if line.startswith("RESULT ")]
    assert results, output
    return dict(json.loads(results[0].removeprefix("RESULT ")))


@pytest.mark.long
@pytest.mark.timeout(300)
def test_the_kernel_holds_the_quota_of_each_workspace(found: dict[str, Any]) -> None:
    assert found["problem"] == ""
    assert found["problem without quotas"] != ""
    assert found["quota"] == ["project"]
    assert found["small"]["output"] == found["another session"]["output"] == "3000000\n"
    assert found["too much"]["code"] != 0
    assert found["too much"]["reason"] == "quota"
    assert "quota exceeded" in found["too much"]["output"] or "No space left" in found["too much"]["output"]
    assert found["many small"]["code"] != 0, "files without content are limited, too"


@pytest.mark.long
@pytest.mark.timeout(300)
def test_a_command_can_not_leave_its_project_and_a_deleted_workspace_leaves_no_limit(found: dict[str, Any]) -> None:
    assert "Invalid argument" in found["leaving the project"]["output"]
    assert found["limits"] == [QUOTA_MB * 1024] * 2
    assert found["left"] == []
