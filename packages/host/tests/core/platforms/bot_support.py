"""An adapter that behaves as a test defines, and bots with it on virtual time."""

import asyncio
from collections.abc import Callable, Mapping
from typing import Any

from parlour.core.cluster.ownership import SoleOwner
from parlour.core.config.bots import BotRepository, PlatformCursors
from parlour.core.platforms.api import PlatformApi
from parlour.core.platforms.manifest import AdapterManifest
from parlour.core.platforms.port import Adapter, HostLink, IncomingEvent
from parlour.core.plugin_hooks.replies import PluginReplies
from parlour.platforms._host.bots import Bots
from parlour.platforms._host.link import CoreAccess
from parlour_sdk.protocol.chain import MessageChain, Plain
from parlour_sdk.protocol.people import ChatType, User
from parlour_sdk.protocol.platform_api import MessageResult
from parlour_sdk.protocol.platform_events import MessageReceived

from ..support import World

MANIFEST = AdapterManifest.model_validate(
    {
        "name": "fake",
        "label": {"en_US": "Fake"},
        "description": {"en_US": "A platform of tests"},
        "config": [
            {"name": "mode", "label": {"en_US": "Mode"}, "type": "string", "default": "socket"},
            {"name": "token", "label": {"en_US": "Token"}, "type": "secret", "required": True},
            {"name": "address", "label": {"en_US": "Address"}, "type": "string", "required": True},
        ],
        "modes": {
            "socket": {"label": {"en_US": "Socket"}},
            "hook": {"label": {"en_US": "Hook"}, "without": {"get_group_list": "hooks only hear"}},
        },
        "supported_events": ["message.received"],
        "supported_apis": ["send_message", "get_group_list", "is_muted"],
        "components": {"receive": ["Plain"], "send": ["Plain"]},
    }
)


class Box:
    """A secret box whose sealed values are visible to tests."""

    def seal(self, secret: str) -> str:
        return f"<{secret}>"

    def open(self, sealed: str) -> str:
        return sealed[1:-1]


class FakeApi(PlatformApi):
    def __init__(self, account: str, sent: list[Any]) -> None:
        self._account = account
        self._sent = sent

    async def send_message(
        self,
        target_type: ChatType,
        target_id: str,
        chain: MessageChain,
        idempotency_key: str | None = None,
        thread_id: str = "",
    ) -> MessageResult:
        self._sent.append((self._account, target_type, target_id, chain, thread_id))
        return MessageResult(message_id=f"m{len(self._sent)}")

    async def is_muted(self, group_id: str) -> bool:
        return group_id == "quiet"


class FakeAdapter:
    def __init__(self, link: HostLink, serve: Callable[[HostLink], Any]) -> None:
        self.link = link
        self.sent: list[Any] = []
        self._serve = serve

    async def serve(self) -> None:
        await self._serve(self.link)

    def api(self, account: str = "") -> PlatformApi:
        return FakeApi(account, self.sent)


async def connect(link: HostLink) -> None:
    """Serves as an adapter whose platform is always connected."""
    link.report_status("connected")
    await asyncio.Event().wait()


class FakeCatalogue:
    def __init__(self, manifest: AdapterManifest = MANIFEST) -> None:
        self._manifest = manifest
        self.adapters: list[FakeAdapter] = []
        self.behaviour: dict[str, Callable[[HostLink], Any]] = {}
        """How the adapter of a bot serves, by bot id."""

    def manifests(self) -> Mapping[str, AdapterManifest]:
        return {"fake": self._manifest}

    def config_problems(self, name: str, config: Mapping[str, Any]) -> list[tuple[str, str]]:
        return []

    def create(self, name: str, link: HostLink) -> Adapter:
        self.adapters.append(FakeAdapter(link, self.behaviour.get(link.bot_id, connect)))
        return self.adapters[-1]


class BotFleet:
    """The bots of a core with a fake adapter catalogue."""

    def __init__(self, world: World, manifest: AdapterManifest = MANIFEST) -> None:
        self.world = world
        self.catalogue = FakeCatalogue(manifest)
        self.repository = BotRepository(world.journal, world.clock)
        self.bots = Bots(self.catalogue, Box(), world.clock)
        cursors = PlatformCursors(world.journal, SoleOwner(), world.clock)
        core = world.core
        access = CoreAccess(
            core.gateway, cursors, core.artifacts, core.names, core.held_replies, core.directory, world.clock
        )
        self.bots.serve(self.repository, PluginReplies(world.journal, world.core.reply_policy), access)


def message_event(text: str, event_id: str, chat_id: str = "ann", **incoming: Any) -> IncomingEvent:
    event = MessageReceived(
        event_id=event_id,
        timestamp=1,
        message_id=f"message-{event_id}",
        message_chain=[Plain(text=text)],
        sender=User(id="ann"),
        chat_type="private",
        chat_id=chat_id,
    )
    return IncomingEvent(event, **incoming)
