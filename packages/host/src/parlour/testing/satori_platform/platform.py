"""Runs satori-python's server with a platform of its own behind it, and says what its users do."""

import asyncio
import socket
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from launart import Launart  # type: ignore[import-untyped]
from loguru import logger as server_logger
from satori import Api
from satori.model import Event, Login, LoginStatus, User
from satori.server import Adapter, Request, Server
from satori.server.connection import WebsocketConnection
from starlette.responses import JSONResponse, PlainTextResponse, Response

from parlour.testing.simulator import PlatformSimulator, SimulatorFaults
from parlour.testing.simulator.base import NEVER_SECONDS
from parlour.testing.tcp_relay import TcpRelay

from .calls import SatoriCalls
from .world import BOT_ID, PLATFORM, Json, SatoriRefusal, SatoriWorld, SentSatoriMessage

TOKEN = "the-secret-token-of-satori"
CREATE = "message.create"
FEATURES = ["message.update", "message.delete", "reaction", "guild.plain"]
START_SECONDS = 30.0
for _name in ("satori", "launart", "graia"):
    server_logger.disable(_name)
_METHODS = {each.value: each for each in Api}
Handler = Callable[[Json], Awaitable[Any]]


@dataclass
class SatoriFaults(SimulatorFaults[SatoriRefusal]):
    """The faults of the platform."""

    def refuse(self, call: str, status: int, message: str) -> None:
        self.refuse_with(call, SatoriRefusal(status, message))

    def too_many(self, call: str, seconds: float) -> None:
        self.refuse_with(call, SatoriRefusal(429, "too many requests", seconds))


class _PlatformAdapter(Adapter[None]):
    """The platform as the server of satori-python sees it."""

    def __init__(self, logins: list[Login]) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._logins = logins
        self.files: dict[str, bytes] = {}

    def get_platform(self) -> str:
        return PLATFORM

    def ensure(self, platform: str, self_id: str) -> bool:
        return any(platform == each.platform and self_id == each.id for each in self._logins)

    async def get_logins(self) -> list[Login]:
        return self._logins

    async def handle_internal(self, request: Request[Any], path: str) -> Response:
        if path not in self.files:
            raise FileNotFoundError(path)
        return Response(self.files[path], media_type="image/png")

    @property
    def required(self) -> set[str]:
        return set()

    @property
    def stages(self) -> set[str]:
        return {"blocking"}

    async def launch(self, manager: Launart) -> None:
        async with self.stage("blocking"):
            await manager.status.wait_for_sigexit()


class _Connections(list[WebsocketConnection]):
    """The connections of the server; says when a bot was added, which gets events from then on."""

    def __init__(self, added: Callable[[], None]) -> None:
        super().__init__()
        self._added = added

    def append(self, connection: WebsocketConnection) -> None:
        super().append(connection)
        self._added()


