"""Streamed answers: shown early, within the rate limits of the chat, and complete at the end."""

import asyncio
import base64
import gc
from functools import partial

import pytest

from parlour.core.delivery.rate_limits import PlatformRateLimiter
from parlour.core.delivery.streaming.streams import Streams
from parlour.core.model.delivery_policy import DEFAULT_DELIVERY_POLICY
from parlour.core.platforms.connections import NullBots
from parlour.core.platforms.manifest import PlatformLimits
from parlour.core.store.outbox_rows import OutboxStore
from parlour.core.texts.languages import Languages
from parlour.testing.fake_platform import manifest
from parlour_sdk.protocol.chain import File

from ...support import CountedIds, LoopClock, PuppetRun, make_agent, settle
from ..outbox_support import Post
from ..platform_support import PlatformWorld, chat_manifest
from ..test_platform_delivery import LONG


async def start_run(world: PlatformWorld, *words: str) -> PuppetRun:
    await world.platform.say("hello")
    run = await world.plugins.next_run()
    for word in words:
        run.send(run.delta(word))
        await settle()
    return run


def calls(world: PlatformWorld, api: str) -> int:
    return sum(1 for name, _ in world.platform.calls if name == api)


async def test_first_delta_is_shown_at_once_and_the_whole_text_at_the_end() -> None:
    world = await PlatformWorld.open()
    run = await start_run(world, "One")
    assert world.platform.texts() == ["One"]
    run.send(run.delta(" two"))
    run.answer("One two three")
    await world.rest()
    assert world.platform.texts() == ["One two three"]
    assert world.states() == ["sent"]


async def test_row_is_committed_before_the_first_delta_is_shown() -> None:
    world = await PlatformWorld.open()
    await world.platform.say("hello")
    run = await world.plugins.next_run()
    world.platform.delay_seconds = 5
    run.send(run.delta("One"))
    await settle()
    assert world.platform.texts() == []
    assert world.states() == ["streaming"]


async def test_edits_are_coalesced_to_the_rate_of_the_chat() -> None:
    world = await PlatformWorld.open(chat_manifest(edits=2))
    run = await start_run(world, "Begin.")
    for number in range(100):
        run.send(run.delta(f" {number}"))
        await asyncio.sleep(0.1)
    run.answer("Begin. End.")
    await world.rest()
    assert 15 <= calls(world, "edit_message") <= 22
    assert calls(world, "send_message") == 1
    assert world.platform.texts() == ["Begin. End."]


async def test_complete_message_is_not_edited_again() -> None:
    world = await PlatformWorld.open()
    run = await start_run(world, "All of it.")
    run.answer("All of it.")
    await world.rest()
    assert calls(world, "edit_message") == 0


async def test_edits_pause_for_the_retry_after_of_the_platform() -> None:
    world = await PlatformWorld.open(chat_manifest(edits=5))
    run = await start_run(world, "Begin.")
    world.platform.refuse("edit_message", "too many", retry_after=10)
    run.send(run.delta(" More."))
    await asyncio.sleep(9)
    assert world.platform.shown[0].versions == ["Begin."]
    await asyncio.sleep(2)
    assert world.platform.shown[0].versions[-1] == "Begin. More."
    run.answer("Begin. More. End.")
    await world.rest()
    assert world.platform.texts() == ["Begin. More. End."]


async def test_stream_beyond_the_limit_continues_in_the_next_message() -> None:
    world = await PlatformWorld.open(chat_manifest(limit=500))
    run = await start_run(world)
    for start in range(0, len(LONG), 100):
        run.send(run.delta(LONG[start : start + 100]))
        await asyncio.sleep(0.5)
    shown = len(world.platform.shown)
    assert shown > 3
    assert all(row["state"] == "streaming" for row in world.rows())
    run.answer(LONG)
    await world.rest()
    assert "".join(world.platform.texts()) == LONG
    assert len(world.platform.shown) == shown
    assert set(world.states()) == {"sent"}


