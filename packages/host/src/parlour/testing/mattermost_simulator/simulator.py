"""The simulated Mattermost as a whole: one server with WebSocket and REST API, and what its users do."""

import json
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from aiohttp import BodyPartReader, ClientSession, web

from parlour.testing.simulator import Outcome, PlatformSimulator, RateWindows, SimulatorFaults, SimulatorServer
from parlour.testing.simulator.server import answer_call

from .calls import MattermostCalls
from .gateway import MattermostSocketServer
from .world import ID, Json, MattermostRefusal, MattermostWorld, SentPost, invalid

TOKEN = "the-access-token-of-the-bot"
API = "/api/v4"
LIMIT = (100.0, 10.0)
"""Calls per seconds of one session: ten a second with a burst of a hundred, as a server limits them by default."""
MAX_FILE_BYTES = 100 * 1024 * 1024
ACTION_ID = re.compile(r"[A-Za-z0-9]+")


@dataclass
class MattermostFaults(SimulatorFaults[MattermostRefusal]):
    """The faults of the simulated Mattermost."""

    def refuse(self, call: str, status: int, code: str, message: str = "It was refused.", times: int = 1) -> None:
        self.refuse_with(call, MattermostRefusal(status, code, message), times)

    def too_many(self, call: str, seconds: float) -> None:
        self.refuse_with(call, MattermostRefusal(429, "", "limit exceeded", retry_after=seconds))


