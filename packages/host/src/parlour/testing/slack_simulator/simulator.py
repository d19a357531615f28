"""The simulated Slack as a whole: Web API, Socket Mode, signed calls, and what its users do."""

import hashlib
import hmac
import itertools
import json
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from aiohttp import ClientSession, web

from parlour.testing.simulator import Outcome, PlatformSimulator, RateWindows, SimulatorFaults, SimulatorServer
from parlour.testing.simulator.server import answer_call

from .calls import SlackCalls
from .forms import PARAMETERS, check_parameters
from .socket_mode import SocketModeServer
from .world import APP, BOT_USER, TEAM, Json, SentSlackMessage, SlackRefusal, SlackWorld

BOT_TOKEN, APP_TOKEN = "xoxb-the-secret-bot-token", "xapp-the-secret-app-token"
SIGNING_SECRET = "the-signing-secret-of-slack"
LIMITS: dict[str, tuple[float, float]] = {
    "chat.postMessage": (4, 4.0), "chat.update": (50, 60.0), "apps.connections.open": (20, 60.0),
    "users.info": (100, 60.0), "conversations.history": (50, 60.0), "conversations.replies": (50, 60.0),
}  # fmt: skip
"""Calls per seconds; those of messages count per channel."""
OTHER_LIMIT = (100.0, 60.0)
SCOPES = (
    "app_mentions:read", "channels:history", "channels:manage", "channels:read", "chat:write", "files:read",
    "files:write", "groups:history", "groups:read", "groups:write", "im:history", "im:read", "im:write",
    "mpim:history", "mpim:read", "reactions:read", "reactions:write", "users:read",
)  # fmt: skip
NEEDED_SCOPES = {
    "chat.postMessage": "chat:write", "chat.update": "chat:write", "chat.delete": "chat:write",
    "users.info": "users:read", "reactions.add": "reactions:write", "reactions.remove": "reactions:write",
    "files.getUploadURLExternal": "files:write", "files.completeUploadExternal": "files:write",
}  # fmt: skip
"""The scope without which a call is refused."""


@dataclass
class SlackFaults(SimulatorFaults[SlackRefusal]):
    """The faults of the simulated Slack."""

    def refuse(self, call: str, error: str, times: int = 1) -> None:
        self.refuse_with(call, SlackRefusal(error), times)

    def too_many(self, call: str, seconds: float) -> None:
        self.refuse_with(call, SlackRefusal("ratelimited", retry_after=seconds))