async def test_superfluous_messages_are_deleted_if_the_final_answer_is_shorter() -> None:
    world = await PlatformWorld.open(chat_manifest(limit=500))
    run = await start_run(world, LONG)
    await asyncio.sleep(30)
    run.answer("Never mind.")
    await world.rest()
    await asyncio.sleep(1)
    assert world.platform.texts() == ["Never mind."]
    assert world.states()[0] == "sent"
    assert set(world.states()[1:]) == {"failed"}


async def test_file_is_sent_as_its_own_message_after_a_stream() -> None:
    world = await PlatformWorld.open(chat_manifest(limit=500))
    run = await start_run(world, LONG)
    await asyncio.sleep(30)
    grown = list(world.platform.shown)
    made = {"artifact_type": "file", "name": "t.csv", "content_base64": base64.b64encode(b"a,b").decode()}
    run.send(run.result("artifact.created", made))
    run.answer("See the file.")
    await world.rest()
    await asyncio.sleep(1)
    assert len(grown) > 3
    assert all(each.deleted for each in grown[1:])
    [file] = [each for each in world.platform.shown if each not in grown]
    assert [part.name for part in file.chain if isinstance(part, File)] == ["t.csv"]
    assert world.platform.texts() == ["See the file.", ""]


async def test_oversized_stream_ends_as_preview_and_file() -> None:
    world = await PlatformWorld.open()
    run = await start_run(world, LONG * 4)
    await asyncio.sleep(30)
    assert len(world.platform.texts()) > 2
    run.send(run.delta(LONG * 200))
    await asyncio.sleep(30)
    shown = len(world.platform.texts())
    run.answer(LONG * 204)
    await world.rest()
    await asyncio.sleep(1)
    assert shown < 5
    beginning, file = world.platform.texts()
    assert beginning.endswith("All of it is in message.txt.]")
    assert world.platform.shown[0].text == beginning
    assert not file
    assert calls(world, "edit_message") == 1


async def test_rejected_final_edit_becomes_a_new_message() -> None:
    world = await PlatformWorld.open()
    run = await start_run(world, "One")
    world.platform.refuse("edit_message", "it was deleted", permanent=True)
    run.answer("One two")
    await world.rest()
    assert world.platform.texts() == ["One", "One two"]
    assert world.rows()[0]["platform_message_id"] == world.platform.shown[1].message_id


async def test_unacknowledged_final_edit_is_repeated() -> None:
    world = await PlatformWorld.open()
    run = await start_run(world, "One")
    world.platform.lose_answer("edit_message", happens=False)
    run.answer("One two")
    await world.rest()
    assert world.platform.texts() == ["One two"]
    assert world.states() == ["sent"]


async def test_unacknowledged_first_message_is_followed_by_a_marked_one() -> None:
    world = await PlatformWorld.open()
    world.platform.lose_answer()
    run = await start_run(world, "One")
    run.send(run.delta(" two"))
    run.answer("One two")
    await world.rest()
    assert world.platform.texts() == ["One", "One two\n(possibly repeated)"]


async def test_first_message_found_on_the_platform_is_edited() -> None:
    world = await PlatformWorld.open()
    world.platform.remembers_keys = True
    world.platform.lose_answer()
    run = await start_run(world, "One")
    run.answer("One two")
    await world.rest()
    assert world.platform.texts() == ["One two"]


async def test_messages_of_a_run_are_streamed_one_after_the_other() -> None:
    world = await PlatformWorld.open()
    run = await start_run(world, "First")
    run.send(run.completed("First."))
    await settle()
    run.send(run.delta("Second"))
    await asyncio.sleep(1)
    run.send(run.completed("Second."), run.finished())
    await world.rest()
    assert world.platform.texts() == ["First.", "Second."]


async def test_crashed_run_leaves_its_text_and_a_notice() -> None:
    world = await PlatformWorld.open()
    run = await start_run(world, "One")
    run.crash()
    await world.rest()
    notice = "The agent stopped unexpectedly while it was answering. Please ask again."
    assert world.platform.texts() == ["One", notice]
    assert world.states() == ["failed", "sent"]


async def test_restart_during_a_stream_sends_one_notice() -> None:
    world = await PlatformWorld.open()
    await start_run(world, "One")
    world = await world.restart()
    await world.rest()
    assert world.platform.texts() == ["One", "The answer was interrupted by a restart. Please ask again."]
    assert world.states() == ["failed", "sent"]


