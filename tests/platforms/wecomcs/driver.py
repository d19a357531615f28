"""Plays WeCom customer service in the shared adapter suite: customers write, and the adapter fetches their messages."""

import base64
import itertools
import random
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import parlour.platforms.wecomcs as package
from parlour.core.backoff import Backoff
from parlour.core.platforms.port import Adapter, HostLink
from parlour.platforms.catalogue import BuiltinAdapterCatalogue
from parlour.platforms.wecomcs.adapter import WecomCsAdapter
from parlour.platforms.wecomcs.api import WecomCsApi
from parlour.testing.adapter_suite import ApiCall, PlatformDriver, Probe, SuiteChat, action_call, api_call
from parlour.testing.adapter_suite.driver import Json
from parlour.testing.native_payloads import read_samples
from parlour.testing.wecomcs_simulator import SentCustomerMessage, WecomCsSimulator
from parlour.testing.wecomcs_simulator.simulator import ACCOUNT, CORP, SECRET
from parlour_sdk.protocol.chain import Component, File, Image, Media, MessageChain, Plain, Platform, Video, Voice
from parlour_sdk.protocol.people import ChatType

HELLO = base64.b64encode(b"hello").decode()
ANN, BOB = "wmAnn", "wmBob"
SAMPLE_MEDIA = {"image": "a.png", "voice": "a.amr", "video": "a.mp4", "file": "a.pdf"}
PLACE = {"name": "A place", "address": "A street 1", "latitude": 31.2, "longitude": 121.5}
UNREADABLE = (None, True, 1.5, "", [], {})


