"""Response schemas of accounts, API keys and the calling principal."""

from typing import Annotated, Literal

from pydantic import Field
from typing_extensions import TypedDict

from ..responses import Id, Moment

Role = Literal["owner", "admin", "operator", "viewer"]


class SetupState(TypedDict):
    needed: bool
    """The first owner is still to be made."""
    token_required: bool
    """That takes the token which the Host printed when it started."""


class Person(TypedDict):
    kind: Literal["user"]
    user_id: Id
    email: str
    name: str
    role: Role
    reads_model_calls: bool
    """May read prompts and answers of models, as the setting `model_calls.visible_to` says."""
    csrf_token: str
    """Goes with every change as the header X-CSRF-Token."""
    expires_at: Moment
    """Time at which the session ends unless it is used again."""


class KeyHolder(TypedDict):
    kind: Literal["key"]
    key_id: Id
    name: str
    scope: str


class User(TypedDict):
    user_id: Id
    email: str
    name: str
    role: Role
    enabled: bool
    created_at: Moment


class ApiKey(TypedDict):
    key_id: Id
    name: str
    scope: Literal["admin", "operator", "viewer", "chat", "platform"]
    created_at: Moment
    expires_at: Moment | None
    last_used_at: Annotated[Moment | None, Field(description="To the hour")]
    revoked_at: Moment | None


class NewApiKey(ApiKey):
    key: str
    """Shown this once."""
