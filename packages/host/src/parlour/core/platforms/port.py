"""The port between the Host and chat platforms: incoming events and outgoing messages. Adapters implement it."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal, Protocol

from parlour.core.model.ids import ArtifactId, BotId
from parlour.core.model.providers import ProviderFailed
from parlour.core.model.reply_allowance import ReplyAllowance
from parlour_sdk.protocol.people import ChatType
from parlour_sdk.values import dataclass

from .api import PlatformApi
from .manifest import AdapterManifest

if TYPE_CHECKING:  # the event models are loaded with the first adapter
    from parlour_sdk.protocol.platform_events import PlatformEvent

ConnectionState = Literal["stopped", "connecting", "connected", "failed"]


@dataclass(frozen=True, slots=True)
class ConnectionStatus:
    """The connection state of a bot. `last_error` is a message that the operator can act on."""

    state: ConnectionState = "stopped"
    since: int = 0
    last_error: str = ""


@dataclass(frozen=True, slots=True)
class IncomingEvent:
    """An event of a platform, with the fields that distinguish its conversation from others of the same chat."""

    event: "PlatformEvent"
    account: str = ""
    """The account of the bot that received it, if the bot has several."""
    thread_id: str = ""
    self_id: str = ""
    """The bot's own user id on the platform; an At component with this id addresses the bot."""
    addresses_bot: bool = False
    """True if it addresses the bot without a mention, as a reply to one of its messages."""
    role: str = ""
    """The actor's role in the group: owner, admin or member."""
    locale: str = ""
    """The language of the actor, such as `zh-hans`, if the platform provides it."""
    native_type: str = ""
    """The platform's own name of the event."""
    happened_at: int = 0
    """Time of the event in milliseconds of the Host's clock; 0 if the platform's clock was not compared with it."""
    reply_allowance: ReplyAllowance | None = None
    """The replies that the platform allows to this event; None if it does not limit them."""


@dataclass(frozen=True, slots=True)
class FileContent:
    """The bytes of an artifact, to be sent as a file."""

    data: bytes
    name: str
    mime_type: str


class FileUnavailable(ProviderFailed):
    """Raised when a file to be sent is not available."""

    def __init__(self, artifact_id: str, message: str, retryable: bool = False) -> None:
        super().__init__("not_found", message, retryable)
        self.artifact_id = ArtifactId(artifact_id)


class HostLink(Protocol):
    """The Host as an adapter sees it: configuration of its bot, and the entry for events."""

    @property
    def bot_id(self) -> BotId: ...

    @property
    def config(self) -> Mapping[str, Any]:
        """The validated configuration, as in the manifest's form, with decrypted secrets."""
        ...

    @property
    def public_url(self) -> str:
        """The address at which platforms reach this Host, without a trailing slash; empty if unknown."""
        ...

    async def receive(self, *incoming: IncomingEvent, cursor: str | None = None) -> None:
        """Stores events together with the cursor before it returns; the platform is acknowledged after that."""
        ...

    async def cursor(self) -> str | None:
        """Returns the last stored cursor, to continue from."""
        ...

    def report_status(self, state: ConnectionState, error: str = "") -> None:
        """Reports the state of the connection; `error` is a message that the operator can act on."""
        ...

    async def content(self, artifact_id: str) -> FileContent:
        """Loads an artifact. Raises FileUnavailable."""
        ...

    async def held_replies(self, chat_type: ChatType, chat_id: str) -> int:
        """Returns how many replies wait for the next message of a chat."""
        ...

    async def reply_handle(self, chat_type: ChatType, chat_id: str) -> str:
        """Returns the handle of the newest reply allowance in a chat; empty if there is none."""
        ...


class Adapter(Protocol):
    """The connection of one bot to its platform."""

    async def serve(self) -> None:
        """Connects, receives, and reconnects with back-off until it is cancelled.

        Errors of the network or a peer are reported by `HostLink.report_status` and never raised. AdapterStopped ends
        it for good.
        """
        ...

    def api(self, account: str = "") -> PlatformApi:
        """Returns the API for an account; if none is named, for the only or first connected one."""
        ...


class AdapterStopped(Exception):
    """Raised when retrying would not help until the operator changes something. The message says what."""


class AdapterFactory(Protocol):
    """Creates the adapters of one platform for one Host.

    The function `adapter_factory` of each platform's `adapter` module returns one, with what its bots share.
    """

    def __call__(self, link: HostLink) -> Adapter: ...


class AdapterCatalogue(Protocol):
    """The available platforms."""

    def manifests(self) -> Mapping[str, AdapterManifest]:
        """Returns the manifests by adapter name."""
        ...

    def config_problems(self, name: str, config: Mapping[str, Any]) -> list[tuple[str, str]]:
        """Returns the problems of a configuration that fits the adapter's form: fields, each with a message."""
        ...

    def create(self, name: str, link: HostLink) -> Adapter: ...


class PlatformRefused(Exception):
    """Raised when the platform responded that it rejected the call."""

    def __init__(
        self, reason: str, retry_after: float | None = None, permanent: bool = False, account_wide: bool = False
    ) -> None:
        super().__init__(reason)
        self.reason = reason
        self.retry_after = retry_after
        """Seconds before which the platform accepts nothing in this chat, or from this account if `account_wide`."""
        self.permanent = permanent
        self.account_wide = account_wide


class PlatformOffline(PlatformRefused):
    """Raised when no connection is available, so nothing was done. Unless permanent, a retry may succeed."""


class ReplyHandleRejected(PlatformRefused):
    """Raised when the platform certainly showed nothing, because it accepts no reply under this handle any more.

    The fallback of the event's reply allowance applies.
    """


class PlatformUncertain(Exception):
    """Raised when the platform did not respond: the call may or may not have been executed."""
