"""Completes, decodes and stores what Lark reports, and answers what a user sees at once: the hint after a press.

Events don't say the names of users. A private chat is addressed by its user, but events about messages name only the id
of the chat: the directory remembers it from messages, or asks for it.
"""

import asyncio
import base64
import logging
from collections.abc import Awaitable, Callable
from typing import TypeVar
from urllib.parse import quote

from parlour.core.encoding import dumps
from parlour.core.platforms.port import HostLink, PlatformRefused, PlatformUncertain
from parlour.platforms._kit.bounded_map import BoundedMap
from parlour.platforms._kit.encrypted_callbacks import encrypt_with_secret
from parlour.platforms._kit.ids import short_key
from parlour.platforms._kit.payloads import UNREADABLE, Payload, object_in, objects_in, text, texts_in
from parlour_sdk.protocol.people import MemberRole

from .client import LarkTenantClient
from .content import CHILDREN, FILES, QUOTED, file_keys
from .decode import CHAT, FEEDBACK, PROFILE, ROLE, LarkDecodeContext, decode, event_type, tenant_of
from .entities import PRIVATE_MODE, LarkAccount, open_id

logger = logging.getLogger(__name__)

MESSAGE, RECALLED, REACTION, PRESSED = (
    "im.message.receive_v1",
    "im.message.recalled_v1",
    "im.message.reaction.",
    ("card.action.trigger"),
)
BOT_ADDED = "im.chat.member.bot.added_v1"
APP_TICKET = "app_ticket"
GREETING_KEY_LENGTH = 40
THANKS = {"toast": {"type": "success", "content": "👍", "i18n": {"zh_cn": "感谢反馈", "en_us": "Thank you"}}}
MAX_QUOTE_SECONDS = 5.0
Found = TypeVar("Found")
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


class LarkTenant:
    """What belongs to one tenant: its client and its directory."""

    def __init__(self, client: LarkTenantClient) -> None:
        self.client = client
        self.directory = LarkDirectory(client)


