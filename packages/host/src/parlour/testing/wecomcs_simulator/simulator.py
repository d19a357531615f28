"""The simulated customer service as a whole: what the company calls, and what customers do."""

import time
from collections import defaultdict
from dataclasses import dataclass
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

from .checks import check_message, check_text

CORP, SECRET, ACCOUNT = "ww1f2e3d4c5b6a7980", "the-secret-of-the-service", "wkAJ2GCAAASSm4"
WINDOW_REPLIES, WINDOW_SECONDS = 5, 48 * 3600.0
CALLS_WITHOUT_TOKEN = {"without a token": (10.0, 60.0)}
WELCOME_SECONDS = 20.0


@dataclass
class SentCustomerMessage:
    """A message of the company to a customer."""

    id: str
    chat: str
    kind: str
    content: Json
    deleted: bool = False

    @property
    def text(self) -> str:
        if self.kind == "msgmenu":
            return str(self.content.get("head_content", ""))
        return str(self.content.get("content", ""))


@dataclass
class Window:
    """The replies that a customer's last message allows."""

    opened_at: float
    used: int = 0


class WecomCsSimulator(ErrcodeSimulator[SentCustomerMessage]):
    def __init__(self) -> None:
        self.messages: list[SentCustomerMessage] = []
        super().__init__(self.messages)
        self.customers: dict[str, Json] = {}
        self.feeds: defaultdict[str, list[Json]] = defaultdict(list)
        """All messages of each account, in order."""
        self.windows: dict[str, Window] = {}
        self.window_replies = WINDOW_REPLIES
        self.owned_by_staff: set[str] = set()
        self.welcome_codes: dict[str, tuple[str, float]] = {}
        self.page = 1000
        """Largest number of messages in an answer."""
        self.call_tokens: dict[str, float] = {}
        self.secrets = CallbackSecrets()
        crypto = CallbackCrypto(self.secrets.token, self.secrets.encoding_aes_key, CORP)
        self.calls = CallSender(crypto, self.notify)

    def open_calls(self) -> tuple[str, ...]:
        return ("gettoken",)

    def add_customer(self, customer_id: str, name: str) -> None:
        self.customers[customer_id] = {"external_userid": customer_id, "nickname": name, "avatar": "", "gender": 0}

    # --- calls of the company

    async def call_gettoken(self, request: web.Request) -> Json:
        if request.query.get("corpid") != CORP:
            raise ErrcodeRefusal(40013, "invalid corpid")
        if request.query.get("corpsecret") != SECRET:
            raise ErrcodeRefusal(40001, "invalid credential")
        return self.issue_token("service")

    async def call_get_api_domain_ip(self, request: web.Request) -> Json:
        return {"ip_list": ["192.0.2.1"]}

    async def call_kf_sync_msg(self, request: web.Request) -> Json:
        body = await request.json()
        feed, limit = self.feeds[str(body.get("open_kfid", ""))], body.get("limit", 1000)
        if not isinstance(limit, int) or not 1 <= limit <= 1000:
            raise ErrcodeRefusal(40058, "limit")
        if self.call_tokens.get(body.get("token", ""), 0) < time.monotonic() and self.rates.seconds_to_wait(
            CALLS_WITHOUT_TOKEN
        ):
            raise ErrcodeRefusal(45009, "api freq out of limit", 60.0)
        start = int(str(body.get("cursor") or "c0").removeprefix("c"))
        found = feed[start : start + min(limit, self.page)]
        end = start + len(found)
        return {"next_cursor": f"c{end}", "has_more": int(end < len(feed)), "msg_list": found}

    async def call_kf_customer_batchget(self, request: web.Request) -> Json:
        wanted = (await request.json())["external_userid_list"]
        known = [self.customers[each] for each in wanted if each in self.customers]
        unknown = [each for each in wanted if each not in self.customers]
        return {"customer_list": known, "invalid_external_userid": unknown}

    async def call_kf_send_msg(self, request: web.Request) -> Json:
        body = await request.json()
        content = check_message(body, self.find_media)
        chat, message_id = f"{body.get('touser')}|{body.get('open_kfid')}", str(body.get("msgid") or self.next_number())
        if body.get("open_kfid") not in self.feeds:
            raise ErrcodeRefusal(95000, "invalid open_kfid")
        if any(each.id == message_id for each in self.messages):
            return {"msgid": message_id}
        if chat in self.owned_by_staff:
            raise ErrcodeRefusal(95018, "send msg session status invalid")
        window = self.windows.get(chat)
        if window is None or time.monotonic() - window.opened_at > WINDOW_SECONDS or window.used >= self.window_replies:
            raise ErrcodeRefusal(95001, "send msg count limit")
        window.used += 1
        self.messages.append(SentCustomerMessage(message_id, chat, body["msgtype"], content))
        return {"msgid": message_id}

    async def call_kf_send_msg_on_event(self, request: web.Request) -> Json:
        body = await request.json()
        chat, until = self.welcome_codes.pop(str(body.get("code")), ("", 0.0))
        if until < time.monotonic():
            raise ErrcodeRefusal(40058, "invalid or expired code")
        check_text(body["text"]["content"])
        message_id = f"welcome{self.next_number()}"
        self.messages.append(SentCustomerMessage(message_id, chat, "text", body["text"]))
        return {"msgid": message_id}

    # --- what customers do

    def message(self, customer_id: str, kind: str, /, **fields: Any) -> Json:
        """Returns a message of a customer in the form in which WeCom reports it."""
        return {
            "msgid": f"kf{7462201934458820000 + self.next_number()}", "open_kfid": ACCOUNT,
            "external_userid": customer_id, "send_time": int(time.time()), "origin": 3, "msgtype": kind, kind: fields,
        }  # fmt: skip

    async def say(self, text: str, customer_id: str) -> None:
        await self.report(self.message(customer_id, "text", content=text))

    async def report(self, message: Any) -> None:
        """Adds a message, perhaps twice or after the next one, and announces it without waiting for the answer."""
        for each in self.scheduled(message):
            self.calls.start(self.announce(each), ACCOUNT, self.begin)

    def announce(self, message: Any) -> str:
        """Adds a message to the feed and returns the content of the call that announces it."""
        self.add(message)
        token = f"ENC{self.next_number()}"
        self.call_tokens[token] = time.monotonic() + 600
        return xml_of(
            {
                "ToUserName": CORP, "CreateTime": str(int(time.time())), "MsgType": "event",
                "Event": "kf_msg_or_event", "Token": token, "OpenKfId": ACCOUNT,
            }
        )  # fmt: skip

    def add(self, message: Any) -> None:
        self.feeds[ACCOUNT].append(message)
        if isinstance(message, dict) and message.get("origin") == 3:
            self.windows[f"{message.get('external_userid')}|{message.get('open_kfid')}"] = Window(time.monotonic())

    async def enter(self, customer_id: str) -> None:
        """Lets a customer open the conversation."""
        code = f"CODE{self.next_number()}"
        self.welcome_codes[code] = (f"{customer_id}|{ACCOUNT}", time.monotonic() + WELCOME_SECONDS)
        event = {
            "event_type": "enter_session", "open_kfid": ACCOUNT, "external_userid": customer_id, "scene": "1",
            "welcome_code": code,
        }  # fmt: skip
        await self.report({**self.message(customer_id, "event", **event), "origin": 4, "external_userid": ""})

    async def choose(self, sent: SentCustomerMessage, label: str) -> None:
        """Lets a customer choose an item of a menu."""
        items = [each["click"] for each in sent.content["list"] if each["type"] == "click"]
        item = next(each for each in items if each["content"] == label)
        chosen = self.message(sent.chat.partition("|")[0], "text", content=label, menu_id=item["id"])
        await self.report(chosen)
