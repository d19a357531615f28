"""Chat platforms as one surface of the outbox: the row names the bot and the chat, its adapter does the rest."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

from parlour.core.facts.outgoing import Outgoing, OutgoingRows
from parlour.core.platforms.api import PlatformApi
from parlour.core.platforms.calling import perform
from parlour.core.platforms.port import PlatformAway, PlatformRefused, PlatformUncertain
from parlour.core.ports import SendRefused, SendUncertain, Sent
from parlour_sdk.protocol.platform_api import NotSupportedError

from .bots import RunningBots
from .chats import Chat, chain_of, parsed
from .growing.streams import Streams
from .pace import Pace


class PlatformSurface:
    def __init__(self, bots: RunningBots, streams: Streams, rows: OutgoingRows) -> None:
        self._bots = bots
        self._rows = rows
        self._streams = streams
        self._pace = Pace()

    def repeatable(self, outgoing: Outgoing) -> bool:
        """An edit can be made twice."""
        manifest = self._bots.manifest(outgoing.bot_id)
        return bool(outgoing.message_id) or (manifest is not None and manifest.idempotent)

    async def ready(self, outgoing: Outgoing) -> None:
        await self._bots.until_connected(outgoing.bot_id)

    async def send(self, outgoing: Outgoing) -> Sent:
        chat = Chat(outgoing)
        manifest = self._bots.manifest(outgoing.bot_id)
        if manifest is not None:
            await self._pace.turn(chat.name, manifest.limits.sends_per_second)
        with _in_the_outboxes_words():
            return await self._deliver(chat, outgoing)

    async def find(self, outgoing: Outgoing) -> Sent | None:
        with _in_the_outboxes_words():
            return await self._found(outgoing)

    async def _found(self, outgoing: Outgoing) -> Sent | None:
        if outgoing.kind == "action":
            return None
        chat, key = Chat(outgoing), outgoing.outbox_id
        chain = parsed(chain_of(outgoing))
        taken = partial(self._rows.holds, outgoing.target)
        found = await chat.api(self._bots).find_message(chat.type, chat.id, chain, key, taken, chat.thread_id)
        if found is None or not found.message_id:
            return None
        grown = self._streams.of(outgoing.outbox_id)
        if grown is None:
            return Sent(found.message_id)
        await grown.found(outgoing, found.message_id)
        return await self._deliver(chat, outgoing)

    async def _act(self, chat: Chat, row: Outgoing) -> Sent:
        call = row.message["call"]
        arguments = dict(call["arguments"])
        if call["api"] == "send_message":
            arguments["idempotency_key"] = row.outbox_id
        result = await perform(chat.api(self._bots), call["api"], arguments, chat.thread_id)
        return Sent(str(result.get("message_id") or ""), result)

    async def _deliver(self, chat: Chat, row: Outgoing) -> Sent:
        if row.kind == "action":
            return await self._act(chat, row)
        grown = self._streams.of(row.outbox_id)
        if grown is not None:
            sent = await grown.finish(row)
            self._streams.forget(row.outbox_id)
            return sent
        api = chat.api(self._bots)
        if row.message_id and await _edited(api, chat, row):
            return Sent(row.message_id)
        return await chat.send_row(api, row, again=bool(row.message_id))


async def _edited(api: PlatformApi, chat: Chat, row: Outgoing) -> bool:
    """A message that grew before the Host was started anew; False when the platform will never change it."""
    try:
        await api.edit_message(chat.type, chat.id, row.message_id, parsed(chain_of(row)))
    except NotSupportedError:
        return False
    except PlatformRefused as refused:
        if refused.permanent:
            return False
        raise
    return True


@contextmanager
def _in_the_outboxes_words() -> Iterator[None]:
    try:
        yield
    except PlatformAway as away:
        raise SendRefused(away.reason, away.retry_after, tried=False) from away
    except PlatformRefused as refused:
        raise SendRefused(refused.reason, refused.retry_after, refused.permanent) from refused
    except PlatformUncertain as unknown:
        raise SendUncertain(str(unknown)) from unknown
    except NotSupportedError as error:
        raise SendRefused(str(error), permanent=True) from error
