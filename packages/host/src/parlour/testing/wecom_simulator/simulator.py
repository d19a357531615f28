"""The simulated WeCom as a whole: what the application calls, and what members do."""

import time
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

from parlour.testing.errcode_simulator import (
    CallbackCrypto,
    CallbackSecrets,
    CallSender,
    ErrcodeRefusal,
    ErrcodeSimulator,
    Json,
    xml_of,
)

from .checks import check_message

CORP, AGENT, SECRET, CONTACTS_SECRET = "ww1f2e3d4c5b6a7980", 1000002, "the-secret-of-the-app", "the-contacts-secret"
MEMBER_LIMITS = {"minute": (30.0, 60.0), "hour": (1000.0, 3600.0)}
RECALL_SECONDS = 24 * 3600


@dataclass
class SentWecomMessage:
    """A message of the application to a member."""

    id: str
    chat: str
    kind: str
    content: Json
    deleted: bool = False
    sent_at: float = field(default_factory=time.monotonic)
    pressed: str = ""
    """What replaced the buttons of a card."""

    @property
    def text(self) -> str:
        if self.kind == "template_card":
            return "\n".join(filter(None, (self.content["main_title"]["title"], self.content.get("sub_title_text"))))
        return str(self.content.get("content", ""))


class WecomSimulator(ErrcodeSimulator[SentWecomMessage]):
    def __init__(self) -> None:
        self.messages: list[SentWecomMessage] = []
        super().__init__(self.messages)
        self.members: dict[str, Json] = {}
        self.tasks: dict[str, SentWecomMessage] = {}
        self.response_codes: dict[str, SentWecomMessage] = {}
        self.limits = dict(MEMBER_LIMITS)
        self.secrets = CallbackSecrets()
        crypto = CallbackCrypto(self.secrets.token, self.secrets.encoding_aes_key, CORP)
        self.calls = CallSender(crypto, self.notify)

    def open_calls(self) -> tuple[str, ...]:
        return ("gettoken",)

    def add_member(self, user_id: str, name: str) -> None:
        self.members[user_id] = {"userid": user_id, "name": name, "alias": name.lower(), "status": 1, "department": [1]}

    # --- calls of the application

    async def call_gettoken(self, request: web.Request) -> Json:
        if request.query.get("corpid") != CORP:
            raise ErrcodeRefusal(40013, "invalid corpid")
        secret = request.query.get("corpsecret")
        if secret not in (SECRET, CONTACTS_SECRET):
            raise ErrcodeRefusal(40001, "invalid credential")
        return self.issue_token("app" if secret == SECRET else "contacts")

    async def call_get_api_domain_ip(self, request: web.Request) -> Json:
        return {"ip_list": ["192.0.2.1"]}

    async def call_user_get(self, request: web.Request) -> Json:
        if request.query.get("userid") not in self.members:
            raise ErrcodeRefusal(60111, "userid not found")
        return self.members[request.query["userid"]]

    async def call_message_send(self, request: web.Request) -> Json:
        body = await request.json()
        content = check_message(body, self.find_media, set(self.tasks))
        if body["agentid"] != AGENT:
            raise ErrcodeRefusal(301002, "not allow operate another agent with this accesstoken")
        receivers = list(self.members) if body.get("touser") == "@all" else str(body.get("touser", "")).split("|")
        known = [each for each in receivers if each in self.members]
        if not known:
            raise ErrcodeRefusal(81013, "user & party & tag all invalid")
        message_id = f"msg{self.next_number()}"
        for receiver in known:
            self._show(receiver, message_id, body["msgtype"], content)
        response_code = f"code{message_id}" if body["msgtype"] == "template_card" else ""
        invalid = "|".join(set(receivers) - set(known))
        return {"invaliduser": invalid, "msgid": message_id, "response_code": response_code}

    def _show(self, receiver: str, message_id: str, kind: str, content: Json) -> None:
        """Shows a message to a member. Beyond the limits of a member it is dropped silently."""
        if self.rates.seconds_to_wait({f"{receiver} {name}": limit for name, limit in self.limits.items()}):
            return
        shown = SentWecomMessage(message_id, f"{receiver}|{AGENT}", kind, content)
        self.messages.append(shown)
        if kind == "template_card":
            self.tasks[content["task_id"]] = shown

    async def call_message_recall(self, request: web.Request) -> Json:
        message_id = (await request.json()).get("msgid")
        found = [each for each in self.messages if each.id == message_id]
        if not found or time.monotonic() - found[0].sent_at > RECALL_SECONDS:
            raise ErrcodeRefusal(42030, "invalid msgid")
        for each in found:
            each.deleted = True
        return {}

    async def call_message_update_template_card(self, request: web.Request) -> Json:
        body = await request.json()
        shown = self.response_codes.pop(str(body.get("response_code")), None)
        if shown is None:
            raise ErrcodeRefusal(42045, "invalid or used response_code")
        if body.get("agentid") != AGENT or not body.get("button", {}).get("replace_name"):
            raise ErrcodeRefusal(40058, "button.replace_name")
        shown.pressed = body["button"]["replace_name"]
        return {}

    # --- what members do

    def message(self, user_id: str, kind: str, **fields: Any) -> Json:
        """Returns a message of a member in the form in which WeCom reports it."""
        return {
            "ToUserName": CORP, "FromUserName": user_id, "CreateTime": str(int(time.time())), "MsgType": kind,
            **fields, "MsgId": str(7462201934458820000 + self.next_number()), "AgentID": str(AGENT),
        }  # fmt: skip

    async def say(self, text: str, user_id: str) -> None:
        await self.report(self.message(user_id, "text", Content=text))

    async def report(self, message: Json) -> None:
        """Reports a message, perhaps twice or after the next one, without waiting for the answer."""
        for each in self.scheduled(message):
            self.calls.start(xml_of(each), each["FromUserName"], self.begin)

    async def press(self, shown: SentWecomMessage, label: str) -> None:
        """Lets the member press a button of a card."""
        button = next(each for each in shown.content["button_list"] if each["text"] == label)
        code = f"response{self.next_number()}"
        self.response_codes[code] = shown
        event = {
            "ToUserName": CORP, "FromUserName": shown.chat.partition("|")[0], "CreateTime": str(int(time.time())),
            "MsgType": "event", "Event": "template_card_event", "EventKey": button["key"],
            "TaskId": shown.content["task_id"], "CardType": "button_interaction", "ResponseCode": code,
            "AgentID": str(AGENT),
        }  # fmt: skip
        await self.report(event)
