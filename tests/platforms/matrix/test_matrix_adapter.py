"""Tests the adapter with a homeserver's peculiarities: where it begins, missed events, and accepted invitations."""

import asyncio
import base64
from collections.abc import AsyncIterator

import pytest

from parlour.core.platforms.port import AdapterStopped, FileContent, IncomingEvent, PlatformRefused
from parlour.platforms.matrix import sync
from parlour.testing.memory_link import MemoryLink
from parlour_sdk.protocol.chain import Image, MessageChain, Plain
from parlour_sdk.protocol.platform_events import BotInvited, MessageReceived
from tests.support.harness import Json

from .rig import Home, MatrixRig, rigged


@pytest.fixture
async def rig(home: Home) -> AsyncIterator[MatrixRig]:
    async with rigged(home) as rig:
        yield rig


def received_texts(link: MemoryLink) -> list[str]:
    events = [each.event for each in link.incoming if isinstance(each.event, MessageReceived)]
    return ["".join(part.text for part in each.message_chain if isinstance(part, Plain)) for each in events]


async def wait_for_texts(link: MemoryLink, *texts: str) -> None:
    await link.until(lambda: received_texts(link)[-len(texts) :] == list(texts))


async def test_messages_from_before_the_first_start_are_ignored(rig: MatrixRig) -> None:
    rig.send_text("long ago")
    async with rig.served():
        await rig.say("now")
        await wait_for_texts(rig.link, "now")
    assert received_texts(rig.link) == ["now"]


async def test_messages_between_invitation_and_join_are_received(rig: MatrixRig) -> None:
    made = rig.call("POST", "/createRoom", {}, rig.ann)
    rig.send_text("among us", room_id=made["room_id"])
    rig.call("POST", f"/rooms/{made['room_id']}/invite", {"user_id": rig.bot.user_id}, rig.ann)
    rig.send_text("hello", room_id=made["room_id"])
    async with rig.served():
        await wait_for_texts(rig.link, "hello")
        assert rig.link.incoming[-1].event.chat_type == "private"  # type: ignore[attr-defined]
    assert received_texts(rig.link) == ["hello"]


async def test_a_gap_is_filled_from_the_last_position_without_losses(
    rig: MatrixRig, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sync, "LIVE_FILTER", sync.LIVE_FILTER.replace(f'"limit":{sync.PAGE_SIZE}', '"limit":3'))
    monkeypatch.setattr(sync, "PAGE_SIZE", 4)
    async with rig.served():
        await rig.say("first")
        await wait_for_texts(rig.link, "first")
    texts = [f"{number}" for number in range(12)]
    for text in texts:
        rig.send_text(text)
    async with rig.again().served():
        await wait_for_texts(rig.link, *texts)
    assert received_texts(rig.link) == ["first", *texts]
    assert rig.proxy.count("GET", "/messages") >= 1


async def test_a_gap_that_is_too_wide_is_reported(rig: MatrixRig, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sync, "LIVE_FILTER", sync.LIVE_FILTER.replace(f'"limit":{sync.PAGE_SIZE}', '"limit":2'))
    monkeypatch.setattr(sync, "PAGE_SIZE", 2)
    monkeypatch.setattr(sync, "MAX_MISSED_EVENTS", 2)
    async with rig.served():
        await rig.say("first")
        await wait_for_texts(rig.link, "first")
    for number in range(8):
        rig.send_text(f"{number}")
    async with rig.again().served():
        await wait_for_texts(rig.link, "4", "5", "6", "7")
    types = [each.event.type for each in rig.link.incoming]
    assert types[-5:] == ["platform.matrix.gap", *["message.received"] * 4]


class RejectingLink(MemoryLink):
    async def receive(self, *incoming: IncomingEvent, cursor: str | None = None) -> None:
        if any("poison" in str(each.event) for each in incoming):
            raise ValueError("this can't be kept")
        await super().receive(*incoming, cursor=cursor)


