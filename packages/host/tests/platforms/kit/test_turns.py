"""Tests that calls about one key take turns in their order, and that nothing remains of a key that is not used."""

import asyncio

from parlour.platforms._kit.turns import Turns


async def test_users_of_a_key_take_turns_in_order_and_others_do_not_wait() -> None:
    turns, order = Turns(), list[str]()
    release = asyncio.Event()

    async def work(key: str, name: str) -> None:
        async with turns.turn(key):
            if name == "first":
                await release.wait()
            order.append(name)

    tasks = [asyncio.create_task(work(key, name)) for key, name in (("a", "first"), ("a", "second"), ("b", "other"))]
    await tasks[2]
    release.set()
    await asyncio.gather(*tasks)
    assert order == ["other", "first", "second"]
    assert len(turns) == 0


async def test_a_cancelled_user_gives_its_turn_to_the_next() -> None:
    turns, entered = Turns(), asyncio.Event()

    async def hold() -> None:
        async with turns.turn("a"):
            entered.set()
            await asyncio.Event().wait()

    holding, waiting = asyncio.create_task(hold()), asyncio.create_task(hold())
    await entered.wait()
    waiting.cancel()
    holding.cancel()
    await asyncio.wait([holding, waiting])
    async with turns.turn("a"):
        assert len(turns) == 1
    assert len(turns) == 0
