"""Connects the adapter with a link in memory and a real Synapse, and puts a proxy that causes faults between them."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import parlour.platforms.matrix as package
from parlour.core.backoff import Backoff
from parlour.platforms.matrix.adapter import MatrixAdapter
from parlour.testing.homeserver_proxy import HomeserverProxy
from parlour.testing.memory_link import MemoryLink
from parlour.testing.synapse_server import Account
from tests.support.harness import Json

from .home import API, Home
from .world import numbers

SAMPLES = Path(package.__file__).parent / "samples"


class MatrixRig:
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

    async def say(self, text: str) -> None:
        await asyncio.to_thread(self.send_text, text)

    async def cut(self) -> None:
        """Cuts the connection twice, because the client library itself repeats a request once on a
        connection that was used before.
        """
        self.proxy.cut("GET", "/sync", times=2, happens=False)
        self.proxy.cut_all()

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
