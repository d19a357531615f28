"""Plays WhatsApp in the shared adapter suite, over the simulated Cloud API and signed calls."""

import itertools
import random
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import parlour.platforms.whatsapp as package
from parlour.core.backoff import Backoff
from parlour.core.platforms.port import Adapter, HostLink
from parlour.platforms.catalogue import BuiltinAdapterCatalogue
from parlour.platforms.whatsapp.adapter import WhatsAppAdapter
from parlour.platforms.whatsapp.api import WhatsAppApi
from parlour.testing.adapter_suite import ApiCall, PlatformDriver, Probe, SuiteChat, action_call, api_call
from parlour.testing.native_payloads import read_samples
from parlour.testing.simulator import damaged
from parlour.testing.whatsapp_simulator import SentWhatsAppMessage, WhatsAppSimulator
from parlour.testing.whatsapp_simulator.simulator import ACCESS_TOKEN, APP_SECRET, VERIFY_TOKEN, call_body
from parlour.testing.whatsapp_simulator.world import NUMBER_ID, OWN_NUMBER
from parlour_sdk.protocol.chain import Component, File, Image, Media, MessageChain, Plain, Platform, Quote, Video, Voice
from parlour_sdk.protocol.people import ChatType

HELLO = "aGVsbG8="
ANN, SPEAKER = "4915100000001", "4915100000002"
SAMPLE_FILES = ("image/jpeg", "video/mp4", "audio/ogg; codecs=opus", "application/pdf", "image/webp")
MESSAGES_PER_CALL = 25
UNREADABLE = (None, True, 1.5, "", [], [[]], {}, {"id": {}}, [None])
"""Values that are no id, no time and no message."""


