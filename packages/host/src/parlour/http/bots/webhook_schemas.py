"""Request schema of a route's webhook. What could not be sent or signed is rejected here, not with every event."""

import re
from ipaddress import ip_address
from typing import Any, Literal, get_args
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, field_validator
from pydantic_core import PydanticCustomError

from parlour.core.json_kinds import kind_name
from parlour.core.model import webhook_signing

HEADER = re.compile(r"[A-Za-z0-9-]{1,100}")
RESERVED_HEADERS = frozenset(
    {
        "accept-encoding",
        "connection",
        "content-encoding",
        "content-length",
        "content-type",
        "expect",
        "host",
        "keep-alive",
        "proxy-connection",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
        "webhook-id",
        "webhook-signature",
        "webhook-timestamp",
    }
)
"""Headers of framing, transport and signing; a duplicate or wrong value would make the request invalid."""
NAME = re.compile(r"[a-z0-9._-]+", re.IGNORECASE)
ActionType = Literal[
    "send_message",
    "reply",
    "call_platform_api",
    "answer_friend_request",
    "answer_group_invite",
    "edit_message",
    "delete_message",
]


class StrictBody(BaseModel):
    """Base of request schemas with strict types: a value that is almost a number or almost a boolean is more often a
    mistake than intended."""

    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)


class WebhookHandlerBody(StrictBody):
    """`response_actions`: actions that the webhook's response may request; true allows a reply to the chat of the
    event."""

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
        try:
            parts = urlsplit(url)
            has_valid_host = _is_host(parts.hostname or "") and parts.port != 0
        except ValueError:  # invalid port or brackets
            has_valid_host = False
        if not has_valid_host or parts.scheme not in ("http", "https") or not url.isprintable():
            raise _problem("write it as https://host/path or https://host:8080/path")
        if parts.username is not None or parts.password is not None:
            raise _problem("write it without a user or password; headers can have them")
        return url

    @field_validator("headers")
    @classmethod
    def _sendable(cls, headers: dict[str, str]) -> dict[str, str]:
        for name, value in headers.items():
            if not HEADER.fullmatch(name):
                raise _problem(f"'{name}' is no name of a header; it has letters, digits and -")
            if name.lower() in RESERVED_HEADERS:
                raise _problem(f"'{name}' is for the Host to say; leave it out")
            if not value.isprintable():
                raise _problem(f"the value of '{name}' has characters that can't be sent")
        return headers

    @field_validator("secret")
    @classmethod
    def _signs(cls, secret: str | None) -> str | None:
        if secret is not None and not webhook_signing.is_valid_secret(secret):
            raise _problem("after whsec_ comes base64; to sign with the text itself, leave whsec_ out")
        return secret

    @field_validator("response_actions", mode="before")
    @classmethod
    def _check_known(cls, written: Any) -> Any:
        actions = get_args(ActionType)
        if not isinstance(written, bool | list):
            raise _problem(f"write true, false or a list of {', '.join(actions)}")
        for each in written if isinstance(written, list) else ():
            if each not in actions:
                name = f"action '{each[:50]}'" if isinstance(each, str) else f"action that is {kind_name(each)}"
                raise _problem(f"there is no {name}; there are {', '.join(actions)}")
        return written


def _problem(message: str) -> PydanticCustomError:
    return PydanticCustomError("webhook", "{words}", {"words": message})


def _is_host(text: str) -> bool:
    """Returns whether this is an IP address or a host name; internationalized names are allowed."""
    try:
        return bool(ip_address(text.partition("%")[0]))
    except ValueError:
        pass
    try:
        return NAME.fullmatch(text.encode("idna").decode()) is not None
    except UnicodeError:
        return False
