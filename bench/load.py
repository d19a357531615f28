"""Runs many conversations concurrently, each in a closed loop: the next message follows the answer to the last."""

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass, field

from .clients import Client
from .host import Cost, Meter

GRACE_SECONDS = 20


@dataclass(slots=True)
class Load:
    """Result of one kind of load, over several slices of time."""

    seconds: float = 0.0
    latencies: list[float] = field(default_factory=list)
    costs: list[Cost] = field(default_factory=list)
    rates: list[float] = field(default_factory=list)

    @property
    def messages(self) -> int:
        return len(self.latencies)

    @property
    def rate(self) -> float:
        return self.messages / self.seconds

    def cpu_ms(self, component: str) -> float:
        """Returns the CPU milliseconds per message of `host`, `plugin`, `database` or `client`."""
        return 1000 * sum(float(getattr(cost, component)) for cost in self.costs) / self.messages

    @property
    def others_cores(self) -> float:
        """Returns the number of cores that were busy with processes other than the Host, its plugin, its database and
        the benchmark."""
        other_seconds = sum(cost.machine - cost.host - cost.plugin - cost.database - cost.client for cost in self.costs)
        return max(0.0, other_seconds / self.seconds)

    async def run(self, clients: Sequence[Client], seconds: float, meter: Meter | None) -> None:
        if meter is not None:
            meter.restart()
        started = time.perf_counter()
        messages_before = self.messages
        async with asyncio.timeout(seconds + GRACE_SECONDS):
            await asyncio.gather(*(self._talk(client, started + seconds) for client in clients))
        elapsed = time.perf_counter() - started
        if meter is not None:
            self.costs.append(meter.cost())
        self.seconds += elapsed
        self.rates.append((self.messages - messages_before) / elapsed)

    async def _talk(self, client: Client, deadline: float) -> None:
        while time.perf_counter() < deadline:
            self.latencies.append(await client.say())
