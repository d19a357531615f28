"""Kills this very process at a named point: before or after a commit, before or after a send."""

import os
import signal
from dataclasses import replace

from parlour.app.core_ports import CorePorts
from parlour.core.journal import Journal, PreparedCallback, Receipt, Row, Search, Select, Unit
from parlour.core.model.outbox_row import OutboxRow
from parlour.core.model.ports import SendReceipt, Surface


class Fault:
    """Parses a point: `run.open:after` dies at the first such point, `run.open:after#3` at the third."""

    def __init__(self, point: str) -> None:
        self._name, _, count = point.partition("#")
        self._remaining = int(count or 1)

    def at(self, name: str) -> None:
        if name == self._name:
            self._remaining -= 1
            if not self._remaining:
                os.kill(os.getpid(), signal.SIGKILL)

    def around(self, ports: CorePorts) -> CorePorts:
        surfaces = {name: FaultySurface(surface, self) for name, surface in ports.surfaces.items()}
        return replace(ports, journal=FaultyJournal(ports.journal, self), surfaces=surfaces)


class FaultyJournal:
    def __init__(self, journal: Journal, fault: Fault) -> None:
        self._journal = journal
        self._fault = fault

    async def commit(self, unit: Unit, on_prepared: PreparedCallback | None = None) -> Receipt:
        self._fault.at(f"{unit.name}:before")
        receipt = await self._journal.commit(unit, on_prepared)
        self._fault.at(f"{unit.name}:after")
        return receipt

    async def read(self, query: Select) -> list[Row]:
        return await self._journal.read(query)

    async def search(self, query: Search) -> list[Row]:
        return await self._journal.search(query)


class FaultySurface:
    def __init__(self, surface: Surface, fault: Fault) -> None:
        self._surface = surface
        self._fault = fault

    def is_idempotent(self, outgoing: OutboxRow) -> bool:
        return self._surface.is_idempotent(outgoing)

    def serialization_key(self, outgoing: OutboxRow) -> str:
        return self._surface.serialization_key(outgoing)

    async def wait_until_sendable(self, outgoing: OutboxRow) -> None:
        await self._surface.wait_until_sendable(outgoing)

    async def acquire(self, outgoing: OutboxRow) -> None:
        await self._surface.acquire(outgoing)

    async def send(self, outgoing: OutboxRow) -> SendReceipt:
        self._fault.at("send:before")
        receipt = await self._surface.send(outgoing)
        self._fault.at("send:after")
        return receipt

    async def find_sent(self, outgoing: OutboxRow) -> SendReceipt | None:
        return await self._surface.find_sent(outgoing)
