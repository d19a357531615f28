"""The simulated DingTalk as a whole: what the robot calls, and what users do."""

import itertools
import re
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

from parlour.testing.simulator import Outcome, PlatformSimulator, SimulatorFaults, SimulatorServer
from parlour.testing.simulator.server import answer_call

from .checks import check_message, check_session
from .stream import DingTalkRefusal, Json, StreamServer

CLIENT, SECRET, TEMPLATE, BOT = "dingabcdef", "the-secret-of-the-app", "template.schema", "$:LWCP_v1:$bot"
MESSAGES, CARDS = "/v1.0/im/bot/messages/get", "/v1.0/card/instances/callback"
TOKEN_SECONDS = 7200
MEDIA_LIMITS = {"image": 20, "voice": 2, "video": 20, "file": 20}
OPEN_CALLS = ("v1.0/gateway/connections/open", "v1.0/oauth2/accessToken")
_LINE_BREAK = re.compile("  \n")


@dataclass
class SentDingTalkMessage:
    """A message of the robot, or a card."""

    id: str
    chat: str
    kind: str
    params: Json
    versions: list[str] = field(default_factory=list)
    """The texts of a card, in order."""
    times: list[float] = field(default_factory=list)
    finalized: bool = False
    status: str = ""
    deleted: bool = False

    @property
    def text(self) -> str:
        shown = self.versions[-1] if self.versions else self.params.get("text") or self.params.get("content") or ""
        return _LINE_BREAK.sub("\n", shown)


@dataclass
class DingTalkFaults(SimulatorFaults[DingTalkRefusal]):
    def refuse(self, call: str, status: int, code: str, times: int = 1) -> None:
        self.refuse_with(call, DingTalkRefusal(status, code), times)

    def too_many(self, call: str, times: int = 1) -> None:
        self.refuse_with(call, DingTalkRefusal(403, "Forbidden.AccessDenied.QpsLimitForApi"), times)


