"""Rows of the contract that concern the runner of a service."""

import asyncio
from typing import Any

from parlour_sdk.protocol.content import ContentElement, MediaElement, TextElement

from ..host import FakeHost
from ..run import FakeRun
from ..services import cut, malformed, oversized, stall, status
from ..services.faults import ServiceFault
from .rigs import ServiceRig

CONTENT = b"the content of a file"
WAIT_SECONDS = 5.0
SHORT_SECONDS = 0.3
DEADLINE_SECONDS = 1.0


async def _run(rig: ServiceRig, host: FakeHost | None = None, said: Any = None, **changes: Any) -> FakeRun:
    config = {**rig.config(), **changes}
    run = await (host or rig.host()).run(rig.plugin, rig.said if said is None else said, config=config)
    assert rig.key not in repr(run) and rig.key not in str(run.error), "the key is visible"  # noqa: PT018
    return run


async def _fails(rig: ServiceRig, fault: ServiceFault, reason: str, retryable: bool, **changes: Any) -> FakeRun:
    rig.answer("Hello", " there")
    rig.service.fail(fault)
    run = await _run(rig, **changes)
    assert run.status == "failed", run
    assert run.code == f"{rig.code}.{reason}", run
    assert run.retryable is retryable, run
    assert run.error, run
    return run


async def a_cancellation_reaches_the_service(rig: ServiceRig) -> None:
    rig.hold("Hello")
    async with rig.host().start(rig.plugin, rig.said, config={**rig.config(), "idle_timeout": 30}, timeout=30) as run:
        await run.until_delta()
        run.cancel()
    async with asyncio.timeout(WAIT_SECONDS):
        await rig.service.until(lambda service: service.disconnects == 1)
    if rig.stop_path:
        assert len(rig.stopped()) == 1, rig.service.requests


async def a_deadline_reaches_the_service(rig: ServiceRig) -> None:
    rig.hold("Hello")
    config = {**rig.config(), "idle_timeout": 30}
    run = await rig.host().run(rig.plugin, rig.said, config=config, timeout=DEADLINE_SECONDS)
    assert run.status == "timeout", run
    async with asyncio.timeout(WAIT_SECONDS):
        await rig.service.until(lambda service: service.disconnects == 1)
    if rig.stop_path:
        assert len(rig.stopped()) == 1, rig.service.requests


async def a_missing_setting_is_named(rig: ServiceRig) -> None:
    run = await rig.host().run(rig.plugin, rig.said, config={**rig.config(), rig.address_setting: "no address"})
    assert run.code == f"{rig.code}.config", run
    assert rig.address_setting in (run.error or ""), run
    assert rig.service.requests == []


async def an_unreachable_service_is_retryable(rig: ServiceRig) -> None:
    await rig.service.__aexit__()
    run = await _run(rig)
    assert (run.code, run.retryable) == (f"{rig.code}.unavailable", True), run


async def status_401_names_the_key(rig: ServiceRig) -> None:
    await _fails(rig, status(401, {"message": f"the key {rig.key} is invalid"}), "auth", False)


async def status_404_names_the_address(rig: ServiceRig) -> None:
    await _fails(rig, status(404), "not_found", False)


async def status_429_says_when_to_try_again(rig: ServiceRig) -> None:
    run = await _fails(rig, status(429, headers={"Retry-After": "17"}), "rate_limited", True)
    assert "17" in (run.error or ""), run


async def status_500_is_retryable(rig: ServiceRig) -> None:
    await _fails(rig, status(500, "<html>error</html>"), "unavailable", True)


async def a_stream_that_is_cut_keeps_its_text(rig: ServiceRig) -> None:
    run = await _fails(rig, cut(after="Hello"), "stream_ended", False)
    assert run.text == "Hello", run
    assert (run.messages[-1].metadata or {}).get("incomplete") is True, run


async def a_stream_that_is_cut_before_its_text_is_retryable(rig: ServiceRig) -> None:
    run = await _fails(rig, cut(), "stream_ended", True)
    assert run.messages == [], run


async def a_malformed_event_fails_the_run(rig: ServiceRig) -> None:
    await _fails(rig, malformed(after="Hello"), "protocol", False)


async def an_oversized_event_fails_the_run(rig: ServiceRig) -> None:
    await _fails(rig, oversized(after="Hello"), "protocol", False)


async def a_stream_that_stalls_times_out(rig: ServiceRig) -> None:
    await _fails(rig, stall(after="Hello"), "timeout", False, idle_timeout=SHORT_SECONDS)


