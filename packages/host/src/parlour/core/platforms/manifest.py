"""What an adapter declares of itself. The page, the router, delivery and the documentation all read it."""

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from parlour_sdk.protocol.base import I18nText
from parlour_sdk.protocol.form import FormItem

Unit = Literal["characters", "utf16", "bytes"]
Dialect = Literal["plain", "markdown", "html"]
HERE = ("chat_id", "group_id", "request_id", "interaction_id")
"""What an action can be about: the event's chat, its group, the request or the press that it tells of."""


class Declared(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)


class Limits(Declared):
    """What the platform takes; delivery keeps to it."""

    text: int = Field(default=4000, ge=64)
    """The longest text of one message, in `text_unit`."""
    text_unit: Unit = "characters"
    sends_per_second: float = Field(default=20, gt=0)
    """In one chat."""
    edits_per_second: float = Field(default=0, ge=0)
    """In one chat; 0 where messages can't be edited."""
    group_calls_per_minute: int = Field(default=0, ge=0)
    """Sends and edits in one group together; 0 where groups have no limit of their own."""
    calls_per_second: int = Field(default=0, ge=0)
    """Sends and edits of one account in all chats; 0 where there is no such limit."""
    file_bytes: int = Field(default=20 * 1024 * 1024, ge=0)


class ActionDeclaration(Declared):
    """One of the platform's own actions."""

    description: str
    parameters: dict[str, Any] = Field(default_factory=dict)
    """JSON Schema of an object."""
    read_only: bool = False
    here: dict[str, Literal["chat_id", "group_id", "request_id", "interaction_id"]] = Field(default_factory=dict)
    """Parameters that say where it happens, each with the field of an event's data that says the same. A run that names
    another place needs a permission of its own; so does one whose action changes something and has no such parameter.
    """


class Mode(Declared):
    """A way of being connected. What it can't do is named with the reason."""

    label: I18nText
    without: dict[str, str] = Field(default_factory=dict)


class Components(Declared):
    """Kinds of chain components that come in and go out."""

    receive: list[str]
    send: list[str]


class AdapterManifest(Declared):
    name: str = Field(pattern=r"^[a-z][a-z0-9_]*$")
    label: I18nText
    description: I18nText
    icon: str = ""
    config: list[FormItem] = Field(default_factory=list)
    address_fields: list[str] = Field(default_factory=list)
    """Items of `config` that say where a secret is sent. When one changes, the secrets must be entered again."""
    modes: dict[str, Mode]
    supported_events: list[str]
    supported_apis: list[str]
    components: Components
    actions: dict[str, ActionDeclaration] = Field(default_factory=dict)
    not_supported: dict[str, str] = Field(default_factory=dict)
    """Every event, API and component that is missing above, with the reason in words."""
    limits: Limits = Limits()
    dialect: Dialect = "plain"
    mentions_everyone: str = ""
    """How the platform writes a mention of everybody in text, as a regular expression; delivery defuses it."""
    buttons: bool = False
    """Whether a `buttons` component of the Platform kind is shown, and tells of a press by interaction.received."""
    message_ids: Literal["chat", "account"] = "chat"
    """Whether a message's id says which one of its chat it is, or which one of any chat of the account."""
    idempotent: bool = False
    """Whether sending again under the same key shows it once."""

    def without_streams(self) -> "AdapterManifest":
        """The same for a bot whose messages are to be shown only when they are whole."""
        apis = [name for name in self.supported_apis if name != "open_stream"]
        limits = self.limits.model_copy(update={"edits_per_second": 0.0})
        return self.model_copy(update={"supported_apis": apis, "limits": limits})
