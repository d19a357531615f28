"""Represents a user with an unmodified matrix-nio client: their actions, and what they see."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any
from uuid import uuid4

from nio import AsyncClient, AsyncClientConfig, Event, MatrixRoom, RoomGetEventResponse, TypingNoticeEvent
from nio.responses import Response

from parlour.testing.synapse_server import Account
from tests.support.harness import Json

SECONDS = 60.0
TEXTS = ("m.text", "m.notice")


class Person:
    def __init__(self, url: str, account: Account) -> None:
        self.id = account.user_id
        self.client = AsyncClient(url, account.user_id, config=AsyncClientConfig(encryption_enabled=False))
        self.client.restore_login(account.user_id, account.device_id, account.access_token)
        self.client.add_event_callback(self._seen, Event)
        self.client.add_ephemeral_callback(self._typing, TypingNoticeEvent)
        self._events: dict[str, list[Json]] = {}
        self.typists: set[tuple[str, str]] = set()
        """Rooms with the users who were seen typing there."""
        self._changed = asyncio.Event()

    @asynccontextmanager
    async def online(self) -> AsyncIterator["Person"]:
        reading = asyncio.create_task(self.client.sync_forever(timeout=30_000))
        try:
            yield self
        finally:
            reading.cancel()
            await asyncio.wait([reading])
            await self.client.close()

    async def room(self, *others: str, name: str = "", encrypted: bool = False) -> str:
        """Creates a room and waits until the first invited user, the bot, has joined."""
        state = [{"type": "m.room.encryption", "state_key": "", "content": {"algorithm": "m.megolm.v1.aes-sha2"}}]
        made = await self.client.room_create(
            name=name or None,
            invite=list(others),
            is_direct=len(others) == 1,
            initial_state=state if encrypted else (),
        )
        room_id = str(require_success(made).room_id)
        if others:
            await self.until(lambda: others[0] in self.members(room_id))
        return room_id

    async def say(self, room_id: str, text: str, **content: Any) -> str:
        return await self.send(room_id, {"msgtype": "m.text", "body": text, **content})

    async def send(self, room_id: str, content: Json, kind: str = "m.room.message") -> str:
        return str(require_success(await self.client.room_send(room_id, kind, content)).event_id)

    async def send_plainly(self, room_id: str, kind: str, content: Json) -> None:
        """Sends without regard to the room's state, because this client can't encrypt as others can."""
        path = f"/_matrix/client/v3/rooms/{room_id}/send/{kind}/{uuid4().hex}"
        headers = {"Authorization": f"Bearer {self.client.access_token}"}
        answer = await self.client.send("PUT", path, json.dumps(content), headers)
        assert answer.status == 200, await answer.text()

    async def upload(self, data: bytes, mime_type: str, name: str) -> str:
        answer, _ = await self.client.upload(lambda *_: data, mime_type, name, filesize=len(data))
        return str(require_success(answer).content_uri)

    async def event(self, room_id: str, event_id: str) -> Json:
        """Returns the event as the homeserver has it now."""
        answer = await self.client.room_get_event(room_id, event_id)
        assert isinstance(answer, RoomGetEventResponse), answer
        return dict(answer.event.source)

    def events(self, room_id: str, kind: str = "m.room.message") -> list[Json]:
        """Returns the events of others in the order in which they arrived."""
        return [each for each in self._events.get(room_id, ()) if each["type"] == kind and each["sender"] != self.id]

    def members(self, room_id: str) -> set[str]:
        events = [each for each in self._events.get(room_id, ()) if each["type"] == "m.room.member"]
        now = {each["state_key"]: each["content"]["membership"] for each in events}
        return {user for user, membership in now.items() if membership == "join"}

    def read(self, room_id: str) -> list[str]:
        """Returns the texts of others as they are shown now, with edits and without deleted ones."""
        gone = {
            each.get("redacts") or each["content"].get("redacts") for each in self.events(room_id, "m.room.redaction")
        }
        shown: dict[str, str] = {}
        for event in self.events(room_id):
            edit, content = replaced(event), event["content"]
            if edit in shown:
                shown[edit] = content["m.new_content"]["body"]
            elif not edit and content.get("msgtype") in TEXTS:
                shown[event["event_id"]] = content["body"]
        return [text for event_id, text in shown.items() if event_id not in gone]

    async def answered(self, room_id: str, *texts: str) -> None:
        """Waits until exactly these texts are shown."""
        await self.until(lambda: self.read(room_id) == list(texts), lambda: f"{self.read(room_id)} is read")

    async def changed(self) -> None:
        """Waits for the next event."""
        self._changed.clear()
        await self._changed.wait()

    async def until(
        self,
        condition: Callable[[], bool],
        describe: Callable[[], str] = lambda: "it never came",
        seconds: float = SECONDS,
    ) -> None:
        try:
            async with asyncio.timeout(seconds):
                while not condition():
                    self._changed.clear()
                    await self._changed.wait()
        except TimeoutError:
            raise AssertionError(describe()) from None

    def _seen(self, room: MatrixRoom, event: Event) -> None:
        self._events.setdefault(room.room_id, []).append(event.source)
        self._changed.set()

    def _typing(self, room: MatrixRoom, event: TypingNoticeEvent) -> None:
        self.typists |= {(room.room_id, user) for user in event.users}
        self._changed.set()


def replaced(event: Json) -> str:
    """Returns the message that the event edits."""
    relation = event["content"].get("m.relates_to") or {}
    return str(relation["event_id"]) if relation.get("rel_type") == "m.replace" else ""


def require_success(answer: Response | Any) -> Any:
    """Returns a valid answer and raises for an error, which nio only returns."""
    assert "Error" not in type(answer).__name__, answer
    return answer