async def test_an_unstorable_event_does_not_block_later_events(rig: MatrixRig) -> None:
    rig.link = RejectingLink(rig.link.config)
    async with rig.again().served():
        said_by = {"type": "m.room.message", "sender": rig.ann.user_id, "origin_server_ts": 1}
        for text in ("poison", "good"):
            content = {"msgtype": "m.text", "body": text}
            rig.proxy.report(rig.room_id, {**said_by, "event_id": f"${text}", "content": content})
        await wait_for_texts(rig.link, "good")
        await rig.say("later")
        await wait_for_texts(rig.link, "good", "later")
    assert "poison" not in received_texts(rig.link)


async def test_a_cursor_that_the_homeserver_does_not_know_is_dropped(rig: MatrixRig) -> None:
    rig.link.stored_cursor = f"{rig.bot.user_id} no-such-place"
    async with rig.served():
        await rig.link.until(lambda: rig.link.stored_cursor != f"{rig.bot.user_id} no-such-place")
        await rig.say("hello")
        await wait_for_texts(rig.link, "hello")
    assert rig.link.stored_cursor != f"{rig.bot.user_id} no-such-place"


@pytest.mark.parametrize(("policy", "joined"), [("homeserver", True), ("accept", True), ("ask", False)])
async def test_the_configuration_decides_which_invitations_are_accepted(policy: str, joined: bool, home: Home) -> None:
    async with rigged(home, invitations=policy) as rig, rig.served():
        room = rig.call("POST", "/createRoom", {"invite": [home.bot.user_id], "name": "Come in"}, rig.ann)["room_id"]
        await rig.link.until(lambda: any(isinstance(each.event, BotInvited) for each in rig.link.incoming))
        [invited] = [each.event for each in rig.link.incoming if isinstance(each.event, BotInvited)]
        assert (invited.group.name, invited.request_id) == ("Come in", room)
        if not joined:
            await rig.adapter.api().answer_group_invite(room, approve=True)
        rig.send_text("welcome", room_id=room)
        await wait_for_texts(rig.link, "welcome")


async def test_a_message_to_a_user_goes_to_the_shared_room(rig: MatrixRig) -> None:
    async with rig.served():
        first, second = [
            await rig.adapter.api().send_message("private", rig.ann.user_id, [Plain(text=text)]) for text in ("a", "b")
        ]
    [room] = rig.call("GET", "/sync?timeout=0", None, rig.ann)["rooms"]["invite"]
    rig.call("POST", f"/rooms/{room}/join", {}, rig.ann)
    history = rig.call("GET", f"/rooms/{room}/messages?dir=f&limit=50", None, rig.ann)["chunk"]
    assert [each["event_id"] for each in history if each["type"] == "m.room.message"] == [
        first.message_id,
        second.message_id,
    ]


async def test_the_same_key_shows_a_message_once_and_finds_it(rig: MatrixRig) -> None:
    async def free(message_id: str) -> bool:
        return False

    chain: MessageChain = [Plain(text="once"), Image(artifact_id="picture")]
    rig.link.files["picture"] = FileContent(b"a picture", "cat.png", "image/png")
    rig.send_text("before")
    async with rig.served():
        api = rig.adapter.api()
        assert await api.find_message("private", rig.room_id, chain, "key", free) is None
        sent = [await api.send_message("private", rig.room_id, chain, "key") for _ in range(2)]
        found = await api.find_message("private", rig.room_id, chain, "key", free)
    assert sent[0] == sent[1]
    assert found is not None
    assert found.message_id == sent[0].message_id
    history = rig.call("GET", f"/rooms/{rig.room_id}/messages?dir=b&limit=3", None, rig.ann)["chunk"]
    assert [each["event_id"] for each in history[:2]] == sent[0].raw["message_ids"][::-1]
    assert history[2]["sender"] == rig.ann.user_id


@pytest.mark.parametrize(
    ("target", "sentence"),
    [
        ("4242", "is no address of Matrix"),
        ("!nowhere:parlour.test", "M_FORBIDDEN"),
        ("#nowhere:parlour.test", "M_NOT_FOUND"),
    ],
)
async def test_an_invalid_target_is_refused_with_a_reason(rig: MatrixRig, target: str, sentence: str) -> None:
    async with rig.served():
        with pytest.raises(PlatformRefused, match=sentence) as refused:
            await rig.adapter.api().send_message("group", target, [Plain(text="hello")])
    assert refused.value.permanent