class DingTalkSimulator(PlatformSimulator[SentDingTalkMessage, DingTalkRefusal]):
    def __init__(self) -> None:
        self.messages: list[SentDingTalkMessage] = []
        self.faults = DingTalkFaults()
        super().__init__(self.faults, self.messages)
        self.server = SimulatorServer()
        self.stream = StreamServer(self.notify)
        self.made: list[str] = []
        """The names of all calls, in order."""
        self.tokens: dict[str, float] = {}
        self.users: dict[str, Json] = {}
        self.media: dict[str, tuple[str, str, bytes]] = {}
        self.files: dict[str, tuple[str, bytes]] = {}
        """Files of users: type and content by download code."""
        self.sessions: dict[str, str] = {}
        """Chats by the name of a session."""
        self.guids: set[str] = set()
        self.reported: list[Json] = []
        self._numbers = itertools.count(1)
        self.server.route_socket("/connect", self.stream.serve)
        self.server.route("GET", "/files/{code}", self._serve_file)
        for verb in ("POST", "PUT"):
            self.server.route(verb, "/{path:.*}", self._serve_call)

    @asynccontextmanager
    async def listening(self, port: int = 0) -> AsyncIterator[str]:
        """Yields the address of both APIs."""
        async with self.server.listening(port) as address:
            self.stream.address = address
            try:
                yield address
            finally:
                await self.end_tasks()

    def add_user(self, user_id: str, name: str) -> None:
        self.users[user_id] = {"userid": user_id, "name": name, "avatar": "", "unionid": f"union-{user_id}"}

    # --- calls

    async def _serve_call(self, request: web.Request) -> web.Response:
        path = request.match_info["path"]
        self.made.append(path)

        async def act() -> Any:
            name = path.removeprefix("v1.0/").replace("/", "_")
            handler: Callable[[web.Request], Awaitable[Any]] | None = getattr(self, f"call_{name}", None)
            if handler is None:
                raise DingTalkRefusal(404, "InvalidAction.NotFound")
            if path.startswith("v1.0/") and path not in OPEN_CALLS:
                self._authorize(request.headers.get("x-acs-dingtalk-access-token", ""))
            elif path in ("media/upload", "topapi/v2/user/get"):
                self._authorize(request.query.get("access_token", ""), is_old=True)
            return await handler(request)

        outcome = await self.perform(path, act, DingTalkRefusal)
        return await answer_call(request, outcome, _answer, self.notify)

    def _authorize(self, token: str, is_old: bool = False) -> None:
        if self.tokens.get(token, 0) <= time.monotonic():
            raise DingTalkRefusal(200 if is_old else 401, "40014" if is_old else "InvalidAuthentication")

    async def call_oauth2_accessToken(self, request: web.Request) -> Json:  # noqa: N802
        body = await request.json()
        if (body.get("appKey"), body.get("appSecret")) != (CLIENT, SECRET):
            raise DingTalkRefusal(400, "invalidClientIdOrSecret")
        now = time.monotonic()
        token = next((each for each, until in self.tokens.items() if until > now), f"token-{next(self._numbers)}")
        self.tokens.setdefault(token, now + TOKEN_SECONDS)
        return {"accessToken": token, "expireIn": TOKEN_SECONDS}

    async def call_gateway_connections_open(self, request: web.Request) -> Json:
        body = await request.json()
        if (body.get("clientId"), body.get("clientSecret")) != (CLIENT, SECRET):
            raise DingTalkRefusal(401, "authFailed")
        assert {each["topic"] for each in body["subscriptions"]} >= {MESSAGES}
        return self.stream.open()

    async def call_robot_groupMessages_send(self, request: web.Request) -> Json:  # noqa: N802
        body = await request.json()
        return {"processQueryKey": self._show(body, str(body.get("openConversationId") or ""))}

    async def call_robot_oToMessages_batchSend(self, request: web.Request) -> Json:  # noqa: N802
        body = await request.json()
        users = body.get("userIds") or []
        if not 1 <= len(users) <= 20:
            raise DingTalkRefusal(400, "invalidParameter.userIds.invalid")
        known = [each for each in users if each in self.users]
        key = self._show(body, known[0]) if known else ""
        return {
            "processQueryKey": key, "invalidStaffIdList": [each for each in users if each not in known],
            "flowControlledStaffIdList": [],
        }  # fmt: skip

    def _show(self, body: Json, chat: str) -> str:
        if not body.get("robotCode"):
            raise DingTalkRefusal(400, "invalidParameter.robotCode.empty")
        if body["robotCode"] != CLIENT or not chat:
            raise DingTalkRefusal(400, "robotNotExist")
        params = check_message(body, self.media)
        key = f"query{next(self._numbers)}"
        self.messages.append(SentDingTalkMessage(key, chat, body["msgKey"], params))
        return key

    async def call_robot_groupMessages_recall(self, request: web.Request) -> Json:  # noqa: N802
        return self._recall(await request.json())

    async def call_robot_otoMessages_batchRecall(self, request: web.Request) -> Json:  # noqa: N802
        return self._recall(await request.json())

    def _recall(self, body: Json) -> Json:
        found = [each for each in self.messages if each.id in body["processQueryKeys"]]
        for each in found:
            each.deleted = True
        done = [each.id for each in found]
        failed = {each: "not found" for each in body["processQueryKeys"] if each not in done}
        return {"successResult": done, "failedResult": failed}

    async def call_robot_sendBySession(self, request: web.Request) -> Json:  # noqa: N802
        chat = self.sessions.get(request.query.get("session", ""))
        if chat is None:
            raise DingTalkRefusal(200, "310000", "session expired")
        content = check_session(await request.json())
        self.messages.append(SentDingTalkMessage("", chat, "session", {"text": content}))
        return {"errcode": 0, "errmsg": "ok"}

    # --- files and users

    async def call_media_upload(self, request: web.Request) -> Json:
        kind, form = request.query.get("type", ""), (await request.post()).get("media")
        if kind not in MEDIA_LIMITS or not isinstance(form, web.FileField) or not form.filename:
            raise DingTalkRefusal(200, "40004", "invalid media type")
        data = form.file.read()
        if not 0 < len(data) <= MEDIA_LIMITS[kind] * 1024 * 1024:
            raise DingTalkRefusal(200, "40009", "invalid media size")
        media_id = f"@media{next(self._numbers)}"
        self.media[media_id] = (kind, form.filename, data)
        return {"errcode": 0, "errmsg": "ok", "media_id": media_id, "type": kind, "created_at": 1}

    async def call_topapi_v2_user_get(self, request: web.Request) -> Json:
        user_id = (await request.json()).get("userid")
        if user_id not in self.users:
            raise DingTalkRefusal(200, "60121", "user not found")
        return {"errcode": 0, "errmsg": "ok", "result": self.users[user_id]}

    def add_file(self, data: bytes, mime_type: str = "application/octet-stream", code: str = "") -> str:
        code = code or f"code{next(self._numbers)}"
        self.files[code] = (mime_type, data)
        return code

    async def call_robot_messageFiles_download(self, request: web.Request) -> Json:  # noqa: N802
        body = await request.json()
        if body.get("robotCode") != CLIENT or body.get("downloadCode") not in self.files:
            raise DingTalkRefusal(400, "invalidParameter.downloadCode")
        return {"downloadUrl": f"{self.stream.address}/files/{body['downloadCode']}"}

    async def _serve_file(self, request: web.Request) -> web.Response:
        mime_type, data = self.files[request.match_info["code"]]
        return web.Response(body=data, content_type=mime_type)

    # --- cards

    async def call_card_instances_createAndDeliver(self, request: web.Request) -> Json:  # noqa: N802
        body = await request.json()
        if body.get("cardTemplateId") != TEMPLATE:
            raise DingTalkRefusal(400, "template.stopped")
        track, space = body["outTrackId"], body["openSpaceId"]
        kind = "IM_GROUP" if "IM_GROUP." in space else "IM_ROBOT"
        assert space.startswith(f"dtv1.card//{kind}.")
        assert body["callbackType"] == "STREAM"
        chat = space.partition(f"{kind}.")[2]
        if self._card(track) is None:
            self.messages.append(SentDingTalkMessage(track, chat, "card", body["cardData"]["cardParamMap"]))
        result = {"spaceId": chat, "spaceType": kind, "success": True, "errorMsg": ""}
        return {"success": True, "result": {"outTrackId": track, "deliverResults": [result]}}

    async def call_card_streaming(self, request: web.Request) -> Json:
        body = await request.json()
        card = self._card(body["outTrackId"])
        if card is None or body.get("key") != "content" or not body.get("guid"):
            raise DingTalkRefusal(400, "param.error")
        if body["guid"] not in self.guids:
            self.guids.add(body["guid"])
            card.versions.append(body["content"])
            card.times.append(time.monotonic())
            card.finalized = card.finalized or body["isFinalize"]
        return {"success": True, "result": True}

    async def call_card_instances(self, request: web.Request) -> Json:
        body = await request.json()
        card = self._card(body["outTrackId"])
        if card is None:
            raise DingTalkRefusal(400, "param.error")
        card.status = body["cardData"]["cardParamMap"]["flowStatus"]
        return {"success": True, "result": True}

    def _card(self, track_id: str) -> SentDingTalkMessage | None:
        return next((each for each in self.messages if each.kind == "card" and each.id == track_id), None)

    # --- what users do

    def message(self, user_id: str, kind: str, /, group: str = "", **fields: Any) -> Json:
        """Returns a message of a user in the form in which DingTalk reports it."""
        session = f"session{next(self._numbers)}"
        name = self.users.get(user_id, {}).get("name", "Someone")
        is_staff = user_id in self.users
        self.sessions[session] = group or user_id
        return {
            "conversationId": group or f"cid-{user_id}", "conversationType": "2" if group else "1",
            "conversationTitle": "talk" if group else "", "chatbotUserId": BOT, "chatbotCorpId": "ding9f50",
            "msgId": f"msg{next(self._numbers)}", "senderNick": name, "isAdmin": False, "robotCode": CLIENT,
            "senderStaffId": user_id if is_staff else "", "senderId": f"$:LWCP_v1:${user_id}" if is_staff else user_id,
            "createAt": int(time.time() * 1000), "isInAtList": bool(group),
            "atUsers": [{"dingtalkId": BOT, "staffId": ""}] if group else [],
            "sessionWebhook": f"{self.stream.address}/robot/sendBySession?session={session}",
            "sessionWebhookExpiredTime": int(time.time() * 1000) + 5_400_000, "msgtype": kind,
            **({"text": fields} if kind == "text" else {"content": fields}),
        }  # fmt: skip

    async def say(self, text: str, user_id: str, group: str = "") -> None:
        await self.report(self.message(user_id, "text", group, content=f" {text}" if group else text))

    async def report(self, message: Any) -> None:
        """Reports a message, perhaps twice or after the next one, until it is acknowledged."""
        for each in self.scheduled(message):
            self.reported.append(each)
            await self.stream.report(self.stream.frame("CALLBACK", MESSAGES, each))

    async def happen(self, kind: str, event_id: str = "", **data: Any) -> None:
        """Reports an event."""
        headers = {
            "eventType": kind, "eventId": event_id or f"event{next(self._numbers)}",
            "eventBornTime": str(int(time.time() * 1000)), "eventCorpId": "ding9f50",
        }  # fmt: skip
        await self.stream.report(self.stream.frame("EVENT", "*", data, **headers))


def _answer(outcome: Outcome[DingTalkRefusal]) -> web.Response:
    refusal = outcome.refusal
    if refusal is None:
        return web.json_response(outcome.result or {})
    if refusal.status == 200:
        return web.json_response({"errcode": int(refusal.code), "errmsg": refusal.message})
    body = {"code": refusal.code, "message": refusal.message, "requestid": "r"}
    return web.json_response(body, status=refusal.status)
