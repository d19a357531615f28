"""Incoming events are completed by lookups, keep their order within a chat, and leave out the bot's own messages."""

import asyncio
import json

import pytest

from parlour.core.platforms.port import IncomingEvent
from parlour.platforms.onebot11 import enrich
from parlour.testing.onebot_simulator import Simulator, native
from parlour_sdk.protocol.chain import File, Forward, Image, MessageChain, Plain, Quote, Unknown, Voice

from .conftest import Bot, Reverse


def chain(incoming: IncomingEvent) -> MessageChain:
    return list(incoming.event.message_chain)[1:]  # type: ignore[attr-defined]


async def test_quotes_files_and_forwards_of_a_message_are_looked_up(bot: Bot, simulator: Simulator) -> None:
    world = simulator.world
    world.files = {name: f"https://example.com/{name}" for name in ("a.jpg", "a.amr", "file-1")}
    world.forwards["fwd"] = [native.segment("node", user_id="8", nickname="Bo", content=[native.text("inner")])]
    earlier = await simulator.say("earlier", user_id=8, group_id=5)
    await simulator.say(
        [
            native.segment("reply", id=str(earlier["message_id"])),
            native.segment("image", file="a.jpg"),
            native.segment("record", file="a.amr", url="/home/qq/a.amr"),
            native.segment("file", file="report.pdf", file_id="file-1"),
            native.segment("forward", id="fwd"),
        ],
        group_id=5,
    )
    _, incoming = await bot.link.events(2)
    quote, image, voice, file, forward = chain(incoming)
    assert quote == Quote(id=str(earlier["message_id"]), sender="8", name="user 8", origin=[Plain(text="earlier")])
    assert isinstance(image, Image)
    assert image.url == "https://example.com/a.jpg"
    assert isinstance(voice, Voice)
    assert voice.url == "https://example.com/a.amr"
    assert isinstance(file, File)
    assert (file.url, file.name) == ("https://example.com/file-1", "report.pdf")
    assert isinstance(forward, Forward)
    assert forward.nodes[0].chain == [Plain(text="inner")]


