"""Plays a mail account in the shared adapter suite: a simulated IMAP server, and aiosmtpd for submission."""

import base64
import itertools
import random
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import parlour.platforms.email as package
from parlour.core.backoff import Backoff
from parlour.core.platforms.port import Adapter, HostLink
from parlour.platforms.catalogue import BuiltinAdapterCatalogue
from parlour.platforms.email.adapter import EmailAdapter
from parlour.platforms.email.api import EmailApi
from parlour.testing.adapter_suite import ApiCall, PlatformDriver, Probe, SuiteChat, api_call
from parlour.testing.email_simulator import EmailSimulator, SentMail
from parlour.testing.email_simulator.world import BOT_ADDRESS, PASSWORD
from parlour.testing.native_payloads import read_samples
from parlour_sdk.protocol.chain import (
    Component,
    File,
    Image,
    Media,
    MessageChain,
    Plain,
    Platform,
    Quote,
    Source,
    Video,
    Voice,
)
from parlour_sdk.protocol.people import ChatType

HELLO = "aGVsbG8="
SUBJECT = "All that a mail carries"
EVE, BOB = "eve@people.example", "bob@people.example"
JUNK = (
    b"",
    b"\0\0\0",
    b"From:\r\n\r\nhi",
    b"From: <>\r\n\r\nhi",
    b"From: nobody\r\n\r\nhi",
    b"\xff\xfe: x\r\n\r\n",
    b"\r\n\r\n",
)
"""Mails without an address of their sender."""


