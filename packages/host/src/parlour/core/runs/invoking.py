"""Calls a run's plugin and hands on what it streams back, until the run is over one way or another."""

import asyncio
from typing import Any, Protocol, TypeVar

from parlour.core.ports import PluginCaller, PluginLost, PluginRefused, PluginUnavailable

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
    plugins: PluginCaller, plugin_id: str, request: dict[str, object], session: RunSession, results: Results[Over]
) -> Over:
    timer = _set_deadline(session)
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
        return await results.end(Ending("failed", "runner.error", str(refusal)))
    except PluginUnavailable as absence:
        return await results.end(Ending("failed", absence.code, str(absence)))
    finally:
        if timer is not None:
            timer.cancel()
        if session.stream is not None:
            session.stream.abort(Stopped())  # whatever the runner still says is of no interest
    return await results.end(session.stopping)


def _set_deadline(session: RunSession) -> asyncio.TimerHandle | None:
    seconds = session.binding.agent.timeout_seconds
    if not seconds:
        return None
    ending = Ending("timeout", "runner.timeout", f"the run took longer than {seconds:g} s")
    return asyncio.get_running_loop().call_later(seconds, session.stop, ending)
