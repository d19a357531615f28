"""The server of the simulated Telegram: it answers calls, reports the actions of users, and records
those of the bot.
"""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from aiohttp import web

from parlour.testing.simulator import Outcome, PlatformSimulator, SimulatorServer
from parlour.testing.simulator.server import answer_call

from . import native
from .failures import Failed
from .faults import Faults
from .methods import COUNTED, perform
from .native import Payload
from .requests import Call, read
from .updates import Updates
from .world import SentMessage, World

TOKEN = "777000111:AAparlour-simulated-token-of-35-chars"


class Simulator(PlatformSimulator[SentMessage, Failed]):
    def __init__(self, token: str = TOKEN, local: bool = True) -> None:
        self.world = World()
        self.faults = Faults()
        super().__init__(self.faults, self.world.sent)
        self.updates = Updates()
        self.token = token
        self.local = local
        """True for a self-hosted Bot API server, which also calls plain addresses."""
        self.calls: list[Call] = []
        """Every call except polls, unchanged."""
        self.server = SimulatorServer()
        self.server.route("*", "/bot{token}/{method}", self._called)
        self.server.route("GET", "/file/bot{token}/{path:.+}", self._file)
        self._polling = 0

    # --- the server

    @asynccontextmanager
    async def listening(self, port: int = 0) -> AsyncIterator[str]:
        """Yields the address that replaces https://api.telegram.org."""
        async with self.server.listening(port) as url:
            self.begin(self.updates.call_webhook())
            try:
                yield url
            finally:
                await self.end_tasks()

    async def cut(self) -> None:
        """Breaks every connection, also the one that waits for updates."""
        await self.until(lambda: bool(self.updates.webhook or self._polling))
        self.server.cut()

    async def _called(self, request: web.Request) -> web.StreamResponse:
        if request.match_info["token"] != self.token:
            return _answer(Failed(401, "Unauthorized").answer())
        try:
            call = await read(request)
            if call.method == "getUpdates":
                return _answer({"ok": True, "result": await self._polled(call)})
        except Failed as failed:
            return _answer(failed.answer())
        self.calls.append(call)
        outcome = await self.perform(call.method, lambda: self._result(call), Failed)
        return await answer_call(request, outcome, _outcome, self.notify)

    async def _polled(self, call: Call) -> list[Payload]:
        self._polling += 1
        await self.notify()
        try:
            return await self.updates.poll(call.params)
        finally:
            self._polling -= 1

    async def _result(self, call: Call) -> Any:
        match call.method:
            case "setWebhook":
                return await self.updates.set_webhook(call.params, self.local)
            case "deleteWebhook":
                return await self.updates.delete_webhook(call.params)
            case "getWebhookInfo":
                return self.updates.webhook_info()
        if call.method in COUNTED and isinstance(call.params.get("chat_id"), int):
            self.faults.check_rate(call.params["chat_id"])
        return perform(self.world, call)

    async def _file(self, request: web.Request) -> web.Response:
        if request.match_info["token"] != self.token:
            return _answer(Failed(401, "Unauthorized").answer())
        path = request.match_info["path"]
        file = next((each for each in self.world.files.values() if each.path == path), None)
        return web.Response(body=file.data) if file else _answer(Failed(404, "Not Found").answer())

    # --- actions of users

    async def say(self, text: str = "", user: int = 1, chat: int = 0, topic: int = 0, **fields: Any) -> Payload:
        """Sends a message in a private chat unless a chat is named. `fields` are further fields of the message."""
        message = self.message(user, chat, topic, **({"text": text} if text else {}), **fields)
        await self.updates.put({"message": message})
        return message

    def message(self, user: int = 1, chat: int = 0, topic: int = 0, **fields: Any) -> Payload:
        """Creates a message without reporting it."""
        sender = self.world.person(user)
        target_chat = self.world.chats[chat or user]
        in_topic = {"message_thread_id": topic, "is_topic_message": True} if topic else {}
        message: Payload = {
            "message_id": self.world.number(),
            "from": sender,
            "chat": target_chat.about,
            "date": native.now(),
            **in_topic,
            **fields,
        }
        target_chat.messages[message["message_id"]] = message
        return message

    async def album(self, *files: Payload, user: int = 1, chat: int = 0, caption: str = "") -> list[Payload]:
        """Sends one update for each file, as Telegram does."""
        group = f"album-{self.world.number()}"
        updates = []
        for index, file in enumerate(files):
            caption_fields: Payload = {"caption": caption} if caption and not index else {}
            updates.append(await self.say(user=user, chat=chat, media_group_id=group, **file, **caption_fields))
        return updates

    async def press(self, shown: SentMessage, label: str, user: int = 1) -> Payload:
        """Presses a button under one of the bot's messages."""
        button = next(each for each in shown.buttons if each["text"] == label)
        return await self.press_data(shown, button["callback_data"], user)

    async def press_data(self, shown: SentMessage, data: str, user: int = 1) -> Payload:
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

    def chat_of(self, message: SentMessage) -> int:
        return message.chat_id

    def made(self, method: str) -> list[Payload]:
        return [each.params for each in self.calls if each.method == method]


def _answer(payload: Payload) -> web.Response:
    status = payload.get("error_code", 200)
    return web.Response(text=json.dumps(payload), status=status, content_type="application/json")


def _outcome(outcome: Outcome[Failed]) -> web.Response:
    return _answer({"ok": True, "result": outcome.result} if outcome.refusal is None else outcome.refusal.answer())
