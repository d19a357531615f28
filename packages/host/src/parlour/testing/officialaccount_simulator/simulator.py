"""The simulated WeChat as a whole: what the account calls, and what its followers do."""

import time
from dataclasses import dataclass
from typing import Any, ClassVar
from urllib.parse import quote
from xml.etree import ElementTree

from aiohttp import web

from parlour.testing.errcode_simulator import (
    CallbackCrypto,
    CallbackSecrets,
    ErrcodeRefusal,
    ErrcodeSimulator,
    Json,
    SentCall,
    xml_of,
)

from .calls import OfficialCallSender
from .checks import check_custom, check_passive

APP_ID, APP_SECRET, ACCOUNT = "wx5823bf96d3bd56c7", "the-secret-of-the-account", "gh_848b8d1809b5"
WINDOW_REPLIES, WINDOW_SECONDS = 5, 48 * 3600.0


@dataclass
class SentOfficialMessage:
    """A message of the account to a follower."""

    chat: str
    kind: str
    content: Json
    is_passive: bool = False
    deleted: bool = False

    @property
    def text(self) -> str:
        return str(self.content.get("content", ""))


@dataclass
class Window:
    """The customer-service messages that a follower's last message allows."""

    opened_at: float
    used: int = 0


class OfficialAccountSimulator(ErrcodeSimulator[SentOfficialMessage]):
    media_kinds = ("image", "voice", "video", "thumb")
    media_endings: ClassVar = {
        "image": ("jpg", "png", "gif"),
        "voice": ("amr", "mp3"),
        "video": ("mp4",),
        "thumb": ("jpg",),
    }
    address_refusal = (40164, "invalid ip 203.0.113.7 ipv6 ::ffff:203.0.113.7, not in whitelist rid: 1")

    def __init__(self) -> None:
        self.messages: list[SentOfficialMessage] = []
        super().__init__(self.messages)
        self.followers: dict[str, Json] = {}
        self.windows: dict[str, Window] = {}
        self.window_replies = WINDOW_REPLIES
        self.is_verified = True
        """False if the account has no right to customer-service messages."""
        self.typing: list[str] = []
        self.secrets = CallbackSecrets()
        crypto = CallbackCrypto(self.secrets.token, self.secrets.encoding_aes_key, APP_ID)
        self.calls = OfficialCallSender(crypto, self.notify, self._take_reply)

    def open_calls(self) -> tuple[str, ...]:
        return ("stable_token", "video")

    def add_follower(self, open_id: str, remark: str = "") -> None:
        self.followers[open_id] = {"subscribe": 1, "openid": open_id, "remark": remark, "language": "zh_CN"}

    # --- calls of the account

    async def call_stable_token(self, request: web.Request) -> Json:
        body = await request.json()
        if body.get("grant_type") != "client_credential" or not isinstance(body.get("force_refresh"), bool):
            raise ErrcodeRefusal(40002, "invalid grant_type")
        if body.get("appid") != APP_ID:
            raise ErrcodeRefusal(40013, "invalid appid")
        if body.get("secret") != APP_SECRET:
            raise ErrcodeRefusal(40125, "invalid appsecret")
        if not self.allowed_address:
            raise ErrcodeRefusal(*self.address_refusal)
        return self.issue_token("account")

    async def call_user_info(self, request: web.Request) -> Json:
        open_id = request.query.get("openid", "")
        if open_id not in self.followers:
            raise ErrcodeRefusal(40003, "invalid openid")
        return self.followers[open_id]

    async def call_message_custom_send(self, request: web.Request) -> Json:
        body = await request.json()
        content = check_custom(body, self.find_media)
        self._check_window(body["touser"])
        self.messages.append(SentOfficialMessage(body["touser"], body["msgtype"], content))
        return {}

    async def call_message_custom_typing(self, request: web.Request) -> Json:
        body = await request.json()
        if body.get("command") not in ("Typing", "CancelTyping"):
            raise ErrcodeRefusal(45072, "command should be Typing or CancelTyping")
        self.typing.append(body["touser"])
        return {}

    async def call_media_get(self, request: web.Request) -> web.Response:
        media_id = request.query.get("media_id", "")
        if self.find_media(media_id)[0] != "video":
            return await super().call_media_get(request)
        return web.json_response({"video_url": str(request.url.with_path("/cgi-bin/video").with_query(id=media_id))})

    async def call_video(self, request: web.Request) -> web.Response:
        _, name, data = self.find_media(request.query.get("id", ""))
        headers = {"Content-Disposition": f"attachment; filename*=UTF-8''{quote(name)}"}
        return web.Response(body=data, content_type="video/mp4", headers=headers)

    def _check_window(self, open_id: str) -> None:
        if not self.is_verified:
            raise ErrcodeRefusal(48001, "api unauthorized")
        window = self.windows.get(open_id)
        if window is None or time.monotonic() - window.opened_at > WINDOW_SECONDS:
            raise ErrcodeRefusal(45015, "response out of time limit or subscription is canceled")
        if window.used >= self.window_replies:
            raise ErrcodeRefusal(45047, "out of response count limit")
        window.used += 1

    def _take_reply(self, sent: SentCall, xml: str) -> None:
        asked = {child.tag: child.text or "" for child in ElementTree.fromstring(sent.content)}
        fields, kind, content = check_passive(xml, self.find_media)
        assert (fields["ToUserName"], fields["FromUserName"]) == (asked["FromUserName"], asked["ToUserName"])
        self.messages.append(SentOfficialMessage(fields["ToUserName"], kind, content, is_passive=True))

    # --- what followers do

    def message(self, open_id: str, kind: str, /, **fields: str) -> dict[str, str]:
        """Returns a message of a follower in the form in which WeChat reports it."""
        number = str(22876340532172000 + self.next_number())
        return {
            "ToUserName": ACCOUNT, "FromUserName": open_id, "CreateTime": str(int(time.time())), "MsgType": kind,
            **fields, "MsgId": number,
        }  # fmt: skip

    def event(self, open_id: str, name: str, **fields: str) -> dict[str, str]:
        head = {"ToUserName": ACCOUNT, "FromUserName": open_id, "CreateTime": str(int(time.time()))}
        return {**head, "MsgType": "event", "Event": name, **fields}

    async def say(self, text: str, open_id: str) -> None:
        await self.report(self.message(open_id, "text", Content=text))

    async def report(self, message: dict[str, str]) -> None:
        """Reports a message, perhaps twice or after the next one, without waiting for the answer."""
        for each in self.scheduled(message):
            self.windows[each.get("FromUserName", "")] = Window(time.monotonic())
            self.calls.start(xml_of(each), each.get("FromUserName", ""), self.begin)

    async def ask(self, message: dict[str, Any]) -> SentCall:
        """Reports a message and returns the call with its answers."""
        self.windows[message.get("FromUserName", "")] = Window(time.monotonic())
        return await self.calls.call(xml_of(message))
