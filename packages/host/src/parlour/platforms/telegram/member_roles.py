"""Looks up the roles of group members, which Telegram's messages don't contain, and caches them for a while."""

import asyncio
from collections import OrderedDict

from parlour.core.platforms.port import PlatformRefused, PlatformUncertain

from . import users
from .client import TelegramClient
from .values import Payload, identifier, object_in

MAX_CACHED_CHATS = 1000
CACHE_SECONDS = 300.0
FAILED_LOOKUP_CACHE_SECONDS = 30.0
"""Seconds before a failed look-up is repeated."""
LOOKUP_TIMEOUT_SECONDS = 5.0


class TelegramMemberRoles:
    """Looks up and caches the roles of group members."""

    def __init__(self, client: TelegramClient) -> None:
        self._client = client
        self._leading: OrderedDict[str, tuple[float, dict[str, str] | None]] = OrderedDict()

    async def author_role(self, message: Payload) -> str:
        """Returns the role of a message's author; empty outside groups or if it is not available."""
        chat, author = object_in(message, "chat"), object_in(message, "from")
        if chat.get("type") not in ("group", "supergroup") or not author:
            return ""
        leading = await self._admin_roles(identifier(chat.get("id")))
        return "" if leading is None else leading.get(identifier(author.get("id")), "member")

    async def button_user_role(self, query: Payload) -> str:
        """Returns the role of the user who pressed a button. It may authorize a decision, so it is never cached."""
        chat, author = object_in(object_in(query, "message"), "chat"), object_in(query, "from")
        if chat.get("type") not in ("group", "supergroup") or not author:
            return ""
        asked = {"chat_id": chat.get("id"), "user_id": author.get("id")}
        try:
            told = await self._client.call("getChatMember", asked, seconds=LOOKUP_TIMEOUT_SECONDS)
        except (PlatformRefused, PlatformUncertain):
            return ""
        return users.role(told) if isinstance(told, dict) and users.is_member(told) else ""

    def forget(self, chat_id: str) -> None:
        """Drops the cached roles of a chat after a member's rights have changed."""
        self._leading.pop(chat_id, None)

    async def _admin_roles(self, chat_id: str) -> dict[str, str] | None:
        now = asyncio.get_running_loop().time()
        known = self._leading.get(chat_id)
        if known is not None and now < known[0]:
            return known[1]
        leading = await self._fetch_admin_roles(chat_id)
        self._leading[chat_id] = (now + (FAILED_LOOKUP_CACHE_SECONDS if leading is None else CACHE_SECONDS), leading)
        if len(self._leading) > MAX_CACHED_CHATS:
            self._leading.popitem(last=False)
        return leading

    async def _fetch_admin_roles(self, chat_id: str) -> dict[str, str] | None:
        try:
            told = await self._client.call(
                "getChatAdministrators", {"chat_id": int(chat_id)}, seconds=LOOKUP_TIMEOUT_SECONDS
            )
            return {users.user(each["user"]).id: str(users.role(each)) for each in told}
        except (PlatformRefused, PlatformUncertain, TypeError, KeyError, ValueError):
            return None
