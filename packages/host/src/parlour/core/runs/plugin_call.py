"""Calls a run's plugin and passes on the results that it streams, until the run is over."""

from typing import Any, Protocol, TypeVar

from parlour.core.model.ports import Clock, PluginCaller, PluginLost, PluginRefused, PluginUnavailable

from . import deadline
from .session import Ending, RunSession, Stopped

Over = TypeVar("Over", covariant=True)


class Results(Protocol[Over]):
    """Receives the results of a runner and applies them."""

    async def take(self, batch: list[Any]) -> Over | None:
        """Applies a batch; returns the completion if the batch ended the run."""
        ...

    async def end(self, ending: Ending | None) -> Over:
        """Ends the run; `ending` is None if the stream ended without a terminal result."""
        ...


async def invoke(
    plugins: PluginCaller,
    plugin_id: str,
    request: dict[str, object],
    session: RunSession,
    results: Results[Over],
    clock: Clock,
) -> Over:
    """Calls the plugin and returns the completion of the run."""
    if session.is_over():
        return await results.end(session.stopping)
    timer = deadline.set_timer(session, clock)
    try:
        session.stream = stream = plugins.run_agent(plugin_id, request)
        while not session.is_over():
            batch = await stream.batch()
            if session.is_over():
                break
            over = await results.take(batch) if batch else await results.end(None)
            if over is not None:
                return over
    except Stopped:
        pass
    except PluginLost as lost:
        return await results.end(Ending("failed", lost.code, f"the plugin was lost during the run: {lost}"))
    except PluginRefused as refusal:
        code = (
            refusal.code if refusal.code == "payload_too_large" else "runner.error"
        )  # a rejected size is no error of the runner's code
        return await results.end(Ending("failed", code, str(refusal)))
    except PluginUnavailable as absence:
        return await results.end(Ending("failed", absence.code, str(absence)))
    finally:
        if timer is not None:
            timer.cancel()
        if session.stream is not None:
            session.stream.abort(Stopped())  # further output of the runner is ignored
    return await results.end(session.stopping)
