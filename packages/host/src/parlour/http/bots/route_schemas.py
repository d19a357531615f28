"""Request schemas of routes, with all filters. `handler_types` has the configurations of handlers."""

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, ConfigDict, Field, JsonValue, field_validator
from pydantic_core import PydanticCustomError

from parlour.core.model import regex_budget
from parlour.core.model.ids import NO_ROUTE, RouteId
from parlour.core.routing import time_windows
from parlour_sdk.protocol.people import ChatType, MemberRole
from parlour_sdk.protocol.platform_events import is_event_pattern

from ..validation_errors import register_pattern
from .handler_types import HandlerType
from .webhook_schemas import StrictBody

CLOCK_PATTERN = register_pattern(r"^([01]\d|2[0-3]):[0-5]\d$", "write it as 08:30")
MAX_PATH_LENGTH = 500
Texts = str | list[str]
Names = Annotated[list[str], Field(min_length=1, max_length=1000)]


class TimeWindow(StrictBody):
    """`from` up to `to`; one that ends before it begins goes over midnight and belongs to the day it begins on."""

    model_config = ConfigDict(serialize_by_alias=True)

    begin: str = Field(alias="from", pattern=CLOCK_PATTERN)
    to: str = Field(pattern=CLOCK_PATTERN)
    days: list[Literal["mon", "tue", "wed", "thu", "fri", "sat", "sun"]] = Field(default=[])
    timezone: str = "UTC"

    @field_validator("timezone")
    @classmethod
    def _known(cls, name: str) -> str:
        try:
            time_windows.load_zone(name)
        except (KeyError, ValueError, OSError):
            raise PydanticCustomError("timezone", "there is no such time zone; write one as Europe/Berlin") from None
        return name


class FiltersBody(StrictBody):
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
    data: dict[str, JsonValue] | None = Field(default=None, max_length=50)

    @field_validator("text_prefix", "text_keyword")
    @classmethod
    def _some(cls, texts: Texts | None) -> Texts | None:
        if texts is not None and not all(each.strip() for each in ([texts] if isinstance(texts, str) else texts)):
            raise PydanticCustomError("empty_text", "an empty text would hold for everything; leave the filter out")
        if texts == []:
            raise PydanticCustomError("empty_list", "an empty list would hold for nothing; leave the filter out")
        return texts

    @field_validator("data")
    @classmethod
    def _paths(cls, data: dict[str, JsonValue] | None) -> dict[str, JsonValue] | None:
        for path in data or ():
            if len(path) > MAX_PATH_LENGTH or not all(path.split(".")):
                raise PydanticCustomError("data", "a path has names with a dot between them, as sender.nickname")
        return data

    @field_validator("text_regex")
    @classmethod
    def _compiles(cls, pattern: str | None) -> str | None:
        problem = regex_budget.pattern_problem(pattern) if pattern is not None else ""
        if problem:
            raise PydanticCustomError("text_regex", "{problem}", {"problem": problem})
        return pattern


class RouteBody(StrictBody):
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
    handler_type: HandlerType
    handler_config: dict[str, JsonValue] = Field(default={})
    filters: FiltersBody = FiltersBody()
    enabled: bool = True
    priority: int = Field(default=0, ge=-1_000_000, le=1_000_000)
    description: str = Field(default="", max_length=500)
    route_id: RouteId = Field(default=NO_ROUTE, max_length=64)

    @field_validator("event_type")
    @classmethod
    def _pattern(cls, pattern: str) -> str:
        if not is_event_pattern(pattern):
            raise PydanticCustomError(
                "event_pattern", "it is no event type; write one as message.received, message.* or *"
            )
        return pattern


class RoutePage(StrictBody):
    """The routes in the form that GET answers with, which PUT accepts as well as the bare list."""

    items: list[RouteBody] = Field(max_length=500)
    next_cursor: None = None


def _unwrap_page(body: Any) -> Any:
    """Accepts the response of the GET endpoint unchanged as the body of a PUT."""
    is_page = isinstance(body, dict) and "items" in body and body.keys() <= RoutePage.model_fields.keys()
    return body["items"] if is_page and body.get("next_cursor") is None else body


RouteList = Annotated[
    list[RouteBody],
    Field(max_length=500),
    BeforeValidator(_unwrap_page, json_schema_input_type=Annotated[list[RouteBody], Field(max_length=500)] | RoutePage),
]


class DryRunBody(StrictBody):
    model_config = ConfigDict(
        json_schema_extra={
            "examples": [{"event": {"type": "message.received", "text": "hello", "sender": {"id": "7"}}}]
        }
    )

    event: dict[str, JsonValue]
    """An event as a platform sends it (`type`, `sender`, `message_chain` ...) or as POST /events accepts it."""
    routes: RouteList | None = None
    """Routes to try instead of the bot's own, in the form that PUT accepts; they are not stored."""
