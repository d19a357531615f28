"""Connects the adapter with a link in memory and a real Synapse, and puts a proxy that causes faults between them."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import parlour.platforms.matrix as package
from parlour.core.backoff import Backoff
from parlour.platforms.catalogue import BuiltinAdapterCatalogue
from parlour.platforms.matrix.adapter import MatrixAdapter
from parlour.platforms.matrix.api import MatrixApi
from parlour.testing.adapter_contract import Rig
from parlour.testing.homeserver_proxy import HomeserverProxy
from parlour.testing.memory_link import MemoryLink
from parlour.testing.native_payloads import read_samples
from parlour.testing.synapse_server import Account, SynapseServer
from parlour_sdk.protocol.chain import (
    At,
    AtAll,
    Component,
    File,
    Image,
    Media,
    MessageChain,
    Plain,
    Platform,
    Quote,
    Video,
    Voice,
)
from tests.integration.harness import Json

from .malformed import events
from .world import numbers

SAMPLES = Path(package.__file__).parent / "samples"
API = "/_matrix/client/v3"


class Home:
    """Holds a bot, and Ann in a room with it. Both stay for all tests, because messages before a
    test's start do not count.
    """

    def __init__(self, synapse: SynapseServer) -> None:
        self.synapse = synapse
        self.bot = synapse.register("parlour", "Bot")  # the account for which the samples were recorded
        self.ann = synapse.register("ann", "Ann")
        self.room_id = self.room()

    def room(self, **wishes: Any) -> str:
        """Creates a room of Ann's that the bot has joined."""
        made = self.synapse.call("POST", f"{API}/createRoom", {"invite": [self.bot.user_id], **wishes}, self.ann)
        self.synapse.call("POST", f"{API}/rooms/{made['room_id']}/join", {}, self.bot)
        return str(made["room_id"])


class MatrixRig(Rig):
    manifest = BuiltinAdapterCatalogue().manifests()["matrix"]
    api = MatrixApi
    samples = read_samples(SAMPLES)

    def __init__(self, link: MemoryLink, proxy: HomeserverProxy, home: Home) -> None:
        self.link = link
        self.adapter = MatrixAdapter(link, Backoff(0.01))
        self.proxy = proxy
        self.synapse = home.synapse
        self.bot, self.token, self.ann = home.bot, home.bot.access_token, home.ann
        self.room_id = home.room_id

    def again(self) -> "MatrixRig":
        """Restarts the adapter, which then knows only the stored cursor."""
        self.adapter = MatrixAdapter(self.link, Backoff(0.01))
        return self

    @asynccontextmanager
    async def served(self) -> AsyncIterator["MatrixRig"]:
        work = asyncio.create_task(self.adapter.serve())
        try:
            await self.link.until(lambda: self.link.now[0] == "connected")
            yield self
        finally:
            work.cancel()
            await asyncio.wait([work])
            if not work.cancelled() and (error := work.exception()) is not None:
                raise error

    async def deliver(self, native: Any) -> None:
        before = len(self.link.incoming)
        if native.get("content", {}).get("membership") == "invite":
            self.proxy.report_invitation(native["room_id"], native)
        else:
            self.proxy.report(native["room_id"], native)
        await self.link.events(before + 1)

    async def say(self, text: str) -> None:
        await asyncio.to_thread(self.send_text, text)

    async def echo(self) -> None:
        await asyncio.to_thread(self.send_text, "I said this myself", self.bot)
        await self.adapter.api().send_message("private", self.room_id, [Plain(text="by the adapter")])

    async def cut(self) -> None:
        """Cuts the connection twice, because the client library itself repeats a request once on a
        connection that was used before.
        """
        self.proxy.cut("GET", "/sync", times=2, happens=False)
        self.proxy.cut_all()

    async def cut_for_long(self, times: int) -> None:
        self.proxy.refuse("GET", "/account/whoami", 502, {"error": "not now"}, times=times)
        await self.cut()

    async def malformed(self) -> int:
        made = events(seed=7, number=200)
        for number in range(0, len(made), 20):
            self.proxy.report(self.room_id, *made[number : number + 20])
        return len(made)

    async def reflected(self, chain: MessageChain) -> MessageChain:
        result = await self.adapter.api().send_message("private", self.room_id, chain)
        for event_id in result.raw["message_ids"]:
            event = self.call("GET", f"/rooms/{self.room_id}/event/{event_id}", None, self.ann)
            await asyncio.to_thread(self.send_text, **{"text": "", **event["content"]})
        incoming = await self.link.events(len(result.raw["message_ids"]))
        return [each for one in incoming for each in one.event.message_chain if each.type != "Source"]  # type: ignore[attr-defined]

    def chain_of_everything(self) -> MessageChain:
        earlier = self.send_text("earlier", self.bot)
        return [
            Quote(id=earlier, sender=self.bot.user_id, origin=[Plain(text="earlier")]),
            At(target=self.ann.user_id, display="Ann"),
            Plain(text=" a <b>at room</b> & *b*, c\n"),
            AtAll(),
            Plain(text=" before the picture"),
            Image(base64="aGVsbG8=", name="a.png", mime_type="image/png"),
            Plain(text="between"),
            Image(base64="aGVsbG8h", name="b.png", mime_type="image/png"),
            Voice(base64="b2dn", name="a.ogg", mime_type="audio/ogg"),
            Video(base64="bXA0", name="a.mp4", mime_type="video/mp4"),
            File(base64="cGRm", name="a.pdf", mime_type="application/pdf"),
            Platform(platform="matrix", component_type="m.location", data={"geo_uri": "geo:1,2", "body": "here"}),
            Plain(text="the end 👨‍👩‍👧"),
        ]

    def same(self, sent: Component, received: Component) -> bool:
        """Compares two chains. A file comes back with its size, a quote with its author's name, an
        own part with its text.
        """
        if isinstance(sent, Quote) and isinstance(received, Quote):
            return sent.model_copy(update={"name": received.name}) == received
        if isinstance(sent, Platform) and isinstance(received, Platform):
            return sent.model_copy(update={"text": received.text}) == received
        if isinstance(sent, Media) and isinstance(received, Media):
            return received.size is not None and sent == received.model_copy(update={"size": None})
        return sent == received

    def send_text(self, text: str, account: Account | None = None, room_id: str = "", **content: Any) -> str:
        """Sends a message of this account, by default Ann's, and returns its id."""
        path = f"/rooms/{room_id or self.room_id}/send/m.room.message/{next(numbers)}"
        sent = self.call("PUT", path, {"msgtype": "m.text", "body": text, **content}, account or self.ann)
        return str(sent["event_id"])

    def call(self, method: str, path: str, body: Json | None, account: Account) -> Json:
        return dict(self.synapse.call(method, API + path, body, account))


@asynccontextmanager
async def rigged(home: Home, **config: Any) -> AsyncIterator[MatrixRig]:
    """Creates the rig without starting the adapter."""
    async with HomeserverProxy(home.synapse.url).listening() as proxy:
        known = {"homeserver": proxy.url, "user": home.bot.user_id, "access_token": home.bot.access_token}
        yield MatrixRig(MemoryLink({**known, **config}), proxy, home)
