"""A chat platform that records all messages and returns plausible answers."""

from collections.abc import Callable, Sequence
from typing import Any

from pydantic import BaseModel

from parlour_sdk.protocol import listing
from parlour_sdk.protocol.chain import MessageChain, chain_text
from parlour_sdk.protocol.host_actions import HOST_ACTIONS
from parlour_sdk.protocol.people import Group, GroupMember, User
from parlour_sdk.protocol.platform_api import (
    FileUrl,
    MessageResult,
    MutedState,
    PlatformCall,
    PlatformMessage,
    UploadedFile,
)
from parlour_sdk.protocol.platform_events import EVENTS

from ...values import dataclass
from ..gate import Handler
from ..script import Failure
from ..sessions import Caller

APIS = tuple(name for name, action in HOST_ACTIONS.items() if issubclass(action.request, PlatformCall))


@dataclass(frozen=True, slots=True)
class SentMessage:
    """A sent message and its target."""

    message_id: str
    bot_id: str
    chain: MessageChain
    chat_type: str = ""
    chat_id: str = ""
    event_id: str = ""
    """Id of the event that it answers."""

    @property
    def text(self) -> str:
        return chain_text(self.chain)

    def __repr__(self) -> str:
        target = f"answer to {self.event_id}" if self.event_id else f"{self.chat_type} {self.chat_id}"
        return f"SentMessage({self.text!r}, {target})"


class Platform:
    """Records messages in `sent`; other requests are in the Host's `calls`."""

    def __init__(self, bots: Sequence[listing.BotCapabilities], new_id: Callable[[str], str]) -> None:
        self._bots = {bot.bot_id: bot for bot in bots}
        self._new_id = new_id
        self.sent: list[SentMessage] = []

    def handlers(self) -> dict[str, Handler]:
        return {
            **{name: self._method(name) for name in APIS},
            "list_bots": self._list_bots,
            "get_bot_capabilities": self._capabilities,
        }

    def _method(self, name: str) -> Handler:
        async def answer(caller: Caller, request: Any) -> BaseModel:
            if name not in self._bot(request.bot_id).apis:
                raise Failure("not_supported", f"this bot's platform does not support {name}").exception()
            return self._default_answer(name, request)

        return answer

    def _default_answer(self, name: str, request: Any) -> BaseModel:
        match name:
            case "send_message":
                return self._send(request, request.chain, chat_type=request.target_type, chat_id=request.target_id)
            case "reply_message":
                return self._send(request, request.chain, event_id=request.event_id)
            case "forward_message":
                return MessageResult(message_id=self._new_id("message"))
            case "get_message":
                return self._find_sent(request)
            case "get_group_info":
                return Group(id=request.group_id, name=request.group_id)
            case "get_group_member_info":
                return GroupMember(user=_user(request.user_id), group_id=request.group_id)
            case "get_user_info":
                return _user(request.user_id)
            case "is_muted":
                return MutedState(muted=False)
            case "upload_file":
                upload_id = request.upload_id or self._new_id("upload")
                return (
                    UploadedFile(file_id=self._new_id("file")) if request.is_last else UploadedFile(upload_id=upload_id)
                )
            case "get_file_url":
                return FileUrl(url=f"https://files.example/{request.file_id}")
            case _:
                return HOST_ACTIONS[name].answer()

    def _send(self, request: Any, chain: MessageChain, **target: str) -> MessageResult:
        message_id = self._new_id("message")
        self.sent.append(SentMessage(message_id, request.bot_id, chain, **target))
        return MessageResult(message_id=message_id)

    def _find_sent(self, request: Any) -> PlatformMessage:
        for message in self.sent:
            if message.message_id == request.message_id:
                fields = request.model_dump(include={"message_id", "chat_type", "chat_id"})
                return PlatformMessage(**fields, chain=message.chain)
        raise Failure("not_found", f"there is no message '{request.message_id}'").exception()

    async def _list_bots(self, caller: Caller, request: listing.ListBots) -> listing.BotList:
        return listing.BotList(
            bots=[
                listing.BotSummary(bot_id=name, name=name, adapter=bot.adapter, enabled=True, state="connected")
                for name, bot in self._bots.items()
            ]
        )

    async def _capabilities(self, caller: Caller, request: listing.GetBotCapabilities) -> listing.BotCapabilities:
        return self._bot(request.bot_id)

    def _bot(self, bot_id: str) -> listing.BotCapabilities:
        if bot_id not in self._bots:
            raise Failure("not_found", f"there is no bot '{bot_id}'").exception()
        return self._bots[bot_id]


def bot_with_all_apis(bot_id: str) -> listing.BotCapabilities:
    """Returns a bot that supports all events and APIs."""
    return listing.BotCapabilities(bot_id=bot_id, adapter="fake", events=list(EVENTS), apis=list(APIS))


def _user(user_id: str) -> User:
    return User(id=user_id, nickname=user_id)
