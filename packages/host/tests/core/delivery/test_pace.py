"""Sends and edits keep to what the platform takes, whole texts before growing ones, and to the pauses that it names."""

import asyncio
from collections.abc import Iterable
from typing import Any

from parlour.core.delivery.rendering.repeats import MARK
from parlour.core.platforms.manifest import Limits
from parlour.testing.fake_platform import manifest
from parlour_sdk.protocol.people import User

from ..support import PuppetRun, settle
from .platform_support import PlatformWorld, chat_manifest

GROUP: dict[str, Any] = {"chat_type": "group", "addressed": True}


async def limited(**limits: Any) -> PlatformWorld:
    declared = {"sends_per_second": 1000, "edits_per_second": 5, **limits}
    return await PlatformWorld.open(manifest({"open_stream": "not in this test"}, limits=Limits(**declared)))


def now() -> float:
    return asyncio.get_running_loop().time()


def calls_at(world: PlatformWorld) -> list[float]:
    made = zip(world.platform.calls, world.platform.called_at, strict=True)
    return [at for (api, _), at in made if api in ("send_message", "edit_message")]


def most_within(seconds: float, moments: Iterable[float]) -> int:
    moments = sorted(moments)
    return max(sum(1 for at in moments if begin <= at < begin + seconds - 1e-6) for begin in moments)


async def started(world: PlatformWorld, chat_id: str = "1", **options: Any) -> PuppetRun:
    await world.platform.say("hello", chat_id, **options)
    return await world.plugins.next_run()


async def talk(run: PuppetRun, seconds: int, word: str = "word ") -> str:
    for _ in range(seconds * 5):
        run.send(run.delta(word))
        await asyncio.sleep(0.2)
    return word * seconds * 5


async def test_the_first_words_are_there_within_300_ms_of_the_first_token() -> None:
    world = await PlatformWorld.open()
    world.platform.delay_seconds = 0.1
    run = await started(world)
    begun = now()
    run.send(run.delta("One"))
    await world.platform.until(lambda: bool(world.platform.texts()))
    assert now() - begun <= 0.3


async def test_an_answer_that_grows_in_a_group_stays_within_its_minute_and_ends_soon() -> None:
    world = await limited(group_calls_per_minute=20)
    run = await started(world, **GROUP)
    text = await talk(run, 150)
    ended = now()
    run.answer(text)
    await world.rest()
    assert world.platform.texts() == [text]
    assert calls_at(world)[-1] - ended <= 6
    assert most_within(60, calls_at(world)) <= 20
    assert len(world.platform.shown[0].versions) > 20


async def test_all_chats_of_an_account_together_stay_within_its_second() -> None:
    world = await limited(calls_per_second=10)
    people = [User(id=f"user-{number}", nickname="") for number in range(30)]
    runs = [await started(world, f"chat-{number}", user=user) for number, user in enumerate(people)]
    texts = await asyncio.gather(*(talk(run, 10) for run in runs))
    for run, text in zip(runs, texts, strict=True):
        run.answer(text + "end")
    ended = now()
    await world.rest()
    assert [world.platform.texts(f"chat-{number}") for number in range(30)] == [[text + "end"] for text in texts]
    assert most_within(1, calls_at(world)) <= 10
    assert calls_at(world)[-1] - ended <= 5, "30 last edits at 10 a second, before all that still grows"


async def test_topics_of_a_chat_share_what_it_takes() -> None:
    world = await limited(sends_per_second=1)
    for topic in ("a", "b", "c"):
        (await started(world, thread_id=topic)).answer(f"for {topic}")
    await world.rest()
    moments = calls_at(world)
    assert len(moments) == 3
    assert most_within(1, moments) == 1


async def test_a_pause_that_growing_words_were_told_holds_for_the_last_ones() -> None:
    world = await PlatformWorld.open()
    run = await started(world)
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


async def test_a_pause_of_one_chat_is_no_other_ones_and_one_of_the_account_is_everybodys() -> None:
    world = await PlatformWorld.open()
    world.platform.refuse(retry_after=20)
    (await started(world, "1")).answer("first")
    (await started(world, "2")).answer("second")
    await settle()
    assert world.platform.texts("2") == ["second"]
    await world.rest()
    world.platform.refuse(retry_after=20, everywhere=True)
    begun = now()
    (await started(world, "1")).answer("third")
    (await started(world, "2")).answer("fourth")
    await asyncio.sleep(19)
    assert world.platform.texts("2") == ["second"]
    await world.rest()
    assert (world.platform.texts("1")[-1], world.platform.texts("2")[-1]) == ("third", "fourth")
    assert now() - begun >= 20


async def test_a_storm_of_refusals_ends_with_the_whole_text_in_one_bubble() -> None:
    world = await PlatformWorld.open(chat_manifest(edits=2))
    run = await started(world)
    for number in range(40):
        world.platform.refuse("edit_message" if number % 4 else "send_message", "too many", retry_after=1 + number % 7)
    text = await talk(run, 60)
    run.answer(text + "end")
    await world.rest()
    assert world.platform.texts() == [text + "end"]
    assert world.states() == ["sent"]


async def test_what_waited_for_its_turn_when_the_host_died_is_not_marked() -> None:
    world = await limited(sends_per_second=0.1)
    for number in range(3):
        (await started(world)).answer(f"answer {number}")
        await settle()
    assert world.platform.texts() == ["answer 0"]
    world = await world.restart()
    await world.rest()
    assert world.platform.texts() == ["answer 0", "answer 1", "answer 2"]
    assert not any(text.endswith(MARK) for text in world.platform.texts())
