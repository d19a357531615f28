"""Calls a run's plugin and hands on what it streams back, until the run is over one way or another."""

from typing import Any, Protocol, TypeVar

from parlour.core.model.ports import Clock, PluginCaller, PluginLost, PluginRefused, PluginUnavailable

from . import deadline
from .session import Ending, RunSession, Stopped

Over = TypeVar("Over", covariant=True)


class Results(Protocol[Over]):
    """Who applies what a runner says."""

    async def take(self, batch: list[Any]) -> Over | None:
        """What follows, when the batch ended the run."""
        ...

    async def end(self, ending: Ending | None) -> Over:
        """None when the stream is over without a last word."""
        ...


async def invoke(
    plugins: PluginCaller,
    plugin_id: str,
    request: dict[str, object],
    session: RunSession,
    results: Results[Over],
    clock: Clock,
) -> Over:
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
        code = refusal.code if refusal.code == "payload_too_large" else "runner.error"  # nobody's code failed
        return await results.end(Ending("failed", code, str(refusal)))
    except PluginUnavailable as absence:
        return await results.end(Ending("failed", absence.code, str(absence)))
    finally:
        if timer is not None:
            timer.cancel()
        if session.stream is not None:
            session.stream.abort(Stopped())  # whatever the runner still says is of no interest
    return await results.end(session.stopping)
