"""Sends and edits keep the rate limits and pauses of the platform; complete texts go before streamed ones."""

import asyncio
from collections.abc import Iterable
from typing import Any

from parlour.core.delivery.rendering.repeat_notes import DEFAULT_REPEAT_NOTE
from parlour.core.platforms.manifest import PlatformLimits
from parlour.testing.fake_platform import manifest
from parlour_sdk.protocol.people import User

from ..support import PuppetRun, settle
from .platform_support import PlatformWorld, chat_manifest

GROUP: dict[str, Any] = {"chat_type": "group", "addresses_bot": True}


async def open_limited(**limits: Any) -> PlatformWorld:
    declared = {"sends_per_second": 1000, "edits_per_second": 5, **limits}
    return await PlatformWorld.open(manifest({"open_stream": "not in this test"}, limits=PlatformLimits(**declared)))


def now() -> float:
    return asyncio.get_running_loop().time()


def calls_at(world: PlatformWorld, *apis: str) -> list[float]:
    made = zip(world.platform.calls, world.platform.called_at, strict=True)
    return [at for (api, _), at in made if api in (apis or ("send_message", "edit_message"))]


def most_within(seconds: float, moments: Iterable[float]) -> int:
    moments = sorted(moments)
    return max(sum(1 for at in moments if begin <= at < begin + seconds - 1e-6) for begin in moments)


async def start_run(world: PlatformWorld, chat_id: str = "1", **options: Any) -> PuppetRun:
    await world.platform.say("hello", chat_id, **options)
    return await world.plugins.next_run()


async def talk(run: PuppetRun, seconds: int, word: str = "word ") -> str:
    for _ in range(seconds * 5):
        run.send(run.delta(word))
        await asyncio.sleep(0.2)
    return word * seconds * 5


async def test_first_text_is_shown_within_300_ms_of_the_first_delta() -> None:
    world = await PlatformWorld.open()
    world.platform.delay_seconds = 0.1
    run = await start_run(world)
    started_at = now()
    run.send(run.delta("One"))
    await world.platform.until(lambda: bool(world.platform.texts()))
    assert now() - started_at <= 0.3


async def test_stream_in_a_group_keeps_the_limit_per_minute() -> None:
    world = await open_limited(group_calls_per_minute=20)
    run = await start_run(world, **GROUP)
    text = await talk(run, 150)
    ended = now()
    run.answer(text)
    await world.rest()
    assert world.platform.texts() == [text]
    assert calls_at(world)[-1] - ended <= 6
    assert most_within(60, calls_at(world)) <= 20
    assert len(world.platform.shown[0].versions) > 20


async def test_all_chats_of_an_account_keep_its_limit_per_second() -> None:
    world = await open_limited(calls_per_second=10)
    people = [User(id=f"user-{number}", nickname="") for number in range(30)]
    runs = [await start_run(world, f"chat-{number}", user=user) for number, user in enumerate(people)]
    texts = await asyncio.gather(*(talk(run, 10) for run in runs))
    for run, text in zip(runs, texts, strict=True):
        run.answer(text + "end")
    ended = now()
    await world.rest()
    assert [world.platform.texts(f"chat-{number}") for number in range(30)] == [[text + "end"] for text in texts]
    assert most_within(1, calls_at(world)) <= 10
    assert calls_at(world)[-1] - ended <= 5, "30 final edits at 10 per second go before deltas"


async def test_topics_of_a_chat_share_its_rate_limit() -> None:
    world = await open_limited(sends_per_second=1)
    for topic in ("a", "b", "c"):
        (await start_run(world, thread_id=topic)).answer(f"for {topic}")
    await world.rest()
    moments = calls_at(world)
    assert len(moments) == 3
    assert most_within(1, moments) == 1


async def test_pause_named_for_a_delta_holds_for_the_final_edit() -> None:
    world = await PlatformWorld.open()
    run = await start_run(world)
    run.send(run.delta("One"))
    await settle()
    world.platform.refuse("edit_message", "too many", retry_after=10)
    run.send(run.delta(" two"))
    await asyncio.sleep(1)
    refused = world.platform.called_at[-1]
    run.answer("One two three")
    await world.rest()
    assert world.platform.called_at[-1] - refused >= 10
    assert world.platform.texts() == ["One two three"]
    assert [row["attempts"] for row in world.rows()] == [0]


async def test_pause_of_a_chat_is_its_own_and_pause_of_the_account_is_shared() -> None:
    world = await PlatformWorld.open()
    world.platform.refuse(retry_after=20)
    (await start_run(world, "1")).answer("first")
    (await start_run(world, "2")).answer("second")
    await settle()
    assert world.platform.texts("2") == ["second"]
    await world.rest()
    world.platform.refuse(retry_after=20, everywhere=True)
    started_at = now()
    (await start_run(world, "1")).answer("third")
    (await start_run(world, "2")).answer("fourth")
    await asyncio.sleep(19)
    assert world.platform.texts("2") == ["second"]
    await world.rest()
    assert (world.platform.texts("1")[-1], world.platform.texts("2")[-1]) == ("third", "fourth")
    assert now() - started_at >= 20