class LarkEventProcessor:
    """Handles the reports for one bot."""

    def __init__(
        self,
        link: HostLink,
        tenant: Callable[[str], LarkTenant],
        is_store_app: bool,
        app_secret: str,
        set_ticket: Callable[[str], None],
        welcome: str = "",
    ) -> None:
        """`welcome` is what a group is told to which the bot is added."""
        self._link = link
        self._tenant = tenant
        self._is_store_app = is_store_app
        self._app_secret = app_secret
        self._set_ticket = set_ticket
        self._welcome = welcome

    async def store(self, report: Payload) -> Payload:
        """Stores the events of a report, which are durable when it returns. Returns the response to the user."""
        if event_type(report) == APP_TICKET:
            await self._store_ticket(text(object_in(report, "event"), "app_ticket"))
            return {}
        account = tenant_of(report) if self._is_store_app else ""
        tenant = self._tenant(account)
        me = LarkAccount("")
        try:
            me = await tenant.directory.account()
            report = await self._complete(report, tenant)
        except (PlatformRefused, PlatformUncertain) as error:
            logger.warning("a report for bot %s is stored without what Lark did not tell: %s", self._link.bot_id, error)
        except UNREADABLE:
            logger.debug("a report for bot %s does not match Lark's format", self._link.bot_id)
        incoming = decode(report, LarkDecodeContext(self._link.bot_id, me, account))
        if incoming:
            await self._link.receive(*incoming)
        if event_type(report) == BOT_ADDED and self._welcome:
            await self._greet(tenant, text(object_in(report, "event"), "chat_id"))
        value = object_in(object_in(report, "event"), "action").get("value")
        return THANKS if isinstance(value, dict) and FEEDBACK in value else {}

    async def _greet(self, tenant: LarkTenant, chat_id: str) -> None:
        """Greets a group. That the bot was added is stored; Lark shows a repeated greeting once within an hour."""
        body = {"receive_id": chat_id, "msg_type": "text", "content": dumps({"text": self._welcome})}
        body["uuid"] = short_key(f"welcome:{self._link.bot_id}:{chat_id}", GREETING_KEY_LENGTH)
        try:
            await tenant.client.call("POST", "im/v1/messages", body, query={"receive_id_type": "chat_id"})
        except (PlatformRefused, PlatformUncertain) as error:
            logger.info("bot %s: a group was not greeted: %s", self._link.bot_id, error)

    async def _store_ticket(self, ticket: str) -> None:
        """Keeps the ticket of a store app, encrypted with its secret, for the next start."""
        if ticket and self._is_store_app:
            sealed = encrypt_with_secret(self._app_secret, ticket.encode())
            await self._link.receive(cursor=dumps({APP_TICKET: sealed}))
            self._set_ticket(ticket)

    async def _complete(self, report: Payload, tenant: LarkTenant) -> Payload:
        """Adds what Lark provides only on request."""
        kind, event = event_type(report), object_in(report, "event")
        if kind == MESSAGE:
            return await self._complete_message(report, event, tenant)
        if kind == RECALLED:
            report = {**report, CHAT: await tenant.directory.chat(text(event, "chat_id"))}
        elif kind.startswith(REACTION) and event.get("operator_type") != "app":
            report = {**report, CHAT: await tenant.directory.chat_of_message(text(event, "message_id"))}
            report[PROFILE] = await tenant.directory.profile(text(object_in(event, "user_id"), "open_id"))
        elif kind == PRESSED:
            chat_id = text(object_in(event, "context"), "open_chat_id")
            user_id = text(object_in(event, "operator"), "open_id")
            found = await tenant.directory.chat(chat_id)
            report = {**report, CHAT: found, PROFILE: await tenant.directory.profile(user_id)}
            if found["type"] == "group":
                report[ROLE] = await tenant.directory.role(chat_id, user_id)
        return report

    async def _complete_message(self, report: Payload, event: Payload, tenant: LarkTenant) -> Payload:
        message, sender = object_in(event, "message"), object_in(event, "sender")
        user_id = text(object_in(sender, "sender_id"), "open_id")
        if sender.get("sender_type") != "user" or not user_id:
            return report
        chat_id, chat_type = text(message, "chat_id"), text(message, "chat_type")
        tenant.directory.note(chat_id, chat_type, user_id)
        if chat_type != PRIVATE_MODE:
            report = {**report, ROLE: await tenant.directory.role(chat_id, user_id)}
        profile, message = await asyncio.gather(
            tenant.directory.profile(user_id), self._complete_content(message, tenant)
        )
        return {**report, PROFILE: profile, "event": {**event, "message": message}}

    async def _complete_content(self, message: Payload, tenant: LarkTenant) -> Payload:
        """Adds the quoted message, the forwarded ones, and the files."""
        if parent := text(message, "parent_id"):
            message = {**message, QUOTED: await _attempt(tenant.directory.message(parent), {})}
        if message.get("message_type") == "merge_forward":
            found = await _attempt(tenant.directory.messages(text(message, "message_id")), [])
            message = {**message, CHILDREN: [each for each in found if text(each, "upper_message_id")]}
        keys = file_keys(message)
        if keys:
            files = await asyncio.gather(
                *(self._fetch(tenant, text(message, "message_id"), key, kind) for key, kind in keys)
            )
            message = {**message, FILES: {key: file for (key, _), file in zip(keys, files, strict=True)}}
        return message

    async def _fetch(self, tenant: LarkTenant, message_id: str, key: str, kind: str) -> Payload:
        """Returns the content of a file, or the reason why there is none."""
        try:
            data = await tenant.client.resource(message_id, key, kind)
        except (PlatformRefused, PlatformUncertain) as error:
            return {"problem": str(error)}
        return {"base64": base64.b64encode(data).decode(), "size": len(data)}


async def _attempt(call: Awaitable[Found], otherwise: Found) -> Found:
    """Returns the result of a look-up, or a default if it fails or takes too long."""
    try:
        async with asyncio.timeout(MAX_QUOTE_SECONDS):
            return await call
    except (PlatformRefused, PlatformUncertain, TimeoutError) as error:
        logger.debug("a message could not be looked up: %s", error)
        return otherwise
