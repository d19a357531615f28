"""One run in a test: it can be followed while it is active and asserted on at its end."""

import asyncio
import logging
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from types import TracebackType
from typing import Any

from parlour_sdk.components import AgentRunner
from parlour_sdk.protocol.context import AgentRunContext
from parlour_sdk.protocol.results import AgentRunResult
from parlour_sdk.results import Result
from parlour_sdk.wire import WireError, WireStream

from .in_memory_connection import InMemoryConnection
from .outcome import FakeRunEnd, FakeRunOutcome
from .recorder import ResultRecorder
from .records import HostRecords
from .served.steering import Steering
from .sessions import Session

logger = logging.getLogger("parlour.testing")

CANCELLED = FakeRunEnd("cancelled", "cancelled", "the run was cancelled")
TIMEOUT_CODES = ("deadline_exceeded", "runner.timeout")
CLOCK_TOLERANCE_MILLISECONDS = 100
"""Tolerance in milliseconds between this clock and the one by which a runner bounds its calls."""
GRACE_SECONDS = 5.0
"""Seconds that a runner may take to stop after its run has ended."""


class FakeRunStopped(Exception):
    """Raised in the stream when the Host ends the run."""


class FakeRun(FakeRunOutcome):
    """A run, used as `async with host.start(...) as run:`; the end of the block waits for the end of the run."""

    def __init__(
        self,
        context: AgentRunContext,
        session: Session,
        facts: HostRecords,
        line: InMemoryConnection,
        steering: Steering,
        timeout: float | None,
    ) -> None:
        super().__init__(context, session, facts)
        self._line = line
        self._steering = steering
        self._timeout = timeout
        self._recorder = ResultRecorder(self)
        self._runner_ended = asyncio.Event()
        self._changed = asyncio.Event()
        self._stream: WireStream | None = None
        self._stopping: FakeRunEnd | None = None
        self._task: asyncio.Task[None] | None = None
        session.on_change = self._notify

    async def __aenter__(self) -> "FakeRun":
        await self._line.__aenter__()
        self._task = asyncio.get_running_loop().create_task(self._serve())
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if error is not None:
                self.cancel()
            await self.wait()
        finally:
            await self._line.__aexit__(kind, error, trace)

    def steer(self, text: str) -> None:
        """Sends another message of the same user; the run receives it when it pulls."""
        self._steering.claim(self.session, text)
        self._notify()

    def cancel(self) -> None:
        """Cancels the run as a user or operator would. Later results of the runner have no effect."""
        self._stop(CANCELLED)

    async def wait(self) -> "FakeRun":
        """Waits until the run has ended and its runner has stopped."""
        assert self._task is not None
        await asyncio.shield(self._task)
        return self

    async def until(self, condition: Callable[["FakeRun"], Any]) -> None:
        """Waits until the condition holds. Raises AssertionError, showing the run, if the run ends before."""
        while not condition(self):
            if self.ending is not None:
                raise AssertionError(f"the run ended before that: {self!r}")
            await self._changed.wait()

    async def until_delta(self, text: str = "") -> None:
        """Waits until the deltas so far contain this text; without a text, until there is a delta."""
        await self.until(lambda run: run.deltas and text in "".join(run.deltas))

    def __aiter__(self) -> AsyncIterator[AgentRunResult]:
        """Iterates over the accepted results as they arrive, until the run ends."""
        return self._follow()

    async def _follow(self) -> AsyncGenerator[AgentRunResult, None]:
        position = 0
        while True:
            while position < len(self.results):
                position += 1
                yield self.results[position - 1]
            if self.ending is not None:
                return
            await self._changed.wait()

    async def _serve(self) -> None:
        timer = self._set_deadline()
        run_end = FakeRunEnd("failed", "runtime_error", "the fake Host itself failed")
        try:
            run_end = await self._consume() if self._stopping is None else self._end_unstarted()
        finally:
            if timer is not None:
                timer.cancel()
            self.session.ended = True
            self.end(self._stopping or self._timeout_if_late(run_end))
            self._notify()
        try:
            await asyncio.wait_for(self._runner_ended.wait(), GRACE_SECONDS)
        except TimeoutError:
            self.warnings.append(f"the runner still runs {GRACE_SECONDS:g} s after its run has ended")
        # A failing test shows its log.
        logger.log(logging.WARNING if self.status != "completed" or self.warnings else logging.INFO, "%s", self)

    async def _consume(self) -> FakeRunEnd:
        request = {"runner_id": self.session.runner_id, "runner_name": self.session.runner_name}
        data = {**request, "context": self.context.model_dump(mode="json")}
        self._stream = stream = self._line.stream("run_agent", data, self._runner_ended.set)
        try:
            async for raw in stream:
                run_end = self._recorder.record(raw)
                self._notify()
                if run_end is not None:
                    return run_end
            return self._recorder.finish_stream()
        except FakeRunStopped:
            return CANCELLED
        except WireError as error:
            return FakeRunEnd("failed", "runner.error", error.message)
        finally:
            stream.abort(FakeRunStopped())

    def _end_unstarted(self) -> FakeRunEnd:
        self._runner_ended.set()
        return CANCELLED

    def _set_deadline(self) -> asyncio.TimerHandle | None:
        if self._timeout is None:
            return None
        return asyncio.get_running_loop().call_later(self._timeout, self._stop, self._timeout_end())

    def _timeout_if_late(self, run_end: FakeRunEnd) -> FakeRunEnd:
        """Turns a failure at the deadline into a timeout, since the runner may notice the deadline before the Host."""
        deadline = self.context.runtime.deadline_at
        if deadline is None or run_end.status != "failed" or run_end.code not in TIMEOUT_CODES:
            return run_end
        return self._timeout_end() if time.time() * 1000 >= deadline - CLOCK_TOLERANCE_MILLISECONDS else run_end

    def _timeout_end(self) -> FakeRunEnd:
        return FakeRunEnd("timeout", "runner.timeout", f"the run took longer than {self._timeout or 0:g} s")

    def _stop(self, run_end: FakeRunEnd) -> None:
        if self._stopping is None and self.ending is None:
            self._stopping = run_end
            self.session.stop_status = run_end.status
            if self._stream is not None:
                self._stream.abort(FakeRunStopped())

    def _notify(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()


class ObservedRunner(AgentRunner):
    """Wraps a runner and keeps its exception for the test; on the wire it is only a message."""

    def __init__(self, runner: AgentRunner, session: Session) -> None:
        self._runner = runner
        self._session = session

    async def run(self, ctx: AgentRunContext, api: Any) -> AsyncGenerator[Result, None]:
        generator = self._runner.run(ctx, api)
        try:
            async for result in generator:
                yield result
        except Exception as error:
            self._session.raised = error
            raise
        finally:
            await generator.aclose()