async def test_a_failed_lookup_is_named_and_the_message_comes_in(
    bot: Bot, simulator: Simulator, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(enrich, "LOOKUP_TIMEOUT_SECONDS", 0.2)
    simulator.faults.stay_silent("get_msg")
    await simulator.say(
        [native.segment("reply", id="5"), native.segment("image", file="gone.jpg"), native.text("hello")]
    )
    [incoming] = await bot.link.events(1)
    assert chain(incoming) == [Quote(id="5"), Unknown(text="[image: gone.jpg]"), Plain(text="hello")]


PICTURES = [native.segment("image", file=f"{number}.jpg") for number in range(5)]


async def test_all_lookups_of_a_message_start_at_once(
    bot: Bot, simulator: Simulator, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(enrich, "LOOKUP_TIMEOUT_SECONDS", 600)
    for _ in PICTURES:
        simulator.faults.stay_silent("get_image")
    await simulator.say(PICTURES)
    await simulator.until(lambda: len(simulator.requests) == len(PICTURES))
    assert [each["action"] for each in simulator.requests] == ["get_image"] * len(PICTURES)


async def test_lookups_that_finish_in_time_are_kept(
    bot: Bot, simulator: Simulator, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(enrich, "LOOKUP_TIMEOUT_SECONDS", 0.5)
    simulator.world.files = {f"{number}.jpg": f"https://example.com/{number}" for number in range(5)}
    for _ in range(4):
        simulator.faults.stay_silent("get_image")
    await simulator.say(PICTURES)
    [incoming] = await bot.link.events(1)
    assert [each.type for each in chain(incoming)] == ["Unknown"] * 4 + ["Image"]


async def test_a_chat_keeps_its_order_while_another_chat_waits(
    bot: Bot, simulator: Simulator, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(enrich, "LOOKUP_TIMEOUT_SECONDS", 60)
    simulator.faults.stay_silent("get_msg")
    await simulator.say([native.segment("reply", id="5"), native.text("slow")], user_id=1)
    for number in range(20):
        await simulator.say(f"{number}", user_id=2)
    incoming = await bot.link.events(20)
    assert [chain(each) for each in incoming] == [[Plain(text=f"{number}")] for number in range(20)]


async def test_the_bots_own_messages_are_left_out(bot: Bot, joined: Reverse) -> None:
    simulator = await joined(bot)
    simulator.reports_own = True
    await bot.adapter.api().send_message("group", "5", [Plain(text="mine")])
    await simulator.say("yours", group_id=5)
    incoming = await bot.link.events(1)
    assert [chain(each) for each in incoming] == [[Plain(text="yours")]]


async def test_a_repeated_event_keeps_its_id(bot: Bot, simulator: Simulator) -> None:
    simulator.faults.repeat = 1.0
    await simulator.say("twice")
    await simulator.report(native.notice(10001, "friend_add", user_id=8))
    incoming = await bot.link.events(4)
    ids = [each.event.event_id for each in incoming]
    assert len(set(ids)) == 2
    assert all(ids.count(each) == 2 for each in ids)


async def test_events_that_overtake_each_other_all_arrive(bot: Bot, simulator: Simulator) -> None:
    simulator.faults.swap = 0.5
    said = [await simulator.say(f"{number}") for number in range(20)]
    simulator.faults.swap = 0
    said.append(await simulator.say("last"))
    incoming = await bot.link.events(21)
    message_ids = [int(each.event.message_id) for each in incoming]  # type: ignore[attr-defined]
    assert sorted(message_ids) == [each["message_id"] for each in said]
    assert message_ids != sorted(message_ids)


@pytest.mark.parametrize("group", [5, "5"])
async def test_a_private_message_through_a_group_is_answered_through_it(
    group: int | str, bot: Bot, simulator: Simulator
) -> None:
    sender = {"user_id": 7, "group_id": group, "nickname": "Ann"}
    await simulator.say("psst", user_id=7, sub_type="group", sender=sender)
    [incoming] = await bot.link.events(1)
    assert incoming.event.chat_type == "private"  # type: ignore[attr-defined]
    await bot.adapter.api().send_message("private", "7", [Plain(text="yes?")])
    assert simulator.requests[-1]["params"]["group_id"] == 5


async def test_a_sender_who_became_a_friend_is_answered_as_a_friend(bot: Bot, simulator: Simulator) -> None:
    await simulator.say("psst", user_id=7, sub_type="group", sender={"user_id": 7, "group_id": 5})
    await simulator.say("hello", user_id=7)
    await bot.link.events(2)
    await bot.adapter.api().send_message("private", "7", [Plain(text="yes?")])
    assert "group_id" not in simulator.requests[-1]["params"]


async def test_half_an_emoji_becomes_a_replacement_character(bot: Bot, simulator: Simulator) -> None:
    event = native.message(10001, 5, 7, [native.text("HALF")])
    await simulator.send_frame(json.dumps(event).replace("HALF", "\\ud83d cut"))
    [incoming] = await bot.link.events(1)
    assert chain(incoming) == [Plain(text="\N{REPLACEMENT CHARACTER} cut")]


async def test_a_flood_of_messages_arrives_whole(bot: Bot, simulator: Simulator) -> None:
    await asyncio.gather(*(simulator.say(f"{number}", user_id=number % 40 + 1) for number in range(2000)))
    incoming = await bot.link.events(2000)
    assert len({each.event.event_id for each in incoming}) == 2000


async def test_answers_are_read_while_a_burst_of_quotes_waits_for_them(bot: Bot, simulator: Simulator) -> None:
    earlier = await simulator.say("earlier", user_id=8)
    quote = native.segment("reply", id=str(earlier["message_id"]))
    frames = [native.message(10001, 1000 + number, 1000 + number, [quote]) for number in range(900)]
    async with asyncio.timeout(30):
        for frame in frames:
            await simulator.report(frame)
        incoming = await bot.link.events(901)
    assert [chain(each) for each in incoming[1:]] == [
        [Quote(id=str(earlier["message_id"]), sender="8", name="user 8", origin=[Plain(text="earlier")])]
    ] * 900


async def test_an_event_without_an_account_gets_the_account_of_its_connection(bot: Bot, simulator: Simulator) -> None:
    for number, fields in enumerate(({}, {"self_id": None}, {"self_id": [1]})):
        event = native.message(10001, number, 7, [native.text("to whom?")])
        del event["self_id"]
        await simulator.send_frame(json.dumps({**event, **fields}))
    incoming = await bot.link.events(3)
    assert {(each.event.type, each.account, each.self_id) for each in incoming} == {
        ("message.received", "10001", "10001")
    }


async def test_the_lookups_of_a_message_are_limited(bot: Bot, simulator: Simulator) -> None:
    await simulator.say([native.segment("image", file=f"{number}.jpg") for number in range(enrich.MAX_LOOKUPS + 5)])
    [incoming] = await bot.link.events(1)
    assert len(chain(incoming)) == enrich.MAX_LOOKUPS + 5
    assert len(simulator.requests) == enrich.MAX_LOOKUPS == 20


@pytest.mark.parametrize("moment", ["1760000000", 1_760_000_000.0, 1_760_000_000_000])
async def test_a_time_is_read_in_every_known_form(moment: str | float, bot: Bot, simulator: Simulator) -> None:
    await simulator.say("when?", time=moment)
    [incoming] = await bot.link.events(1)
    assert (incoming.event.type, incoming.event.timestamp) == ("message.received", 1_760_000_000_000)