async def a_stream_that_never_begins_times_out(rig: ServiceRig) -> None:
    await _fails(rig, stall(), "timeout", True, first_event_timeout=SHORT_SECONDS)


async def an_answer_without_text_fails_the_run(rig: ServiceRig) -> None:
    rig.answer()
    run = await _run(rig)
    assert run.code == f"{rig.code}.no_output", run


async def a_conversation_keeps_its_session(rig: ServiceRig) -> None:
    """The plugin is loaded again for each run, as after a restart."""
    rig.answer("Hello")
    host = rig.host()
    runs = [await _run(rig, host) for _ in range(3)]
    assert [run.status for run in runs] == ["completed"] * 3
    first, second, third = (rig.session_of(each) for each in rig.answered())
    if not rig.names_sessions:
        assert first != second, "the first request must not carry the Host's own id"
    assert second is not None
    assert second == third
    assert second == runs[-1].state["conversation"].get("external.conversation_id")
    assert host.conversation_id not in str(rig.service.requests)


async def two_conversations_never_share_a_session(rig: ServiceRig) -> None:
    rig.answer("Hello")
    host = rig.host()
    for _ in range(2):
        await _run(rig, host)
        await _run(rig, host)
        host.new_conversation()
    sessions = [rig.session_of(each) for each in rig.answered()]
    assert sessions[1] is not None
    assert sessions[3] is not None
    assert sessions[1] != sessions[3]
    assert sessions[2] not in sessions[:2] or sessions[2] is None


async def another_key_starts_another_session(rig: ServiceRig) -> None:
    rig.answer("Hello")
    host = rig.host()
    await _run(rig, host)
    for _ in range(2):
        await _run(rig, host, **{rig.key_setting: "another-key"})
    first, second, third = (rig.session_of(each) for each in rig.answered())
    if rig.names_sessions:
        assert second != first, "the session of another key was used"
    else:
        assert second == first or second is None, "the session of another key was used"
    assert third is not None


async def a_lost_session_is_replaced_once(rig: ServiceRig) -> None:
    rig.answer("Hello")
    host = rig.host()
    await _run(rig, host)
    await _run(rig, host)
    old = rig.session_of(rig.answered()[1])
    rig.forget_sessions()
    run = await _run(rig, host)
    assert run.status == "completed", run
    assert (run.messages[-1].metadata or {}).get("session_reset") is True, run
    attempts = rig.answered()[2:]
    assert len(attempts) in (1, 2), "one that fails, unless an earlier call does, and one with a new session"
    new = run.state["conversation"]["external.conversation_id"]
    assert new not in (None, old)


async def files_of_the_user_reach_the_service(rig: ServiceRig) -> None:
    rig.answer("Hello")
    host = FakeHost(artifacts={"file-1": CONTENT})
    said: list[ContentElement] = [
        TextElement(text="look"),
        MediaElement(type="file", name="notes.txt", mime_type="text/plain", artifact_id="file-1"),
    ]
    run = await _run(rig, host, said)
    assert run.status == "completed", run
    assert rig.received_files() == [CONTENT]


async def files_of_the_service_reach_the_user(rig: ServiceRig) -> None:
    rig.answer("Hello")
    rig.offer_file("chart.png", CONTENT)
    run = await _run(rig)
    assert run.status == "completed", run
    assert [artifact.content for artifact in run.artifacts] == [CONTENT]
    assert [ref.name for ref in run.messages[-1].artifact_refs or []] == ["chart.png"]


ROWS = (
    a_cancellation_reaches_the_service,
    a_deadline_reaches_the_service,
    a_missing_setting_is_named,
    an_unreachable_service_is_retryable,
    status_401_names_the_key,
    status_404_names_the_address,
    status_429_says_when_to_try_again,
    status_500_is_retryable,
    a_stream_that_is_cut_keeps_its_text,
    a_stream_that_is_cut_before_its_text_is_retryable,
    a_malformed_event_fails_the_run,
    an_oversized_event_fails_the_run,
    a_stream_that_stalls_times_out,
    a_stream_that_never_begins_times_out,
    an_answer_without_text_fails_the_run,
    a_conversation_keeps_its_session,
    two_conversations_never_share_a_session,
    another_key_starts_another_session,
    a_lost_session_is_replaced_once,
    files_of_the_user_reach_the_service,
    files_of_the_service_reach_the_user,
)
