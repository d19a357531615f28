"""Provides a runner that makes one call to the Host and records the answer."""

from collections.abc import AsyncGenerator
from typing import Any

from parlour_sdk import results
from parlour_sdk.results import Result
from parlour_sdk.testing import (
    FakeHost,
    FakeRun,
)

from .runners import runner


class RecordingCall:
    """Makes one call to the Host in a run and records the answer."""

    def __init__(self, ask: Any) -> None:
        self._call = ask
        self.answers: list[Any] = []

    async def body(self, ctx: Any, api: Any) -> AsyncGenerator[Result, None]:
        self.answers.append(await self._call(api))
        yield results.silent()


async def answer_of(host: FakeHost, ask: Any) -> Any:
    recorded = RecordingCall(ask)
    run = await host.run(runner(recorded.body), "hi there")
    assert run.silent, run
    return recorded.answers[0]


async def failed_run(host: FakeHost, ask: Any) -> FakeRun:
    run = await host.run(runner(RecordingCall(ask).body), "hi there")
    assert run.status == "failed", run
    return run
