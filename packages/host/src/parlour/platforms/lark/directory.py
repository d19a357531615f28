"""Looks up what Lark's events don't say: the names of users, and the chat of a message or of a chat's id.

A private chat is addressed by its user. Events about messages name only the id of the chat, so it is remembered from
messages and otherwise asked for.
"""

import asyncio
import logging
from urllib.parse import quote

from parlour.core.platforms.port import PlatformRefused, PlatformUncertain
from parlour.platforms._kit.bounded_map import BoundedMap
from parlour.platforms._kit.payloads import Payload, object_in, objects_in, text, texts_in
from parlour_sdk.protocol.people import MemberRole

from .client import LarkTenantClient
from .entities import PRIVATE_MODE, LarkAccount, open_id

logger = logging.getLogger(__name__)

CACHE_SECONDS = 3600.0
FAILED_CACHE_SECONDS = 300.0
ROLE_SECONDS = 300.0
LOOKUP_TIMEOUT_SECONDS = 3.0


class LarkDirectory:
    """The bot, users and chats of one tenant."""

    def __init__(self, client: LarkTenantClient) -> None:
        self._client = client
        self._account: LarkAccount | None = None
        self._profiles: BoundedMap[str, tuple[float, Payload]] = BoundedMap()
        self._chats: BoundedMap[str, Payload] = BoundedMap()
        """Type and id of chats, by Lark's own id."""
        self._managers: BoundedMap[str, tuple[float, str, frozenset[str]]] = BoundedMap()
        """Owner and administrators of groups, with the time until which they are kept."""

    async def account(self) -> LarkAccount:
        """Returns the bot's own account. Raises the errors of the platform port."""
        if self._account is None:
            bot = object_in(await self._client.call("GET", "bot/v3/info"), "bot")
            try:
                self._account = LarkAccount(open_id(bot), text(bot, "app_name"))
            except ValueError:
                raise PlatformRefused("the app has no bot; enable it in the developer console") from None
        return self._account

    def note(self, chat_id: str, chat_type: str, user_id: str) -> None:
        """Remembers the chat of a message."""
        found = {"type": "private", "id": user_id} if chat_type == PRIVATE_MODE else {"type": "group", "id": chat_id}
        self._chats.set(chat_id, found)

    async def profile(self, user_id: str) -> Payload:
        """Returns the profile of a user for an event; empty without the right to read it. It never waits for long."""
        now = asyncio.get_running_loop().time()
        known = self._profiles.get(user_id)
        if known is not None and known[0] > now:
            return known[1]
        profile: Payload = {}
        try:
            async with asyncio.timeout(LOOKUP_TIMEOUT_SECONDS):
                profile = await self.get_profile(user_id)
        except (PlatformRefused, PlatformUncertain, TimeoutError) as error:
            logger.debug("user %s could not be looked up: %s", user_id, error)
        self._profiles.set(user_id, (now + (CACHE_SECONDS if profile else FAILED_CACHE_SECONDS), profile))
        return profile

    async def get_profile(self, user_id: str) -> Payload:
        """Returns the profile of a user. Raises the errors of the platform port."""
        path = f"contact/v3/users/{quote(user_id, safe='')}"
        return object_in(await self._client.get(path, user_id_type="open_id"), "user")

    async def message(self, message_id: str) -> Payload:
        """Returns a message. Raises the errors of the platform port."""
        items = await self.messages(message_id)
        if not items or items[0].get("deleted") is True:
            raise PlatformRefused("the message is not there any more", permanent=True)
        return items[0]

    async def messages(self, message_id: str) -> list[Payload]:
        """Returns a message, followed by those that it forwards."""
        path = f"im/v1/messages/{quote(message_id, safe='')}"
        return objects_in(await self._client.get(path, user_id_type="open_id"), "items")

    async def chat(self, chat_id: str) -> Payload:
        """Returns type and id of a chat by Lark's own id. Raises the errors of the platform port."""
        known = self._chats.get(chat_id)
        if known is not None:
            return known
        path = f"im/v1/chats/{quote(chat_id, safe='')}"
        mode = text(await self._client.get(path, user_id_type="open_id"), "chat_mode")
        user_id = ""
        if mode == PRIVATE_MODE:
            members = objects_in(await self._client.get(f"{path}/members", member_id_type="open_id"), "items")
            user_id = text(members[0], "member_id") if members else chat_id
        self.note(chat_id, mode, user_id)
        return self._chats.get(chat_id) or {}

    async def role(self, chat_id: str, user_id: str) -> MemberRole:
        """Returns the role of a user in a group for an event. It never waits for long."""
        now = asyncio.get_running_loop().time()
        known = self._managers.get(chat_id)
        if known is None or known[0] <= now:
            group: Payload = {}
            try:
                async with asyncio.timeout(LOOKUP_TIMEOUT_SECONDS):
                    group = await self._client.get(f"im/v1/chats/{quote(chat_id, safe='')}", user_id_type="open_id")
            except (PlatformRefused, PlatformUncertain, TimeoutError) as error:
                logger.debug("group %s could not be looked up: %s", chat_id, error)
            known = (now + ROLE_SECONDS, text(group, "owner_id"), frozenset(texts_in(group, "user_manager_id_list")))
            self._managers.set(chat_id, known)
        return "owner" if user_id == known[1] else "admin" if user_id in known[2] else "member"

    async def chat_of_message(self, message_id: str) -> Payload:
        """Returns type and id of the chat of a message."""
        return await self.chat(text(await self.message(message_id), "chat_id"))
