"""The chat that an outbox row is addressed to: finds the API of its bot and sends chains to it."""

from dataclasses import replace
from functools import cache
from typing import Any

from pydantic import TypeAdapter

from parlour.core.model.outbox_row import Outgoing
from parlour.core.model.ports import Sent
from parlour.core.platforms.api import PlatformApi
from parlour.core.platforms.connections import RunningBots
from parlour.core.platforms.port import PlatformAway
from parlour.core.texts.languages import Languages
from parlour_sdk.protocol.chain import MessageChain

from . import targets
from .rendering.repeats import marked

Chain = list[dict[str, Any]]


@cache
def _chains() -> TypeAdapter[MessageChain]:
    return TypeAdapter(MessageChain)


def chain_of(row: Outgoing) -> Chain:
    """Returns the row's message chain, or its text as one component if it was composed while the platform was
    unknown.
    """
    chain: Chain | None = row.message.get("chain")
    return chain if chain is not None else [{"type": "Plain", "text": str(row.message["content"])}]


def parsed(chain: Chain) -> MessageChain:
    """Validates a chain of plain dicts into components."""
    return _chains().validate_python(chain)


class Chat:
    """The address of one outbox row on its platform."""

    def __init__(self, row: Outgoing) -> None:
        address = row.address
        self.type = targets.chat_type(address)
        self.id = address.get("chat_id", "")
        self.thread_id = address.get("thread_id", "")
        self.target = row.target
        self.account = address.get("account", "")
        self.room = targets.room(row.bot_id, address)
        self._row = row

    @property
    def name(self) -> str:
        """The unique name of this chat and thread."""
        return f"{self.room.name}/{self.thread_id}"

    def api(self, bots: RunningBots) -> PlatformApi:
        """Returns the API of the row's bot and account. Raises PlatformOffline if the bot is deleted or not running."""
        adapter = bots.adapter(self._row.bot_id)
        if adapter is None and bots.manifest(self._row.bot_id) is None:
            raise PlatformAway("the bot was deleted", permanent=True)
        if adapter is None:
            raise PlatformAway(f"bot '{self._row.bot_id}' is not running")
        return adapter.api(self.account)

    def further_row(self, outbox_id: str, now: int) -> Outgoing:
        """Returns a new row for the part of a streamed message that exceeds the first row's message."""
        lasting = self._row.expires_at - self._row.created_at
        return replace(self._row, outbox_id=outbox_id, feed_seq=0, created_at=now, expires_at=now + lasting)

    async def send(self, api: PlatformApi, chain: Chain, key: str) -> Sent:
        result = await api.send_message(self.type, self.id, parsed(chain), key, self.thread_id)
        return Sent(result.message_id or "")

    async def send_row(self, api: PlatformApi, row: Outgoing, languages: Languages, again: bool = False) -> Sent:
        """Sends the row's message. `again` uses another idempotency key, because something else was sent under the
        row's own.
        """
        chain = chain_of(row)
        if row.possibly_repeated:
            chain = marked(chain, languages.of_locale(row.locale))
        return await self.send(api, chain, f"{row.outbox_id}:final" if again else row.outbox_id)