class SatoriPlatform(PlatformSimulator[SentSatoriMessage, SatoriRefusal]):
    def __init__(self) -> None:
        self.world = SatoriWorld()
        self.faults = SatoriFaults()
        super().__init__(self.faults, self.world.sent)
        self.token = TOKEN
        self.logins = [_login(PLATFORM, BOT_ID)]
        self.relay = TcpRelay(0)
        self.reported: list[Json] = []
        self.made: list[tuple[str, Json]] = []
        """The calls of the bot, in order."""
        self._calls = SatoriCalls(self.world)
        self._adapter = _PlatformAdapter(self.logins)
        self._server: Server
        self.identified = 0
        """Number of connections of bots so far."""

    @asynccontextmanager
    async def listening(self, port: int = 0) -> AsyncIterator[str]:
        """Yields the endpoint of the server."""
        with socket.create_server(("127.0.0.1", port)) as probe:
            own_port = probe.getsockname()[1]
        self._server = server = Server(host="127.0.0.1", port=own_port, path="/satori", token=TOKEN)
        self._adapter = adapter = _PlatformAdapter(self.logins)
        server.connections = _Connections(self._identified)
        for name, handler in self._calls.handlers().items():
            adapter.route(_METHODS.get(name, name))(self._served(name, handler))
        server.apply(adapter)
        manager = Launart()
        work = asyncio.create_task(server.run_async(manager, stop_signal=()))
        self.relay = TcpRelay(own_port)
        try:
            await _until_open(own_port, work)
            async with self.relay.listening() as relay_port:
                yield f"http://127.0.0.1:{relay_port}/satori"
        finally:
            await self.end_tasks()
            await _stop(manager, work)

    def chat_of(self, message: SentSatoriMessage) -> str:
        return message.channel

    @property
    def files(self) -> dict[str, bytes]:
        """The files of the platform, which are fetched through the server as internal:PLATFORM/BOT/PATH."""
        return self._adapter.files

    @property
    def connections(self) -> int:
        return sum(each.alive for each in self._server.connections)

    def _identified(self) -> None:
        self.identified += 1
        self.begin(self.notify())

    def _served(self, name: str, handler: Handler) -> Any:
        async def serve(request: Request[Any]) -> Any:
            params = dict(request.params)
            self.made.append((name, params))
            outcome = await self.perform(name, lambda: handler(params), SatoriRefusal)
            if outcome.cuts:
                self.relay.cut()
            await self.notify()
            if not outcome.answers and not outcome.cuts:
                await asyncio.sleep(NEVER_SECONDS)
            if outcome.refusal is None:
                return JSONResponse(outcome.result)
            wait = outcome.refusal.retry_after
            headers = {"Retry-After": str(wait)} if wait is not None else {}
            return PlainTextResponse(outcome.refusal.message, outcome.refusal.status, headers)

        return serve

    # --- what users do

    def event(self, kind: str, channel_id: str = "", user_id: str = "", **fields: Any) -> Json:
        """Returns an event in the form in which the server reports it."""
        event: Json = {
            "type": kind, "timestamp": round(time.time() * 1000),
            "login": {"sn": 0, "platform": PLATFORM, "status": 1, "user": {"id": BOT_ID, "name": "parlour"}}, **fields,
        }  # fmt: skip
        if channel_id:
            channel = self.world.channel(channel_id)
            event["channel"] = {"id": channel_id, "type": channel["type"], "name": channel["name"]}
            guild_id = channel.get("parent_id")
            if guild_id:
                event["guild"] = self.world.guilds[guild_id]
        if user_id:
            event["user"] = self.world.users.get(user_id) or {"id": user_id}
        return event

    async def say(self, channel_id: str, user_id: str, content: str, **fields: Any) -> Json:
        """Lets a user write, and returns the message."""
        message = self.world.write(channel_id, user_id, content, **fields)
        shown = {name: value for name, value in message.items() if name not in ("channel", "user")}
        event = self.event("message-created", channel_id, user_id, message=shown)
        self.reported.append(event)
        await self.report(event)
        return message

    async def report(self, event: Json) -> None:
        """Lets the server report an event, which it numbers and keeps for replays."""
        for each in self.scheduled(event):
            await self._server.post(Event.parse({"sn": 0, **each}))
        await self.notify()

    async def report_unchanged(self, body: Any) -> None:
        """Sends a body to the connected bots as it is, as a server with a defect does."""
        for connection in [each for each in self._server.connections if each.alive]:
            await connection.send({"op": 0, "body": body})


def _login(platform: str, user_id: str) -> Login:
    user = User(id=user_id, name="parlour")
    return Login(sn=0, status=LoginStatus.ONLINE, adapter="test", platform=platform, user=user, features=FEATURES)


async def _stop(manager: Launart, work: "asyncio.Task[None]") -> None:
    """Stops the server as a signal does."""
    manager.status.exiting = True
    if manager.task_group is not None:
        manager.task_group.stop = True
        if manager.task_group.blocking_task is not None:
            manager.task_group.blocking_task.cancel()
    await asyncio.wait([work], timeout=START_SECONDS)
    work.cancel()


async def _until_open(port: int, work: "asyncio.Task[None]") -> None:
    async with asyncio.timeout(START_SECONDS):
        while True:
            try:
                _, writer = await asyncio.open_connection("127.0.0.1", port)
            except OSError:
                assert not work.done(), "satori-python's server ended"
                await asyncio.sleep(0.02)
                continue
            writer.close()
            return
