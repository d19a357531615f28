"""The simulated WeCom as a whole: one connection for the bot, what it sends, and what users do."""

import asyncio
import itertools
import json
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

from aiohttp import ClientError, web

from parlour.testing.errcode_simulator import Json
from parlour.testing.simulator import PlatformSimulator, SimulatorFaults, SimulatorServer, SimulatorSocket

from .calls import BotCalls
from .checks import WecomBotRefusal, check_message, check_stream
from .files import BotFiles

BOT, SECRET, NAME = "aibsHYYX2DBB", "the-secret-of-the-bot", "小助手"
STREAM_SECONDS = 360.0
EVENT_SECONDS = 5.0
POLL_SECONDS = 0.05
"""Seconds between two questions for the text of an answer, fewer than WeCom's."""


@dataclass
class SentBotMessage:
    """A message of the bot, as WeCom shows it."""

    id: str
    chat: str
    kind: str
    content: Json
    versions: list[str] = field(default_factory=list)
    """The texts that a stream has shown, in order."""
    times: list[float] = field(default_factory=list)
    """When each of them was shown."""
    finished: bool = True
    feedback_id: str = ""
    deleted: bool = False
    pressed: str = ""
    """What replaced the buttons of a card."""

    @property
    def text(self) -> str:
        if self.kind == "stream":
            return self.versions[-1]
        if self.kind == "template_card":
            return "\n".join(filter(None, (self.content["main_title"]["title"], self.content.get("sub_title_text"))))
        return str(self.content.get("content", ""))


@dataclass
class Faults(SimulatorFaults[WecomBotRefusal]):
    def refuse(self, call: str, code: int, message: str = "refused", times: int = 1) -> None:
        self.refuse_with(call, WecomBotRefusal(code, message), times)


@dataclass
class Answerable:
    """A message or event that the bot may answer."""

    chat: str
    at: float
    is_event: bool
    stream_at: float = 0.0
    task_id: str = ""