class MattermostSimulator(PlatformSimulator[SentPost, MattermostRefusal]):
    def __init__(self) -> None:
        self.token = TOKEN
        self.world = MattermostWorld()
        self.faults = MattermostFaults()
        super().__init__(self.faults, self.world.sent)
        self.gateway = MattermostSocketServer(TOKEN, self.notify)
        self.calls = MattermostCalls(self.world, self.gateway)
        self.limit = LIMIT
        self.rates = RateWindows()
        self.max_file_bytes = MAX_FILE_BYTES
        self.made: list[str] = []
        """The names of all calls, in order."""
        self.reported: list[Json] = []
        """The frames of users' posts, in order."""
        self.responses: list[tuple[int, str]] = []
        """Status and text of each answer to a pressed button."""
        self.server = SimulatorServer()
        for method, path, name, call in self.calls.routes():
            self._route(method, path, name, call)
        self.server.route("POST", f"{API}/files", self._upload)
        self.server.route("GET", f"{API}/files/{{file}}", self._download)
        self.server.route_socket(f"{API}/websocket", self.gateway.serve)

    @asynccontextmanager
    async def listening(self, port: int = 0) -> AsyncIterator[str]:
        """Yields the address of the server."""
        async with self.server.listening(port) as address:
            try:
                yield address
            finally:
                await self.end_tasks()

    def chat_of(self, message: SentPost) -> str:
        return message.chat

    def _route(self, method: str, path: str, name: str, call: Any) -> None:
        async def serve(request: web.Request) -> web.Response:
            async def act() -> Any:
                self._check(request)
                return await call({**request.query, **request.match_info}, await _body(request))

            self.made.append(name)
            outcome = await self.perform(name, act, MattermostRefusal)
            return await answer_call(request, outcome, _answer, self.notify)

        self.server.route(method, f"{API}/{path}", serve)

    def _check(self, request: web.Request) -> None:
        if request.headers.get("Authorization") != f"Bearer {TOKEN}":
            problem = "Invalid or expired session, please login again."
            raise MattermostRefusal(401, "api.context.session_expired.app_error", problem)
        if wait := self.rates.seconds_to_wait({TOKEN: self.limit}):
            raise MattermostRefusal(429, "", "limit exceeded", retry_after=wait)
        for name, value in request.match_info.items():
            if name != "emoji" and value != "me" and not ID.fullmatch(value):
                problem = f"Invalid or missing {name}_id parameter in request URL."
                raise MattermostRefusal(400, "api.context.invalid_url_param.app_error", problem)

    async def _upload(self, request: web.Request) -> web.Response:
        channel_id, files = request.query.get("channel_id", ""), []
        if request.content_type == "multipart/form-data":
            async for part in await request.multipart():
                assert isinstance(part, BodyPartReader)
                if part.name == "channel_id":
                    channel_id = await part.text()
                elif part.filename:
                    mime_type = part.headers.get("Content-Type", "application/octet-stream")
                    files.append((part.filename, mime_type, bytes(await part.read())))

        async def act() -> Json:
            self._check(request)
            if not channel_id or not files:
                raise invalid("channel_id" if files else "files")
            self.world.channel(channel_id)
            if any(len(data) > self.max_file_bytes for _, _, data in files):
                problem = "Unable to upload file. File is too large."
                raise MattermostRefusal(413, "api.file.upload_file.too_large_detailed.app_error", problem)
            infos = [self.world.add_file(name, data, kind, channel_id) for name, kind, data in files]
            return {"file_infos": infos, "client_ids": []}

        outcome = await self.perform("files", act, MattermostRefusal)
        return await answer_call(request, outcome, _answer, self.notify)

    async def _download(self, request: web.Request) -> web.Response:
        try:
            self._check(request)
        except MattermostRefusal as refusal:
            return _answer(Outcome(refusal=refusal))
        known = self.world.files.get(request.match_info["file"])
        if known is None:
            return _answer(Outcome(refusal=MattermostRefusal(404, "app.file_info.get.app_error", "Unable to get it.")))
        return web.Response(body=known[1], content_type=known[0]["mime_type"])

    # --- what users do

    async def say(self, channel_id: str, user_id: str, message: str, **fields: Any) -> Json:
        """Lets a user write, and returns the post."""
        post = self.world.write(channel_id, user_id, message, **fields)
        await self.report(self.world.event("posted", post))
        return post

    async def report(self, event: Json) -> None:
        for each in self.scheduled(event):
            frame = await self.gateway.dispatch(each)
            if frame is not None:
                self.reported.append(frame)
        await self.notify()

    async def press(self, sent: SentPost, label: str, presser: str, **changes: Any) -> int:
        """Lets a user press a button: the server calls the address of its action. Returns the status."""
        action = next(each for each in sent.buttons if each["name"] == label)
        assert ACTION_ID.fullmatch(action["id"]), "Mattermost finds no action with such an id"
        channel = self.world.channels[sent.chat]
        call = {
            "user_id": presser, "user_name": self.world.users[presser]["username"], "channel_id": channel["id"],
            "channel_name": channel["name"], "team_id": channel["team_id"], "team_domain": "team",
            "post_id": sent.payload["id"], "trigger_id": f"trigger{self.world.number()}", "type": "button",
            "data_source": "", "context": action["integration"]["context"], **changes,
        }  # fmt: skip
        return await self.call_bot(action["integration"]["url"], call)

    async def call_bot(self, url: str, call: Json) -> int:
        """Makes a call of the server to the address of a button and returns the status."""
        async with ClientSession() as session, session.post(url, json=call) as response:
            self.responses.append((response.status, await response.text()))
            return response.status


async def _body(request: web.Request) -> Any:
    if not request.can_read_body:
        return {}
    try:
        return await request.json()
    except ValueError:
        raise invalid("body") from None


def _answer(outcome: Outcome[MattermostRefusal]) -> web.Response:
    refusal = outcome.refusal
    if refusal is None:
        return web.Response(body=json.dumps(outcome.result).encode(), content_type="application/json")
    if refusal.status == 429:
        reset = f"{refusal.retry_after or 1.0:.2f}"
        headers = {"X-Ratelimit-Limit": "10", "X-Ratelimit-Remaining": "0", "X-Ratelimit-Reset": reset}
        return web.Response(status=429, text="limit exceeded", headers=headers)
    body = {
        "id": refusal.code, "message": refusal.message, "detailed_error": "", "request_id": "r1",
        "status_code": refusal.status,
    }  # fmt: skip
    return web.Response(body=json.dumps(body).encode(), status=refusal.status, content_type="application/json")
