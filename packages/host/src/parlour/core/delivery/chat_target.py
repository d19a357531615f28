"""One chat of a platform, as a row of the outbox names it: the API to reach it by, and sends to it."""

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
    """What was composed while nobody knew the platform is text."""
    chain: Chain | None = row.message.get("chain")
    return chain if chain is not None else [{"type": "Plain", "text": str(row.message["content"])}]


def parsed(chain: Chain) -> MessageChain:
    return _chains().validate_python(chain)


class Chat:
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
        """Tells it from every other chat."""
        return f"{self.room.name}/{self.thread_id}"

    def api(self, bots: RunningBots) -> PlatformApi:
        adapter = bots.adapter(self._row.bot_id)
        if adapter is None and bots.manifest(self._row.bot_id) is None:
            raise PlatformAway("the bot was deleted", permanent=True)
        if adapter is None:
            raise PlatformAway(f"bot '{self._row.bot_id}' is not running")
        return adapter.api(self.account)

    def further_row(self, outbox_id: str, now: int) -> Outgoing:
        """For a message that goes on in the next one."""
        lasting = self._row.expires_at - self._row.created_at
        return replace(self._row, outbox_id=outbox_id, feed_seq=0, created_at=now, expires_at=now + lasting)

    async def send(self, api: PlatformApi, chain: Chain, key: str) -> Sent:
        result = await api.send_message(self.type, self.id, parsed(chain), key, self.thread_id)
        return Sent(result.message_id or "")

    async def send_row(self, api: PlatformApi, row: Outgoing, languages: Languages, again: bool = False) -> Sent:
        """`again` when something else was sent under its key before."""
        chain = chain_of(row)
        if row.possibly_repeated:
            chain = marked(chain, languages.of_locale(row.locale))
        return await self.send(api, chain, f"{row.outbox_id}:final" if again else row.outbox_id)
