"""Calls a run's plugin and passes on the results that it streams, until the run is over."""

from typing import Any, Protocol, TypeVar

from parlour.core.cluster.ownership import Ownership
from parlour.core.model.ports import Clock, PluginCaller, PluginCallFailed, PluginDisconnected, PluginUnavailable
from parlour.core.model.runner import RunnerDescriptor
from parlour.core.models.reported_usage import ReportedUsage

from . import deadline
from .session import RunSession, RunStopped, RunTermination
from .usage import REFUSED_BY_BUDGET

Completion = TypeVar("Completion", covariant=True)


class ResultSink(Protocol[Completion]):
    """Receives the results of a runner and applies them."""

    async def apply(self, batch: list[Any]) -> Completion | None:
        """Applies a batch; returns the completion if the batch ended the run."""
        ...

    async def finish(self, termination: RunTermination | None) -> Completion:
        """Ends the run; `termination` is None if the stream ended without a terminal result."""
        ...


class PluginRunner:
    """Executes runs by calling their plugins."""

    def __init__(
        self, plugins: PluginCaller, ownership: Ownership, reported_usage: ReportedUsage, clock: Clock
    ) -> None:
        self._plugins = plugins
        self._ownership = ownership
        self.reported_usage = reported_usage
        self._clock = clock

    async def run(
        self,
        descriptor: RunnerDescriptor,
        request: dict[str, object],
        session: RunSession,
        results: ResultSink[Completion],
    ) -> Completion:
        """Calls the plugin and returns the completion of the run.

        A runner that reports what it uses elsewhere is not called when a budget of the run is used up.
        """
        plugin_id = descriptor.plugin_id
        if descriptor.manifest.capabilities.reports_usage:
            refusal = await self.reported_usage.refusal(session.call_context(plugin_id))
            if refusal:
                return await results.finish(RunTermination("failed", REFUSED_BY_BUDGET, refusal))
        if (gate := self._ownership.effect_gate()) is not None:
            await gate
        if session.is_closed():
            return await results.finish(session.stopping)
        timer = deadline.set_timer(session, self._clock)
        try:
            session.stream = stream = self._plugins.run_agent(plugin_id, request)
            while not session.is_closed():
                batch = await stream.batch()
                if session.is_closed():
                    break
                completion = await results.apply(batch) if batch else await results.finish(None)
                if completion is not None:
                    return completion
        except RunStopped:
            pass
        except PluginDisconnected as failure:
            return await results.finish(
                RunTermination("failed", failure.code, f"the plugin was lost during the run: {failure}")
            )
        except PluginCallFailed as refusal:
            code = (
                refusal.code if refusal.code == "payload_too_large" else "runner.error"
            )  # a rejected size is no error of the runner's code
            return await results.finish(RunTermination("failed", code, str(refusal)))
        except PluginUnavailable as failure:
            return await results.finish(RunTermination("failed", failure.code, str(failure)))
        finally:
            if timer is not None:
                timer.cancel()
            if session.stream is not None:
                session.stream.abort(RunStopped())  # further output of the runner is ignored
        return await results.finish(session.stopping)
