"""A stream whose first message was not acknowledged: one message if the platform can tell, otherwise a repeat note."""

import asyncio

import pytest

from ...support import settle
from ..platform_support import PlatformWorld, chat_manifest
from .test_streams import start_run


async def open_world(platform_finds: bool = False) -> PlatformWorld:
    """Opens a platform that shows a key once, or that can be searched for it."""
    world = await PlatformWorld.open(chat_manifest(idempotent=not platform_finds))
    world.platform.remembers_keys = platform_finds
    world.platform.shows_keys_once = not platform_finds
    return world


async def test_idempotent_platform_continues_in_the_same_message() -> None:
    world = await open_world()
    world.platform.lose_answer()
    run = await start_run(world, "One")
    run.send(run.delta(" two"))
    await asyncio.sleep(10)
    assert world.platform.texts() == ["One two"]
    run.answer("One two three")
    await world.rest()
    assert world.platform.texts() == ["One two three"]


@pytest.mark.parametrize("refusals", [0, 1, 3])
async def test_idempotent_platform_shows_the_final_text_in_the_same_message(refusals: int) -> None:
    world = await open_world()
    world.platform.lose_answer()
    run = await start_run(world, "One")
    for _ in range(refusals):
        world.platform.refuse("send_message", "too many", retry_after=2)
    run.answer("One two")
    await world.rest()
    assert world.platform.texts() == ["One two"]
    assert world.states() == ["sent"]


@pytest.mark.parametrize("finds", [False, True], ids=["idempotent", "searchable"])
async def test_restart_finishes_in_the_same_message(finds: bool) -> None:
    world = await open_world(platform_finds=finds)
    world.platform.lose_answer()
    run = await start_run(world, "One")
    world.platform.delay_seconds = 20
    run.answer("One two")
    await settle()
    world.platform.delay_seconds = 0
    world = await world.restart()
    await world.rest()
    assert world.platform.texts() == ["One two"]
    assert [row["possibly_repeated"] for row in world.rows()] == [0]


async def test_refused_final_edit_of_a_found_message_sends_no_second_one() -> None:
    world = await open_world(platform_finds=True)
    world.platform.lose_answer()
    run = await start_run(world, "One")
    world.platform.refuse("edit_message", "too many", retry_after=5)
    run.answer("One two")
    await world.rest()
    assert world.platform.texts() == ["One two"]
    assert world.states() == ["sent"]


async def test_restart_marks_the_repeated_text_if_the_platform_cannot_tell() -> None:
    world = await PlatformWorld.open()
    world.platform.lose_answer()
    run = await start_run(world, "One")
    run.answer("One two")
    await settle()
    assert world.states() == ["pending"]
    world = await world.restart()
    await world.rest()
    assert world.platform.texts() == ["One", "One two\n(possibly repeated)"]
