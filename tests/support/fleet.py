"""Several Hosts on one PostgreSQL, and a chat platform that counts what they send."""

import asyncio
import itertools
import os
import secrets
import signal
import threading
import time
from collections import defaultdict
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import psutil
from aiohttp import web

from parlour.testing.postgres_server import PostgresServer

from .harness import ECHO_PLUGIN, NO_RUN_LIMITS, Host, eventually

LONG_POLL_SECONDS = 2.0
UNUSED_STORE = {
    "PARLOUR__ARTIFACTS__STORE": "s3",
    "PARLOUR__ARTIFACTS__S3__ENDPOINT": "http://127.0.0.1:9",
    "PARLOUR__ARTIFACTS__S3__BUCKET": "unused",
    "PARLOUR__ARTIFACTS__S3__ACCESS_KEY": "unused",
    "PARLOUR__ARTIFACTS__S3__SECRET_KEY": "unused",
}
"""A store of artifacts that no test here reads or writes."""


class CountingPlatform:
    """A Bot API server with any number of bots. It repeats updates until they are confirmed, and keeps every send."""

    def __init__(self) -> None:
        self._updates: defaultdict[str, list[dict[str, Any]]] = defaultdict(list)
        self._numbers = itertools.count(1)
        self._polls: dict[str, int] = defaultdict(int)
        self.sent: defaultdict[str, list[tuple[str, float]]] = defaultdict(list)
        """Texts that each bot has sent, with their times."""
        self.polled: defaultdict[str, list[float]] = defaultdict(list)
        """Times at which each bot began to wait for updates."""
        self.said_at: dict[str, float] = {}
        self._changed: dict[str, asyncio.Event] = {}
        self._loop = asyncio.new_event_loop()
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._serve, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        assert self._ready.wait(10)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        asyncio.run_coroutine_threadsafe(self._runner.cleanup(), self._loop).result(10)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)
        self._loop.close()

    def say(self, token: str, text: str) -> None:
        """Lets a person write to a bot."""
        self.said_at[text] = time.monotonic()
        self._loop.call_soon_threadsafe(self._put, token, text)

    def answers(self, token: str, text: str) -> list[tuple[str, float]]:
        """Returns the answers to a text, repeated ones with the note that marks them."""
        return [each for each in list(self.sent[token]) if each[0].split("\n")[0] == text]

    def taken_over(self, token: str, since: float) -> float:
        """Returns the seconds from a fault until a bot was connected again."""
        return next((each - since for each in list(self.polled[token]) if each > since), float("inf"))

    def _put(self, token: str, text: str) -> None:
        number = next(self._numbers)
        person = {"id": 1000 + number % 7, "is_bot": False, "first_name": "Ann"}
        message = {
            "message_id": number,
            "from": person,
            "chat": {"id": person["id"], "type": "private", "first_name": "Ann"},
            "date": int(time.time()),
            "text": text,
        }
        self._updates[token].append({"update_id": number, "message": message})
        self._event(token).set()

    def _event(self, token: str) -> asyncio.Event:
        return self._changed.setdefault(token, asyncio.Event())

    def _serve(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.run_until_complete(self._open())
        self._ready.set()
        self._loop.run_forever()

    async def _open(self) -> None:
        app = web.Application()
        app.router.add_route("*", "/bot{token}/{method}", self._called)
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", 0)
        await site.start()
        server: Any = site._server
        self.address = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"

    async def _called(self, request: web.Request) -> web.Response:
        token, method = request.match_info["token"], request.match_info["method"]
        is_json = request.content_type == "application/json"
        params: dict[str, Any] = {**(await request.json() if is_json else await request.post())}
        if method == "getUpdates":
            return await self._poll(token, params)
        if method == "sendMessage":
            self.sent[token].append((str(params["text"]), time.monotonic()))
            number = next(self._numbers)
            chat = {"id": int(params["chat_id"]), "type": "private", "first_name": "Ann"}
            message = {"message_id": number, "chat": chat, "date": int(time.time()), "text": params["text"]}
            return _answer(message)
        if method == "getMe":
            account = {"id": int(token.split(":")[0]), "is_bot": True, "first_name": "Bot", "username": "a_bot"}
            return _answer({**account, "can_read_all_group_messages": True})
        return _answer(True)

    async def _poll(self, token: str, params: dict[str, Any]) -> web.Response:
        self._polls[token] += 1
        self.polled[token].append(time.monotonic())
        own, offset = self._polls[token], int(params.get("offset") or 0)
        waiting = self._updates[token] = [each for each in self._updates[token] if each["update_id"] >= offset]
        event = self._event(token)
        event.set()
        await asyncio.sleep(0)  # an earlier poll of the same bot ends
        event.clear()
        ends_at = time.monotonic() + min(float(params.get("timeout") or 0), LONG_POLL_SECONDS)
        while not (waiting := self._updates[token]) and time.monotonic() < ends_at and own == self._polls[token]:
            try:
                await asyncio.wait_for(event.wait(), ends_at - time.monotonic())
            except TimeoutError:
                break
            event.clear()
        if own != self._polls[token]:
            return web.json_response(
                {"ok": False, "error_code": 409, "description": "Conflict: terminated by other getUpdates request"},
                status=409,
            )
        return _answer(waiting[:100])


def _answer(result: Any) -> web.Response:
    return web.json_response({"ok": True, "result": result})


class FleetHost(Host):
    """A Host of a cluster, on a port that the other Hosts know."""

    def __init__(self, folder: Path, port: int, **environment: object) -> None:
        super().__init__(folder, **environment)
        self._port = port

    def _command(self) -> list[str]:
        return [*super()._command()[:-1], str(self._port)]


class Fleet:
    """Hosts of one cluster, each with a data directory of its own."""

    def __init__(self, server: PostgresServer, folder: Path, **environment: object) -> None:
        self._server = server
        self.database = server.create()
        self._folder = folder
        self._key = os.urandom(32)
        self.environment = {
            name: str(value)
            for name, value in {
                "PARLOUR__DATABASE__URL": server.url(self.database),
                "PARLOUR__CLUSTER__ENABLED": "true",
                "PARLOUR__PLUGINS__BUNDLED": "false",
                **UNUSED_STORE,
                **NO_RUN_LIMITS,
                **environment,
            }.items()
        }
        self.hosts: list[Host] = []
        self._closing = ExitStack()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._closing.close()

    def add(self, port: int = 0, plugin: Path = ECHO_PLUGIN, **environment: object) -> Host:
        """Adds a Host with a plugin; it is not started. The other Hosts reach it if it has a port."""
        name = f"host{len(self.hosts)}"
        folder = self._folder / name
        (folder / "data").mkdir(parents=True, mode=0o700)
        (folder / "data" / "secret.key").write_bytes(self._key)
        address = {"PARLOUR__CLUSTER__ADDRESS": f"http://127.0.0.1:{port}"} if port else {}
        host = FleetHost(folder, port, **{"PARLOUR__CLUSTER__NAME": name, **self.environment, **address, **environment})
        host.install(plugin)
        self.hosts.append(host)
        self._closing.callback(_end, host)
        return host

    def start(self, count: int) -> Sequence[Host]:
        """Starts this number of Hosts at the same time."""
        hosts = [self.add() for _ in range(count)]
        for host in hosts:
            host.begin()
        for host in hosts:
            host.wait_until_ready()
        return hosts

    def owners(self, kind: str = "bot") -> dict[str, list[str]]:
        """Returns the parts of a kind by the name of their Host; those of no Host have an empty name."""
        found: dict[str, list[str]] = {}
        for line in self._rows(
            "SELECT coalesce(hosts.name, '') || ' ' || part FROM owners LEFT JOIN hosts USING (host_id) ORDER BY part"
        ):
            name, part = line.split(" ")
            if part.startswith(kind):
                found.setdefault(name, []).append(part)
        return found

    def live(self) -> list[str]:
        """Returns the names of the Hosts that are not fenced."""
        return self._rows("SELECT name FROM hosts JOIN leases USING (host_id) ORDER BY name")

    def wait_until_shared(self, hosts: int, bots: int) -> None:
        """Waits until every bot has an owner, and each Host its share of them."""

        def is_shared() -> bool:
            owners = self.owners()
            sizes = [len(parts) for parts in owners.values()]
            return "" not in owners and len(owners) == hosts and sum(sizes) == bots and max(sizes) - min(sizes) <= 1

        eventually(is_shared, "the bots are shared out", 60)

    def _rows(self, sql: str) -> list[str]:
        return self._server.execute(sql, self.database)


def bot_tokens(count: int) -> list[str]:
    return [f"{700_000_000 + number}:{secrets.token_hex(16)}abc" for number in range(count)]


def add_bots(host: Host, platform: CountingPlatform, tokens: Sequence[str], agent: str) -> list[str]:
    """Adds Telegram bots whose messages the agent answers, and returns their ids."""
    found = []
    for number, token in enumerate(tokens):
        config = {
            "token": token,
            "mode": "polling",
            "api_base_url": platform.address,
            "enable_stream_reply": False,
        }
        made = host.http().post("/bots", json={"name": f"bot{number}", "adapter": "telegram", "adapter_config": config})
        assert made.status_code == 201, made.text
        bot_id = made.json()["bot_id"]
        route = {"event_type": "*", "handler_type": "agent", "handler_config": {"agent_id": agent}}
        routed = host.http().put(f"/bots/{bot_id}/routes", json=[route])
        assert routed.status_code == 200, routed.text
        found.append(bot_id)
    return found


def pause(process: psutil.Process) -> None:
    process.send_signal(signal.SIGSTOP)


def resume(process: psutil.Process) -> None:
    process.send_signal(signal.SIGCONT)


def _end(host: Host) -> None:
    """Ends a Host in whatever state a test has left it."""
    if host.is_running:
        resume(host.process)
        host.kill()
    for each in host.leftovers():
        each.kill()
