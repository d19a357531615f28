"""The manifest that each adapter declares. The page, the router, delivery and the documentation read it."""

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from parlour_sdk.protocol.base import I18nText
from parlour_sdk.protocol.form import FormItem

SEEN_APIS = (
    "get_message",
    "get_group_info",
    "get_group_list",
    "get_group_member_list",
    "get_group_member_info",
    "get_user_info",
    "get_friend_list",
)
"""Methods of the platform API that the Host can answer from what the events of a bot have named."""
TextUnit = Literal["characters", "utf16", "bytes"]
MarkupFormat = Literal["plain", "markdown", "html"]
LOCATION_FIELDS = ("chat_id", "group_id", "request_id", "interaction_id")
"""The fields of an event that an action can be about: its chat, its group, its request or its button press."""


class ManifestModel(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)


class PlatformLimits(ManifestModel):
    """What the platform takes; delivery keeps to it."""

    text: int = Field(default=4000, ge=64)
    """Maximum length of one message's text, in `text_unit`."""
    text_unit: TextUnit = "characters"
    sends_per_second: float = Field(default=20, gt=0)
    """Sends per second in one chat."""
    edits_per_second: float = Field(default=0, ge=0)
    """Edits per second in one chat; 0 if messages can't be edited."""
    group_calls_per_minute: int = Field(default=0, ge=0)
    """Sends and edits per minute in one group; 0 if groups have no limit of their own."""
    chat_calls_per_minute: int = Field(default=0, ge=0)
    """Sends and edits per minute in any chat; 0 if there is no such limit."""
    calls_per_second: int = Field(default=0, ge=0)
    """Sends and edits per second of one account in all chats; 0 if there is no such limit."""
    file_bytes: int = Field(default=20 * 1024 * 1024, ge=0)
    """Maximum size of a file that can be sent."""
    buttons: int = Field(default=10, ge=2)
    """Maximum number of buttons of one message, each in a row of its own, if the platform has buttons."""
    button_label: int = Field(default=40, ge=4)
    """Maximum characters of a button's label that the platform shows."""


class ActionDeclaration(ManifestModel):
    """One of the platform's own actions."""

    description: str
    parameters: dict[str, Any] = Field(default_factory=dict)
    """JSON Schema of an object."""
    read_only: bool = False
    here: dict[str, Literal["chat_id", "group_id", "request_id", "interaction_id"]] = Field(default_factory=dict)
    """Maps parameters that name a place to the event field with the same meaning.

    A run that names another place needs a separate permission; so does an action that changes something and has no such
    parameter.
    """


class Mode(ManifestModel):
    """A way of being connected. What it can't do is named with the reason."""

    label: I18nText
    without: dict[str, str] = Field(default_factory=dict)


class ComponentKinds(ManifestModel):
    """Kinds of chain components that come in and go out."""

    receive: list[str]
    send: list[str]


class ServerDeclaration(ManifestModel):
    """A server that a bot connects to. `parlour doctor` checks whether it can be reached."""

    field: str
    """The item of `config` with its address, or with its host if there are `ports`."""
    defaults: dict[str, str] = Field(default_factory=dict)
    """The address if the item is empty, by the value of the item `depends_on`; under an empty key without one."""
    depends_on: str = ""
    ports: dict[str, int] = Field(default_factory=dict)
    """The usual ports by protection, such as `tls`, of a server that does not speak HTTP."""
    port_field: str = ""
    security_field: str = ""


class AdapterManifest(ManifestModel):
    name: str = Field(pattern=r"^[a-z][a-z0-9_]*$")
    label: I18nText
    description: I18nText
    icon: str = ""
    config: list[FormItem] = Field(default_factory=list)
    address_fields: list[str] = Field(default_factory=list)
    """Items of `config` that say where a secret is sent. If one changes, the secrets must be entered again."""
    servers: list[ServerDeclaration] = Field(default_factory=list)
    """The servers that the bot connects to."""
    modes: dict[str, Mode]
    connects_out: list[str] = Field(default_factory=list)
    """The modes in which the bot connects to its platform; its form then has fields for a proxy."""
    login: Literal["", "qr"] = ""
    """`qr` if a person logs in to the platform by scanning a QR code, which fills in the token; empty if not."""
    external: bool = False
    """True if the adapter was installed separately and runs as trusted code of the Host. Set by the catalogue."""
    supported_events: list[str]
    supported_apis: list[str]
    seen_apis: list[str] = Field(default_factory=list)
    """APIs without a look-up on the platform: the Host answers them from what events have named. Such an answer may be
    incomplete.
    """
    components: ComponentKinds
    actions: dict[str, ActionDeclaration] = Field(default_factory=dict)
    not_supported: dict[str, str] = Field(default_factory=dict)
    """Each event, API and component that is missing above, with the reason."""
    limits: PlatformLimits = PlatformLimits()
    dialect: MarkupFormat = "plain"
    mentions_everyone: str = ""
    """Regular expression for mentions of everyone in the platform's text; delivery defuses them."""
    buttons: bool = False
    """True if the platform shows a `buttons` component of the Platform kind and reports presses as
    interaction.received.
    """
    message_ids: Literal["chat", "account"] = "chat"
    """The scope in which message ids are unique: within one chat, or within all chats of the account."""
    idempotent: bool = False
    """True if a message that is sent again under the same key is shown once."""

    @model_validator(mode="after")
    def _require_seen_apis(self) -> "AdapterManifest":
        unknown = [name for name in self.seen_apis if name not in SEEN_APIS or name in self.supported_apis]
        if unknown:
            allowed = ", ".join(SEEN_APIS)
            raise ValueError(f"seen_apis: {', '.join(unknown)} must be of {allowed} and not in supported_apis")
        return self

    def without_streams(self) -> "AdapterManifest":
        """Returns the manifest for a bot whose messages are shown only when they are complete."""
        apis = [name for name in self.supported_apis if name != "open_stream"]
        limits = self.limits.model_copy(update={"edits_per_second": 0.0})
        return self.model_copy(update={"supported_apis": apis, "limits": limits})
