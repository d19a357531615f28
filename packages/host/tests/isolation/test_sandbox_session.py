"""A sandbox around a command that is no plugin: a session that lasts, with files, variables and limits of its own."""

import asyncio
import os
from pathlib import Path

import pytest

from parlour.isolation.availability import SandboxUnavailable, find_bubblewrap, working_bubblewrap
from parlour.isolation.bubblewrap import Bubblewrap
from parlour.isolation.mounts import hide, read_only, system_mounts, writable
from parlour.isolation.process import spawn
from parlour.isolation.sandbox_spec import SandboxLimits, SandboxSpec
from parlour.isolation.sandboxed_process import SandboxedProcess


async def bubblewrap() -> Bubblewrap:
    program = find_bubblewrap()
    assert program is not None
    made, _ = await working_bubblewrap(program, (), SandboxSpec(["/bin/true"], system_mounts()))
    return made


def exists(pid: int) -> bool:
    return Path(f"/proc/{pid}").exists()


class Session:
    """A shell in a sandbox that runs one command after the other."""

    def __init__(self, process: SandboxedProcess) -> None:
        self.process = process

    def write(self, line: str) -> None:
        os.write(self.process.write_fd, f"{line}\n".encode())

    async def ask(self, line: str) -> str:
        """Runs a command and returns the one line that it prints."""
        self.write(f"{{ {line}; }} 1>&2")
        return (await asyncio.wait_for(self.process.log.readline(), 30)).decode().strip()

    async def end(self) -> int:
        os.close(self.process.write_fd)
        status = await asyncio.wait_for(self.process.wait(), 30)
        self.process.close()
        os.close(self.process.read_fd)
        return status


async def open_session(spec: SandboxSpec) -> Session:
    with (await bubblewrap()).wrap(spec) as command:
        return Session(await spawn(command.arguments, Path("/"), SandboxedProcess, {}, command.descriptors))


async def test_a_session_keeps_its_workspace_and_sees_no_other_file(tmp_path: Path) -> None:
    workspace, private, tool = tmp_path / "workspace", tmp_path / "private", tmp_path / "tool"
    workspace.mkdir()
    private.mkdir()
    (private / "key").write_text("secret")
    tool.write_text("echo tool\n")
    mounts = [*system_mounts(), *hide([private]), read_only(tool, Path("/run/tool")), writable(workspace)]
    spec = SandboxSpec(["/bin/sh"], mounts, workspace, {"GREETING": "hello"}, host_name="box")
    session = await open_session(spec)

    assert await session.ask("echo $GREETING $(hostname) $(pwd)") == f"hello box {workspace}"
    assert await session.ask("echo kept > file; cat file") == "kept"
    assert await session.ask("sh /run/tool") == "tool"
    assert await session.ask(f"cat {private}/key 2>/dev/null || echo hidden") == "hidden"
    assert await session.ask("cut -d: -f1 -s /proc/net/dev | tr -d ' '") == "lo"
    assert await session.end() == 0
    assert (workspace / "file").read_text() == "kept\n"


async def test_the_temporary_files_of_a_session_have_a_limit(tmp_path: Path) -> None:
    session = await open_session(SandboxSpec(["/bin/sh"], system_mounts(), limits=SandboxLimits(temporary_mb=1)))

    assert await session.ask("head -c 3000000 /dev/zero > /tmp/large 2>/dev/null || echo full") == "full"
    assert await session.end() == 0


async def test_a_session_ends_with_all_that_it_started(tmp_path: Path) -> None:
    session = await open_session(SandboxSpec(["/bin/sh"], system_mounts()))
    assert await session.ask("setsid sleep 600 & echo started") == "started"
    pids = {each.pid for each in session.process.tree.alive()}
    assert len(pids) >= 3

    await session.process.kill()

    assert await session.end() == -9
    async with asyncio.timeout(5):
        while any(map(exists, pids)):  # noqa: ASYNC110 - the kernel sends no notification
            await asyncio.sleep(0.01)


async def test_a_probe_that_fails_is_reported_with_its_output(tmp_path: Path) -> None:
    probe = SandboxSpec(["/bin/sh", "-c", "echo no such thing; exit 3"], system_mounts())

    program = find_bubblewrap()
    assert program is not None

    with pytest.raises(SandboxUnavailable) as refused:
        await working_bubblewrap(program, (), probe)

    assert "no such thing" in refused.value.reason
