"""The first program of the kernel of `test_project_quotas.py`: it tries project quotas out, and prints what happens."""

import asyncio
import base64
import ctypes
import json
import os
import subprocess
import sys
import traceback
from pathlib import Path
from typing import Any

POWER_OFF = 0x4321FEDC
FINIT_MODULE = 313
QUOTA_MB = 8
DISK = Path("/mnt/disk")


def prepare(modules: Path) -> None:
    """Mounts what programs need, and a disk with project quotas."""
    libc = ctypes.CDLL(None, use_errno=True)
    for name in ("fs/quota/quota_tree.ko", "fs/quota/quota_v2.ko"):
        descriptor = os.open(modules / "kernel" / name, os.O_RDONLY)
        assert libc.syscall(FINIT_MODULE, descriptor, b"", 0) == 0, os.strerror(ctypes.get_errno())
    for kind, folder in (("proc", "/proc"), ("sysfs", "/sys"), ("tmpfs", "/tmp"), ("tmpfs", "/run"), ("tmpfs", "/mnt")):
        subprocess.run(["mount", "-t", kind, kind, folder], check=True)
    DISK.mkdir()
    subprocess.run(["mount", "-t", "ext4", "-o", "prjquota", "/dev/ubda", str(DISK)], check=True)


async def results() -> dict[str, Any]:
    """Uses a Box as root on the disk: `found` is what its sessions did."""
    from parlour.box.bubblewrap_backend import BubblewrapBackend
    from parlour.box.project_quotas import ProjectQuotas
    from parlour.box.sessions import BoxSessions
    from parlour.box.skill_store import SkillStore
    from parlour.box.workspaces import Workspaces
    from parlour.core.box.messages import ExecRequest, SessionSpec, WorkspaceRequest

    root = DISK / "workspaces"
    found: dict[str, Any] = {}
    projects = ProjectQuotas(QUOTA_MB)
    found["problem"] = await asyncio.to_thread(projects.problem, root)
    found["problem without quotas"] = await asyncio.to_thread(projects.problem, Path("/tmp/elsewhere"))
    backend = BubblewrapBackend(None, ())
    await backend.probe()
    workspaces = Workspaces(root, 7, QUOTA_MB, None, projects=projects)
    sessions = BoxSessions(backend, workspaces, SkillStore(DISK / "skills", 7), 300, 8, QUOTA_MB)

    def spec(session_id: str) -> SessionSpec:
        return SessionSpec(session_id=session_id, cpus=1, memory_mb=64, processes=32)

    async def run(session_id: str, command: str) -> dict[str, Any]:
        request = ExecRequest(session=spec(session_id), command=command, timeout_seconds=60)
        result = await sessions.exec(request)
        output = base64.b64decode(result["stdout"]["data"]) + base64.b64decode(result["stderr"]["data"])
        return {"code": result["code"], "reason": result.get("reason"), "output": output.decode()}

    try:
        found["small"] = await run("one", "head -c 3000000 /dev/zero > small && stat -c %s small")
        found["too much"] = await run("one", f"dd if=/dev/zero of=large bs=64k count={QUOTA_MB * 32}")
        found["many small"] = await run("one", "i=0; while [ $i -lt 9000 ]; do : > file$i || exit 9; i=$((i+1)); done")
        change = "import fcntl,os,struct; f=os.open('small',0); a=bytearray(28); fcntl.ioctl(f,0x801c581f,a)"
        leave = f"{change}; struct.pack_into('=I',a,12,0); fcntl.ioctl(f,0x401c5820,a)"
        found["leaving the project"] = await run("one", f'python3 -c "{leave}"')
        found["another session"] = await run("two", "head -c 3000000 /dev/zero > small && stat -c %s small")
        found["quota"] = sorted({session.workspace.quota for session in sessions.all()})
        found["limits"] = limits_of_projects()
        for session_id in ("one", "two"):
            await sessions.delete_workspace(WorkspaceRequest(session_id=session_id, workspace_id="default"))
        found["left"] = limits_of_projects()
    finally:
        await sessions.close()
    return found


def limits_of_projects() -> list[int]:
    """Returns the limits that projects of the disk have, in KiB."""
    from parlour.box.project_quotas import GET_QUOTA, LIMITS, PROJECT_QUOTA, QUOTACTL_FD

    next_quota, descriptor, project, limits = GET_QUOTA + 2, os.open(DISK, os.O_RDONLY), 1, []
    libc = ctypes.CDLL(None, use_errno=True)
    buffer = ctypes.create_string_buffer(LIMITS.size + 4)
    while libc.syscall(QUOTACTL_FD, descriptor, (next_quota << 8) | PROJECT_QUOTA, project, buffer) == 0:
        hard = LIMITS.unpack(buffer.raw[: LIMITS.size])[0]
        project = int.from_bytes(buffer.raw[68:72], sys.byteorder) + 1
        if hard:
            limits.append(hard)
    return limits


def main() -> None:
    try:
        prepare(Path(os.environ["MODULES"]))
        sys.stdout.write("\nRESULT " + json.dumps(asyncio.run(results())) + "\n")
    finally:
        if sys.exc_info()[0] is not None:
            traceback.print_exc(file=sys.stdout)
        sys.stdout.flush()
        os.sync()
        ctypes.CDLL(None).reboot(POWER_OFF)


if __name__ == "__main__":
    main()
