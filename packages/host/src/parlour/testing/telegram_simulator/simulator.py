"""The server of the simulated Telegram: it answers calls, reports the actions of users, and records
those of the bot.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any

from aiohttp import web

from parlour.testing.planned_faults import Planned

from . import native
from .failures import Failed
from .faults import Faults
from .methods import COUNTED, perform
from .native import Payload
from .requests import Call, read
from .updates import Updates
from .world import Shown, World

TOKEN = "777000111:AAparlour-simulated-token-of-35-chars"
WAIT_SECONDS = 30.0
LARGEST_BODY = 64 * 1024 * 1024


class Simulator:
    def __init__(self, token: str = TOKEN, local: bool = True) -> None:
        self.world = World()
        self.faults = Faults()
        self.updates = Updates()
        self.token = token
        self.local = local
        """True for a self-hosted Bot API server, which also calls plain addresses."""
        self.calls: list[Call] = []
        """Every call except polls, unchanged."""
        self.up = True
        """False for a server that is down; it cuts every connection."""
        self._connections: set[asyncio.Transport] = set()
        self._polling = 0
        self._changed = asyncio.Condition()

    # --- the server

    @asynccontextmanager
    async def listening(self, port: int = 0) -> AsyncIterator[str]:
        """Yields the address that replaces https://api.telegram.org."""
        app = web.Application(client_max_size=LARGEST_BODY)
        app.router.add_route("*", "/bot{token}/{method}", self._called)
        app.router.add_get("/file/bot{token}/{path:.+}", self._file)
        runner = web.AppRunner(app, access_log=None, handler_cancellation=True, shutdown_timeout=0.1)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", port)
        await site.start()
        calling = asyncio.create_task(self.updates.call_webhook())
        try:
            yield f"http://127.0.0.1:{runner.addresses[0][1]}"
        finally:
            calling.cancel()
            await asyncio.gather(calling, return_exceptions=True)
            await runner.cleanup()

    async def cut(self) -> None:
        """Breaks every connection as a network does, without a close frame, also the one that waits for updates."""
        await self.until(lambda: bool(self.updates.webhook or self._polling))
        for transport in list(self._connections):
            transport.abort()

    async def _called(self, request: web.Request) -> web.StreamResponse:
        assert request.transport is not None
        self._connections.add(request.transport)
        try:
            return await self._answered(request)
        finally:
            self._connections = {each for each in self._connections if not each.is_closing()}
            await self._notify()

    async def _answered(self, request: web.Request) -> web.StreamResponse:
        if not self.up:
            _abort(request)
            return web.Response()
        if request.match_info["token"] != self.token:
            return _answer(Failed(401, "Unauthorized").answer())
        planned: Planned[Failed] | None = None
        try:
            call = await read(request)
            if call.method == "getUpdates":
                return _answer({"ok": True, "result": await self._polled(call)})
            self.calls.append(call)
            planned = self.faults.next_for(call.method)
            answer = {"ok": True, "result": await self._result(call, planned)}
        except Failed as failed:
            answer = failed.answer()
        await asyncio.sleep(self.faults.delay_seconds)
        if planned is not None and planned.cuts:
            _abort(request)
        elif planned is not None and not planned.answers:
            await self._notify()
            await asyncio.sleep(3600)
        return _answer(answer)

    async def _polled(self, call: Call) -> list[Payload]:
        self._polling += 1
        await self._notify()
        try:
            return await self.updates.poll(call.params)
        finally:
            self._polling -= 1

    async def _result(self, call: Call, planned: Planned[Failed] | None) -> Any:
        if planned is not None and planned.refusal is not None:
            raise planned.refusal
        match call.method:
            case "setWebhook":
                return await self.updates.set_webhook(call.params, self.local)
            case "deleteWebhook":
                return await self.updates.delete_webhook(call.params)
            case "getWebhookInfo":
                return self.updates.webhook_info()
            case _ if planned is not None and not planned.happens:
                return None
        if call.method in COUNTED and isinstance(call.params.get("chat_id"), int):
            self.faults.check_rate(call.params["chat_id"])
        return perform(self.world, call)

    async def _file(self, request: web.Request) -> web.Response:
        if request.match_info["token"] != self.token:
            return _answer(Failed(401, "Unauthorized").answer())
        path = request.match_info["path"]
        found = next((each for each in self.world.files.values() if each.path == path), None)
        return web.Response(body=found.data) if found else _answer(Failed(404, "Not Found").answer())

    # --- actions of users

    async def say(self, text: str = "", user: int = 1, chat: int = 0, topic: int = 0, **fields: Any) -> Payload:
        """Sends a message in a private chat unless a chat is named. `fields` are further fields of the message."""
        message = self.message(user, chat, topic, **({"text": text} if text else {}), **fields)
        await self.updates.put({"message": message})
        return message

    def message(self, user: int = 1, chat: int = 0, topic: int = 0, **fields: Any) -> Payload:
        """Creates a message without reporting it."""
        person = self.world.person(user)
        place = self.world.chats[chat or user]
        in_topic = {"message_thread_id": topic, "is_topic_message": True} if topic else {}
        message: Payload = {
            "message_id": self.world.number(),
            "from": person,
            "chat": place.about,
            "date": native.now(),
            **in_topic,
            **fields,
        }
        place.messages[message["message_id"]] = message
        return message

    async def album(self, *files: Payload, user: int = 1, chat: int = 0, caption: str = "") -> list[Payload]:
        """Sends one update for each file, as Telegram does."""
        group = f"album-{self.world.number()}"
        told = []
        for place, file in enumerate(files):
            words: Payload = {"caption": caption} if caption and not place else {}
            told.append(await self.say(user=user, chat=chat, media_group_id=group, **file, **words))
        return told

    async def press(self, shown: Shown, label: str, user: int = 1) -> Payload:
        """Presses a button under one of the bot's messages."""
        button = next(each for each in shown.buttons if each["text"] == label)
        return await self.press_data(shown, button["callback_data"], user)

    async def press_data(self, shown: Shown, data: str, user: int = 1) -> Payload:
        """Presses a button by its data, also one that no longer exists, as a slow client does."""
        query: Payload = {
            "id": f"query-{self.world.number()}",
            "from": self.world.person(user),
            "message": shown.message,
            "chat_instance": "1",
            "data": data,
        }
        self.world.queries.add(query["id"])
        return await self.report(callback_query=query)

    async def report(self, **update: Any) -> Payload:
        """Reports any update by its kind."""
        return await self.updates.put(update)

    # --- conditions that tests wait for

    async def until(self, condition: Callable[[], bool], seconds: float = WAIT_SECONDS) -> None:
        async with asyncio.timeout(seconds), self._changed:
            await self._changed.wait_for(condition)

    def sent(self, chat: int = 0) -> list[Shown]:
        return [each for each in self.world.sent if not each.deleted and (not chat or each.chat_id == chat)]

    def texts(self, chat: int = 0) -> list[str]:
        return [each.text for each in self.sent(chat)]

    async def answered(self, number: int, chat: int = 0, seconds: float = WAIT_SECONDS) -> list[Shown]:
        """Waits until the bot has sent this many messages in the chat and returns them."""
        await self.until(lambda: len(self.sent(chat)) >= number, seconds)
        return self.sent(chat)

    def made(self, method: str) -> list[Payload]:
        return [each.params for each in self.calls if each.method == method]

    async def _notify(self) -> None:
        async with self._changed:
            self._changed.notify_all()


def _answer(told: Payload) -> web.Response:
    status = told.get("error_code", 200)
    return web.Response(text=json.dumps(told), status=status, content_type="application/json")


def _abort(request: web.Request) -> None:
    with suppress(AttributeError):
        transport = request.transport
        if transport is not None:
            transport.abort()