class SlackSimulator(PlatformSimulator[SentSlackMessage, SlackRefusal]):
    def __init__(self) -> None:
        self.world = SlackWorld()
        self.faults = SlackFaults()
        super().__init__(self.faults, self.world.sent)
        self.calls = SlackCalls(self.world, self._report_own)
        self.socket_mode = SocketModeServer(self.notify)
        self.limits = dict(LIMITS)
        self.scopes = set(SCOPES)
        """The scopes of the bot's token."""
        self.rates = RateWindows()
        self.made: list[str] = []
        """The names of all calls, in order."""
        self.request_url = ""
        """Where events are sent as calls; empty for Socket Mode."""
        self.responses: list[tuple[int, str]] = []
        """Status and body of the answers to calls."""
        self.reported: list[Json] = []
        """The envelopes of users' messages, in order."""
        self.server = SimulatorServer()
        for verb in ("GET", "POST"):
            self.server.route(verb, "/api/{method}", self._call)
        self.server.route("POST", "/upload/{file}", self._upload)
        self.server.route("GET", "/files-pri/{file}/download/{name}", self._download)
        self.server.route_socket("/link", self.socket_mode.serve)
        self._numbers = itertools.count(1)

    @asynccontextmanager
    async def listening(self, port: int = 0) -> AsyncIterator[str]:
        """Yields the address of the Web API."""
        async with self.server.listening(port) as address:
            self.calls.address = address
            self.socket_mode.address = f"ws{address.removeprefix('http')}"
            try:
                yield f"{address}/api"
            finally:
                await self.end_tasks()

    def chat_of(self, message: SentSlackMessage) -> str:
        return message.chat

    # --- the Web API

    async def _call(self, request: web.Request) -> web.Response:
        method = request.match_info["method"]
        params = await _parameters(request)

        async def act() -> Json:
            if method not in PARAMETERS:
                raise SlackRefusal("unknown_method")
            self._authorize(method, request, params)
            check_parameters(method, params)
            self._count(method, params)
            if method == "apps.connections.open":
                return {"url": self.socket_mode.url()}
            return await self.calls.find(method)(params)

        self.made.append(method)
        outcome = await self.perform(method, act, SlackRefusal)
        return await answer_call(request, outcome, self._answer, self.notify)

    def _answer(self, outcome: Outcome[SlackRefusal]) -> web.Response:
        response = _answer(outcome)
        response.headers["X-OAuth-Scopes"] = ",".join(sorted(self.scopes))
        return response

    def _authorize(self, method: str, request: web.Request, params: Json) -> None:
        token = request.headers.get("Authorization", "").removeprefix("Bearer ") or params.pop("token", "")
        params.pop("token", None)
        expected = APP_TOKEN if method == "apps.connections.open" else BOT_TOKEN
        if not token:
            raise SlackRefusal("not_authed")
        if token in (APP_TOKEN, BOT_TOKEN) and token != expected:
            raise SlackRefusal("not_allowed_token_type")
        if token != expected:
            raise SlackRefusal("invalid_auth")
        needed = NEEDED_SCOPES.get(method, "")
        if needed and needed not in self.scopes:
            raise SlackRefusal("missing_scope", needed=needed, provided=",".join(sorted(self.scopes)))

    def _count(self, method: str, params: Json) -> None:
        limit = self.limits.get(method, OTHER_LIMIT)
        place = params.get("channel", "") if method.startswith("chat.") else ""
        if wait := self.rates.seconds_to_wait({f"{method} {place}": limit}):
            raise SlackRefusal("ratelimited", retry_after=wait)

    async def _upload(self, request: web.Request) -> web.Response:
        try:
            self.calls.receive_upload(request.match_info["file"], await request.read())
        except SlackRefusal as refusal:
            return web.Response(status=400, text=refusal.error)
        return web.Response(text="OK - 1")

    async def _download(self, request: web.Request) -> web.Response:
        if request.headers.get("Authorization") != f"Bearer {BOT_TOKEN}":
            return web.Response(text="<!DOCTYPE html><html>Sign in</html>", content_type="text/html")
        data = self.world.files.get(request.match_info["file"])
        return web.Response(body=data) if data is not None else web.Response(status=404)

    # --- reports

    async def _report_own(self, message: Json) -> None:
        """Reports what the bot itself did, as Slack does."""
        await self._deliver("events_api", self.event(message))

    def event(self, event: Json) -> Json:
        """Returns an event in the form in which Slack reports it."""
        return {
            "token": "verification-token", "team_id": TEAM, "api_app_id": APP, "type": "event_callback",
            "event_id": f"Ev{next(self._numbers):08}", "event_time": int(time.time()), "event": event,
            "authorizations": [{"team_id": TEAM, "user_id": BOT_USER, "is_bot": True}],
        }  # fmt: skip

    async def report(self, event: Json) -> None:
        for each in self.scheduled(self.event(event)):
            self.reported.append(await self._deliver("events_api", each))
        await self.notify()

    async def _deliver(self, kind: str, payload: Json) -> Json:
        if not self.request_url:
            return await self.socket_mode.report(kind, payload)
        await self.call_bot(kind, payload)
        return {"type": kind, "payload": payload}

    async def call_bot(self, kind: str, payload: Json, secret: str = SIGNING_SECRET, age: float = 0.0) -> int:
        """Calls the bot's address, signed, and returns the status."""
        content_type = "application/json" if kind == "events_api" else "application/x-www-form-urlencoded"
        body = (
            json.dumps(payload)
            if kind == "events_api"
            else urlencode({"payload": json.dumps(payload)} if kind == "interactive" else payload)
        )
        moment = str(int(time.time() - age))
        signature = hmac.new(secret.encode(), f"v0:{moment}:{body}".encode(), hashlib.sha256).hexdigest()
        headers = {
            "Content-Type": content_type, "X-Slack-Request-Timestamp": moment, "X-Slack-Signature": f"v0={signature}",
        }  # fmt: skip
        async with ClientSession() as session, session.post(self.request_url, data=body, headers=headers) as response:
            self.responses.append((response.status, await response.text()))
            return response.status

    # --- what users do

    async def say(self, text: str, user_id: str, channel_id: str, **fields: Any) -> Json:
        message = self.world.write(channel_id, user_id, text, **fields)
        await self.report(message)
        return message

    async def press(self, message: Json, label: str, user_id: str) -> None:
        """Lets a user press a button of a message."""
        buttons = [each for block in message["blocks"] for each in block.get("elements", ())]
        button = next(each for each in buttons if each["text"]["text"] == label)
        action = {**button, "type": "button", "block_id": "b1", "action_ts": self.world.time()}
        place = {
            "type": "message",
            "message_ts": message["ts"],
            "channel_id": message["channel"],
            "is_ephemeral": False,
        }
        payload = {
            "type": "block_actions", "user": {"id": user_id, "username": self.world.users[user_id]["name"]},
            "api_app_id": APP, "token": "verification-token", "container": place,
            "trigger_id": f"trigger-{self.world.time()}", "team": {"id": TEAM},
            "channel": {"id": message["channel"], "name": "a"}, "message": message,
            "response_url": "https://hooks.slack.com/actions/secret", "actions": [action],
        }  # fmt: skip
        await self._deliver("interactive", payload)

    async def command(self, command: str, text: str, user_id: str, channel_id: str) -> None:
        payload = {
            "token": "verification-token", "team_id": TEAM, "channel_id": channel_id, "user_id": user_id,
            "user_name": self.world.users[user_id]["name"], "command": command, "text": text, "api_app_id": APP,
            "response_url": "https://hooks.slack.com/commands/secret", "trigger_id": f"trigger-{self.world.time()}",
        }  # fmt: skip
        await self._deliver("slash_commands", payload)


async def _parameters(request: web.Request) -> Json:
    if request.content_type == "application/json":
        body = await request.json()
        return {name: value if isinstance(value, str) else json.dumps(value) for name, value in dict(body).items()}
    return {name: str(value) for name, value in (await request.post()).items()} | dict(request.query)


def _answer(outcome: Outcome[SlackRefusal]) -> web.Response:
    refusal = outcome.refusal
    if refusal is None:
        return web.json_response({"ok": True, **outcome.result})
    if refusal.retry_after is not None:
        headers = {"Retry-After": str(max(1, round(refusal.retry_after)))}
        return web.json_response(refusal.body(), status=429, headers=headers)
    return web.json_response(refusal.body())
