"""Tests a bot against users of other homeservers: forged invitations, rooms of their own, malformed events."""

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest

from parlour.core.platforms.port import IncomingEvent, PlatformRefused
from parlour_sdk.protocol.platform_events import BotInvited, MessageReceived

from .rig import Home, MatrixRig, rigged
from .test_matrix_adapter import wait_for_texts

ROOM = "!lured:elsewhere.test"
MALLORY = "@mallory:elsewhere.test"


@pytest.fixture
async def rig(home: Home) -> AsyncIterator[MatrixRig]:
    async with rigged(home) as rig, rig.served():
        yield rig


def invite(home: Home, sender: Any, kind: str = "m.room.member", membership: str = "invite") -> dict[str, Any]:
    return {"type": kind, "state_key": home.bot.user_id, "sender": sender, "content": {"membership": membership}}


@pytest.mark.parametrize("forged_first", [True, False])
@pytest.mark.parametrize(
    ("kind", "membership"), [("m.room.member", "invite"), ("m.room.member", "join"), ("m.room.topic", "invite")]
)
async def test_a_forged_event_does_not_make_a_foreign_user_local(
    forged_first: bool, kind: str, membership: str, home: Home, rig: MatrixRig
) -> None:
    forged = invite(home, home.ann.user_id, kind, membership)
    genuine = {**invite(home, MALLORY), "event_id": "$genuine", "origin_server_ts": 1}
    rig.proxy.report_invitation(ROOM, *([forged, genuine] if forged_first else [genuine, forged]))
    [incoming] = await rig.link.events(1)
    assert isinstance(incoming.event, BotInvited)
    assert incoming.event.inviter is not None
    assert incoming.event.inviter.id == MALLORY
    await rig.say("an answered sync later")
    await wait_for_texts(rig.link, "an answered sync later")
    assert rig.proxy.count("POST", "lured") == 0


async def test_the_creator_of_a_room_has_the_owner_role_only_on_a_trusted_server(home: Home) -> None:
    server = home.ann.user_id.partition(":")[2]
    bob = home.synapse.register("bob-of-strangers", "Bob")
    room_id = home.room(invite=[home.bot.user_id, bob.user_id])
    home.synapse.call("POST", f"/_matrix/client/v3/rooms/{room_id}/join", {}, bob)

    async def roles(**config: Any) -> set[str]:
        async with rigged(home, **config) as rig, rig.served():
            for account in (home.ann, bob):
                await asyncio.to_thread(rig.send_text, "hello", account, room_id)
            spoken = await rig.link.events(2)
            return {f"{_sender(each)} {each.role}" for each in spoken}

    assert await roles() == {"Ann member", "Bob member"}
    assert await roles(trusted_servers=["elsewhere.test"]) == {"Ann member", "Bob member"}
    assert await roles(trusted_servers=[server]) == {"Ann owner", "Bob member"}


def _sender(incoming: IncomingEvent) -> str:
    assert isinstance(incoming.event, MessageReceived)
    return str(incoming.event.sender.nickname)


def nested(layers: int, inside: str = '"the end"') -> str:
    return '{"deeper":[' * layers + inside + "]}" * layers


def message(event_id: str, content: str) -> str:
    event = {"type": "m.room.message", "event_id": event_id, "sender": MALLORY, "origin_server_ts": 1}
    return json.dumps(event)[:-1] + f', "content": {content}}}'


@pytest.mark.parametrize("layers", [40, 90, 300, 20_000])
@pytest.mark.parametrize("inside", ['"the end"', '"half \\ud800"'])
async def test_an_event_that_nests_too_deep_is_malformed_and_stops_nothing(
    layers: int, inside: str, rig: MatrixRig
) -> None:
    event = message(f"$deep-{layers}", nested(layers, inside))
    timeline = f'{{"timeline": {{"events": [{event}]}}}}'
    answer = f'{{"next_batch": "s0_0", "rooms": {{"join": {{"{rig.room_id}": {timeline}}}}}}}'
    rig.proxy.garble("GET", "/sync", answer.encode())
    rig.proxy.garble("GET", "/sync", b'{"errcode": "M_UNKNOWN_POS", "error": "unknown place"}')
    rig.proxy.cut_all()
    [incoming] = await rig.link.events(1)
    assert incoming.event.type == "platform.matrix.malformed"
    assert rig.link.now[0] == "connected"


@pytest.mark.parametrize("layers", [90, 300, 20_000])
async def test_a_deep_event_can_not_be_fetched_and_is_left_out_of_a_quote(layers: int, rig: MatrixRig) -> None:
    deep = message("$deep", nested(layers))
    rig.proxy.garble("GET", "/event/", deep.encode())
    with pytest.raises(PlatformRefused, match="malformed") as refused:
        await rig.adapter.api().get_message("private", rig.room_id, "$deep")
    assert refused.value.permanent
    rig.proxy.garble("GET", "/event/", deep.encode())
    relation = {"m.relates_to": {"m.in_reply_to": {"event_id": "$deep"}}}
    await asyncio.to_thread(lambda: rig.send_text("an answer", **relation))
    await wait_for_texts(rig.link, "an answer")


async def test_a_deep_invitation_is_malformed_and_stops_nothing(home: Home, rig: MatrixRig) -> None:
    state = invite(home, home.ann.user_id)
    state["content"]["deeper"] = json.loads(nested(90))
    rig.proxy.report_invitation(ROOM, state)
    [incoming] = await rig.link.events(1)
    assert incoming.event.type == "platform.matrix.malformed"
    await rig.say("still here")
    await wait_for_texts(rig.link, "still here")
