"""Sessions of the Box on virtual time: creation, order, limits, and all the ways in which they end."""

import asyncio
import os
from pathlib import Path
from typing import Any

import pytest

from parlour.box.errors import BoxError
from parlour.box.sessions import REAP_SECONDS, BoxSessions
from parlour.box.skill_store import SkillStore
from parlour.box.workspaces import Workspaces
from parlour.core.box.messages import ExecRequest, ManagedProcessStart, ProcessSpec, SessionSpec
from parlour.testing.fake_box import FakeBackend, exec_result

IDLE_SECONDS = 300.0


async def at_once(work: Any, *arguments: Any) -> Any:
    return work(*arguments)


def spec(session_id: str, **fields: Any) -> SessionSpec:
    return SessionSpec(session_id=session_id, **{"cpus": 1, "memory_mb": 512, "processes": 64, **fields})


def command(session_id: str, text: str = "true", **fields: Any) -> ExecRequest:
    return ExecRequest(session=spec(session_id, **fields), command=text, timeout_seconds=30)


@pytest.fixture
def backend() -> FakeBackend:
    return FakeBackend()


@pytest.fixture
def sessions(backend: FakeBackend, tmp_path: Path) -> BoxSessions:
    workspaces = Workspaces(tmp_path, 7, in_thread=at_once)
    return BoxSessions(
        backend, workspaces, SkillStore(tmp_path / "skills", 7, in_thread=at_once), IDLE_SECONDS, max_sessions=4
    )


async def test_concurrent_first_uses_share_one_sandbox(sessions: BoxSessions, backend: FakeBackend) -> None:
    await asyncio.gather(*(sessions.exec(command("one")) for _ in range(10)))
    assert len(backend.started) == 1


async def test_commands_of_one_session_run_in_order(sessions: BoxSessions, backend: FakeBackend) -> None:
    running, most = 0, 0

    async def answer(operation: str, fields: dict[str, Any]) -> dict[str, Any]:
        nonlocal running, most
        running += 1
        most = max(most, running)
        await asyncio.sleep(1)
        running -= 1
        return exec_result()

    backend.answer = answer
    texts = [f"echo {number}" for number in range(5)]
    await asyncio.gather(*(sessions.exec(command("one", text)) for text in texts))
    assert [fields["command"] for _, fields in backend.started[0].requests] == texts
    assert most == 1


async def test_s7_slow_start_of_one_session_delays_no_other(sessions: BoxSessions, backend: FakeBackend) -> None:
    backend.gates["slow"] = asyncio.Event()
    slow = asyncio.create_task(sessions.exec(command("slow")))
    began = asyncio.get_running_loop().time()
    for _ in range(50):
        await sessions.exec(command("fast"))
    assert asyncio.get_running_loop().time() == began
    assert not slow.done()
    backend.gates["slow"].set()
    await slow


async def test_caller_that_gives_up_does_not_end_the_start_for_others(
    sessions: BoxSessions, backend: FakeBackend
) -> None:
    backend.gates["slow"] = asyncio.Event()
    first, second = (asyncio.create_task(sessions.exec(command("slow"))) for _ in range(2))
    await asyncio.sleep(1)
    first.cancel()
    backend.gates["slow"].set()
    assert (await second)["status"] == "completed"
    assert len(backend.started) == 1


async def test_failed_start_is_told_and_the_next_one_is_tried(sessions: BoxSessions, backend: FakeBackend) -> None:
    backend.failures = [BoxError("backend_unavailable", "no namespace")]
    with pytest.raises(BoxError, match="no namespace"):
        await sessions.exec(command("one"))
    assert (await sessions.exec(command("one")))["status"] == "completed"


async def test_s3_thousand_sessions_stay_within_the_limit_and_the_oldest_idle_ones_make_room(
    sessions: BoxSessions, backend: FakeBackend
) -> None:
    for number in range(1000):
        await sessions.exec(command(f"s{number}"))
        assert len(backend.alive) <= 4
        await asyncio.sleep(0.01)
    assert [sandbox.spec.session_id for sandbox in backend.alive] == ["s996", "s997", "s998", "s999"]


async def test_busy_sessions_are_not_ended_to_make_room(sessions: BoxSessions, backend: FakeBackend) -> None:
    forever = asyncio.Event()

    async def hang(operation: str, fields: dict[str, Any]) -> dict[str, Any]:
        await forever.wait()
        return exec_result()

    backend.answer = hang
    busy = [asyncio.create_task(sessions.exec(command(f"s{number}"))) for number in range(4)]
    await asyncio.sleep(1)
    with pytest.raises(BoxError) as refused:
        await sessions.exec(command("more"))
    assert (refused.value.code, refused.value.data) == ("capacity_exceeded", {"retryable": True})
    forever.set()
    await asyncio.gather(*busy)


async def test_concurrent_first_uses_of_many_sessions_stay_within_the_limit(
    sessions: BoxSessions, backend: FakeBackend
) -> None:
    await asyncio.gather(*(sessions.exec(command(f"s{number}")) for number in range(100)), return_exceptions=True)
    assert len(backend.alive) <= 4


async def test_s3_idle_sessions_are_ended_by_the_timer_without_any_request(
    sessions: BoxSessions, backend: FakeBackend
) -> None:
    sessions.start()
    for number in range(3):
        await sessions.exec(command(f"s{number}"))
    await asyncio.sleep(IDLE_SECONDS - REAP_SECONDS)
    assert len(backend.alive) == 3
    await asyncio.sleep(2 * REAP_SECONDS)
    assert backend.alive == []
    await sessions.close()


