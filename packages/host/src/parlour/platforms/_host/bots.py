"""Manages the connected bots and applies configuration changes to them without a restart of the Host.

It is also the platform API of every bot for plugins; everything that is specific to a platform is done by its adapter.
"""

import asyncio
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from parlour.core.cluster.ownership import Ownership, SoleOwner
from parlour.core.cluster.parts import bot_part
from parlour.core.config.bots import Bot, BotRepository
from parlour.core.model.ids import BotId
from parlour.core.model.ports import Clock
from parlour.core.model.providers import CallContext, ProviderFailed
from parlour.core.platforms import api_calls, parameters
from parlour.core.platforms.hooks import HookCall, HookReceiver, HookResponse, SocketReceiver
from parlour.core.platforms.manifest import AdapterManifest
from parlour.core.platforms.port import Adapter, AdapterCatalogue, ConnectionState, ConnectionStatus
from parlour.core.platforms.seen_api import SeenApi
from parlour.core.plugin_hooks.replies import PluginReplies, refuse_artifacts
from parlour.core.secrets import SecretBox
from parlour_sdk.protocol.listing import BotCapabilities, BotSummary

from .bot_runner import BotDependencies, BotRunner
from .counts import Count, PlatformCounts
from .link import CoreAccess
from .sends import InFlightSends, SendErrors

StatusListener = Callable[[Mapping[str, ConnectionStatus]], None]


