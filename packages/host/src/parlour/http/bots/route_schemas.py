"""Routes as they are written: one shape per handler, and every filter with what it accepts."""

import re
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, JsonValue, field_validator
from pydantic_core import PydanticCustomError

from parlour.core.routing import regexes, windows
from parlour_sdk.protocol.people import ChatType, MemberRole
from parlour_sdk.protocol.platform_events import is_event_pattern

from ..wording import pattern

CLOCK = pattern(r"^([01]\d|2[0-3]):[0-5]\d$", "write it as 08:30")
HEADER = re.compile(r"[A-Za-z0-9-]{1,100}")
OWN_HEADERS = {"content-type", "content-length", "host", "webhook-id", "webhook-timestamp", "webhook-signature"}
Texts = str | list[str]
Names = Annotated[list[str], Field(min_length=1, max_length=1000)]
ActionType = Literal[
    "send_message",
    "reply",
    "call_platform_api",
    "answer_friend_request",
    "answer_group_invite",
    "edit_message",
    "delete_message",
]


class Body(BaseModel):
    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)


class TimeWindow(Body):
    """`from` up to `to`; one that ends before it begins goes over midnight and belongs to the day it begins on."""

    model_config = ConfigDict(serialize_by_alias=True)

    begin: str = Field(alias="from", pattern=CLOCK)
    to: str = Field(pattern=CLOCK)
    days: list[Literal["mon", "tue", "wed", "thu", "fri", "sat", "sun"]] = []
    timezone: str = "UTC"

    @field_validator("timezone")
    @classmethod
    def _known(cls, name: str) -> str:
        try:
            windows.zone(name)
        except (KeyError, ValueError, OSError):
            raise PydanticCustomError("timezone", "there is no such time zone; write one as Europe/Berlin") from None
        return name


class FiltersBody(Body):
    """All optional; those that are given must all hold."""

    chat_type: ChatType | None = None
    groups: Names | None = None
    users: Names | None = None
    roles: Annotated[list[MemberRole], Field(min_length=1)] | None = None
    mentions_bot: bool | None = None
    text_prefix: Texts | None = None
    text_keyword: Texts | None = None
    text_regex: str | None = Field(default=None, min_length=1, max_length=1000)
    probability: float | None = Field(default=None, ge=0, le=1)
    time_window: TimeWindow | None = None
    data: dict[str, JsonValue] | None = None

    @field_validator("text_prefix", "text_keyword")
    @classmethod
    def _some(cls, texts: Texts | None) -> Texts | None:
        if texts is not None and not all(len(each) > 0 for each in ([texts] if isinstance(texts, str) else texts)):
            raise PydanticCustomError("empty_text", "an empty text would hold for everything; leave the filter out")
        if texts == []:
            raise PydanticCustomError("empty_list", "an empty list would hold for nothing; leave the filter out")
        return texts

    @field_validator("text_regex")
    @classmethod
    def _compiles(cls, pattern: str | None) -> str | None:
        problem = regexes.problem(pattern) if pattern is not None else ""
        if problem:
            raise PydanticCustomError("text_regex", "{problem}", {"problem": problem})
        return pattern


class AgentHandler(Body):
    agent_id: str = Field(min_length=1, max_length=255)


class WebhookHandler(Body):
    """`response_actions`: what the answer may ask for; true means to reply where the event came from."""

    url: str = Field(max_length=2000)
    method: Literal["POST", "PUT", "PATCH"] = "POST"
    headers: dict[str, str] = Field(default={}, max_length=50)
    secret: str | None = Field(default=None, max_length=500)
    secret_set: bool | None = Field(default=None, exclude=True, description="Only told; what is sent is not looked at")
    timeout: float = Field(default=30, gt=0, le=300)
    retry_count: int = Field(default=3, ge=0, le=20)
    retry_interval: float = Field(default=5, gt=0, le=3600)
    response_actions: bool | list[ActionType] = False

    @field_validator("url")
    @classmethod
    def _address(cls, url: str) -> str:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.username or parts.password:
            raise PydanticCustomError("url", "write it as https://host/path, without a user or password")
        return url

    @field_validator("headers")
    @classmethod
    def _sendable(cls, headers: dict[str, str]) -> dict[str, str]:
        for name, value in headers.items():
            if not HEADER.fullmatch(name) or name.lower() in OWN_HEADERS or not value.isprintable():
                raise PydanticCustomError(
                    "header", "'{name}' can't be sent; others than the Host's own can", {"name": name}
                )
        return headers


class PluginHandler(Body):
    """Empty means all."""

    plugins: list[str] = Field(default=[], max_length=1000)


class DropHandler(Body):
    pass


HANDLERS: dict[str, type[Body]] = {
    "agent": AgentHandler,
    "webhook": WebhookHandler,
    "plugin": PluginHandler,
    "drop": DropHandler,
}


class RouteBody(Body):
    """`route_id` is given back for a route that stays, so that it keeps its webhook's secret."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "event_type": "message.*",
                    "handler_type": "drop",
                    "filters": {"chat_type": "group", "mentions_bot": False},
                }
            ]
        }
    )

    event_type: str = Field(default="message.received", max_length=128)
    handler_type: Literal["agent", "webhook", "plugin", "drop"]
    handler_config: dict[str, JsonValue] = {}
    filters: FiltersBody = FiltersBody()
    enabled: bool = True
    priority: int = Field(default=0, ge=-1_000_000, le=1_000_000)
    description: str = Field(default="", max_length=500)
    route_id: str = Field(default="", max_length=64)

    @field_validator("event_type")
    @classmethod
    def _pattern(cls, pattern: str) -> str:
        if not is_event_pattern(pattern):
            raise PydanticCustomError(
                "event_type", "it is no event type; write one as message.received, message.* or *"
            )
        return pattern


def _unwrapped(body: Any) -> Any:
    """What a GET answered may be put back as it is."""
    return body["items"] if isinstance(body, dict) and body.keys() <= {"items", "next_cursor"} and body else body


RouteList = Annotated[list[RouteBody], Field(max_length=500), BeforeValidator(_unwrapped)]


class DryRunBody(Body):
    model_config = ConfigDict(
        json_schema_extra={
            "examples": [{"event": {"type": "message.received", "text": "hello", "sender": {"id": "7"}}}]
        }
    )

    event: dict[str, JsonValue]
    """As a platform tells it (`type`, `sender`, `message_chain` ...) or as POST /events takes it."""
    routes: RouteList | None = None
    """Tried in the place of the bot's own, as PUT takes them; nothing of them is kept."""
