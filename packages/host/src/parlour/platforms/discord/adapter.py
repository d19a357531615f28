"""Runs a bot on Discord: wires gateway, client and API, and stores what the gateway reports."""

import logging
from urllib.parse import quote

from parlour.core.asyncio_utils import BackgroundTasks
from parlour.core.backoff import Backoff
from parlour.core.journal import StorageFailed
from parlour.core.platforms.port import (
    AdapterFactory,
    AdapterStopped,
    HostLink,
    PlatformRefused,
    PlatformUncertain,
)
from parlour.platforms._kit.intake import EventQueue
from parlour.platforms._kit.payloads import Payload, number, text
from parlour.platforms._kit.proxy_fields import configured_proxies
from parlour.platforms._kit.websocket_client import PlatformWebSocketClient

from .api import DiscordApi
from .client import BASE_URL, DiscordClient
from .decode import COMMAND, DiscordDecodeContext, chat_key, decode
from .entities import SERVICE, DiscordAccount
from .gateway import CONTENT_INTENT, INTENTS, MEMBERS_INTENT, POLICY, DiscordGateway, Dispatched
from .guilds import DiscordGuilds
from .lookups import DiscordLookups

logger = logging.getLogger(__name__)

DEFERRED_UPDATE, DEFERRED_REPLY = 6, 5
EPHEMERAL = 1 << 6


class DiscordAdapter:
    """Adapter of one Discord bot."""

    def __init__(self, link: HostLink, backoff: Backoff) -> None:
        config = link.config
        token = str(config.get("token") or "").strip().removeprefix("Bot ")
        if not token:
            raise AdapterStopped("token: the bot's token is needed, from the Developer Portal, page Bot")
        base_url = str(config.get("api_base_url") or BASE_URL).rstrip("/")
        proxies = configured_proxies(config)
        intents = INTENTS
        intents |= CONTENT_INTENT if config.get("message_content") is not False else 0
        intents |= MEMBERS_INTENT if config.get("server_members") is not False else 0
        self._link = link
        self._client = DiscordClient(base_url, token, proxies)
        self._guilds = DiscordGuilds()
        self._lookups = DiscordLookups(self._client, self._guilds)
        self._gateway = DiscordGateway(link, self._client, token, base_url, intents, self)
        self._socket = PlatformWebSocketClient(SERVICE, link, self._gateway, proxies, POLICY, backoff)
        self._queue = EventQueue(self._handle)
        self._tasks = BackgroundTasks("a pressed button is no longer acknowledged")
        self._api = DiscordApi(self._client, self._guilds, self._lookups, self._gateway, link.content)

    async def serve(self) -> None:
        await self._gateway.restore()
        async with self._client.connection():
            try:
                await self._socket.serve()
            finally:
                await self._queue.close()
                await self._tasks.aclose()

    def api(self, account: str = "") -> DiscordApi:
        return self._api

    def identified(self, account: DiscordAccount, ready: Payload) -> None:
        self._guilds.begin_session(ready)

    async def dispatched(self, event: Dispatched) -> None:
        """Applies an event to what is known about servers, in order, and queues it."""
        frame, data = event.frame, event.frame.get("d")
        changed: list[str] | None = []
        if isinstance(data, dict):
            try:
                changed = self._guilds.update(str(frame.get("t")), data, self._gateway.account.id)
            except (ValueError, TypeError, KeyError, AttributeError):
                logger.warning("an event of bot %s does not match Discord's format", self._link.bot_id)
        await self._queue.submit(chat_key(frame), (event, changed), size=len(str(data)) if data else 0)

    async def _handle(self, item: tuple[Dispatched, list[str] | None]) -> None:
        event, changed = item
        try:
            await self._store(event, changed)
        except StorageFailed:
            raise  # the queue tries again
        except Exception:
            self._gateway.handled(event)  # it must not hold up the position of the events behind it
            raise
        self._gateway.handled(event)
        data = event.frame.get("d")
        if event.frame.get("t") == "INTERACTION_CREATE" and isinstance(data, dict):
            self._tasks.start(self._acknowledge(data))

    async def _store(self, event: Dispatched, changed: list[str] | None) -> None:
        await self._lookups.complete(event.frame)
        me = self._gateway.account
        context = DiscordDecodeContext(self._link.bot_id, me, self._guilds, event.session_id)
        incoming = decode(event.frame, changed, context)
        if incoming or event.frame.get("t") == "READY":  # a session is stored before its first event
            await self._link.receive(*incoming, cursor=self._gateway.cursor(event))

    async def _acknowledge(self, interaction: Payload) -> None:
        """Acknowledges a pressed button or a command, for which Discord waits three seconds.

        The outcome is shown in the chat, so the private note that a command needs is removed at once.
        """
        interaction_id, token = (quote(text(interaction, name), safe="") for name in ("id", "token"))
        path = f"/interactions/{interaction_id}/{token}/callback"
        is_command = number(interaction.get("type")) == COMMAND
        answer = {"type": DEFERRED_REPLY, "data": {"flags": EPHEMERAL}} if is_command else {"type": DEFERRED_UPDATE}
        application = quote(text(interaction, "application_id") or self._gateway.account.application_id, safe="")
        try:
            await self._client.call("POST", path, answer)
            if is_command:
                await self._client.call("DELETE", f"/webhooks/{application}/{token}/messages/@original")
        except (PlatformRefused, PlatformUncertain) as error:
            logger.warning("bot %s: a pressed button was not acknowledged: %s", self._link.bot_id, error)


def adapter_factory() -> AdapterFactory:
    return lambda link: DiscordAdapter(link, Backoff())
