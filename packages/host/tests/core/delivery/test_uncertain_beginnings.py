"""A growing message whose first words nobody answered for: one bubble where the platform helps, otherwise a mark."""

import asyncio

import pytest

from ..support import settle
from .platform_support import PlatformWorld, chat_manifest
from .test_growing import begun


async def once(platform_finds: bool = False) -> PlatformWorld:
    """A platform that shows the same key once, or can be asked for it."""
    world = await PlatformWorld.open(chat_manifest(idempotent=not platform_finds))
    world.platform.remembers_keys = platform_finds
    world.platform.shows_keys_once = not platform_finds
    return world


async def test_where_a_key_shows_once_the_bubble_goes_on_growing() -> None:
    world = await once()
    world.platform.lose_answer()
    run = await begun(world, "One")
    run.send(run.delta(" two"))
    await asyncio.sleep(10)
    assert world.platform.texts() == ["One two"]
    run.answer("One two three")
    await world.rest()
    assert world.platform.texts() == ["One two three"]


@pytest.mark.parametrize("refusals", [0, 1, 3])
async def test_where_a_key_shows_once_the_last_words_are_in_the_same_bubble(refusals: int) -> None:
    world = await once()
    world.platform.lose_answer()
    run = await begun(world, "One")
    for _ in range(refusals):
        world.platform.refuse("send_message", "too many", retry_after=2)
    run.answer("One two")
    await world.rest()
    assert world.platform.texts() == ["One two"]
    assert world.states() == ["sent"]


@pytest.mark.parametrize("finds", [False, True], ids=["a key shows once", "it can be asked"])
async def test_after_a_restart_the_last_words_are_in_the_same_bubble(finds: bool) -> None:
    world = await once(platform_finds=finds)
    world.platform.lose_answer()
    run = await begun(world, "One")
    world.platform.delay_seconds = 20
    run.answer("One two")
    await settle()
    world.platform.delay_seconds = 0
    world = await world.restart()
    await world.rest()
    assert world.platform.texts() == ["One two"]
    assert [row["possibly_repeated"] for row in world.rows()] == [0]


async def test_a_refused_last_edit_of_a_bubble_that_was_found_is_no_reason_for_a_second_one() -> None:
    world = await once(platform_finds=True)
    world.platform.lose_answer()
    run = await begun(world, "One")
    world.platform.refuse("edit_message", "too many", retry_after=5)
    run.answer("One two")
    await world.rest()
    assert world.platform.texts() == ["One two"]
    assert world.states() == ["sent"]


async def test_after_a_restart_where_nothing_helps_the_whole_text_is_marked() -> None:
    world = await PlatformWorld.open()
    world.platform.lose_answer()
    run = await begun(world, "One")
    run.answer("One two")
    await settle()
    assert world.states() == ["pending"]
    world = await world.restart()
    await world.rest()
    assert world.platform.texts() == ["One", "One two\n(possibly repeated)"]
