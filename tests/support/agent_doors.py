"""The places where a person meets an agent in tests: the chat socket, QQ over OneBot, and Telegram."""

import asyncio
import base64
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Protocol

from parlour.testing.telegram_simulator import Simulator, native
from tests.platforms.telegram.tg import Telegram

from .agents import AgentHost
from .chat import Chat
from .harness import Json
from .onebot import Peer

DOORS = ("chat", "onebot", "telegram")
GROUP_DOORS = ("onebot", "telegram")
GROUP, TELEGRAM_GROUP = 77, -1001
ENDED = ("completed", "failed", "timeout", "cancelled")
NAMES = {501: "Ann", 502: "Bob", 503: "Cy"}
LAST_WORD = "word19"
"""The end of the text that a model has written when its run is stopped."""


class Door(Protocol):
    """A private chat with an agent."""

    async def ask(self, text: str) -> str:
        """Sends a message and returns the text that the person sees as its answer."""
        ...

    async def show(self, text: str, picture: bytes) -> str:
        """Sends a picture with a text."""
        ...

    async def give(self, text: str, name: str, content: bytes, mime_type: str = "text/plain") -> str:
        """Sends a file with a text and returns the answer."""
        ...

    async def stop(self, text: str) -> str:
        """Sends a message, stops its run when something of its answer was seen or its model was asked; returns that."""
        ...


class ChatDoor:
    def __init__(self, host: AgentHost, chat: Chat) -> None:
        self._host = host
        self._chat = chat

    async def ask(self, text: str) -> str:
        return await self._answer(text=text)

    async def show(self, text: str, picture: bytes) -> str:
        upload = {"file": ("cat.png", picture, "image/png")}
        stored = await asyncio.to_thread(lambda: self._host.http().post("/files", files=upload).json())
        image = {"type": "image", "mime_type": "image/png", "artifact_id": stored["artifact_id"]}
        return await self._answer(contents=[{"type": "text", "text": text}, image])

    async def give(self, text: str, name: str, content: bytes, mime_type: str = "text/plain") -> str:
        upload = {"file": (name, content, mime_type)}
        stored = await asyncio.to_thread(lambda: self._host.http().post("/files", files=upload).json())
        file = {"type": "file", "name": name, "mime_type": mime_type, "artifact_id": stored["artifact_id"]}
        return await self._answer(contents=[{"type": "text", "text": text}, file])

    async def stop(self, text: str) -> str:
        await self._chat.send(type="message", text=text)
        seen = ""
        while not seen.endswith(LAST_WORD):
            frame = await self._chat.frame()
            seen += frame["content"] if frame["type"] == "delta" else ""
        await self._chat.send(type="message", text="/stop")
        await self._chat.until("run", status="cancelled")
        return seen

    async def _answer(self, **fields: Any) -> str:
        """Sends a message, and returns the last text when its run has ended; a notice is an error frame."""
        await self._chat.send(type="message", **fields)
        shown, has_ended = "", False
        while not (shown and has_ended):
            frame = await self._chat.frame()
            has_ended = has_ended or (frame["type"] == "run" and frame["status"] in ENDED)
            if frame["type"] == "message":
                shown = plain_text(frame["message"]["content"])
            elif frame["type"] == "error":
                shown = frame["message"]
        return shown


def plain_text(content: Any) -> str:
    return content if isinstance(content, str) else "".join(part.get("text", "") for part in content)


class OneBotDoor:
    def __init__(self, host: AgentHost, peer: Peer) -> None:
        self._host = host
        self._peer = peer

    async def ask(self, text: str) -> str:
        self._peer.say(text)
        return (await asyncio.to_thread(self._peer.next_send))[1]

    async def show(self, text: str, picture: bytes) -> str:
        encoded = base64.b64encode(picture).decode()
        self._peer.say(text, before=[{"type": "image", "data": {"file": f"base64://{encoded}"}}])
        return (await asyncio.to_thread(self._peer.next_send))[1]

    async def give(self, text: str, name: str, content: bytes, mime_type: str = "text/plain") -> str:
        encoded = base64.b64encode(content).decode()
        self._peer.say(text, before=[{"type": "file", "data": {"file": f"base64://{encoded}", "name": name}}])
        return (await asyncio.to_thread(self._peer.next_send))[1]

    async def stop(self, text: str) -> str:
        before = len(self._host.server.requests)
        self._peer.say(text)
        await asyncio.to_thread(self._host.requests, before + 1)
        self._peer.say("/stop")
        await asyncio.to_thread(self._peer.next_send)
        return ""  # nothing is shown before an answer is complete


