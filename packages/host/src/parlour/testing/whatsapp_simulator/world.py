"""The users, groups, messages and files of a simulated WhatsApp."""

import itertools
from dataclasses import dataclass, field
from typing import Any

Json = dict[str, Any]
NUMBER_ID, ACCOUNT_ID = "106540352242922", "102290129340398"
OWN_NUMBER, SHOWN_NUMBER = "15550001111", "+1 555-000-1111"


class WhatsAppRefusal(Exception):
    """An error answer of the Graph API."""

    def __init__(self, code: int, message: str, details: str = "", status: int = 400, subcode: int = 0) -> None:
        super().__init__(message)
        self.code = code
        self.details = details
        self.status = status
        self.subcode = subcode
        self.retry_after = 0.0

    def body(self) -> Json:
        error: Json = {
            "message": f"(#{self.code}) {self}", "type": "OAuthException", "code": self.code, "fbtrace_id": "Az8or2yh",
        }  # fmt: skip
        if self.subcode:
            error["error_subcode"] = self.subcode
        if self.details:
            error["error_data"] = {"messaging_product": "whatsapp", "details": self.details}
        return {"error": error}


@dataclass
class SentWhatsAppMessage:
    """A message of the bot."""

    payload: Json
    chat: str
    message_id: str
    content: bytes = b""
    """The content of an uploaded file."""
    deleted: bool = False

    @property
    def kind(self) -> str:
        return str(self.payload["type"])

    @property
    def text(self) -> str:
        """The text as a user reads it."""
        content = self.payload[self.kind]
        match self.kind:
            case "text":
                return str(content["body"])
            case "interactive":
                return str(content["body"]["text"])
            case "template":
                return f"[template {content['name']}]"
        return f"[{self.kind}]"


@dataclass
class StoredMedia:
    content: bytes
    mime_type: str


@dataclass
class WhatsAppWorld:
    users: dict[str, str] = field(default_factory=dict)
    """Names by number."""
    groups: dict[str, list[str]] = field(default_factory=dict)
    sent: list[SentWhatsAppMessage] = field(default_factory=list)
    received: dict[str, str] = field(default_factory=dict)
    """Chats of the messages of users, by message id."""
    wrote_at: dict[str, float] = field(default_factory=dict)
    """The time of the last message in each chat, on the clock of the simulator."""
    media: dict[str, StoredMedia] = field(default_factory=dict)
    templates: set[tuple[str, str]] = field(default_factory=set)
    """Name and language of the approved templates."""
    reactions: list[tuple[str, str]] = field(default_factory=list)
    """Message and emoji of each reaction of the bot; no emoji for one that was taken back."""
    read: list[str] = field(default_factory=list)
    typing: list[str] = field(default_factory=list)
    _numbers: "itertools.count[int]" = field(default_factory=lambda: itertools.count(1))

    def number(self) -> int:
        return next(self._numbers)

    def message_id(self) -> str:
        return f"wamid.HBgLMTU1NTAwMDExMTEVAgAR{self.number():012X}"

    def add_user(self, name: str, number: str = "") -> str:
        number = number or f"49151{self.number():08}"
        self.users[number] = name
        return number

    def add_group(self, *users: str, group_id: str = "") -> str:
        group_id = group_id or f"Y2FwaV9ncm91cDo{self.number():08}"
        self.groups[group_id] = list(users)
        return group_id

    def add_media(self, content: bytes, mime_type: str, media_id: str = "") -> str:
        media_id = media_id or str(1_037_543_291_540_000 + self.number())
        self.media[media_id] = StoredMedia(content, mime_type)
        return media_id

    def is_known_message(self, message_id: str) -> bool:
        return message_id in self.received or any(each.message_id == message_id for each in self.sent)


def user_id(number: str) -> str:
    """Returns the business-scoped id of the user with this number."""
    return f"DE.{number}"


def number_of(user: str) -> str:
    """Returns the number of a user that is given by its number or by its business-scoped id."""
    return user.removeprefix("DE.").removeprefix("+")
