"""The chat that an outbox row is addressed to: finds the API of its bot and sends chains to it."""

from dataclasses import replace
from functools import cache
from typing import Any

from pydantic import TypeAdapter

from parlour.core.model.outbox_row import OutboxRow
from parlour.core.model.ports import SendReceipt
from parlour.core.platforms.api import PlatformApi
from parlour.core.platforms.connections import PlatformBots
from parlour.core.platforms.port import PlatformOffline
from parlour.core.texts.languages import Languages
from parlour_sdk.protocol.chain import MessageChain

from . import targets
from .rendering.repeat_notes import with_repeat_note

Chain = list[dict[str, Any]]


@cache
def _chains() -> TypeAdapter[MessageChain]:
    return TypeAdapter(MessageChain)


def row_chain(row: OutboxRow) -> Chain:
    """Returns the row's message chain, or its text as one component if it was composed while the platform was
    unknown.
    """
    chain: Chain | None = row.message.get("chain")
    return chain if chain is not None else [{"type": "Plain", "text": str(row.message["content"])}]


def parse_chain(chain: Chain) -> MessageChain:
    """Validates a chain of plain dicts into components."""
    return _chains().validate_python(chain)


class ChatTarget:
    """The address of one outbox row on its platform."""

    def __init__(self, row: OutboxRow) -> None:
        address = row.address
        self.type = targets.chat_type(address)
        self.id = address.get("chat_id", "")
        self.thread_id = address.get("thread_id", "")
        self.target = row.target
        self.account = address.get("account", "")
        self.rate_scope = targets.rate_scope(row.bot_id, address)
        self._row = row

    @property
    def name(self) -> str:
        """The unique name of this chat and thread."""
        return f"{self.rate_scope.name}/{self.thread_id}"

    def api(self, bots: PlatformBots) -> PlatformApi:
        """Returns the API of the row's bot and account. Raises PlatformOffline if the bot is deleted or not running."""
        adapter = bots.adapter(self._row.bot_id)
        if adapter is None and bots.manifest(self._row.bot_id) is None:
            raise PlatformOffline("the bot was deleted", permanent=True)
        if adapter is None:
            raise PlatformOffline(f"bot '{self._row.bot_id}' is not running")
        return adapter.api(self.account)

    def continuation_row(self, outbox_id: str, now: int) -> OutboxRow:
        """Returns a new row for the part of a streamed message that exceeds the first row's message."""
        lasting = self._row.expires_at - self._row.created_at
        return replace(self._row, outbox_id=outbox_id, feed_seq=0, created_at=now, expires_at=now + lasting)

    async def send(self, api: PlatformApi, chain: Chain, key: str) -> SendReceipt:
        result = await api.send_message(self.type, self.id, parse_chain(chain), key, self.thread_id)
        return SendReceipt(result.message_id or "")

    async def send_row(
        self, api: PlatformApi, row: OutboxRow, languages: Languages, again: bool = False
    ) -> SendReceipt:
        """Sends the row's message. `again` uses another idempotency key, because something else was sent under the
        row's own.
        """
        chain = row_chain(row)
        if row.possibly_repeated:
            chain = with_repeat_note(chain, languages.for_locale(row.locale))
        return await self.send(api, chain, f"{row.outbox_id}:final" if again else row.outbox_id)