class TelegramDoor:
    def __init__(self, simulator: Simulator) -> None:
        self._simulator = simulator
        self._user = 501

    async def ask(self, text: str) -> str:
        return await self._answer(text=text)

    async def show(self, text: str, picture: bytes) -> str:
        file_id = self._simulator.world.add_file(picture, "cat.png")
        size = {"file_id": file_id, "file_unique_id": file_id, "width": 9, "height": 9, "file_size": len(picture)}
        return await self._answer(photo=[size], caption=text)

    async def give(self, text: str, name: str, content: bytes, mime_type: str = "text/plain") -> str:
        file_id = self._simulator.world.add_file(content, name)
        file = {"file_id": file_id, "file_unique_id": file_id, "file_name": name, "file_size": len(content)}
        return await self._answer(document={**file, "mime_type": mime_type}, caption=text)

    async def stop(self, text: str) -> str:
        drafts = self._simulator.world.drafts
        await self._simulator.say(text, self._user)
        await self._simulator.until(lambda: bool(drafts) and drafts[-1]["text"].endswith(LAST_WORD))
        await self._answer("/stop")
        return str(drafts[-1]["text"])

    async def _answer(self, text: str = "", **fields: Any) -> str:
        before = len(self._simulator.texts(self._user))
        await self._simulator.say(text, self._user, **fields)
        await self._simulator.until(lambda: len(self._simulator.texts(self._user)) > before)
        return self._simulator.texts(self._user)[-1]


@asynccontextmanager
async def open_door(kind: str, host: AgentHost, agent: str) -> AsyncIterator[Door]:
    """Opens a private chat of this kind with an agent."""
    match kind:
        case "chat":
            async with Chat(host, agent) as chat:
                yield ChatDoor(host, chat)
        case "onebot":
            bot_id, peer = await asyncio.to_thread(host.bot, agent)
            try:
                yield OneBotDoor(host, peer)
            finally:
                peer.close()
                host.http().delete(f"/bots/{bot_id}")
        case _:
            simulator = Simulator()
            simulator.world.person(501, "Ann")
            async with Telegram(host).bot([_route(agent)], simulator):
                yield TelegramDoor(simulator)


class GroupDoor(Protocol):
    """A group in which an agent is."""

    own_name: str
    platform: str

    async def say(self, user: int, text: str) -> Any:
        """Says something that does not address the bot."""
        ...

    async def ask(self, user: int, text: str) -> str:
        """Asks the bot, and returns the answer."""
        ...

    async def hear(self) -> str:
        """Returns the next message of the bot that was not read yet."""
        ...

    async def change(self, said: Any, user: int, text: str) -> None:
        """Takes a message back on OneBot, where it can't be edited, and edits it elsewhere."""
        ...


class OneBotGroup:
    own_name, platform = "Parley", "onebot11"

    def __init__(self, host: AgentHost, peer: Peer) -> None:
        self._host = host
        self._peer = peer

    async def say(self, user: int, text: str) -> int:
        return self._peer.say(text, user=user, group=GROUP, sender=_sender(user))

    async def ask(self, user: int, text: str) -> str:
        self._peer.say(text, user=user, group=GROUP, mention=True, sender=_sender(user))
        return await self.hear()

    async def hear(self) -> str:
        return (await asyncio.to_thread(self._peer.next_send))[1]

    async def change(self, said: int, user: int, text: str) -> None:
        self._peer.recall(said, user, GROUP)


class TelegramGroup:
    own_name, platform = "tg", "telegram"

    def __init__(self, simulator: Simulator) -> None:
        self._simulator = simulator
        self._heard = 0

    async def say(self, user: int, text: str) -> Json:
        return dict(await self._simulator.say(text, user, TELEGRAM_GROUP))

    async def ask(self, user: int, text: str) -> str:
        name = f"@{self._simulator.world.bot['username']}"
        entities = native.mention(f"{name} ", name)
        await self._simulator.say(f"{name} {text}", user, TELEGRAM_GROUP, entities=entities)
        return await self.hear()

    async def hear(self) -> str:
        await self._simulator.until(lambda: len(self._simulator.texts(TELEGRAM_GROUP)) > self._heard)
        self._heard += 1
        return self._simulator.texts(TELEGRAM_GROUP)[self._heard - 1]

    async def change(self, said: Json, user: int, text: str) -> None:
        await self._simulator.report(edited_message={**said, "text": text, "edit_date": said["date"] + 1})


@asynccontextmanager
async def open_group(kind: str, host: AgentHost, agent: str) -> AsyncIterator[GroupDoor]:
    """Opens a group of three people with an agent."""
    if kind == "onebot":
        bot_id, peer = await asyncio.to_thread(host.bot, agent)
        try:
            yield OneBotGroup(host, peer)
        finally:
            peer.close()
            host.http().delete(f"/bots/{bot_id}")
        return
    simulator = Simulator()
    simulator.world.add_group(TELEGRAM_GROUP)
    for user, name in NAMES.items():
        simulator.world.person(user, name)
        simulator.world.add_member(TELEGRAM_GROUP, user)
    async with Telegram(host).bot([_route(agent, mentions_bot=True)], simulator, enable_stream_reply=False):
        yield TelegramGroup(simulator)


def _sender(user: int) -> Json:
    return {"nickname": NAMES[user], "role": "member"}


def _route(agent: str, **filters: Any) -> Json:
    return {
        "event_type": "message.received",
        "handler_type": "agent",
        "handler_config": {"agent_id": agent},
        "filters": filters,
    }