async def test_persistent_session_is_not_ended_when_it_is_idle(sessions: BoxSessions, backend: FakeBackend) -> None:
    sessions.start()
    await sessions.exec(command("servers", persistent=True))
    await asyncio.sleep(10 * IDLE_SECONDS)
    assert len(backend.alive) == 1
    await sessions.close()
    assert backend.alive == []


async def test_time_out_ends_the_session_and_the_next_command_gets_a_new_one(
    sessions: BoxSessions, backend: FakeBackend
) -> None:
    async def late(operation: str, fields: dict[str, Any]) -> dict[str, Any]:
        return exec_result(status="timed_out", code=-9)

    backend.answer = late
    await sessions.exec(command("one"))
    assert backend.alive == []
    backend.answer = FakeBackend().answer
    await sessions.exec(command("one"))
    assert len(backend.started) == 2


async def test_sandbox_that_vanished_is_made_again_once(sessions: BoxSessions, backend: FakeBackend) -> None:
    await sessions.exec(command("one"))
    await backend.started[0].close()
    assert (await sessions.exec(command("one")))["status"] == "completed"
    assert len(backend.started) == 2


async def test_sandbox_that_dies_during_a_command_is_not_asked_to_repeat_it(
    sessions: BoxSessions, backend: FakeBackend
) -> None:
    async def die(operation: str, fields: dict[str, Any]) -> dict[str, Any]:
        backend.started[-1].closed.set()
        raise BoxError("session_lost", "the sandbox has ended", retryable=True)

    backend.answer = die
    with pytest.raises(BoxError) as lost:
        await sessions.exec(command("one", "rm -r /workspace/all"))
    assert lost.value.code == "session_lost"
    assert [len(sandbox.requests) for sandbox in backend.started] == [1]


async def test_killed_sandbox_is_a_result_with_its_reason(sessions: BoxSessions, backend: FakeBackend) -> None:
    async def out_of_memory(operation: str, fields: dict[str, Any]) -> dict[str, Any]:
        backend.started[0].reason = "memory"
        raise BoxError("session_lost", "the sandbox has ended", retryable=True)

    backend.answer = out_of_memory
    result = await sessions.exec(command("one"))
    assert (result["status"], result["reason"]) == ("killed", "memory")
    assert backend.alive == []


async def test_other_limits_replace_an_idle_session_and_wait_for_a_busy_one(
    sessions: BoxSessions, backend: FakeBackend
) -> None:
    await sessions.exec(command("one"))
    await sessions.exec(command("one", memory_mb=256))
    assert [sandbox.spec.memory_mb for sandbox in backend.alive] == [256]
    forever = asyncio.Event()

    async def hang(operation: str, fields: dict[str, Any]) -> dict[str, Any]:
        await forever.wait()
        return exec_result()

    backend.started[-1]._answer = hang
    busy = asyncio.create_task(sessions.exec(command("one", memory_mb=256)))
    await asyncio.sleep(1)
    other = asyncio.create_task(sessions.exec(command("one", memory_mb=512)))
    await asyncio.sleep(1)
    assert [sandbox.spec.memory_mb for sandbox in backend.alive] == [256], "a busy sandbox is not replaced"
    forever.set()
    await asyncio.gather(busy, other)
    assert [sandbox.spec.memory_mb for sandbox in backend.alive] == [512]


async def test_s8_other_mounts_replace_an_idle_session_and_are_refused_while_processes_run(
    sessions: BoxSessions, backend: FakeBackend
) -> None:
    await sessions.exec(command("one", mounts=["/srv/a"]))
    await sessions.exec(command("one", mounts=["/srv/b"]))
    assert [sandbox.spec.mounts for sandbox in backend.alive] == [["/srv/b"]]
    start = ManagedProcessStart(session=spec("one", mounts=["/srv/b"]), process=ProcessSpec(command="cat"))
    await sessions.start_process(start)
    with pytest.raises(BoxError) as refused:
        await sessions.exec(command("one", mounts=["/srv/a"]))
    assert (refused.value.code, refused.value.data) == ("session_conflict", {"retryable": True})
    assert [sandbox.spec.mounts for sandbox in backend.alive] == [["/srv/b"]]


async def test_logical_differences_never_conflict(sessions: BoxSessions, backend: FakeBackend) -> None:
    await sessions.exec(command("one", title="a"))
    await sessions.exec(command("one", title="b"))
    assert len(backend.started) == 1


async def test_workspace_outlives_the_session_and_is_deleted_days_later(tmp_path: Path) -> None:
    now = [1_000_000_000.0]
    workspaces = Workspaces(tmp_path, days=7, now=lambda: now[0], in_thread=at_once)
    folder = (await workspaces.open(spec("one"))).folder
    (folder / "kept.txt").write_text("kept")
    await workspaces.touch([spec("one")])
    now[0] += 6 * 86_400
    assert await workspaces.sweep(()) == 0
    now[0] += 2 * 86_400
    assert await workspaces.sweep({"one"}) == 0, "a live session keeps its workspace"
    assert await workspaces.sweep(()) == 1
    assert not folder.exists()
    assert os.stat(tmp_path).st_mode & 0o777 == 0o700


async def test_workspaces_of_two_tenants_are_apart(tmp_path: Path) -> None:
    workspaces = Workspaces(tmp_path, days=7, in_thread=at_once)
    assert await workspaces.open(spec("one")) != await workspaces.open(spec("one", workspace_id="other"))
