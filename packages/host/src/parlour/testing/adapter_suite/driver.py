"""Declares what the shared suite needs to know about one platform: how its users act, and how it fails."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from parlour.core.backoff import Backoff
from parlour.core.platforms.api import PlatformApi
from parlour.core.platforms.manifest import AdapterManifest
from parlour.core.platforms.port import Adapter, HostLink
from parlour.testing.evidence import Level
from parlour.testing.native_payloads import Sample
from parlour_sdk.protocol.chain import Component, MessageChain, Source
from parlour_sdk.protocol.people import ChatType

if TYPE_CHECKING:
    from .probe import Probe

Json = dict[str, Any]
WAIT_SECONDS = 30.0
VOLATILE = frozenset(
    ("event_id", "timestamp", "bot_id", "time", "url", "base64", "artifact_id", "nickname", "name", "native")
)
"""Fields that differ between two reports of the same sample, or that the Host fills in."""

HOST_DATA = frozenset(("chat_type", "chat_id", "group"))
"""Fields of a platform's own event that are for the Host."""


@dataclass(frozen=True)
class SuiteChat:
    kind: ChatType
    id: str


class PlatformDriver(ABC):
    """Plays a platform and its users. Each instance is one platform with one bot."""

    manifest: ClassVar[AdapterManifest]
    api: ClassVar[type[PlatformApi]]
    samples: ClassVar[Sequence[Sample]]
    level: ClassVar[Level] = "protocol"
    """The evidence of a row that passes with a Host; `protocol+` if an unmodified third-party client accepts the
    simulator, and `peer` if a third-party server is the platform.
    """
    connects: ClassVar[bool] = True
    """False if the platform connects to the adapter."""
    tokens_per_message: ClassVar[int] = 1
    """How many tokens one message of the isolation row carries; more for a platform that accepts few messages."""
    token: str
    """The secret that must never be in a log."""
    simulator: Any
    """The simulated platform, of drivers that have one."""
    config: Json
    """The configuration of the bot, valid while the platform is running."""

    # --- the platform

    @abstractmethod
    def running(self) -> AbstractAsyncContextManager[None]:
        """Starts the platform, and stops it at the end."""

    def running_for_samples(self) -> AbstractAsyncContextManager[None]:
        """Starts the platform with the account for which the samples were recorded, if that makes a difference."""
        return self.running()

    @abstractmethod
    def create(self, link: HostLink, backoff: Backoff) -> Adapter:
        """Creates the adapter for rows without a Host."""

    def called_at(self, address: str) -> None:  # noqa: B027
        """Enters the address at which the platform calls the bot. It concerns platforms that call."""

    async def until(self, condition: Callable[[], bool], seconds: float = WAIT_SECONDS) -> None:
        """Waits for a condition, which is checked after each change on the platform."""
        await self.simulator.until(condition, seconds)

    # --- users

    @abstractmethod
    async def chat(self, kind: ChatType = "private") -> SuiteChat:
        """Creates a chat with the bot that no other row uses."""

    async def chat_for_components(self) -> SuiteChat:
        """Creates a chat that carries every component. Subclasses create a group if mentions exist only there."""
        return await self.chat()

    @abstractmethod
    async def say(self, chat: SuiteChat, text: str) -> None:
        """Lets a user write to the bot; in a group with a mention of it."""

    @abstractmethod
    def read(self, chat: SuiteChat) -> list[str]:
        """Returns the texts of the bot's messages in the chat, as a user reads them now."""

    @abstractmethod
    async def deliver(self, native: Any) -> None:
        """Lets the platform report this payload unchanged."""

    @abstractmethod
    async def repeat(self) -> None:
        """Lets the platform report the last message of a user once more."""

    @abstractmethod
    async def echo(self, chat: SuiteChat) -> None:
        """Lets the platform report a message of the bot itself."""

    @abstractmethod
    async def malformed(self, chat: SuiteChat, seed: int, number: int) -> None:
        """Lets the platform report this many unreadable payloads."""

    @abstractmethod
    def components(self, chat: SuiteChat) -> MessageChain:
        """Returns every component that the platform carries, several of them twice, in an order that matters."""

    @abstractmethod
    async def reflect(self, chat: SuiteChat) -> int:
        """Lets a user send all of the bot's messages in the chat. Returns the number of events that the adapter makes
        of them.
        """

    def received_chain(self, chains: Sequence[MessageChain]) -> MessageChain:
        """Joins the chains of reflected messages. Subclasses remove what the platform adds."""
        return [component for chain in chains for component in chain if not isinstance(component, Source)]

    def same(self, sent: Component, received: Component) -> bool:
        """Compares a sent with a received component. Subclasses list here what the platform can't carry back."""
        return sent == received

    async def produce_events(self, probe: "Probe") -> list[Json]:
        """Lets users cause every event and component that the manifest declares. Returns the events that a plugin must
        receive, each with the fields that are known before.
        """
        for sample in self.samples:
            await self.deliver(sample.native)
        return [known_fields(sample.decoded) for sample in self.samples]

    @abstractmethod
    async def use_apis(self, probe: "Probe") -> None:
        """Lets a plugin make every call and action that the manifest declares, and checks their effects."""

    def streamed(self, chat: SuiteChat) -> int:
        """Returns how many unfinished texts the platform's own stream has shown. It concerns `open_stream`."""
        raise NotImplementedError

    # --- faults

    @abstractmethod
    async def cut(self) -> None:
        """Breaks the connection; the platform can be reached again at once."""

    @abstractmethod
    async def cut_for_long(self, times: int) -> None:
        """Breaks the connection and lets this many attempts to connect fail. It concerns adapters that connect."""

    @abstractmethod
    def refuse_send(self, retry_after: float | None = None) -> None:
        """Refuses the next message for good, or until this many seconds have passed."""

    @abstractmethod
    def cut_send(self, happens: bool) -> None:
        """Breaks the connection at the next message, which is shown or not."""

    @abstractmethod
    def stay_silent(self) -> None:
        """Shows the next message without answering its call."""

    def unacknowledged(self) -> int:
        """Returns the number of events that the platform would report again. It concerns platforms that get an
        acknowledgement.
        """
        raise NotImplementedError


def known_fields(decoded: Json) -> Json:
    """Returns the fields of a recorded event that a plugin receives at every report of it."""
    fields: Json = stable(decoded)
    if "data" in fields:
        fields["data"] = {name: each for name, each in fields["data"].items() if name not in HOST_DATA}
    return fields


def stable(value: Any) -> Any:
    """Returns a value without the fields that differ from report to report."""
    match value:
        case dict():
            return {name: stable(each) for name, each in value.items() if name not in VOLATILE}
        case list():
            return [stable(each) for each in value]
    return value


def holds(answer: Any, expected: Any) -> bool:
    """Compares an answer with the known part of it; None stands for any value."""
    match expected:
        case None:
            return True
        case dict():
            return isinstance(answer, dict) and all(holds(answer.get(name), each) for name, each in expected.items())
        case list():
            is_as_long = isinstance(answer, list) and len(answer) == len(expected)
            return is_as_long and all(map(holds, answer, expected))
    return bool(answer == expected)
