"""Tests that a fallback answers in time, with the defaults, whatever is wrong with the first model; on virtual time."""

import asyncio
import random
from pathlib import Path
from typing import Any

import pytest

from parlour.testing.simulation.loop import SeededLoop
from parlour_sdk.protocol.models import InvokeModel
from parlour_sdk.testing import FakeHost, FakeRun, failure

FOLDER = Path(__file__).parents[1]
CONFIG = {"model": {"primary": "first", "fallbacks": ["second"]}}
MAX_SECONDS = 35
QQ = {"delivery": {"surface": "onebot"}}


async def hang(request: InvokeModel) -> str:
    await asyncio.sleep(3600)
    return "too late"


async def drip(request: InvokeModel) -> Any:
    """Fails after almost all the time that it has."""
    await asyncio.sleep(29)
    return failure("provider_timeout", "secret words")


TROUBLES: dict[str, Any] = {
    "hangs": hang,
    "fails late": drip,
    "fails": lambda request: failure("provider_failed", "secret words"),
    "limits": lambda request: failure("rate_limited", "secret words", retry_after=60),
    "overflows": lambda request: failure("context_too_long", "maximum context length is 600 tokens"),
    "says nothing": lambda request: "",
}


def on_virtual_time(host: FakeHost, **options: Any) -> tuple[FakeRun, float]:
    loop = SeededLoop(random.Random(0), 0.0)
    try:
        run = loop.run_until_complete(host.run(FOLDER, f"hello {'word ' * 400}", config=CONFIG, **options))
        return run, loop.time()
    finally:
        loop.close()


@pytest.mark.parametrize("trouble", TROUBLES)
@pytest.mark.parametrize("context", [{}, QQ], ids=["chat", "qq"])
def test_the_fallback_answers_within_35_seconds_and_nothing_else_is_seen(trouble: str, context: dict[str, Any]) -> None:
    host = FakeHost(models={"first": TROUBLES[trouble], "second": "I am here."})
    run, seconds = on_virtual_time(host, context=context)
    assert ([each.content for each in run.messages], run.status) == (["I am here."], "completed")
    assert seconds <= MAX_SECONDS


def test_three_models_that_hang_share_the_time_of_the_run() -> None:
    host = FakeHost(models={"first": hang, "second": hang, "third": "I am here."})
    config = {"model": {"primary": "first", "fallbacks": ["second", "third"]}}
    loop = SeededLoop(random.Random(0), 0.0)
    try:
        run = loop.run_until_complete(host.run(FOLDER, "hello", config=config, timeout=30))
    finally:
        loop.close()
    assert run.text == "I am here."
    assert loop.time() < 30
