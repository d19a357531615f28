"""Tests rooms that are replaced, and rooms that lead to other networks over a bridge, on a real Synapse."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

from parlour.core.platforms.port import IncomingEvent
from parlour.testing.synapse_server import Account
from parlour_sdk.protocol.chain import Plain
from parlour_sdk.protocol.platform_events import MessageReceived
from tests.support.harness import Json

from .rig import Home, MatrixRig, rigged
from .world import numbers


@pytest.fixture
async def rig(home: Home) -> AsyncIterator[MatrixRig]:
    async with rigged(home, invitations="accept") as rig:
        yield rig


def messages(rig: MatrixRig) -> list[IncomingEvent]:
    return [each for each in rig.link.incoming if isinstance(each.event, MessageReceived)]


async def received(rig: MatrixRig, text: str) -> IncomingEvent:
    """Waits for a message and returns it."""

    def found() -> list[IncomingEvent]:
        return [each for each in messages(rig) if each.event.message_chain[-1].text == text]  # type: ignore[attr-defined]

    await rig.link.until(lambda: bool(found()))
    return found()[-1]


def register(rig: MatrixRig, name: str) -> Account:
    return rig.synapse.register(f"{name}{next(numbers)}", name)


def joined(rig: MatrixRig, room_id: str) -> set[str]:
    return set(rig.call("GET", f"/rooms/{room_id}/joined_members", None, rig.ann)["joined"])


def texts(rig: MatrixRig, room_id: str) -> list[str]:
    page = rig.call("GET", f"/rooms/{room_id}/messages?dir=b&limit=50", None, rig.ann)
    return [each["content"]["body"] for each in page["chunk"] if each["type"] == "m.room.message"]


def upgrade(rig: MatrixRig, room_id: str, version: str = "10") -> str:
    answer = rig.call("POST", f"/rooms/{room_id}/upgrade", {"new_version": version}, rig.ann)
    return str(answer["replacement_room"])


async def test_a_chat_goes_on_in_the_room_that_replaces_its_room(rig: MatrixRig, home: Home) -> None:
    old = home.room(name="talk")
    async with rig.served():
        await asyncio.to_thread(rig.send_text, "before", room_id=old)
        before = await received(rig, "before")
        new = await asyncio.to_thread(upgrade, rig, old)
        await asyncio.to_thread(rig.call, "POST", f"/rooms/{new}/invite", {"user_id": rig.bot.user_id}, rig.ann)
        await asyncio.to_thread(rig.send_text, "after", room_id=new)
        after = await received(rig, "after")
        await rig.adapter.api().send_message("private", old, [Plain(text="answer")], "a-key")
        assert texts(rig, new)[0] == "answer"
    upgraded = [each.event for each in rig.link.incoming if each.event.type == "platform.matrix.room_upgraded"]
    assert [each.data["replacement_room"] for each in upgraded] == [new]  # type: ignore[attr-defined]
    assert (before.event.chat_id, after.event.chat_id) == (old, old)  # type: ignore[attr-defined]
    async with rig.again().served():
        await asyncio.to_thread(rig.send_text, "after a restart", room_id=new)
        assert (await received(rig, "after a restart")).event.chat_id == old  # type: ignore[attr-defined]


async def test_a_public_room_is_followed_without_an_invitation_also_after_the_fact(rig: MatrixRig, home: Home) -> None:
    old = home.room(preset="public_chat", room_version="9")
    new = upgrade(rig, old)
    async with rig.served():
        await rig.link.until(lambda: rig.link.now[0] == "connected")
        await asyncio.to_thread(_until_joined, rig, new)
        newer = await asyncio.to_thread(upgrade, rig, new, "11")
        await asyncio.to_thread(_until_joined, rig, newer)
        await asyncio.to_thread(rig.send_text, "here", room_id=newer)
        assert (await received(rig, "here")).event.chat_id == old  # type: ignore[attr-defined]


def _until_joined(rig: MatrixRig, room_id: str) -> None:
    since = rig.call("GET", "/sync?timeout=0", None, rig.ann)["next_batch"]
    while rig.bot.user_id not in joined(rig, room_id):
        since = rig.call("GET", f"/sync?timeout=2000&since={since}", None, rig.ann)["next_batch"]


async def test_a_room_that_only_claims_to_replace_another_is_a_chat_of_its_own(rig: MatrixRig, home: Home) -> None:
    old = home.room()
    claim = {"predecessor": {"room_id": old, "event_id": "$x"}}
    other = home.room(creation_content=claim)
    async with rig.served():
        await asyncio.to_thread(rig.send_text, "hello", room_id=other)
        assert (await received(rig, "hello")).event.chat_id == other  # type: ignore[attr-defined]


class Portal:
    """A room of a bridge: its bot, and ghosts of people of the other network."""

    def __init__(self, rig: MatrixRig, *ghosts: Account, is_direct: bool = False, kind: str = "") -> None:
        self._rig = rig
        self.bot, self.ghosts = register(rig, "bridgebot"), ghosts
        content = {"bridgebot": self.bot.user_id, "protocol": {"id": "whatsapp"}, "channel": {"id": "49151"}}
        content |= {"com.beeper.room_type": kind} if kind else {}
        state = {"type": "m.bridge", "state_key": "net.example://whatsapp/49151", "content": content}
        people = [each.user_id for each in (rig.bot, *ghosts)]
        wishes = {"invite": people, "is_direct": is_direct, "initial_state": [state]}
        self.room_id = str(rig.call("POST", "/createRoom", wishes, self.bot)["room_id"])
        for each in (rig.bot, *ghosts):
            rig.call("POST", f"/rooms/{self.room_id}/join", {}, each)

    def say(self, text: str, account: Account) -> None:
        self._rig.send_text(text, account, self.room_id)

    def add(self, ghost: Account) -> None:
        self._rig.call("POST", f"/rooms/{self.room_id}/invite", {"user_id": ghost.user_id}, self.bot)
        self._rig.call("POST", f"/rooms/{self.room_id}/join", {}, ghost)


async def test_a_portal_with_one_ghost_is_private_and_its_ghost_is_a_person(rig: MatrixRig) -> None:
    portal = Portal(rig, register(rig, "ghost"))
    async with rig.served():
        await asyncio.to_thread(portal.say, "hello", portal.ghosts[0])
        said = (await received(rig, "hello")).event
        await asyncio.to_thread(portal.say, "logged in", portal.bot)
        noted = (await received(rig, "logged in")).event
        other = register(rig, "other")
        await asyncio.to_thread(portal.add, other)
        await asyncio.to_thread(portal.say, "now we are many", other)
        many = (await received(rig, "now we are many")).event
    assert isinstance(said, MessageReceived)
    assert isinstance(noted, MessageReceived)
    assert (said.chat_type, said.sender.is_bot) == ("private", False)
    assert (noted.chat_type, noted.sender.is_bot) == ("private", True)
    assert many.chat_type == "group"  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("wishes", "chat_type"), [({}, "group"), ({"kind": "dm"}, "private"), ({"is_direct": True}, "private")]
)
async def test_a_direct_portal_may_have_a_ghost_of_the_account_itself(
    rig: MatrixRig, wishes: Json, chat_type: str
) -> None:
    portal = Portal(rig, register(rig, "ghost"), register(rig, "ownghost"), **wishes)
    async with rig.served():
        await asyncio.to_thread(portal.say, "hello", portal.ghosts[0])
        assert (await received(rig, "hello")).event.chat_type == chat_type  # type: ignore[attr-defined]


async def test_account_data_makes_a_portal_direct(rig: MatrixRig) -> None:
    portal = Portal(rig, register(rig, "ghost"), register(rig, "ownghost"))
    direct: dict[str, Any] = {portal.ghosts[0].user_id: [portal.room_id]}
    rig.call("PUT", f"/user/{rig.bot.user_id}/account_data/m.direct", direct, rig.bot)
    async with rig.served():
        await asyncio.to_thread(portal.say, "hello", portal.ghosts[0])
        assert (await received(rig, "hello")).event.chat_type == "private"  # type: ignore[attr-defined]
    rig.call("PUT", f"/user/{rig.bot.user_id}/account_data/m.direct", {}, rig.bot)


async def test_the_bot_of_a_bridge_is_no_person_in_other_rooms_and_others_cannot_be_called_so(rig: MatrixRig) -> None:
    portal = Portal(rig, register(rig, "ghost"))
    management = str(rig.call("POST", "/createRoom", {"invite": [rig.bot.user_id]}, portal.bot)["room_id"])
    rig.call("POST", f"/rooms/{management}/join", {}, rig.bot)
    bob = register(rig, "bob")
    claim = {"type": "m.bridge", "state_key": "x", "content": {"bridgebot": bob.user_id}}
    room = rig.call("POST", "/createRoom", {"invite": [rig.bot.user_id], "initial_state": [claim]}, rig.ann)["room_id"]
    own = str(rig.call("POST", "/createRoom", {"invite": [rig.bot.user_id]}, bob)["room_id"])
    for each in (room, own):
        rig.call("POST", f"/rooms/{each}/join", {}, rig.bot)
    async with rig.served():
        await asyncio.to_thread(rig.send_text, "Success!", portal.bot, management)
        assert (await received(rig, "Success!")).event.sender.is_bot  # type: ignore[attr-defined]
        await asyncio.to_thread(rig.send_text, "I am a person", bob, own)
        assert not (await received(rig, "I am a person")).event.sender.is_bot  # type: ignore[attr-defined]