async def test_simultaneous_pauses_of_two_chats_pause_the_account() -> None:
    world = await PlatformWorld.open()
    for _ in range(2):
        world.platform.refuse(retry_after=20)
    started_at = now()
    for chat in ("1", "2", "3"):
        (await start_run(world, chat)).answer(f"for {chat}")
    await world.rest()
    assert [world.platform.texts(chat) for chat in ("1", "2", "3")] == [["for 1"], ["for 2"], ["for 3"]]
    answers = [at for at in calls_at(world) if at - started_at > 1]
    assert len(answers) == 3, "the third send waited for the pause"
    assert min(answers) - started_at >= 20


async def test_pauses_at_different_times_do_not_pause_the_account() -> None:
    world = await PlatformWorld.open()
    for chat in ("1", "2"):
        world.platform.refuse(retry_after=20)
        (await start_run(world, chat)).answer(f"for {chat}")
        await asyncio.sleep(2)
    started_at = now()
    (await start_run(world, "3")).answer("for 3")
    await world.platform.until(lambda: world.platform.texts("3") == ["for 3"])
    assert now() - started_at < 1
    await world.rest()


async def test_completely_streamed_answer_needs_no_further_call() -> None:
    world = await open_limited(group_calls_per_minute=20)
    run = await start_run(world, **GROUP)
    run.send(run.delta("All of it."))
    await world.platform.until(lambda: world.platform.texts() == ["All of it."])
    run.answer("All of it.")
    await world.rest()
    again = await start_run(world, **GROUP)
    for number in range(19):
        again.send(again.completed(f"{number}"))
    started_at = now()
    again.send(again.finished())
    await world.rest()
    assert len(calls_at(world)) == 20
    assert now() - started_at < 30, "twenty calls are the limit of a minute"


async def test_thousand_deltas_need_few_edits_and_messages() -> None:
    world = await open_limited(group_calls_per_minute=20, text=4096, edits_per_second=1, sends_per_second=1)
    run = await start_run(world, **GROUP)
    text = await talk(run, 200, word="token ")
    run.answer(text)
    await world.rest()
    assert "".join(world.platform.texts()) == text
    assert len(world.platform.texts()) == 2, "6,000 characters need two messages"
    assert len(calls_at(world)) <= 70, "20 a minute, in 200 s"


async def test_stream_behind_a_waiting_message_is_sent_after_it() -> None:
    world = await PlatformWorld.open()
    run = await start_run(world)
    world.platform.refuse(reason="slow down", retry_after=10)
    run.send(run.completed("First."))
    await settle()
    run.send(run.delta("Second"))
    await asyncio.sleep(1)
    run.send(run.completed("Second."), run.finished())
    started_at = now()
    await world.rest()
    assert world.platform.texts() == ["First.", "Second."]
    assert now() - started_at < 30


async def test_native_streams_keep_the_limit_of_the_account() -> None:
    declared = manifest(limits=PlatformLimits(sends_per_second=1000, edits_per_second=10, calls_per_second=8))
    world = await PlatformWorld.open(declared)
    runs = [
        await start_run(world, f"chat-{number}", user=User(id=f"user-{number}", nickname="")) for number in range(6)
    ]
    texts = await asyncio.gather(*(talk(run, 5) for run in runs))
    assert most_within(1, calls_at(world, "append")) <= 6, "three quarters of the limit of the account"
    for run, text in zip(runs, texts, strict=True):
        run.answer(text)
    await world.rest()
    assert all(stream.finished for stream in world.platform.streams)


async def test_paused_native_stream_continues_where_it_was() -> None:
    world = await PlatformWorld.open(manifest(limits=PlatformLimits(sends_per_second=1000, edits_per_second=5)))
    run = await start_run(world)
    run.send(run.delta("One"))
    await world.platform.until(lambda: bool(world.platform.streams and world.platform.streams[0].pieces))
    world.platform.refuse("append", "too many", retry_after=10)
    run.send(run.delta(" two"))
    await asyncio.sleep(5)
    run.send(run.delta(" three"))
    started_at = now()
    await world.platform.until(lambda: len(world.platform.streams[0].pieces) == 2)
    assert now() - started_at >= 4
    assert "".join(world.platform.streams[0].pieces) == "One two three"
    run.answer("One two three.")
    await world.rest()
    assert world.platform.streams[0].finished


async def test_many_refusals_end_with_the_whole_text_in_one_message() -> None:
    world = await PlatformWorld.open(chat_manifest(edits=2))
    run = await start_run(world)
    for number in range(40):
        world.platform.refuse("edit_message" if number % 4 else "send_message", "too many", retry_after=1 + number % 7)
    text = await talk(run, 60)
    run.answer(text + "end")
    await world.rest()
    assert world.platform.texts() == [text + "end"]
    assert world.states() == ["sent"]


async def test_row_that_waited_for_its_turn_is_not_marked_after_a_crash() -> None:
    world = await open_limited(sends_per_second=0.1)
    for number in range(3):
        (await start_run(world)).answer(f"answer {number}")
        await settle()
    assert world.platform.texts() == ["answer 0"]
    world = await world.restart()
    await world.rest()
    assert world.platform.texts() == ["answer 0", "answer 1", "answer 2"]
    assert not any(text.endswith(DEFAULT_REPEAT_NOTE) for text in world.platform.texts())