class WecomBotSimulator(PlatformSimulator[SentBotMessage, WecomBotRefusal]):
    def __init__(self) -> None:
        self.messages: list[SentBotMessage] = []
        self.faults = Faults()
        super().__init__(self.faults, self.messages)
        self.server = SimulatorServer()
        self.files = BotFiles()
        self.made: list[str] = []
        """The commands of the bot, in order."""
        self.socket: SimulatorSocket | None = None
        self.connections = 0
        self.reported: list[Json] = []
        self.answerable: dict[str, Answerable] = {}
        self.chats: set[str] = set()
        """Chats in which a user has written."""
        self.stream_seconds = STREAM_SECONDS
        self.is_called = False
        """True if WeCom calls the bot."""
        self.calls = BotCalls(self.notify, self._answered)
        self.asks = asyncio.Event()
        """Cleared while WeCom asks for no texts of answers."""
        self.asks.set()
        self.late: dict[str, str] = {}
        """Chats by the addresses of later answers, each for one use."""
        self._undelivered: list[Json] = []
        self._numbers = itertools.count(1)
        self.server.route_socket("/", self._serve)
        self.server.route("GET", "/files/{path}", self.files.serve)
        self.server.route("POST", "/response/{number}", self._answer_late)

    @asynccontextmanager
    async def listening(self, port: int = 0) -> AsyncIterator[str]:
        """Yields the address of the long connection."""
        async with self.server.listening(port) as address:
            self.files.address = address
            try:
                yield f"{address.replace('http', 'ws', 1)}/"
            finally:
                await self.end_tasks()

    # --- the connection

    async def _serve(self, socket: SimulatorSocket) -> None:
        self.connections += 1
        try:
            async for data in socket.frames():
                await self._read(socket, json.loads(data))
        finally:
            if self.socket is socket:
                self.socket = None
            await self.notify()

    async def _read(self, socket: SimulatorSocket, frame: Json) -> None:
        command, request_id, body = frame["cmd"], frame["headers"]["req_id"], frame.get("body") or {}
        self.made.append(command)
        if command == "aibot_subscribe":
            await self._subscribe(socket, request_id, body)
            return
        if command == "ping":
            await self._answer(socket, request_id, {"errcode": 0, "errmsg": "ok"})
            await self.notify()
            return

        async def act() -> Any:
            if socket is not self.socket:
                raise WecomBotRefusal(40014, "not subscribed")
            return await getattr(self, f"call_{command.removeprefix('aibot_')}")(request_id, body)

        outcome = await self.perform(command, act, WecomBotRefusal)
        if outcome.cuts:
            socket.abort()
        elif outcome.answers:
            refusal = outcome.refusal
            code, message = (refusal.code, refusal.message) if refusal is not None else (0, "ok")
            answer = {"errcode": code, "errmsg": message, **({"body": outcome.result} if outcome.result else {})}
            await self._answer(socket, request_id, answer)
        await self.notify()

    async def _answer(self, socket: SimulatorSocket, request_id: str, answer: Json) -> None:
        with suppress(ConnectionResetError):
            await socket.send(json.dumps({"headers": {"req_id": request_id}, **answer}, ensure_ascii=False))

    async def _subscribe(self, socket: SimulatorSocket, request_id: str, body: Json) -> None:
        if (body.get("bot_id"), body.get("secret")) != (BOT, SECRET):
            await self._answer(socket, request_id, {"errcode": 853000, "errmsg": "invalid bot_id or secret"})
            return
        earlier, self.socket = self.socket, socket
        if earlier is not None:
            await self._send(earlier, "aibot_event_callback", self.event("", eventtype="disconnected_event"), "x")
            await earlier.close()
        await self._answer(socket, request_id, {"errcode": 0, "errmsg": "ok"})
        undelivered, self._undelivered = self._undelivered, []
        for frame in undelivered:
            await socket.send(json.dumps(frame, ensure_ascii=False))
        await self.notify()

    async def _send(self, socket: SimulatorSocket, command: str, body: Any, request_id: str) -> None:
        frame = {"cmd": command, "headers": {"req_id": request_id}, "body": body}
        await socket.send(json.dumps(frame, ensure_ascii=False))

    # --- the calls

    def _answered(self, body: Json, answer: Json) -> None:
        """Shows what the bot answered to a call."""
        chat = _chat_of(body)
        if answer.get("response_type") == "update_template_card":
            self._press(body["event"]["template_card_event"]["task_id"], answer["template_card"])
        elif answer["msgtype"] == "stream":
            self._show_polled(chat, answer["stream"])
            if not answer["stream"]["finish"]:
                self.begin(self._poll(body, answer["stream"]["id"]))
        else:
            self._show(chat, answer["msgtype"], check_message(answer, self.files.media))

    def _show_polled(self, chat: str, stream: Json) -> bool:
        """Shows a text that was asked for, and returns whether it is the end. An empty one is shown as waiting."""
        check_stream(stream)
        if stream["content"] or any(each.id == stream["id"] for each in self.messages):
            answered = Answerable(chat, time.monotonic(), is_event=False, stream_at=time.monotonic())
            self._stream(answered, {name: each for name, each in stream.items() if name != "feedback"})
        return bool(stream["finish"])

    async def _poll(self, body: Json, stream_id: str) -> None:
        """Asks for the text of an answer until its end, and as long as the bot can't be reached."""
        question = {**body, "msgtype": "stream", "stream": {"id": stream_id}}
        while True:
            await asyncio.sleep(POLL_SECONDS)
            await self.asks.wait()
            try:
                _, answer = await self.calls.ask({**question, "msgid": f"poll{next(self._numbers)}"})
            except (ClientError, OSError, TimeoutError):
                continue
            is_end = bool(answer) and self._show_polled(_chat_of(body), answer["stream"])
            await self.notify()
            if is_end:
                return

    async def _answer_late(self, request: web.Request) -> web.Response:
        chat, body = self.late.pop(request.match_info["number"], ""), await request.json()
        if not chat or body.get("msgtype") not in ("markdown", "template_card"):
            return web.json_response({"errcode": 846605, "errmsg": "invalid response_code"})
        self._show(chat, body["msgtype"], check_message(body, self.files.media))
        await self.notify()
        return web.json_response({"errcode": 0, "errmsg": "ok"})

    # --- what the bot sends

    async def call_respond_msg(self, request_id: str, body: Json) -> None:
        answered = self.answerable.get(request_id)
        if answered is None or answered.is_event:
            raise WecomBotRefusal(846605, "invalid req_id")
        content = check_message(body, self.files.media)
        if body["msgtype"] == "stream":
            self._stream(answered, content)
        else:
            self._show(answered.chat, body["msgtype"], content)

    def _stream(self, answered: Answerable, stream: Json) -> None:
        shown = next((each for each in self.messages if each.kind == "stream" and each.id == stream["id"]), None)
        if shown is None:
            answered.stream_at = time.monotonic()
            shown = SentBotMessage(stream["id"], answered.chat, "stream", {}, [], finished=False)
            shown.feedback_id = stream.get("feedback", {}).get("id", "")
            self.messages.append(shown)
        elif time.monotonic() - answered.stream_at > self.stream_seconds:
            raise WecomBotRefusal(846608, "stream message update expired")
        elif "feedback" in stream and shown.versions != [stream["content"]] and not stream["finish"]:
            raise WecomBotRefusal(40058, "feedback belongs to the first frame")
        shown.versions.append(stream["content"])
        shown.times.append(time.monotonic())
        shown.finished = stream["finish"]

    async def call_send_msg(self, request_id: str, body: Json) -> None:
        if body.get("chatid") not in self.chats:
            raise WecomBotRefusal(93006, "invalid chatid")
        if body.get("msgtype") == "stream":
            raise WecomBotRefusal(40008, "invalid message type")
        self._show(body["chatid"], body["msgtype"], check_message(body, self.files.media))

    def _show(self, chat: str, kind: str, content: Json) -> None:
        self.messages.append(SentBotMessage(f"shown{next(self._numbers)}", chat, kind, content))

    async def call_respond_welcome_msg(self, request_id: str, body: Json) -> None:
        self._show(self._event(request_id).chat, body["msgtype"], check_message(body, self.files.media))

    async def call_respond_update_msg(self, request_id: str, body: Json) -> None:
        answered, card = self._event(request_id), body.get("template_card", {})
        self._press(answered.task_id, card)

    def _press(self, task_id: str, card: Json) -> None:
        shown = next((each for each in self.messages if each.content.get("task_id") == task_id), None)
        if shown is None or card.get("task_id") != task_id:
            raise WecomBotRefusal(42049, "invalid task_id")
        shown.pressed = card.get("replace_text", "")

    def _event(self, request_id: str) -> Answerable:
        """Takes an event that can be answered once, within five seconds."""
        answered = self.answerable.pop(request_id, None)
        if answered is None or not answered.is_event or time.monotonic() - answered.at > EVENT_SECONDS:
            raise WecomBotRefusal(846605, "invalid req_id")
        return answered

    async def call_upload_media_init(self, request_id: str, body: Json) -> Json:
        return self.files.begin(body)

    async def call_upload_media_chunk(self, request_id: str, body: Json) -> Json:
        return self.files.add_chunk(body)

    async def call_upload_media_finish(self, request_id: str, body: Json) -> Json:
        return self.files.finish(body)

    # --- what users do

    def message(self, user_id: str, kind: str, /, group: str = "", **content: Any) -> Json:
        """Returns a message of a user in the form in which WeCom reports it."""
        place = {"chatid": group, "chattype": "group"} if group else {"chattype": "single"}
        number = str(next(self._numbers))
        self.late[number] = group or user_id
        return {
            "msgid": f"msg{number}", "aibotid": BOT, **place, "from": {"userid": user_id},
            "create_time": int(time.time()), "response_url": f"{self.files.address}/response/{number}",
            "msgtype": kind, kind: content,
        }  # fmt: skip

    def event(self, user_id: str, /, group: str = "", **event: Any) -> Json:
        return self.message(user_id, "event", group, **event)

    async def say(self, text: str, user_id: str, group: str = "") -> None:
        content = f"@{NAME} {text}" if group else text
        await self.report(self.message(user_id, "text", group, content=content))

    async def report(self, body: Any) -> None:
        """Reports a message or event, perhaps twice or after the next one; it waits for a connection."""
        for each in self.scheduled(body):
            self.reported.append(each)
            await self._report(each)

    async def _report(self, body: Any) -> None:
        request_id, known = f"REQ{next(self._numbers)}", body if isinstance(body, dict) else {}
        is_event = known.get("msgtype") == "event"
        chat = _chat_of(known)
        event = known.get("event") or {}
        task_id = str((event.get("template_card_event") or {}).get("task_id", "")) if isinstance(event, dict) else ""
        self.answerable[request_id] = Answerable(chat, time.monotonic(), is_event, task_id=task_id)
        self.chats.add(chat)
        if self.is_called:
            self.calls.start(json.dumps(body), chat, self.begin)
            return
        command = "aibot_event_callback" if is_event else "aibot_msg_callback"
        if self.socket is None:
            self._undelivered.append({"cmd": command, "headers": {"req_id": request_id}, "body": body})
            return
        try:
            await self._send(self.socket, command, body, request_id)
        except ConnectionResetError:
            self._undelivered.append({"cmd": command, "headers": {"req_id": request_id}, "body": body})

    async def press(self, shown: SentBotMessage, label: str, user_id: str) -> None:
        """Lets a user press a button of a card."""
        button = next(each for each in shown.content["button_list"] if each["text"] == label)
        pressed = {
            "card_type": "button_interaction", "event_key": button["key"], "task_id": shown.content["task_id"],
        }  # fmt: skip
        group = "" if shown.chat == user_id else shown.chat
        await self.report(self.event(user_id, group, eventtype="template_card_event", template_card_event=pressed))

    async def rate(self, shown: SentBotMessage, user_id: str, kind: int, **more: Any) -> None:
        """Lets a user rate an answer."""
        rating = {"id": shown.feedback_id, "type": kind, **more}
        await self.report(self.event(user_id, eventtype="feedback_event", feedback_event=rating))


def _chat_of(body: Json) -> str:
    sender = body.get("from")
    return str(body.get("chatid") or (sender.get("userid") if isinstance(sender, dict) else "") or "")