class WecomCsDriver(PlatformDriver):
    manifest = BuiltinAdapterCatalogue().manifests()["wecomcs"]
    api = WecomCsApi
    level = "protocol+"
    samples = read_samples(Path(package.__file__).parent / "samples")
    connects = False
    tokens_per_message = 125

    def __init__(self) -> None:
        self.simulator = simulator = WecomCsSimulator()
        self.token = SECRET
        self._numbers = itertools.count(1)
        simulator.window_replies = 10_000
        simulator.add_customer(ANN, "Ann")
        simulator.add_customer(BOB, "Bob")
        for kind, name in SAMPLE_MEDIA.items():
            simulator.add_media(kind, name, b"hello", f"SAMPLE_{kind.upper()}")

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        async with self.simulator.listening() as url:
            secrets = self.simulator.secrets
            self.config = {
                "corpid": CORP, "secret": SECRET, "token": secrets.token, "encoding_aes_key": secrets.encoding_aes_key,
                "api_base_url": url,
            }  # fmt: skip
            yield

    def called_at(self, address: str) -> None:
        self.simulator.calls.address = address

    def create(self, link: HostLink, backoff: Backoff) -> Adapter:
        return WecomCsAdapter(link, backoff)

    async def chat(self, kind: ChatType = "private") -> SuiteChat:
        """Creates a customer who has written before; customer service has no groups."""
        customer_id = f"wmCustomer{next(self._numbers)}"
        self.simulator.add_customer(customer_id, customer_id.title())
        self._open_window(customer_id)
        return SuiteChat("private", f"{customer_id}|{ACCOUNT}")

    def _open_window(self, customer_id: str) -> None:
        self.simulator.add({**self.simulator.message(customer_id, "text", content="before"), "origin": 3})
        self.simulator.feeds[ACCOUNT].pop()

    def _customer(self, chat: SuiteChat) -> str:
        return chat.id.partition("|")[0]

    async def say(self, chat: SuiteChat, text: str) -> None:
        await self.simulator.say(text, self._customer(chat))

    def read(self, chat: SuiteChat) -> list[str]:
        return self.simulator.texts(chat.id)

    async def deliver(self, native: Any) -> None:
        await self.simulator.calls.call(self.simulator.announce(native))

    async def repeat(self) -> None:
        last = next(each for each in reversed(self.simulator.feeds[ACCOUNT]) if each.get("msgtype") == "text")
        await self.simulator.report(last)

    async def echo(self, chat: SuiteChat) -> None:
        message = self.simulator.message(self._customer(chat), "text", content="from the staff")
        await self.simulator.report({**message, "origin": 5, "servicer_userid": "zhangsan"})

    async def malformed(self, chat: SuiteChat, seed: int, number: int) -> None:
        generator = random.Random(seed)
        for place in range(number):
            message = self.simulator.message(self._customer(chat), "text", content=f"damaged {place}")
            field = generator.choice(("external_userid", "open_kfid", "send_time", "msgtype", "text"))
            message[field] = generator.choice(UNREADABLE)
            self.simulator.add(generator.choice((None, [], "x")) if generator.random() < 0.1 else message)
        await self.simulator.calls.call(self.simulator.announce(None))

    def components(self, chat: SuiteChat) -> MessageChain:
        return [
            Plain(text="a < b & c 👨‍👩‍👧"),
            Image(base64=HELLO, name="a.png", mime_type="image/png"),
            Video(base64=HELLO, name="a.mp4", mime_type="video/mp4"),
            Voice(base64=HELLO, name="a.amr", mime_type="audio/amr"),
            Platform(platform="wecomcs", component_type="location", data=PLACE),
            Plain(text="between"),
            Platform(platform="wecomcs", component_type="location", data={**PLACE, "name": "Another"}),
            File(base64=HELLO, name="b.pdf", mime_type="application/pdf"),
            Plain(text="the end"),
        ]

    async def reflect(self, chat: SuiteChat) -> int:
        messages = self.simulator.sent(chat.id)
        for each in messages:
            await self.deliver(self.reported(chat, each))
        return len(messages)

    def reported(self, chat: SuiteChat, message: SentCustomerMessage) -> Json:
        """Returns a message in the form in which a customer would send it."""
        return self.simulator.message(self._customer(chat), message.kind, **message.content)

    def same(self, sent: Component, received: Component) -> bool:
        """Compares what customers can send back. WeCom adds sizes to files and a readable form to places."""
        match sent, received:
            case Media(), Media():
                return (sent.base64, sent.name) == (received.base64, received.name)
            case Platform(), Platform():
                return (sent.component_type, sent.data) == (received.component_type, received.data)
        return sent == received

    async def use_apis(self, probe: Probe) -> None:
        self._open_window(BOB)
        await probe.calls(*_calls())
        assert self.simulator.texts(f"{BOB}|{ACCOUNT}") == ["sent"]
        assert any(each.text == "a reply" for each in self.simulator.sent())
        assert self.simulator.made.count("gettoken") >= 2

    async def cut(self) -> None:
        self.simulator.server.cut()

    async def cut_for_long(self, times: int) -> None:
        raise NotImplementedError

    def refuse_send(self, retry_after: float | None = None) -> None:
        if retry_after is None:
            self.simulator.faults.refuse("kf/send_msg", 95018, "send msg session status invalid")
        else:
            self.simulator.faults.too_many("kf/send_msg", retry_after)

    def cut_send(self, happens: bool) -> None:
        self.simulator.faults.cut("kf/send_msg", happens)

    def stay_silent(self) -> None:
        self.simulator.faults.stay_silent("kf/send_msg")

    def unacknowledged(self) -> int:
        return len(self.simulator.calls.waiting)


def _calls() -> Sequence[ApiCall]:
    text = [{"type": "Plain", "text": "sent"}]
    return [
        api_call("send_message", "messages.send", target_type="private", target_id=f"{BOB}|{ACCOUNT}", chain=text),
        ApiCall("reply_message", "reply", {"message": "a reply", "quote": False}),
        api_call("get_user_info", "users.info", {"nickname": "Ann"}, user_id=ANN),
        action_call("check_access_token", {"valid": True}),
        action_call("refresh_access_token", {"refreshed": True}),
        action_call("get_customer_info", {"nickname": "Ann"}, external_userid=ANN),
        ApiCall("call_platform_api", "platform.call", {"action": "check_access_token", "params": {}}),
    ]
