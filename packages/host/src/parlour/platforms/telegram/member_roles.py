"""What people are in their groups, which messages of Telegram don't tell: asked for, and remembered for a while."""

import asyncio
from collections import OrderedDict

from parlour.core.platforms.port import PlatformRefused, PlatformUncertain

from . import users
from .client import Client
from .values import Payload, identifier, object_in

REMEMBERED = 1000
FRESH_SECONDS = 300.0
UNKNOWN_SECONDS = 30.0
"""Before it is asked again what Telegram did not tell."""
ASK_SECONDS = 5.0


class Roles:
    def __init__(self, client: Client) -> None:
        self._client = client
        self._leading: OrderedDict[str, tuple[float, dict[str, str] | None]] = OrderedDict()

    async def of_writer(self, message: Payload) -> str:
        """Of whoever wrote this; empty where there is no such thing or it can't be had."""
        chat, author = object_in(message, "chat"), object_in(message, "from")
        if chat.get("type") not in ("group", "supergroup") or not author:
            return ""
        leading = await self._leaders(identifier(chat.get("id")))
        return "" if leading is None else leading.get(identifier(author.get("id")), "member")

    async def of_presser(self, query: Payload) -> str:
        """Of whoever pressed a button. It may decide something, so it is asked for each time."""
        chat, author = object_in(object_in(query, "message"), "chat"), object_in(query, "from")
        if chat.get("type") not in ("group", "supergroup") or not author:
            return ""
        asked = {"chat_id": chat.get("id"), "user_id": author.get("id")}
        try:
            told = await self._client.call("getChatMember", asked, seconds=ASK_SECONDS)
        except (PlatformRefused, PlatformUncertain):
            return ""
        return users.role(told) if isinstance(told, dict) and users.is_in(told) else ""

    def forget(self, chat_id: str) -> None:
        """Somebody's rights have changed."""
        self._leading.pop(chat_id, None)

    async def _leaders(self, chat_id: str) -> dict[str, str] | None:
        now = asyncio.get_running_loop().time()
        known = self._leading.get(chat_id)
        if known is not None and now < known[0]:
            return known[1]
        leading = await self._asked(chat_id)
        self._leading[chat_id] = (now + (UNKNOWN_SECONDS if leading is None else FRESH_SECONDS), leading)
        if len(self._leading) > REMEMBERED:
            self._leading.popitem(last=False)
        return leading

    async def _asked(self, chat_id: str) -> dict[str, str] | None:
        try:
            told = await self._client.call("getChatAdministrators", {"chat_id": int(chat_id)}, seconds=ASK_SECONDS)
            return {users.user(each["user"]).id: str(users.role(each)) for each in told}
        except (PlatformRefused, PlatformUncertain, TypeError, KeyError, ValueError):
            return None
