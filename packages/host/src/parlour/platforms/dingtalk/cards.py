"""Answers that grow in an AI card: a template of the company's own, whose variable `content` is replaced.

A card has an id that Parlour chooses, so that a later process completes the same card.
"""

from collections.abc import Awaitable, Callable

from parlour.core.platforms.api import PlatformStream
from parlour.core.platforms.port import PlatformRefused
from parlour.platforms._kit.ids import short_key, uuid_key
from parlour.platforms._kit.payloads import Payload, object_in, objects_in, text
from parlour_sdk.protocol.chain import MessageChain
from parlour_sdk.protocol.people import ChatType
from parlour_sdk.protocol.platform_api import MessageResult

from .client import DingTalkClient
from .entities import CARD_PREFIX, SERVICE

CONTENT_VARIABLE = "content"
FINISHED, FAILED = "3", "5"
ID_LENGTH = 40


class DingTalkCard:
    """One card in a chat."""

    def __init__(self, client: DingTalkClient, template_id: str, robot_code: str, key: str) -> None:
        self._client = client
        self._template_id = template_id
        self._robot_code = robot_code
        self.track_id = f"parlour-{short_key(key, ID_LENGTH)}"
        self._changes = 0

    @property
    def message_id(self) -> str:
        return f"{CARD_PREFIX}{self.track_id}"

    async def deliver(self, chat_type: ChatType, chat_id: str) -> None:
        """Shows the card. Under the same id, it is shown once."""
        body: Payload = {
            "cardTemplateId": self._template_id,
            "outTrackId": self.track_id,
            "cardData": {"cardParamMap": {CONTENT_VARIABLE: ""}},
            "callbackType": "STREAM",
            "userIdType": 1,
        }
        if chat_type == "group":
            body |= {
                "openSpaceId": f"dtv1.card//IM_GROUP.{chat_id}",
                "imGroupOpenSpaceModel": {"supportForward": True},
                "imGroupOpenDeliverModel": {"robotCode": self._robot_code},
            }
        else:
            body |= {
                "openSpaceId": f"dtv1.card//IM_ROBOT.{chat_id}",
                "imRobotOpenSpaceModel": {"supportForward": True},
                "imRobotOpenDeliverModel": {"spaceType": "IM_ROBOT"},
            }
        answer = await self._client.call("POST", "/v1.0/card/instances/createAndDeliver", body)
        for each in objects_in(object_in(answer, "result"), "deliverResults"):
            if each.get("success") is not True:
                raise PlatformRefused(
                    f"{SERVICE} did not show the card: {text(each, 'errorMsg')}"[:300], permanent=True
                )

    async def write(self, content: str, is_final: bool = False, is_error: bool = False) -> None:
        """Replaces the text. Each change has an id, under which it takes effect once."""
        self._changes += 1
        body = {
            "outTrackId": self.track_id,
            "guid": uuid_key(f"{self.track_id}:{'final' if is_final else self._changes}:{content}"),
            "key": CONTENT_VARIABLE,
            "content": content,
            "isFull": True,
            "isFinalize": is_final,
            "isError": is_error,
        }
        await self._client.call("PUT", "/v1.0/card/streaming", body)

    async def close(self, status: str) -> None:
        """Shows the card as finished or failed."""
        update = {"cardParamMap": {"flowStatus": status}}
        options = {"updateCardDataByKey": True}
        body = {"outTrackId": self.track_id, "cardData": update, "cardUpdateOptions": options}
        await self._client.call("PUT", "/v1.0/card/instances", body)


class DingTalkCardStream(PlatformStream):
    """An answer that grows in a card, which is shown with the first text."""

    def __init__(
        self,
        card: DingTalkCard,
        deliver: Callable[[DingTalkCard], Awaitable[None]],
        finish: Callable[[MessageChain], Awaitable[MessageResult]],
    ) -> None:
        self._card = card
        self._deliver = deliver
        self._finish = finish
        self._text = ""
        self._is_shown = False

    async def append(self, text: str) -> None:
        if not self._is_shown:
            await self._deliver(self._card)
            self._is_shown = True
        await self._card.write(self._text + text)
        self._text += text

    async def finish(self, chain: MessageChain) -> MessageResult:
        return await self._finish(chain)

    async def fail(self, reason: str) -> None:
        if self._is_shown:
            await self._card.write(self._text, is_final=True, is_error=True)
            await self._card.close(FAILED)