class Bots:
    """All bots of the Host."""

    def __init__(
        self,
        catalogue: AdapterCatalogue,
        secrets: SecretBox,
        clock: Clock,
        on_status: StatusListener = lambda _: None,
        ownership: Ownership | None = None,
        count: Count = lambda *_: None,
    ) -> None:
        """`on_status` is called with the status of all bots whenever one of them changes. Only bots whose part this
        Host owns are started. `count` adds one to a metric.
        """
        self._counts = PlatformCounts(count, catalogue.manifests)
        self._ownership = ownership or SoleOwner()
        self._on_change = on_status
        self._catalogue = catalogue
        self._secrets = secrets
        self._clock = clock
        self._runners: dict[BotId, BotRunner] = {}
        self._statuses: dict[str, ConnectionStatus] = {}
        self._refusals = SendErrors(clock)
        self._in_flight = InFlightSends()
        self.track_send = self._in_flight.track
        self._connections: defaultdict[str, asyncio.Event] = defaultdict(asyncio.Event)
        self._turns: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)
        self._core: tuple[BotRepository, PluginReplies, BotDependencies] | None = None

    def serve(self, repository: BotRepository, replies: PluginReplies, core: CoreAccess) -> None:
        """Sets the parts of the core that bots use. Called once, before `start`.

        They are no constructor arguments: the core sends through this object, and bots pass events to the core.
        """
        self._core = (repository, replies, BotDependencies(self._catalogue, self._secrets, core, self._counts))

    async def start(self) -> None:
        """Starts every enabled bot. Whether it connects is reported in its status."""
        for bot in self._all():
            await self.apply(bot.bot_id)

    async def close(self) -> None:
        await asyncio.gather(*(self._stop(bot_id) for bot_id in list(self._runners)))

    async def apply(self, bot_id: BotId) -> None:
        """Applies the stored configuration of a bot: reconnects it after a change, or stops it if it was deleted."""
        async with self._turns[bot_id]:
            bot, runner = self._bot(bot_id), self._runners.get(bot_id)
            is_owned = self._ownership.owns(bot_part(bot_id))
            if (
                runner is not None
                and bot is not None
                and _connects_alike(runner.bot, bot)
                and not runner.has_given_up
                and is_owned
            ):
                return
            await self._stop(bot_id)
            self._refusals.forget(bot_id)
            if bot is None:
                self._statuses.pop(bot_id, None)
                self._on_change(self._statuses)
                self._connections.pop(bot_id).set()  # releases the callers that wait for the deleted bot
            elif bot.enabled and is_owned and self._core is not None:
                self._set_status(bot_id, "connecting", "")
                self._runners[bot_id] = BotRunner(bot, self._core[2], partial(self._set_status, bot_id))

    def adapter(self, bot_id: BotId) -> Adapter | None:
        """Returns the bot's adapter, or None if the bot is not running."""
        runner = self._runners.get(bot_id)
        return runner.adapter if runner is not None else None

    def manifest(self, bot_id: BotId) -> AdapterManifest | None:
        """Returns the manifest that applies to the bot; it has no streaming if streaming is disabled in the bot's
        configuration.
        """
        bot = self._bot(bot_id)
        manifest = self._catalogue.manifests().get(bot.adapter) if bot is not None else None
        if manifest is not None and bot is not None and bot.config.get("enable_stream_reply") is False:
            return manifest.without_streams()
        return manifest

    async def hook(self, bot_id: BotId, call: HookCall) -> HookResponse | None:
        """Passes an HTTP call of a platform to its bot. Returns None if there is no bot that accepts such calls."""
        adapter = self.adapter(bot_id)
        return await adapter.hook(call) if isinstance(adapter, HookReceiver) else None

    def record_rejected(self, bot_id: BotId, chat: str, reason: str) -> None:
        self._counts.send(self._platform(bot_id), "refused")
        self._refusals.record_refused(bot_id, chat, reason)

    def record_unacknowledged(self, bot_id: BotId, chat: str, reason: str) -> None:
        self._counts.send(self._platform(bot_id), "unacknowledged")
        self._refusals.record_unacknowledged(bot_id, chat, reason)

    def record_accepted(self, bot_id: BotId, chat: str) -> None:
        self._counts.send(self._platform(bot_id), "accepted")
        self._refusals.clear_chat(bot_id, chat)

    def takes_calls(self, bot_id: BotId) -> bool:
        """Returns whether the platform calls the bot, as far as its adapter is running."""
        return isinstance(self.adapter(bot_id), HookReceiver)

    def takes_sockets(self, bot_id: BotId) -> SocketReceiver | None:
        """Returns the bot's adapter if its platform may open WebSockets to it."""
        adapter = self.adapter(bot_id)
        return adapter if isinstance(adapter, SocketReceiver) else None

    def status(self, bot_id: BotId) -> ConnectionStatus:
        """Returns the bot's status, including the last send that its platform refused or did not acknowledge."""
        status = self._status(bot_id)
        errors = filter(None, (status.last_error, self._refusals.current_error(bot_id)))
        return replace(status, last_error="; ".join(errors))

    def _status(self, bot_id: BotId) -> ConnectionStatus:
        return self._statuses.get(bot_id, ConnectionStatus())

    def is_connected(self, bot_id: BotId) -> bool:
        return self._status(bot_id).state == "connected"

    async def wait_connected(self, bot_id: BotId) -> None:
        if self._core is None or self._bot(bot_id) is not None:
            await self._connections[bot_id].wait()

    def bots(self) -> Sequence[BotSummary]:
        return [
            BotSummary(
                bot_id=bot.bot_id,
                name=bot.name,
                adapter=bot.adapter,
                enabled=bot.enabled,
                state=self.status(bot.bot_id).state,
            )
            for bot in self._all()
        ]

    def capabilities(self, bot_id: BotId) -> BotCapabilities | None:
        """Returns what the bot's adapter declares, without what its configured mode does not support."""
        manifest, bot = self.manifest(bot_id), self._bot(bot_id)
        if manifest is None or bot is None:
            return None
        mode = manifest.modes.get(str(bot.config.get("mode", next(iter(manifest.modes), ""))))
        missing = mode.without if mode is not None else {}
        return BotCapabilities(
            bot_id=bot_id,
            adapter=bot.adapter,
            events=[name for name in manifest.supported_events if name not in missing],
            apis=[name for name in (*manifest.supported_apis, *manifest.seen_apis) if name not in missing],
            actions=[name for name in manifest.actions if name not in missing],
        )

    async def call(self, context: CallContext, bot_id: BotId, api: str, arguments: dict[str, Any]) -> Any:
        manifest = self.manifest(bot_id)
        if manifest is not None and api in manifest.seen_apis:
            return await self._call_seen(bot_id, api, arguments)
        adapter = self._connected(bot_id)
        refuse_artifacts(arguments.get("chain") or [])
        if api == "call_platform_api":
            self._check_own_action(bot_id, arguments)
        if api != "reply_message":
            return await api_calls.call_api(adapter.api(), api, arguments)
        assert self._core is not None
        event_id, chain, quote = arguments["event_id"], arguments["chain"], arguments["quote"]
        reply = await self._core[1].prepare(bot_id, event_id, chain, quote, arguments["idempotency_key"])
        api_of_account = adapter.api(reply.account)
        return await api_calls.call_api(api_of_account, "send_message", reply.arguments, reply.thread_id, reply.handle)

    async def _call_seen(self, bot_id: BotId, api: str, arguments: dict[str, Any]) -> dict[str, Any]:
        """Answers from the directory. A list is marked as possibly incomplete."""
        assert self._core is not None
        seen_api = SeenApi(self._core[2].doors.directory, bot_id)
        return {**await api_calls.call_api(seen_api, api, arguments), "incomplete": True}

    def _check_own_action(self, bot_id: BotId, arguments: dict[str, Any]) -> None:
        manifest = self.manifest(bot_id)
        problem = (
            parameters.find_problem(manifest, arguments["action"], arguments["params"]) if manifest is not None else ""
        )
        if problem:
            raise ProviderFailed("invalid_argument", f"call_platform_api: {problem}")

    def _connected(self, bot_id: BotId) -> Adapter:
        if self._bot(bot_id) is None:
            raise ProviderFailed("not_found", f"there is no bot '{bot_id}'")
        adapter = self.adapter(bot_id)
        if adapter is None:
            status = self._status(bot_id)
            detail = f": {status.last_error}" if status.last_error else ""
            raise ProviderFailed("runtime_error", f"bot '{bot_id}' is {status.state}{detail}", retryable=True)
        return adapter

    def _bot(self, bot_id: BotId) -> Bot | None:
        return self._core[0].get(bot_id) if self._core is not None else None

    def _platform(self, bot_id: BotId) -> str:
        bot = self._bot(bot_id)
        return bot.adapter if bot is not None else ""

    def _all(self) -> list[Bot]:
        return self._core[0].all() if self._core is not None else []

    async def _stop(self, bot_id: BotId) -> None:
        runner = self._runners.pop(bot_id, None)  # from here on the bot sends nothing more
        if runner is not None:
            await self._in_flight.wait_until_idle(bot_id)
            await runner.stop()
        self._set_status(bot_id, "stopped", "")

    def _set_status(self, bot_id: BotId, state: ConnectionState, error: str) -> None:
        previous = self._status(bot_id)
        since = previous.since if previous.state == state and previous.since else self._clock.now()
        self._statuses[bot_id] = ConnectionStatus(state, since, error)
        self._counts.status(self._platform(bot_id), previous.state, state)
        if self._statuses[bot_id] != previous:
            self._on_change(self._statuses)
        connection = self._connections[bot_id]
        connection.set() if state == "connected" else connection.clear()


def _connects_alike(first: Bot, second: Bot) -> bool:
    """Returns whether two configurations connect in the same way; a changed name does not interrupt the connection."""
    return replace(first, name=second.name) == second
