"""Leads a person through everything that an adapter declares, and records what the platform has shown."""

import asyncio
import base64
import binascii
import struct
import zlib
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from parlour.core.model.ids import EventId
from parlour.core.model.reply_allowance import ReplyHandle
from parlour.core.platforms.manifest import AdapterManifest
from parlour.core.platforms.port import Adapter, IncomingEvent, PlatformRefused, PlatformUncertain
from parlour_sdk.protocol.chain import At, AtAll, Component, Face, File, Image, MessageChain, Plain, Quote, Video, Voice
from parlour_sdk.protocol.platform_api import MessageResult, NotSupportedError

from .calls import NAMED, PROBE_TEXT, SAFE, ProbePlace, action_parameters
from .console import ProbeConsole
from .link import ProbeLink
from .record import ProbeRecord
from .redaction import ProbeRedaction

MEDIA: Mapping[str, type[Image] | type[Voice] | type[Video] | type[File]] = {
    "Image": Image, "Voice": Voice, "Video": Video, "File": File,
}  # fmt: skip
CALL_SECONDS = 60.0
YES = ("y", "yes", "j", "ja", "是")


class ProbeStopped(Exception):
    """Raised when the person ends the probe, or when no message of the person came."""


class ProbeSession:
    def __init__(
        self,
        manifest: AdapterManifest,
        adapter: Adapter,
        link: ProbeLink,
        console: ProbeConsole,
        redaction: ProbeRedaction,
        record: ProbeRecord,
    ) -> None:
        self._manifest = manifest
        self._adapter = adapter
        self._link = link
        self._console = console
        self._redaction = redaction
        self._record = record
        self._read = 0
        self._replies = 0

    async def run(self, targets: Mapping[str, str], files: Mapping[str, Path]) -> None:
        """Receives, sends, calls and runs actions, in this order.

        Raises ProbeStopped if the person presses Enter before a message has come.
        """
        await self._wait_connected()
        message = await self._first_message()
        await self._receive_others()
        place = await self._send_components(message, files)
        await self._make_calls(place, targets)
        await self._run_actions(place, targets)

    # --- receiving

    async def _wait_connected(self) -> None:
        self._console.say("Connecting to the platform …")
        while self._link.state != "connected":
            await self._changed()
        self._console.say("Connected.")

    async def _first_message(self) -> IncomingEvent:
        self._console.say("1. Receive: write a message to the bot in its app (Enter ends the probe).")
        while True:
            line = await self._line_or_event()
            message = next((each for each in self._link.incoming if each.event.type == "message.received"), None)
            if message is not None:
                return message
            if line is not None:
                raise ProbeStopped("no message came; look at the status lines above")

    async def _receive_others(self) -> None:
        """Lets the person cause the declared events and components, as many as are wanted."""
        while missing := self._missing_events():
            self._console.say(f"   Not seen yet: {', '.join(missing)}.")
            self._console.say("   Cause some of them in the app; Enter goes on.")
            if await self._line_or_event() is not None:
                break
        for name in self._missing_events():
            section, _, what = name.rpartition(" ")
            self._record.fail("receive" if section else "events", what, "not tried")

    def _missing_events(self) -> list[str]:
        events = [name for name in self._manifest.supported_events if name not in self._record.shown["events"]]
        parts = [name for name in self._manifest.components.receive if name not in self._record.shown["receive"]]
        return [*events, *(f"component {name}" for name in parts)]

    def _take_events(self) -> None:
        for incoming in self._link.incoming[self._read :]:
            self._read += 1
            event = incoming.event.model_dump(mode="json", exclude_none=True)
            self._redaction.learn(event)
            own_prefix = f"platform.{self._manifest.name}."
            is_own = event["type"].startswith(own_prefix) and f"{own_prefix}*" in self._manifest.supported_events
            self._record.show("events", f"{own_prefix}*" if is_own else event["type"])
            for part in event.get("message_chain", ()):
                self._record.show("receive", part["type"])
            self._console.say(f"   received {event['type']}")

    # --- sending

    async def _send_components(self, message: IncomingEvent, files: Mapping[str, Path]) -> ProbePlace:
        event: Any = message.event
        place = ProbePlace(event.chat_type, event.chat_id, event.sender.id, event.message_id)
        self._console.say("2. Send: look at the chat, and answer y if you see what is named.")
        for name in self._manifest.components.send:
            part = _component(name, place, message, files)
            if part is None:
                option = f" (give one with --file {name}=PATH)" if name in MEDIA else ""
                self._record.fail("send", name, "not tried")
                self._console.say(f"   {name}: not tried{option}")
                continue
            chain: MessageChain = [part] if isinstance(part, Plain) else [part, Plain(text=PROBE_TEXT)]
            result = await self._sent(name, chain, message)
            if result is not None and await self._confirms(f"   {name}: is it shown?"):
                self._record.show("send", name)
                self._record.show("apis", "reply_message" if message.reply_allowance else "send_message")
                place = replace(place, own_message_id=result.message_id or place.own_message_id)
        return place

    async def _sent(self, name: str, chain: MessageChain, message: IncomingEvent) -> MessageResult | None:
        """Sends as the Host does: as a counted reply where the platform allows only these."""
        event: Any = message.event
        api = self._adapter.api(message.account)
        allowance = self._newest_allowance(event.chat_id)
        self._replies += 1
        try:
            async with asyncio.timeout(CALL_SECONDS):
                if allowance is None:
                    return await api.send_message(event.chat_type, event.chat_id, chain, f"probe-{self._replies}")
                handle = ReplyHandle(allowance, self._replies, EventId(event.event_id))
                return await api.send_reply(handle, event.chat_type, event.chat_id, chain, f"probe-{self._replies}")
        except (PlatformRefused, PlatformUncertain, NotSupportedError, TimeoutError) as error:
            self._failed("send", name, error)
            return None

    def _newest_allowance(self, chat_id: str) -> str | None:
        own = (each for each in reversed(self._link.incoming) if getattr(each.event, "chat_id", "") == chat_id)
        return next((each.reply_allowance.handle for each in own if each.reply_allowance is not None), None)

    # --- calls and actions

    async def _make_calls(self, place: ProbePlace, targets: Mapping[str, str]) -> None:
        self._console.say("3. Calls: those that change something for others need --target NAME=TARGET.")
        order = [*SAFE, *NAMED]
        names = [name for name in self._manifest.supported_apis if name in order]
        for name in sorted(names, key=order.index):
            named = name in NAMED and name in targets
            arguments = NAMED[name](targets[name], place) if named else SAFE[name](place) if name in SAFE else None
            if arguments is None:
                self._record.fail("apis", name, "not tried")
                self._console.say(f"   {name}: not tried")
                continue
            await self._call("apis", name, getattr(self._adapter.api(), name)(**arguments))

    async def _run_actions(self, place: ProbePlace, targets: Mapping[str, str]) -> None:
        for name, action in self._manifest.actions.items():
            parameters = action_parameters(name, action, place, targets.get(name, ""))
            if parameters is None:
                self._record.fail("actions", name, "not tried")
                self._console.say(f"   {name}: not tried")
                continue
            if await self._call("actions", name, self._adapter.api().call_platform_api(name, parameters)):
                self._record.show("apis", "call_platform_api")

    async def _call(self, section: Any, name: str, call: Any) -> bool:
        try:
            async with asyncio.timeout(CALL_SECONDS):
                answer = await call
        except (PlatformRefused, PlatformUncertain, NotSupportedError, TimeoutError) as error:
            self._failed(section, name, error)
            return False
        dump = getattr(answer, "model_dump", None)
        self._redaction.learn(dump(mode="json") if dump is not None else answer)
        self._record.show(section, name)
        self._console.say(f"   {name}: done")
        return True

    def _failed(self, section: Any, name: str, error: Exception) -> None:
        reason = self._redaction(str(error) or type(error).__name__)
        self._record.fail(section, name, reason)
        self._console.say(f"   {name}: {reason}")

    # --- the person

    async def _confirms(self, question: str) -> bool:
        self._console.say(f"{question} [y/n]")
        return (await self._console.read() or "").lower() in YES

    async def _line_or_event(self) -> str | None:
        """Waits for a line or for something on the platform. Returns the line; an empty one at the end of the input."""
        reading, changing = asyncio.create_task(self._console.read()), asyncio.create_task(self._changed())
        try:
            await asyncio.wait((reading, changing), return_when=asyncio.FIRST_COMPLETED)
            self._take_events()
            return (reading.result() or "") if reading.done() else None
        finally:
            for task in (reading, changing):
                task.cancel()
            await asyncio.gather(reading, changing, return_exceptions=True)

    async def _changed(self) -> None:
        await self._link.changed.wait()
        self._link.changed.clear()