class WhatsAppDriver(PlatformDriver):
    manifest = BuiltinAdapterCatalogue().manifests()["whatsapp"]
    api = WhatsAppApi
    level = "protocol+"
    samples = read_samples(Path(package.__file__).parent / "samples")
    tokens_per_message = 25
    connects = False

    def __init__(self) -> None:
        self.simulator = simulator = WhatsAppSimulator()
        self.token = ACCESS_TOKEN
        self._numbers = itertools.count(1)
        self._quotable = ""
        for number, name in ((ANN, "Ann"), (SPEAKER, "Sam")):
            simulator.world.add_user(name, number)
        for number, mime_type in enumerate(SAMPLE_FILES, 1):
            simulator.world.add_media(b"hello", mime_type, f"20000000000{number}")

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        async with self.simulator.listening() as url:
            self.config = {
                "phone_number_id": NUMBER_ID,
                "access_token": ACCESS_TOKEN,
                "app_secret": APP_SECRET,
                "verify_token": VERIFY_TOKEN,
                "api_base_url": url,
                "report_delivery": True,
            }
            self.simulator.reports_sent = False
            yield

    def called_at(self, address: str) -> None:
        self.simulator.request_url = address

    def create(self, link: HostLink, backoff: Backoff) -> Adapter:
        return WhatsAppAdapter(link, backoff)

    async def chat(self, kind: ChatType = "private") -> SuiteChat:
        world = self.simulator.world
        if kind == "private":
            return SuiteChat(kind, world.add_user(f"user {next(self._numbers)}"))
        return SuiteChat(kind, world.add_group(ANN, SPEAKER))

    async def chat_for_components(self) -> SuiteChat:
        """Creates a chat in which the user has written something that can be quoted."""
        chat = await self.chat()
        self._quotable = self.simulator.message(chat.id, type="text")["id"]
        return chat

    def _place(self, chat: SuiteChat) -> tuple[str, str]:
        """Returns the user who writes in a chat, and the group if it is one."""
        return (chat.id, "") if chat.kind == "private" else (SPEAKER, chat.id)

    async def say(self, chat: SuiteChat, text: str) -> None:
        mention = f"@{OWN_NUMBER} " if chat.kind == "group" else ""
        await self.simulator.say(f"{mention}{text}", *self._place(chat))

    def read(self, chat: SuiteChat) -> list[str]:
        return self.simulator.texts(chat.id)

    async def deliver(self, native: Any) -> None:
        """Reports a sample, which is one message, one status or one change of another kind."""
        body = call_body(native)
        if isinstance(native, dict):
            name = native.get("field", "messages")
            if "value" in native:
                body = call_body(native["value"], name)
                body["entry"][0]["time"] = native.get("time")
            else:
                items = {f"{kind}{'es' * (kind == 'status') or 's'}": [native[kind]] for kind in ("message", "status")
                         if kind in native}  # fmt: skip
                body = call_body({**self.simulator.value([]), "contacts": native.get("contacts", []), **items}, name)
        await self.simulator.report(body)

    async def repeat(self) -> None:
        await self.simulator.report(self.simulator.last_call)

    async def echo(self, chat: SuiteChat) -> None:
        raise NotImplementedError

    async def malformed(self, chat: SuiteChat, seed: int, number: int) -> None:
        generator, (user, group) = random.Random(seed), self._place(chat)
        message = self.simulator.message(user, group, type="text", text={"body": "damaged"})
        odd: list[Any] = []
        for place in range(number):
            changed = {**damaged(message, generator), "id": f"damaged-{seed}-{place}"}
            changed[generator.choice(("id", "timestamp", "type"))] = generator.choice(UNREADABLE)
            odd.append(generator.choice(UNREADABLE) if generator.random() < 0.1 else changed)
        for first in range(0, number, MESSAGES_PER_CALL):
            messages = odd[first : first + MESSAGES_PER_CALL]
            await self.simulator.report(call_body(self.simulator.value([user], messages=messages)))

    def components(self, chat: SuiteChat) -> MessageChain:
        place = {"latitude": 52.5, "longitude": 13.4, "name": "A place", "address": "A street 1"}
        contact = {"name": {"formatted_name": "Bob Doe", "first_name": "Bob"}, "phones": [{"phone": "+49 151 2"}]}
        return [
            Quote(id=self._quotable),
            Plain(text="It says {that}, *and* more"),
            Image(base64=HELLO, mime_type="image/png"),
            Video(base64=HELLO, mime_type="video/mp4"),
            Voice(base64=HELLO, mime_type="audio/ogg"),
            File(base64=HELLO, name="a.pdf", mime_type="application/pdf"),
            Platform(platform="whatsapp", component_type="location", data=place),
            Plain(text="the end 👨‍👩‍👧"),
            Platform(platform="whatsapp", component_type="contacts", data={"contacts": [contact]}),
            Image(base64=HELLO, mime_type="image/png"),
        ]

    async def reflect(self, chat: SuiteChat) -> int:
        messages = self.simulator.sent(chat.id)
        for message in messages:
            await self._reflect(chat, message)
        return len(messages)

    async def _reflect(self, chat: SuiteChat, message: SentWhatsAppMessage) -> None:
        place, kind = self._place(chat), message.kind
        content = message.payload[kind]
        quoted = message.payload.get("context", {}).get("message_id")
        context = {"context": {"from": chat.id, "id": quoted}} if quoted else {}
        if "id" in content:
            assert message.content == b"hello"
            named = {"filename": content["filename"]} if "filename" in content else {}
            mime_type = self.simulator.world.media[content["id"]].mime_type
            await self.simulator.send_file(kind, message.content, mime_type, *place, **named)
        elif kind == "text":
            await self.simulator.say(content["body"], *place, **context)
        else:
            await self.simulator.post(self.simulator.message(*place, type=kind, **{kind: content}))

    def same(self, sent: Component, received: Component) -> bool:
        match sent, received:
            case Quote(), Quote():
                return sent.id == received.id
            case Plain(), Plain():
                return sent.text.replace("*and*", "_and_") == received.text
            case Media(), Media():
                return (sent.base64, sent.mime_type) == (received.base64, received.mime_type)
            case Platform(), Platform():
                return (sent.component_type, sent.data) == (received.component_type, received.data)
        return sent == received

    async def use_apis(self, probe: Probe) -> None:
        simulator = self.simulator
        simulator.world.templates.add(("news", "en_US"))
        seen = await simulator.say("look", ANN)
        await probe.calls(*_calls(seen["id"]))
        assert simulator.world.typing == [ANN]
        assert seen["id"] in simulator.world.read
        assert simulator.world.reactions == [(seen["id"], "👍"), (seen["id"], "")]
        [quoting] = [each for each in simulator.sent(ANN) if each.text == "quoting"]
        assert quoting.payload["context"] == {"message_id": seen["id"]}
        texts = simulator.texts(ANN)
        assert {"sent", "[template news]"} <= set(texts)
        assert any(each.text == "a reply" for each in simulator.sent())

    async def cut(self) -> None:
        self.simulator.server.cut()

    async def cut_for_long(self, times: int) -> None:
        raise NotImplementedError

    def refuse_send(self, retry_after: float | None = None) -> None:
        if retry_after is None:
            self.simulator.faults.refuse("messages")
        else:
            self.simulator.faults.too_many("messages", retry_after)

    def cut_send(self, happens: bool) -> None:
        self.simulator.reports_sent = True
        self.simulator.faults.cut("messages", happens)

    def stay_silent(self) -> None:
        self.simulator.reports_sent = True
        self.simulator.faults.stay_silent("messages")

    def unacknowledged(self) -> int:
        return len(self.simulator.waiting)


def _calls(seen: str) -> Sequence[ApiCall]:
    chat = {"chat_type": "private", "chat_id": ANN}
    text = [{"type": "Plain", "text": "sent"}]
    quoting = [{"type": "Quote", "id": seen}, {"type": "Plain", "text": "quoting"}]
    number = {"verified_name": "Parlour"}
    return [
        ApiCall("reply_message", "reply", {"message": "a reply", "quote": False}),
        api_call("send_message", "messages.send", target_type="private", target_id=ANN, chain=text),
        api_call("send_message", "messages.send", target_type="private", target_id=ANN, chain=quoting),
        api_call("send_typing", "messages.typing", **chat),
        api_call("react", "messages.react", **chat, message_id=seen, reaction="👍"),
        api_call("react", "messages.react", **chat, message_id=seen, reaction="👍", add=False),
        action_call("send_template", to=ANN, name="news", language="en_US"),
        action_call("mark_as_read", message_id=seen),
        action_call("get_phone_number", number),
        action_call("get_business_profile", {"about": "A bot"}),
        ApiCall("call_platform_api", "platform.call", {"action": "get_phone_number", "params": {}}, number),
    ]