class EmailDriver(PlatformDriver):
    manifest = BuiltinAdapterCatalogue().manifests()["email"]
    api = EmailApi
    level = "protocol+"
    samples = read_samples(Path(package.__file__).parent / "samples")
    tokens_per_message = 250
    token = PASSWORD

    def __init__(self) -> None:
        self.simulator = EmailSimulator()
        self._numbers = itertools.count(1)
        self._last = b""

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        async with self.simulator.listening() as account:
            self.config = {**account, "hourly_limit": 1000}
            yield

    def create(self, link: HostLink, backoff: Backoff) -> Adapter:
        return EmailAdapter(link, backoff)

    async def chat(self, kind: ChatType = "private") -> SuiteChat:
        number = next(self._numbers)
        people = [f"user{number}@people.example"]
        if kind == "group":
            people.append(f"watcher{number}@people.example")
        return SuiteChat(kind, ",".join(people))

    async def say(self, chat: SuiteChat, text: str) -> None:
        await self._deliver(self._mail(chat, text))

    async def _deliver(self, mail: bytes) -> None:
        self._last = mail
        await self.simulator.deliver(mail)

    def _mail(self, chat: SuiteChat, text: str, **fields: str) -> bytes:
        author, *watchers = chat.id.split(",")
        copies = {"Cc": ", ".join(watchers)} if watchers else {}
        return self.simulator.mail(author, text, **copies, **fields).as_bytes()

    def read(self, chat: SuiteChat) -> list[str]:
        return [each.text for each in self._sent(chat)]

    def _sent(self, chat: SuiteChat) -> list[SentMail]:
        """Returns the mails to the author, who gets the answers of a chat of several people."""
        return [each for each in self.simulator.sent() if each.recipients[0] == chat.id.partition(",")[0]]

    async def deliver(self, native: Any) -> None:
        await self.simulator.deliver(base64.b64decode(native["mail"]))

    async def repeat(self) -> None:
        await self.simulator.deliver(self._last)

    async def echo(self, chat: SuiteChat) -> None:
        await self.simulator.say(BOT_ADDRESS, "I said this myself")

    async def malformed(self, chat: SuiteChat, seed: int, number: int) -> None:
        generator = random.Random(seed)
        for _ in range(number):
            noise = bytes(generator.randrange(1, 256) for _ in range(20)).replace(b"@", b"").replace(b"\n", b"")
            odd = b"X-Odd: " + noise + b"\r\n" if generator.random() < 0.5 else b""
            await self.simulator.deliver(odd + generator.choice(JUNK))

    def components(self, chat: SuiteChat) -> MessageChain:
        return [
            Quote(id="earlier@people.example"),
            Plain(text="**Bold** and a < b & c_d,\n\n.a line with a dot\n\nFrom here on: 中文"),
            Image(base64=HELLO, name="a.png", mime_type="image/png"),
            Video(base64=HELLO, name="a.mp4", mime_type="video/mp4"),
            Voice(base64=HELLO, name="ä.mp3", mime_type="audio/mpeg"),
            Plain(text="between"),
            File(base64=HELLO, name="a.pdf", mime_type="application/pdf"),
            File(base64=HELLO, name="b.pdf", mime_type="application/pdf"),
            Image(base64=HELLO, name="b.png", mime_type="image/png"),
            Plain(text="the end 👨‍👩‍👧"),
            Platform(platform="email", component_type="mail", data={"subject": SUBJECT}),
        ]

    async def reflect(self, chat: SuiteChat) -> int:
        sent = self._sent(chat)
        for each in sent:
            kept = [
                line
                for line in each.content.split(b"\r\n")
                if not line.startswith((b"From:", b"To:", b"Message-ID:", b"Auto-Submitted:", b"X-Parlour-Bot:"))
            ]
            message_id = f"<reflected-{next(self._numbers)}@people.example>"
            envelope = f"From: {chat.id}\r\nTo: {BOT_ADDRESS}\r\nMessage-ID: {message_id}\r\n"
            await self.simulator.deliver(envelope.encode() + b"\r\n".join(kept))
        return len(sent)

    def received_chain(self, chains: Sequence[MessageChain]) -> MessageChain:
        return [part for chain in chains for part in chain if not isinstance(part, Source)]

    def same(self, sent: Component, received: Component) -> bool:
        match sent, received:
            case Media(), Media():
                kept = (received.name, received.mime_type, received.base64)
                return kept == (sent.name, sent.mime_type, sent.base64)
            case Platform(), Platform():
                return sent.data["subject"] == received.data["subject"]
        return sent == received

    async def use_apis(self, probe: Probe) -> None:
        stored = await self.simulator.say(BOB, "a mail of Bob", Message_ID="<known@people.example>", Subject="Question")
        text = [{"type": "Plain", "text": "sent"}]
        both = f"{BOB},{EVE}"
        chat = {"chat_type": "private", "chat_id": BOB, "message_id": "known@people.example"}
        await probe.calls(
            ApiCall("reply_message", "reply", {"message": "a reply", "quote": True}),
            api_call("send_message", "messages.send", target_type="private", target_id=EVE, chain=text),
            api_call("send_message", "messages.send", target_type="group", target_id=both, chain=text),
            api_call("get_message", "messages.get", {"sender": {"id": BOB}}, **chat),
            api_call("get_user_info", "users.info", {"nickname": BOB}, user_id=BOB),
        )
        assert stored.uid
        assert [each.recipients for each in self.simulator.sent() if each.text == "sent"] == [[EVE], [BOB, EVE]]
        assert any(each.text == "a reply" and each.message["In-Reply-To"] for each in self.simulator.sent())
        assert len(self.simulator.world.folders["Sent"].mails) == len(self.simulator.sent())

    async def cut(self) -> None:
        self.simulator.imap.cut()

    async def cut_for_long(self, times: int) -> None:
        self.simulator.imap.turned_away = times
        self.simulator.imap.cut()

    def refuse_send(self, retry_after: float | None = None) -> None:
        self.simulator.faults.refuse(550, "5.7.1 Message rejected")

    def cut_send(self, happens: bool) -> None:
        self.simulator.faults.cut("DATA", happens)

    def stay_silent(self) -> None:
        self.simulator.faults.stay_silent("DATA")

    def unacknowledged(self) -> int:
        return self.simulator.unseen()
