"""Executes one claimed run with the plugin of its runner, and passes its results on to the Host."""

import asyncio
import logging
from typing import Any, Final

from pydantic_core import to_json

from parlour.core.backoff import Backoff
from parlour.core.model.ids import RunId
from parlour.core.model.ports import PluginCaller, PluginCallFailed, PluginDisconnected, PluginUnavailable, ResultStream
from parlour.core.runs.session import RunStopped
from parlour.http.workers import messages
from parlour_sdk.wire import ConnectionClosed, WireError

from .link import WorkerLink

logger = logging.getLogger(__name__)

MAX_CALL_BYTES: Final = 1024 * 1024
"""Bytes of results in one call, unless a single result is larger."""
DURABLE_TYPES: Final = frozenset(("message.completed", "run.completed", "run.failed"))
"""Types of results that the Host has written, with all before them, once it has answered."""


class HeldRun:
    """A run that this worker holds, from its claim to its end."""

    def __init__(
        self, claim: messages.ClaimedRunMessage, connection: int, expires_at: float, plugins: PluginCaller
    ) -> None:
        """`connection` is the number of the connection on which it was claimed, `expires_at` the end of its lease on
        the event loop's clock.
        """
        self._connection = connection
        self.claim = claim
        self._plugins = plugins
        self._last_sequence = 0
        self._sent: list[dict[str, Any]] = []
        """Results that the Host has, but may not have written: a restarted Host gets them again."""
        self._stream: ResultStream | None = None
        self._timer: asyncio.TimerHandle | None = None
        self.is_stopped = False
        self.extend(expires_at)

    @property
    def run_id(self) -> RunId:
        return self.claim.run_id

    def extend(self, expires_at: float) -> None:
        """Sets the end of the lease. The run is stopped then unless it is extended again."""
        if self._timer is not None:
            self._timer.cancel()
        self._timer = asyncio.get_running_loop().call_at(expires_at, self._on_expired)

    def stop(self) -> None:
        """Stops the runner; nothing more of it is sent."""
        self.is_stopped = True
        if self._timer is not None:
            self._timer.cancel()
        if self._stream is not None:
            self._stream.abort(RunStopped())

    async def execute(self, link: WorkerLink) -> None:
        """Executes the run until it is over. A failure of the plugin is the end of the run, as on a Host."""
        try:
            if await self._send(link, "start"):  # from now on a lost lease ends the run instead of queueing it again
                return
            self._stream = self._plugins.run_agent(self.claim.plugin_id, self.claim.request)
            while not self.is_stopped:
                batch = await self._stream.batch()
                if not batch:
                    await self._send(link, "finish", completed=True)
                    return
                for results in _split(self._number(batch)):
                    if await self._send_results(link, results):
                        return
        except RunStopped:
            return
        except PluginDisconnected as failure:
            await self._send(link, "finish", code=failure.code, error=f"the plugin was lost during the run: {failure}")
        except PluginCallFailed as refusal:
            code = refusal.code if refusal.code == "payload_too_large" else "runner.error"
            await self._send(link, "finish", code=code, error=str(refusal))
        except PluginUnavailable as failure:
            await self._send(link, "finish", code=failure.code, error=str(failure))
        finally:
            self.stop()

    def _lease_fields(self) -> dict[str, Any]:
        return {"run_id": self.claim.run_id, "lease": self.claim.lease}

    def _number(self, batch: list[Any]) -> list[dict[str, Any]]:
        """Returns the results with their sequence numbers, by which the Host recognizes those that it has."""
        numbered = []
        for raw in batch:
            if not isinstance(raw, dict):
                logger.warning("run %s: a result is no object and is dropped", self.run_id)
                continue
            sequence = raw.get("sequence")
            if type(sequence) is not int:
                raw = {**raw, "sequence": self._last_sequence + 1}
            self._last_sequence = max(self._last_sequence, raw["sequence"])
            numbered.append(raw)
        return numbered

    async def _send_results(self, link: WorkerLink, results: list[dict[str, Any]]) -> bool:
        """Sends results in their order. Returns True if the run is over."""
        if await self._send(link, "results", results=results):
            return True
        durable = next((at for at, each in enumerate(reversed(results)) if each.get("type") in DURABLE_TYPES), None)
        self._sent = [*self._sent, *results] if durable is None else results[len(results) - durable :]
        return False

    async def _send(self, link: WorkerLink, action: str, **fields: Any) -> bool:
        """Sends a call until it is answered. Returns True if the run is over or was given to another worker."""
        retries = Backoff(0.1, 5.0)
        while not self.is_stopped:
            try:
                await self._repeat_sent(link)
                answer = await link.call(action, {**self._lease_fields(), **fields})
                return bool(answer.get("over", action == "finish"))
            except ConnectionClosed:
                continue  # it is sent again on the next connection
            except WireError as error:
                if not (isinstance(error.data, dict) and error.data.get("retryable")):
                    return await self._on_refused(link, action, error)
            await asyncio.sleep(retries.next_delay())
        return True

    async def _repeat_sent(self, link: WorkerLink) -> None:
        """Sends on a new connection what an earlier process of the Host may not have written."""
        await link.connected()
        if self._connection == link.number:
            return
        number = link.number
        for results in _split(self._sent):
            await link.call("results", {**self._lease_fields(), "results": results})
        self._connection = number

    async def _on_refused(self, link: WorkerLink, action: str, error: WireError) -> bool:
        if error.code != messages.LEASE_LOST:
            logger.error("run %s: the Host refuses what its runner sent: %s", self.run_id, error.message)
            if action == "results":
                await self._send(link, "finish", code="runner.error", error=error.message)
        return True

    def _on_expired(self) -> None:
        logger.warning("run %s: its lease expired while the Host could not be reached; it is stopped", self.run_id)
        self.stop()


def _split(results: list[dict[str, Any]]) -> list[list[dict[str, Any]]]:
    """Splits results into groups that fit into one call."""
    if len(results) < 2:
        return [results] if results else []
    groups: list[list[dict[str, Any]]] = [[]]
    size = 0
    for result in results:
        result_bytes = len(to_json(result))
        if groups[-1] and size + result_bytes > MAX_CALL_BYTES:
            groups.append([])
            size = 0
        groups[-1].append(result)
        size += result_bytes
    return [group for group in groups if group]