async def test_no_plain_text_is_sent_to_an_encrypted_room(rig: MatrixRig, home: Home) -> None:
    state = {"type": "m.room.encryption", "state_key": "", "content": {"algorithm": "m.megolm.v1.aes-sha2"}}
    room = home.room(initial_state=[state])
    async with rig.served():
        with pytest.raises(PlatformRefused, match="the room is encrypted"):
            await rig.adapter.api().send_message("private", room, [Plain(text="hello")])


async def test_a_file_that_is_too_large_is_described_in_text(rig: MatrixRig) -> None:
    about: Json = {"msgtype": "m.video", "url": "mxc://parlour.test/film", "info": {"size": 50 * 2**20}}
    async with rig.served():
        rig.proxy.garble("GET", "/media/config", b'{"m.upload.size": 1048576}')
        picture = Image(base64=base64.b64encode(bytes(3 * 2**19)).decode(), name="a.png")
        with pytest.raises(PlatformRefused, match=r"'a.png' has 1.5 MiB; this homeserver takes 1.0 MiB"):
            await rig.adapter.api().send_message("private", rig.room_id, [picture])
        rig.send_text("film.mp4", **about)
        [message] = await rig.link.events(1)
    [_, film] = message.event.message_chain  # type: ignore[attr-defined]
    assert film.text == "[video: film.mp4, 50.0 MiB: more than the 20.0 MiB that are fetched]"


async def test_files_are_fetched_from_the_old_endpoint_if_the_new_one_is_missing(rig: MatrixRig) -> None:
    new, old = "/_matrix/client/v1/media/download/parlour.test/old", "/_matrix/media/v3/download/parlour.test/old"
    async with rig.served():
        rig.proxy.refuse("GET", new, 404, {"errcode": "M_UNRECOGNIZED"})
        rig.proxy.garble("GET", old, b"a picture")
        rig.send_text("old.png", msgtype="m.image", url="mxc://parlour.test/old")
        [message] = await rig.link.events(1)
    [_, picture] = message.event.message_chain  # type: ignore[attr-defined]
    assert (base64.b64decode(picture.base64), picture.name) == (b"a picture", "old.png")


async def test_a_rate_limit_is_reported_with_the_time_to_wait(rig: MatrixRig) -> None:
    async with rig.served():
        rig.proxy.refuse("PUT", "/send/", 429, {"errcode": "M_LIMIT_EXCEEDED", "retry_after_ms": 2500})
        with pytest.raises(PlatformRefused) as refused:
            await rig.adapter.api().send_message("private", rig.room_id, [Plain(text="hello")])
    assert (refused.value.retry_after, refused.value.account_wide) == (2.5, True)


async def test_an_invalid_sync_answer_is_reported_and_requested_again(rig: MatrixRig) -> None:
    async with rig.served():
        for body in (b"<html>", b"[]", b'{"rooms": 1}', b'{"next_batch": 7}', b"\xff\x00", b"[" * 5000):
            before = len(rig.link.states)
            rig.proxy.garble("GET", "/sync", body)
            await rig.say(f"meanwhile {body[:9]!r}")  # the waiting sync may bring it, so the next one is spoiled
            await rig.say(f"after {body[:9]!r}")
            await wait_for_texts(rig.link, f"meanwhile {body[:9]!r}", f"after {body[:9]!r}")
            await rig.link.until(lambda before=before: len(rig.link.states) >= before + 2)  # type: ignore[misc]
            assert "the homeserver" in rig.link.states[before][1]
            assert rig.link.now[0] == "connected"


@pytest.mark.parametrize(
    ("config", "sentence"),
    [
        ({"access_token": "wrong"}, "access_token: the homeserver does not accept it"),
        ({"user": "@somebody:parlour.test"}, "not of @somebody:parlour.test; change one of them"),
        ({"user": "somebody"}, "user: the bot's whole id is needed"),
        ({"homeserver": "matrix.example.org"}, "homeserver: its address is needed"),
    ],
)
async def test_an_unusable_configuration_is_reported_and_not_retried(
    config: dict[str, str], sentence: str, home: Home
) -> None:
    async with rigged(home, **config) as rig:
        with pytest.raises(AdapterStopped, match=sentence):
            await asyncio.wait_for(rig.adapter.serve(), 60)
    assert "wrong" not in "".join(error for _, error in rig.link.states)
