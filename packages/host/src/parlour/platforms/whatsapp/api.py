"""Implements the platform API on WhatsApp. Methods that are not overridden are not supported by WhatsApp."""

from typing import Any

from parlour.core.platforms.api import IsKnownMessage, PlatformApi
from parlour.core.platforms.port import PlatformRefused
from parlour.platforms._kit.bounded_map import BoundedMap
from parlour.platforms._kit.outgoing_files import Fetch, read_file
from parlour.platforms._kit.partial_sends import PartialSends
from parlour.platforms._kit.payloads import Payload
from parlour_sdk.protocol.chain import Media, MessageChain
from parlour_sdk.protocol.people import ChatType
from parlour_sdk.protocol.platform_api import MessageResult, NotSupportedError

from .client import WhatsAppClient
from .deliveries import KEY_FIELD, DeliveryReports, part_key
from .encode import MAX_DOCUMENT_BYTES, Part, file_message, plan
from .entities import SERVICE, recipient

REPORT_SECONDS = 3.0
"""Seconds in which a message without an answer is expected to be reported."""


class WhatsAppApi(PlatformApi):
    """Platform API of one phone number."""

    def __init__(
        self, client: WhatsAppClient, fetch: Fetch, deliveries: DeliveryReports, latest: BoundedMap[str, str]
    ) -> None:
        self._client = client
        self._fetch = fetch
        self._deliveries = deliveries
        self._latest = latest
        """The last message of a user, by chat."""
        self._sends = PartialSends("WhatsApp")

    async def send_message(
        self,
        target_type: ChatType,
        target_id: str,
        chain: MessageChain,
        idempotency_key: str | None = None,
        thread_id: str = "",
    ) -> MessageResult:
        """Sends a chain as messages. Outside the window of 24 hours WhatsApp refuses them, now or by a report."""
        parts, quoted = plan(chain)

        async def send(number: int, part: Part) -> str:
            key = part_key(idempotency_key, number) if idempotency_key else ""
            if reported := self._deliveries.message_id(key):
                return reported
            context = {"context": {"message_id": quoted}} if quoted and number == 0 else {}
            named = {KEY_FIELD: key} if key else {}
            content = await self._content(part)
            return await self._client.send({**recipient(target_type, target_id), **content, **context, **named})

        message_ids = await self._sends.send(idempotency_key, parts, send)
        return MessageResult(message_id=_main(parts, message_ids), raw={"message_ids": message_ids})

    async def find_message(
        self,
        target_type: ChatType,
        target_id: str,
        chain: MessageChain,
        idempotency_key: str,
        is_known: IsKnownMessage,
        thread_id: str = "",
    ) -> MessageResult | None:
        """Waits for the report of the last part: with it, all parts have arrived."""
        parts, _ = plan(chain)
        last = len(parts) - 1
        if not await self._deliveries.wait(part_key(idempotency_key, last), REPORT_SECONDS):
            return None
        message_ids = [self._deliveries.message_id(part_key(idempotency_key, number)) for number in range(len(parts))]
        return MessageResult(message_id=_main(parts, message_ids) or message_ids[-1])

    async def react(self, chat_type: ChatType, chat_id: str, message_id: str, reaction: str, add: bool = True) -> None:
        content = {"message_id": message_id, "emoji": reaction if add else ""}
        body = {**recipient(chat_type, chat_id), "type": "reaction", "reaction": content}
        await self._client.send(body, "a reaction")

    async def send_typing(self, chat_type: ChatType, chat_id: str, thread_id: str = "") -> None:
        """Shows that an answer is being written, for at most 25 seconds. The user's last message counts as read."""
        message_id = self._latest.get(chat_id)
        if not message_id:
            raise PlatformRefused("WhatsApp shows typing only as an answer to a message", permanent=True)
        await self._client.mark_read(message_id, shows_typing=True)

    async def call_platform_api(self, action: str, params: dict[str, Any]) -> Any:
        match action:
            case "send_template":
                return await self._send_template(params)
            case "mark_as_read":
                await self._client.mark_read(params["message_id"], shows_typing=False)
                return {}
            case "get_phone_number":
                fields = ("display_phone_number", "verified_name", "quality_rating", "throughput")
                return await self._client.phone_number(*fields)
            case "get_business_profile":
                return await self._client.business_profile()
        raise NotSupportedError(f"the action {action}")

    async def _send_template(self, params: dict[str, Any]) -> Payload:
        """Sends an approved template, which WhatsApp accepts at any time."""
        template: Payload = {"name": params["name"], "language": {"code": params["language"]}}
        if params.get("components"):
            template["components"] = params["components"]
        target = recipient("private", params["to"])
        return {
            "message_id": await self._client.send({**target, "type": "template", "template": template}, "a template")
        }

    async def _content(self, part: Part) -> Payload:
        if not isinstance(part, Media):
            return part
        file = await read_file(part, self._fetch, MAX_DOCUMENT_BYTES, SERVICE)
        return file_message(part, file, await self._client.upload(file))


def _main(parts: list[Part], message_ids: list[str]) -> str:
    """Returns the id of the message with buttons, which reports of pressed buttons name, or else of the first one."""
    for part, message_id in zip(parts, message_ids, strict=True):
        if not isinstance(part, Media) and part["type"] == "interactive":
            return message_id
    return message_ids[0]
