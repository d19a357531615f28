"""A crash of the Host during a streamed answer: the answer is complete or its sender is notified, and a repeated
message has its note.
"""

import asyncio

import pytest

from parlour.core.delivery.rendering.parts import render
from parlour.core.delivery.rendering.repeat_notes import DEFAULT_REPEAT_NOTE
from parlour.core.journal import Select, where
from parlour.core.store.tables import RUN_EVENTS

from ..platform_support import PlatformWorld, chat_manifest
from ..test_platform_delivery import LONG

TEXT = LONG[:1600]
DECLARED = chat_manifest(limit=500, edits=10)
PARTS = [part.text for part in render({"content": TEXT}, DECLARED)]
INTERRUPTED = "The answer was interrupted by a restart. Please ask again."
MOMENTS = [round(0.0213 * number, 4) for number in range(60)]
"""Seconds of virtual time, from before the first delta until after the last."""


async def stream_and_answer(world: PlatformWorld) -> None:
    await world.platform.say("hello")
    run = await world.plugins.next_run()
    for start in range(0, len(TEXT), 200):
        run.send(run.delta(TEXT[start : start + 200]))
        await asyncio.sleep(0.1)
    run.answer(TEXT)


@pytest.mark.parametrize("moment", MOMENTS)
async def test_answer_is_complete_or_its_sender_notified_despite_a_crash(moment: float) -> None:
    world = await PlatformWorld.open(DECLARED)
    world.platform.delay_seconds = 0.02
    work = asyncio.create_task(stream_and_answer(world))
    await asyncio.sleep(moment)
    work.cancel()
    world = await world.restart()
    await asyncio.sleep(1)
    for run in world.plugins.runs:  # nothing had been shown, so the run is retried
        run.answer(TEXT)
    await world.rest()
    check(world)


def check(world: PlatformWorld) -> None:
    assert not set(world.states()) & {"pending", "sending", "streaming"}
    events = world.journal.database.read(Select(RUN_EVENTS, where(type="message.completed")))
    shown = world.platform.texts()
    if not events:
        assert shown.count(INTERRUPTED) == (1 if world.rows() else 0)
        assert all(TEXT.startswith(shown[0]) or each == INTERRUPTED for each in shown[:1])
        return
    assert INTERRUPTED not in shown
    texts = [each.removesuffix(DEFAULT_REPEAT_NOTE) for each in shown]
    assert set(PARTS) <= set(texts)
    others = [each for each in shown if each not in PARTS]
    assert len(others) <= 2, "one unacknowledged message and its repetition"
    assert len([each for each in shown if not each.endswith(DEFAULT_REPEAT_NOTE)]) == len(
        {*shown} - {*with_note(shown)}
    )


def with_note(shown: list[str]) -> list[str]:
    return [each for each in shown if each.endswith(DEFAULT_REPEAT_NOTE)]
