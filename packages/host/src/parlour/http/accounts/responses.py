"""Response schemas of accounts, API keys and the calling principal."""

from typing import Annotated, Literal

from pydantic import Field
from typing_extensions import TypedDict

from ..responses import Id, TimestampMs

Role = Literal["owner", "admin", "operator", "viewer"]


class SetupState(TypedDict):
    needed: bool
    """The first owner is still to be made."""
    token_required: bool
    """That takes the token which the Host printed when it started."""


class SessionUserResponse(TypedDict):
    kind: Literal["user"]
    user_id: Id
    email: str
    name: str
    role: Role
    reads_model_calls: bool
    """May read prompts and answers of models, as the setting `model_calls.visible_to` says."""
    csrf_token: str
    """Goes with every change as the header X-CSRF-Token."""
    expires_at: TimestampMs
    """Time at which the session ends unless it is used again."""


class KeyPrincipalResponse(TypedDict):
    kind: Literal["key"]
    key_id: Id
    name: str
    scope: str


class UserResponse(TypedDict):
    user_id: Id
    email: str
    name: str
    role: Role
    enabled: bool
    created_at: TimestampMs


class ApiKey(TypedDict):
    key_id: Id
    name: str
    scope: Literal["admin", "operator", "viewer", "chat", "platform", "mcp", "worker"]
    labels: list[str]
    """Labels that a worker with this key may have."""
    runners: list[str]
    """Runners that a worker with this key may execute; empty for any."""
    created_at: TimestampMs
    expires_at: TimestampMs | None
    last_used_at: Annotated[TimestampMs | None, Field(description="To the hour")]
    revoked_at: TimestampMs | None


class NewApiKey(ApiKey):
    key: str
    """Shown this once."""