def _component(name: str, place: ProbePlace, message: IncomingEvent, files: Mapping[str, Path]) -> Component | None:
    """Returns a component to send; None if the person has to provide it."""
    if name in files:
        file = files[name]
        return MEDIA[name](base64=base64.b64encode(file.read_bytes()).decode(), name=file.name)
    match name:
        case "Plain":
            return Plain(text=PROBE_TEXT)
        case "At":
            return At(target=place.user_id)
        case "AtAll" if place.group_id:
            return AtAll()
        case "Image":
            return Image(base64=base64.b64encode(_picture()).decode(), name="probe.png", mime_type="image/png")
        case "File":
            content = base64.b64encode(b"parlour platform probe\n").decode()
            return File(base64=content, name="probe.txt", mime_type="text/plain")
        case "Quote":
            return Quote(id=place.message_id)
        case "Face":
            chain = getattr(message.event, "message_chain", ())
            return next((each for each in chain if isinstance(each, Face)), None)
    return None


def _picture(size: int = 64) -> bytes:
    """Returns a blue square as PNG."""

    def chunk(kind: bytes, content: bytes) -> bytes:
        checked = kind + content
        return struct.pack(">I", len(content)) + checked + struct.pack(">I", binascii.crc32(checked))

    rows = (b"\x00" + b"\x2b\x6c\xb0" * size) * size
    header = struct.pack(">IIBBBBB", size, size, 8, 2, 0, 0, 0)
    parts = chunk(b"IHDR", header), chunk(b"IDAT", zlib.compress(rows)), chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + b"".join(parts)
