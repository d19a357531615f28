"""What a chat platform is to the Host: where events come from and messages go. Only adapters know its words."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal, Protocol

from parlour.core.model.providers import ProviderFailed
from parlour_sdk.values import dataclass

from .api import PlatformApi
from .manifest import AdapterManifest

if TYPE_CHECKING:  # every event is an entity: they are loaded with the first adapter
    from parlour_sdk.protocol.platform_events import PlatformEvent

State = Literal["stopped", "connecting", "connected", "failed"]


@dataclass(frozen=True, slots=True)
class Status:
    """How a bot is doing. `last_error` is a sentence that a person can act on."""

    state: State = "stopped"
    since: int = 0
    last_error: str = ""


@dataclass(frozen=True, slots=True)
class Incoming:
    """An event of a platform, with what tells its conversation from others of the same chat."""

    event: "PlatformEvent"
    account: str = ""
    """The account of the bot that it came to, where one bot has several."""
    thread_id: str = ""
    self_id: str = ""
    """The bot's own id among the platform's users: an At of it addresses the bot."""
    addressed: bool = False
    """Whether it is meant for the bot without naming it: an answer to one of its messages."""
    role: str = ""
    """What the actor is in the group: owner, admin or member."""
    locale: str = ""
    """The language that the actor uses, such as `zh-hans`, where the platform tells it."""
    native_type: str = ""
    """The platform's own name of the event."""
    happened_at: int = 0
    """When it happened, in milliseconds of the Host's clock; 0 where the platform's clock was not compared with it."""


@dataclass(frozen=True, slots=True)
class Content:
    """An artifact's bytes, to be sent as a file."""

    data: bytes
    name: str
    mime_type: str


class FileUnavailable(ProviderFailed):
    """A file that was to be sent can't be had."""

    def __init__(self, artifact_id: str, message: str, retryable: bool = False) -> None:
        super().__init__("not_found", message, retryable)
        self.artifact_id = artifact_id


class Link(Protocol):
    """What an adapter gets from the Host: its bot's configuration, and the way in."""

    @property
    def bot_id(self) -> str: ...

    @property
    def config(self) -> Mapping[str, Any]:
        """As the manifest's form asks for it, checked, with secrets in clear."""
        ...

    @property
    def public_url(self) -> str:
        """The address under which platforms reach this Host, without a slash at its end; empty if it is not known."""
        ...

    async def received(self, *incoming: Incoming, cursor: str | None = None) -> None:
        """Durable when it returns, together with the cursor; the platform is acknowledged after that."""
        ...

    async def cursor(self) -> str | None:
        """The last one that was kept, to go on from."""
        ...

    def state(self, state: State, error: str = "") -> None:
        """How the connection is doing; `error` is a sentence that a person can act on."""
        ...

    async def content(self, artifact_id: str) -> Content:
        """Raises FileUnavailable."""
        ...


class Adapter(Protocol):
    """One bot's connection to its platform."""

    async def serve(self) -> None:
        """Connects, receives and connects again, with back-off, until it is cancelled.

        What the network or a peer does is told by `Link.state` and never raised. AdapterStopped ends it for good.
        """
        ...

    def api(self, account: str = "") -> PlatformApi:
        """The platform's API for an account; the only or first connected one when none is named."""
        ...


class AdapterStopped(Exception):
    """Trying again would not help: a person has to change something. The message says what."""


class AdapterFactory(Protocol):
    """`create` of each platform's `adapter` module."""

    def __call__(self, link: Link) -> Adapter: ...


class Catalogue(Protocol):
    """Which platforms there are."""

    def manifests(self) -> Mapping[str, AdapterManifest]:
        """By the adapter's name."""
        ...

    def problems(self, name: str, config: Mapping[str, Any]) -> list[tuple[str, str]]:
        """What is wrong with a configuration that fits the adapter's form: fields, with a sentence about each."""
        ...

    def create(self, name: str, link: Link) -> Adapter: ...


class PlatformRefused(Exception):
    """The platform answered that it did not do it."""

    def __init__(
        self, reason: str, retry_after: float | None = None, permanent: bool = False, everywhere: bool = False
    ) -> None:
        super().__init__(reason)
        self.reason = reason
        self.retry_after = retry_after
        """Seconds before which it takes nothing: in this chat, or `everywhere` from this account."""
        self.permanent = permanent
        self.everywhere = everywhere


class PlatformAway(PlatformRefused):
    """Nobody is connected who could do it, so nothing was done; unless that is for good, somebody may be later."""


class PlatformUncertain(Exception):
    """No answer came: it may or may not have happened."""