async def test_restart_before_the_final_edit_edits_the_same_message() -> None:
    world = await PlatformWorld.open()
    run = await start_run(world, "One")
    world.platform.delay_seconds = 20
    run.answer("One two")
    await asyncio.sleep(1)
    assert world.platform.texts() == ["One"]
    world.platform.delay_seconds = 0
    world = await world.restart()
    await world.rest()
    assert world.platform.texts() == ["One two"]
    assert world.states() == ["sent"]


async def test_policy_without_streaming_shows_only_the_whole_answer() -> None:
    world = await PlatformWorld.open(agent=make_agent(delivery_policy={"streaming": False}))
    run = await start_run(world, "One", " two")
    assert world.platform.texts() == []
    run.answer("One two")
    await world.rest()
    assert world.platform.shown[0].versions == ["One two"]


async def test_thinking_is_not_shown_in_a_stream() -> None:
    world = await PlatformWorld.open()
    run = await start_run(world, "<thi", "nk>hm, ", "what?")
    await asyncio.sleep(1)
    assert world.platform.texts() == []
    run.send(run.delta("</think>Yes"))
    await asyncio.sleep(1)
    run.answer("<think>hm, what?</think>Yes.")
    await world.rest()
    assert world.platform.shown[0].versions == ["Yes", "Yes."]


async def test_native_stream_receives_the_deltas() -> None:
    world = await PlatformWorld.open(manifest(limits=PlatformLimits(edits_per_second=2)))
    run = await start_run(world, "One")
    for word in (" two", " three", " four"):
        run.send(run.delta(word))
    await asyncio.sleep(2)
    run.answer("One two three four")
    await world.rest()
    [stream] = world.platform.streams
    assert stream.finished
    assert stream.pieces == ["One", " two three four"]
    assert world.states() == ["sent"]


async def test_failed_native_stream_falls_back_to_a_message() -> None:
    world = await PlatformWorld.open(manifest(limits=PlatformLimits(edits_per_second=2)))
    world.platform.refuse("open_stream")
    run = await start_run(world, "One")
    run.answer("One two")
    await world.rest()
    assert world.platform.texts() == ["One two"]


async def test_native_stream_of_a_crashed_run_is_failed() -> None:
    world = await PlatformWorld.open(manifest(limits=PlatformLimits(edits_per_second=2)))
    run = await start_run(world, "One")
    run.crash()
    await world.rest()
    await asyncio.sleep(1)
    assert world.platform.streams[0].failed


async def test_resumed_run_finishes_its_streamed_messages() -> None:
    world = await PlatformWorld.open()
    run = await start_run(world, "One")
    [row] = await OutboxStore(world.journal).streaming_rows(run.run_id)
    assert row.message_id == world.platform.shown[0].message_id
    message = {"role": "assistant", "content": "One two"}
    session = world.core.sessions.get(run.run_id)
    assert session is not None
    live = world.core.control._active_runs.find(run.run_id)
    assert live is not None
    await live.resume()
    run.send({**run.result("message.completed", {"message": message})}, run.finished())
    await world.rest()
    assert world.platform.texts() == ["One two"]
    assert world.states() == ["sent"]


async def test_stream_cancelled_before_its_start_leaves_no_coroutine(
    recwarn: pytest.WarningsRecorder,
) -> None:
    await cancel_before_start(Post())
    await settle()
    gc.collect()
    assert [str(each.message) for each in recwarn if "never awaited" in str(each.message)] == []


async def cancel_before_start(post: Post) -> None:
    streams = Streams(post.journal, NullBots(), CountedIds(), LoopClock(), PlatformRateLimiter(), Languages())
    for name, declared in (("edited", chat_manifest()), ("native", manifest())):
        row = await post.write(name, state="streaming")
        streams.start(row, declared, DEFAULT_DELIVERY_POLICY, "", partial(post.outbox.wait_idle, row.target))
    tasks = asyncio.all_tasks() - {asyncio.current_task()}
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
