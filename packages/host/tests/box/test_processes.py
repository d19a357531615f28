"""Managed processes in real sandboxes: streams, ends, limits, and who may attach."""

import asyncio
import base64
import os
import signal
from collections.abc import AsyncIterator
from contextlib import aclosing
from pathlib import Path
from typing import Any

import pytest

from parlour.box.bubblewrap_backend import BubblewrapBackend
from parlour.box.errors import BoxError
from parlour.box.processes import MAX_UNREAD_BYTES, ManagedProcess
from parlour.box.sessions import BoxSessions
from parlour.box.skill_store import SkillStore
from parlour.box.workspaces import Workspaces
from parlour.core.box.messages import ManagedProcessStart, ProcessRequest, ProcessSpec, SessionSpec


@pytest.fixture
async def sessions(tmp_path: Path) -> AsyncIterator[BoxSessions]:
    backend = BubblewrapBackend(None, ())
    await backend.probe()
    made = BoxSessions(backend, Workspaces(tmp_path / "spaces", 7), SkillStore(tmp_path / "skills", 7), 300, 4)
    yield made
    await made.close()


def start(command: str, *args: str, process_id: str = "default", **environment: str) -> ManagedProcessStart:
    session = SessionSpec(session_id="one", cpus=1, memory_mb=128, processes=32)
    spec = ProcessSpec(process_id=process_id, command=command, args=list(args), environment=environment)
    return ManagedProcessStart(session=session, process=spec)


async def part(output: Any) -> Any:
    async with asyncio.timeout(20):
        return await anext(output)


async def read(process: ManagedProcess) -> tuple[bytes, dict[str, Any]]:
    """Returns all output of a process, and how it ended."""
    content = b""
    async with asyncio.timeout(20), aclosing(process.attach()) as output:
        async for each in output:
            if "data" not in each:
                return content, each
            content += base64.b64decode(each["data"])
    raise AssertionError("the process did not report its end")


async def test_input_and_output_are_passed_on_until_the_end(sessions: BoxSessions) -> None:
    process = await sessions.start_process(start("sh", "-c", "echo $NAME >&2; cat", NAME="box"))
    assert process.fields()["environment"] == ["NAME"]
    async with aclosing(process.attach()) as output:
        for text in (b"one", b"two" * 100_000):
            await process.feed(base64.b64encode(text).decode())
            received = b""
            while len(received) < len(text):
                received += base64.b64decode((await part(output))["data"])
            assert received == text
        await process.feed("")
        assert await part(output) == {"exited": 0, "reason": "", "stderr": "box"}
    assert not process.is_running


async def test_only_one_caller_is_attached(sessions: BoxSessions) -> None:
    process = await sessions.start_process(start("sh", "-c", "echo x; cat"))
    async with aclosing(process.attach()) as output:
        await part(output)
        with pytest.raises(BoxError, match="another caller"):
            await part(process.attach())
    async with aclosing(process.attach()) as again:
        await process.stop(force=False)
        assert (await part(again))["exited"] == -signal.SIGTERM


async def test_process_keeps_its_session_and_its_name(sessions: BoxSessions) -> None:
    await sessions.start_process(start("cat"))
    with pytest.raises(BoxError, match="runs already"):
        await sessions.start_process(start("cat"))
    [session] = sessions.all()
    assert not session.is_idle
    await sessions.find_process(ProcessRequest(session_id="one", process_id="default")).stop(force=True)
    await read(session.processes.get("default"))
    assert session.is_idle
    await sessions.start_process(start("cat"))
    with pytest.raises(BoxError) as missing:
        sessions.find_process(ProcessRequest(session_id="one", process_id="absent"))
    assert missing.value.code == "process_not_found"


async def test_command_that_is_not_there_is_refused(sessions: BoxSessions) -> None:
    with pytest.raises(BoxError, match="does not exist"):
        await sessions.start_process(start("/usr/bin/not-here"))
    [session] = sessions.all()
    assert session.is_idle


async def test_end_of_the_sandbox_ends_its_processes(sessions: BoxSessions) -> None:
    process = await sessions.start_process(start("cat"))
    [session] = sessions.all()
    reading = asyncio.ensure_future(read(process))
    os.kill(session.sandbox._process.pid, signal.SIGKILL)  # type: ignore[attr-defined]
    _, end = await reading
    assert end["exited"] is None
    assert sessions.get("one") is None


async def test_process_that_floods_an_absent_reader_is_stopped(sessions: BoxSessions) -> None:
    process = await sessions.start_process(start("sh", "-c", f"yes | head -c {2 * MAX_UNREAD_BYTES}; sleep 60"))
    async with asyncio.timeout(20):
        while not process.reason:  # noqa: ASYNC110 - nothing announces it before a caller attaches
            await asyncio.sleep(0.01)
    content, end = await read(process)
    assert len(content) <= MAX_UNREAD_BYTES
    assert "nothing read" in end["reason"]
