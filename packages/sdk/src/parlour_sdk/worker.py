"""The process that serves one plugin: `python -m parlour_sdk.worker FOLDER`.

It speaks the wire on standard input and output, so whatever the plugin prints goes to standard error. It ends when
its Host does: at the end of input, and by the parent-death signal in case its event loop hangs.
"""

import asyncio
import ctypes
import logging
import os
import signal
import sys
import time
from collections.abc import AsyncGenerator, Coroutine
from pathlib import Path
from typing import Any

from . import __version__, results
from .api import AgentRunAPI
from .components import AgentRunner
from .plugin import Plugin, PluginInvalid, load_runners, read_plugin
from .protocol.base import PROTOCOL_VERSION
from .protocol.context import AgentRunRequest
from .protocol.errors import AgentAPIException
from .protocol.handshake import Hello, Welcome
from .wire import Limits, Peer, StdioTransport, WireError

logger = logging.getLogger("parlour.worker")

CANNOT_LOAD = 3
"""Exit status of a plugin whose files or code are at fault; the reason is on standard error."""


class PluginService:
    """What a plugin answers: discovery and runs."""

    def __init__(self, plugin: Plugin, runners: dict[str, AgentRunner]) -> None:
        self._plugin = plugin
        self._runners = runners
        self.peer: Peer
        self.stopping = asyncio.Event()

    def dispatch(self, action: str, data: Any) -> Coroutine[Any, Any, Any] | AsyncGenerator[Any, None]:
        match action:
            case "run_agent":
                return self._run_agent(data)
            case "list_components":
                return self._list_components()
            case "list_agent_runners":
                return self._list_agent_runners()
            case "shutdown":
                return self._shutdown()
            case _:
                raise WireError("not_supported", f"this plugin serves no action '{action}'")

    async def _list_components(self) -> dict[str, Any]:
        components = [component.manifest for component in self._plugin.components]
        return {"components": [{"kind": each.kind, "name": each.metadata.name} for each in components]}

    async def _list_agent_runners(self) -> dict[str, Any]:
        metadata = self._plugin.manifest.metadata
        head = {"plugin_author": metadata.author, "plugin_name": metadata.name}
        manifests = self._plugin.runner_manifests()
        return {"runners": [{**head, "runner_name": name, "manifest": fields} for name, fields in manifests.items()]}

    async def _shutdown(self) -> dict[str, Any]:
        self.stopping.set()
        return {}

    async def _run_agent(self, data: Any) -> AsyncGenerator[dict[str, Any], None]:
        request = AgentRunRequest.model_validate(data)
        runner = self._runners.get(request.runner_name)
        if runner is None:
            raise WireError("not_found", f"this plugin has no runner '{request.runner_name}'")
        ctx = request.context
        deadline = ctx.runtime.deadline_at
        api = AgentRunAPI(self.peer, ctx.run_id, None if deadline is None else deadline / 1000 - time.time())
        sequence = 0
        generator = runner.run(ctx, api)
        try:
            async for result in generator:
                sequence += 1
                yield _envelope(ctx.run_id, sequence, result)
        except AgentAPIException as error:
            logger.warning("run %s failed: %s", ctx.run_id, error)
            yield _envelope(
                ctx.run_id, sequence + 1, results.failed(error.code, error.error.message, error.error.retryable)
            )
        except Exception as error:
            logger.exception("run %s failed in the runner's code", ctx.run_id)
            sentence = f"the agent's code failed with {type(error).__name__}; its plugin's log says where"
            yield _envelope(ctx.run_id, sequence + 1, results.failed("runner.error", sentence))
        finally:
            await generator.aclose()


def _envelope(run_id: str, sequence: int, result: results.Result) -> dict[str, Any]:
    return {
        "run_id": run_id,
        "type": result.type,
        "data": result.data,
        "sequence": sequence,
        "timestamp": int(time.time() * 1000),
    }


async def serve(plugin: Plugin, runners: dict[str, AgentRunner], read_fd: int, write_fd: int) -> None:
    service = PluginService(plugin, runners)
    limits = Limits(streams=plugin.manifest.spec.limits.max_runs)
    peer = service.peer = Peer(StdioTransport(read_fd, write_fd, limits), service, limits)
    peer.start()
    hello = Hello(protocol=PROTOCOL_VERSION, sdk=__version__, plugin=plugin.manifest.identity)
    Welcome.model_validate(await peer.call("hello", hello.model_dump(exclude_none=True)))
    closed = asyncio.ensure_future(peer.wait_closed())
    stopping = asyncio.ensure_future(service.stopping.wait())
    await asyncio.wait({closed, stopping}, return_when=asyncio.FIRST_COMPLETED)
    closed.cancel()
    stopping.cancel()
    peer.close("the plugin stops")


def main() -> None:
    logging.basicConfig(stream=sys.stderr, level=logging.INFO, format="%(levelname)s %(name)s: %(message)s")
    _die_with_parent()
    read_fd, write_fd = _take_standard_streams()
    try:
        plugin = read_plugin(Path(sys.argv[1]))
        runners = load_runners(plugin)
    except PluginInvalid as error:
        logger.error("%s", error)
        sys.exit(CANNOT_LOAD)
    except Exception:
        logger.exception("the plugin in %s can't be imported", sys.argv[1])
        sys.exit(CANNOT_LOAD)
    try:
        asyncio.run(serve(plugin, runners, read_fd, write_fd))
    except WireError as error:
        logger.error("the Host refused this plugin: %s", error.message)
        sys.exit(CANNOT_LOAD)


def _take_standard_streams() -> tuple[int, int]:
    """Keeps the wire for ourselves: the plugin's own reads find nothing, its prints go to the log."""
    read_fd, write_fd = os.dup(0), os.dup(1)
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    os.dup2(2, 1)
    return read_fd, write_fd


def _die_with_parent() -> None:
    if sys.platform != "linux":
        return
    parent = os.getppid()
    set_parent_death_signal = 1
    ctypes.CDLL(None).prctl(set_parent_death_signal, signal.SIGKILL)
    if os.getppid() != parent:  # it died before the signal was set
        os._exit(1)


if __name__ == "__main__":
    main()
