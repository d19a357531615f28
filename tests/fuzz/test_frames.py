"""Tests spoiled frames and greetings on pipes and WebSockets: no crash, no hang, and no data of another plugin leaks.

The seed is printed; the variable FUZZ_SEED repeats it.
"""

import os
import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from random import Random, SystemRandom

import pytest

from parlour_sdk.wire import Transport
from parlour_sdk.wire.websocket import serve

from . import connections
from .corpus import Corpus
from .host import Fuzzed, fuzzed

WELCOME = b'"host":"parlour"'
LENGTHS = [
    pytest.param(5 / 3, id="short"),
    pytest.param(100, id="long", marks=[pytest.mark.long, pytest.mark.timeout(300)]),
]
"""Seconds per test. The short ones take five seconds together, the long ones five minutes."""


@pytest.fixture
def seed() -> int:
    seed = int(os.environ.get("FUZZ_SEED") or SystemRandom().randrange(2**32))
    print(f"FUZZ_SEED={seed}")  # noqa: T201 - the seed makes a failure repeatable
    return seed


@pytest.fixture
async def target(tmp_path: Path) -> AsyncIterator[Fuzzed]:
    async with fuzzed(tmp_path / "data") as target:
        yield target


@pytest.mark.parametrize("seconds", LENGTHS)
async def test_spoiled_frames_on_a_pipe_cause_no_failure(target: Fuzzed, seed: int, seconds: float) -> None:
    corpus = Corpus(seed, (target.own, target.other))

    for number in _numbers(seconds):
        async with connections.pipe(target) as line:
            received = await connections.converse(line, corpus.session(number), greets=number % 10 > 0)
        assert target.problems(received) == [], f"in session {number}"

    async with connections.pipe(target) as line:
        assert WELCOME in await connections.converse(line, [])


@pytest.mark.parametrize("seconds", LENGTHS)
async def test_spoiled_frames_on_a_websocket_cause_no_failure(target: Fuzzed, seed: int, seconds: float) -> None:
    corpus = Corpus(seed, (target.own, target.other))

    def enter(path: str, transport: Transport) -> None:
        target.serve(transport)

    async with serve("127.0.0.1", 0, connections.TOKEN, enter) as port:
        for number in _numbers(seconds):
            async with connections.websocket(port, Random(number)) as line:
                received = await connections.converse(line, corpus.session(number), greets=number % 10 > 0)
            assert target.problems(received) == [], f"in session {number}"

        async with connections.websocket(port, Random(0)) as line:
            assert WELCOME in await connections.converse(line, [])


@pytest.mark.parametrize("seconds", LENGTHS)
async def test_spoiled_greetings_of_a_websocket_cause_no_failure(target: Fuzzed, seed: int, seconds: float) -> None:
    def enter(path: str, transport: Transport) -> None:
        target.serve(transport)

    async with serve("127.0.0.1", 0, connections.TOKEN, enter) as port:
        for number in _numbers(seconds):
            received = await connections.greet(port, Random(f"{seed}/{number}"))
            assert target.problems(received) == [], f"in greeting {number}"

        async with connections.websocket(port, Random(0)) as line:
            assert WELCOME in await connections.converse(line, [])


def _numbers(seconds: float) -> Iterator[int]:
    """Yields numbers until the time is over."""
    until = time.monotonic() + seconds
    number = 0
    while time.monotonic() < until:
        yield number
        number += 1
    print(f"{number} times")  # noqa: T201 - shows how much was tried
