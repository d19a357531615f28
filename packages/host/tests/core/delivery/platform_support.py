"""A core that is connected to the fake platform, on virtual time."""

import asyncio
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from parlour.app.core import Core, build_core
from parlour.app.core_ports import CorePorts
from parlour.core.config.routes import Route
from parlour.core.journal import Row, Select
from parlour.core.model.agent import Agent
from parlour.core.platforms import events as incoming
from parlour.core.platforms.manifest import AdapterManifest, PlatformLimits
from parlour.core.platforms.port import Adapter, IncomingEvent
from parlour.core.store.tables import OUTBOX
from parlour.testing import MemoryObjects
from parlour.testing.fake_platform import FakeCatalogue, FakePlatform, manifest

from ..support import DISCOVERY, PLUGIN, BreakableJournal, CountedIds, LoopClock, PuppetPlugins, make_agent, until

BOT = "bot"


def chat_manifest(*without: str, limit: int = 4000, edits: float = 5, **fields: Any) -> AdapterManifest:
    """Builds the manifest of a platform that streams by edits."""
    missing = dict.fromkeys(("open_stream", *without), "not in this test")
    limits = PlatformLimits(text=limit, edits_per_second=edits, sends_per_second=fields.pop("sends", 1000))
    return manifest(without=missing, limits=limits, **fields)


class PlatformLink:
    """The link of a bot whose events go straight to the core."""

    def __init__(self, bots: "OneBot") -> None:
        self.bot_id = BOT
        self.config: dict[str, Any] = {}
        self.public_url = ""
        self._bots = bots

    async def receive(self, *events: IncomingEvent, cursor: str | None = None) -> None:
        for each in events:
            core, envelope = self._bots.core, incoming.to_envelope(each, BOT, "fake")
            allowed = await core.held_replies.prepare(envelope, each.reply_allowance)
            await core.gateway.ingest(allowed.envelope, *allowed.statements)
            core.held_replies.after_commit(allowed)

    async def cursor(self) -> str | None:
        return None

    def report_status(self, state: str, error: str = "") -> None:
        self._bots.up.set() if state == "connected" else self._bots.up.clear()

    async def content(self, artifact_id: str) -> Any:
        raise NotImplementedError


class OneBot:
    def __init__(self, platform: FakePlatform, declared: AdapterManifest) -> None:
        self.core: Core
        self.up = asyncio.Event()
        self.refusals: list[tuple[str, str]] = []
        self._manifest = declared
        self._adapter = FakeCatalogue(platform, declared).create("fake", PlatformLink(self))
        self.serving = asyncio.create_task(self._adapter.serve())

    def adapter(self, bot_id: str) -> Adapter | None:
        return self._adapter if bot_id == BOT else None

    def manifest(self, bot_id: str) -> AdapterManifest | None:
        return self._manifest if bot_id == BOT else None

    def is_connected(self, bot_id: str) -> bool:
        return bot_id == BOT and self.up.is_set()

    async def wait_connected(self, bot_id: str) -> None:
        await self.up.wait()

    def track_send(self, bot_id: str) -> AbstractContextManager[None]:
        return nullcontext()

    def record_rejected(self, bot_id: str, chat: str, reason: str) -> None:
        self.refusals.append((chat, reason))

    def record_unacknowledged(self, bot_id: str, chat: str, reason: str) -> None:
        self.refusals.append((chat, reason))

    def record_accepted(self, bot_id: str, chat: str) -> None:
        self.refusals.clear()


class PlatformWorld:
    def __init__(
        self,
        platform: FakePlatform,
        declared: AdapterManifest,
        journal: BreakableJournal,
        ids: CountedIds,
        **ports: Any,
    ) -> None:
        self.platform = platform
        self.declared = declared
        self.journal = journal
        self.ids = ids
        self.plugins = PuppetPlugins()
        self.bots = OneBot(platform, declared)
        self._ports = {"objects": MemoryObjects(LoopClock().now), **ports}
        self.core = build_core(
            CorePorts(
                journal=journal,
                plugins=self.plugins,
                clock=LoopClock(),
                ids=ids,
                bots=self.bots,
                **self._ports,
            )
        )
        self.bots.core = self.core

    @classmethod
    async def open(
        cls, declared: AdapterManifest | None = None, agent: Agent | None = None, **ports: Any
    ) -> "PlatformWorld":
        discovery = ports.pop("discovery", DISCOVERY)
        journal = ports.pop("journal", None) or BreakableJournal()
        world = cls(FakePlatform(), declared or chat_manifest(), journal, CountedIds(), **ports)
        world.core.registry.replace_plugin(PLUGIN, "1", [discovery])
        await world.core.agents.add(agent or make_agent())
        await world.core.routes.replace(BOT, [Route("*", "agent", {"agent_id": "agent"})])
        await world.core.recover()
        await world.bots.up.wait()
        vars(asyncio.get_running_loop()).setdefault("worlds", []).append(world)  # its bot is served until the test ends
        return world

    async def restart(self, discovery: dict[str, Any] = DISCOVERY) -> "PlatformWorld":
        """Kills the Host and recovers its state in a new one."""
        self.journal.dead = True
        tasks = asyncio.all_tasks() - {asyncio.current_task()}
        for task in tasks:
            task.cancel()
        vars(asyncio.get_running_loop()).setdefault("ghosts", []).extend(tasks)
        journal = type(self.journal)(self.journal.database)
        world = PlatformWorld(self.platform, self.declared, journal, self.ids, **self._ports)
        world.core.registry.replace_plugin(PLUGIN, "1", [discovery])
        await world.core.load()
        await world.bots.up.wait()
        await world.core.recover()
        return world

    def rows(self, **conditions: Any) -> list[Row]:
        rows = self.journal.database.read(Select(OUTBOX, order=("seq",)))
        return [row for row in rows if all(row[name] == value for name, value in conditions.items())]

    def states(self) -> list[str]:
        return [row["state"] for row in self.rows()]

    async def rest(self) -> None:
        """Waits until no run is active and nothing is left to send."""
        core = self.core
        await until(lambda: not len(core.lanes) and not core.outbox._drains)
