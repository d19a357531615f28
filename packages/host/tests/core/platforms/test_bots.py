"""Bots at run time: started, supervised, reconfigured and stopped independently, with their events stored."""

import asyncio
from collections.abc import AsyncIterator
from functools import partial
from itertools import pairwise

import pytest

from parlour.core.config.bots import Bot, BotRepository
from parlour.core.config.routes import Route
from parlour.core.journal import StorageFailed
from parlour.core.model.providers import CallContext, ProviderFailed
from parlour.core.platforms.port import AdapterStopped, HostLink
from parlour.core.store.tables import BOT_CURSORS, BOTS, EVENTS, OUTCOMES, ROUTES, TRAIL

from ..support import World, until
from .bot_support import BotFleet, connect, message_event

CALL_CONTEXT = CallContext("acme/plugin")


@pytest.fixture
async def fleet() -> AsyncIterator[BotFleet]:
    fleet = BotFleet(await World.open(echo=True))
    yield fleet
    await fleet.bots.close()


async def add_bot(fleet: BotFleet, bot_id: str = "bot", **fields: object) -> Bot:
    values = {"config": {"address": "a"}, "secrets": {"token": "<hush>"}, **fields}
    bot = Bot(bot_id, bot_id, "fake", **values)  # type: ignore[arg-type]
    await fleet.repository.add(bot)
    await fleet.bots.apply(bot_id)
    return bot


async def wait_until_connected(fleet: BotFleet, bot_id: str = "bot") -> None:
    await until(lambda: fleet.bots.status(bot_id).state == "connected")


async def test_enabled_bot_gets_its_configuration_with_opened_secrets(fleet: BotFleet) -> None:
    await add_bot(fleet)
    await wait_until_connected(fleet)
    assert fleet.catalogue.adapters[0].link.config == {"address": "a", "token": "hush"}
    assert fleet.bots.adapter("bot") is fleet.catalogue.adapters[0]


async def test_disabled_bot_is_stopped_without_adapter(fleet: BotFleet) -> None:
    bot = await add_bot(fleet)
    await wait_until_connected(fleet)
    await fleet.repository.replace(Bot(bot.bot_id, bot.name, bot.adapter, bot.config, bot.secrets, enabled=False))
    await fleet.bots.apply("bot")
    assert fleet.bots.adapter("bot") is None
    assert fleet.bots.status("bot").state == "stopped"


async def test_changed_configuration_reconnects_and_changed_name_does_not(fleet: BotFleet) -> None:
    bot = await add_bot(fleet)
    await wait_until_connected(fleet)
    await fleet.repository.replace(Bot("bot", "another name", "fake", bot.config, bot.secrets))
    await fleet.bots.apply("bot")
    assert len(fleet.catalogue.adapters) == 1
    await fleet.repository.replace(Bot("bot", "another name", "fake", {"address": "b"}, bot.secrets))
    await fleet.bots.apply("bot")
    await until(lambda: len(fleet.catalogue.adapters) == 2)
    assert fleet.catalogue.adapters[1].link.config["address"] == "b"


async def test_crashed_adapter_is_restarted_without_affecting_other_bots(fleet: BotFleet) -> None:
    attempts: list[float] = []

    async def crash(link: HostLink) -> None:
        attempts.append(asyncio.get_running_loop().time())
        raise ValueError("with a token in its text")

    fleet.catalogue.behaviour["bad"] = crash
    await add_bot(fleet, "bad")
    await add_bot(fleet, "good")
    await wait_until_connected(fleet, "good")
    await until(lambda: len(attempts) == 9)
    waits = [round(later - earlier) for earlier, later in pairwise(attempts)]
    assert waits == [1, 2, 4, 8, 16, 32, 60, 60]
    status = fleet.bots.status("bad")
    assert status.state == "failed"
    assert "the adapter crashed (ValueError" in status.last_error
    assert "token" not in status.last_error
    assert fleet.bots.status("good").state == "connected"


async def test_ended_adapter_is_restarted(fleet: BotFleet) -> None:
    async def end_once(link: HostLink) -> None:
        if len(fleet.catalogue.adapters) > 1:
            await connect(link)

    fleet.catalogue.behaviour["bot"] = end_once
    await add_bot(fleet)
    await wait_until_connected(fleet)
    assert len(fleet.catalogue.adapters) == 2


async def test_stopped_adapter_is_not_retried_until_the_bot_is_saved(fleet: BotFleet) -> None:
    async def refuse(link: HostLink) -> None:
        raise AdapterStopped("the platform does not know this token; enter another one")

    fleet.catalogue.behaviour["bot"] = refuse
    bot = await add_bot(fleet)
    await until(lambda: fleet.bots.status("bot").state == "failed")
    assert fleet.bots.status("bot").last_error == "the platform does not know this token; enter another one"
    await asyncio.sleep(10_000)
    assert len(fleet.catalogue.adapters) == 1
    await fleet.repository.replace(bot)
    await fleet.bots.apply("bot")
    await until(lambda: len(fleet.catalogue.adapters) == 2)


async def test_bot_of_a_missing_adapter_is_failed_with_its_reason(fleet: BotFleet) -> None:
    await fleet.repository.add(Bot("old", "old", "vanished"))
    await fleet.bots.apply("old")
    await until(lambda: fleet.bots.status("old").state == "failed")
    assert "no adapter 'vanished'" in fleet.bots.status("old").last_error


async def test_since_is_the_start_of_the_state(fleet: BotFleet) -> None:
    await add_bot(fleet)
    await wait_until_connected(fleet)
    since = fleet.bots.status("bot").since
    await asyncio.sleep(10)
    link = fleet.catalogue.adapters[0].link
    link.report_status("connected", "account 1 was claimed twice")
    assert (fleet.bots.status("bot").since, fleet.bots.status("bot").last_error) == (
        since,
        "account 1 was claimed twice",
    )
    link.report_status("connecting")
    assert fleet.bots.status("bot").since >= since + 10_000


async def test_status_of_a_stopped_adapter_is_ignored(fleet: BotFleet) -> None:
    await add_bot(fleet)
    await wait_until_connected(fleet)
    link = fleet.catalogue.adapters[0].link
    await fleet.repository.remove("bot")
    await fleet.bots.apply("bot")
    link.report_status("connected")
    assert fleet.bots.status("bot").state == "stopped"


async def test_events_of_several_chats_keep_their_order_and_store_the_cursor(fleet: BotFleet) -> None:
    await add_bot(fleet)
    await wait_until_connected(fleet)
    link = fleet.catalogue.adapters[0].link
    received = [message_event(f"{number}", f"e{number}", chat_id=f"c{number % 2}") for number in range(6)]
    await link.receive(*received, cursor="7")
    events = fleet.world.rows(EVENTS)
    for chat in ("c0", "c1"):
        own = [event["event_id"] for event in events if f"private:{chat}" in event["body"]]
        assert own == sorted(own)
        assert len(own) == 3
    assert await link.cursor() == "7"
    assert events[-1]["event_id"] == "e5"


async def test_cursor_is_not_stored_without_its_event(fleet: BotFleet) -> None:
    await add_bot(fleet)
    await wait_until_connected(fleet)
    link = fleet.catalogue.adapters[0].link
    fleet.world.journal.broken["event.accept"] = 1
    with pytest.raises(StorageFailed):
        await link.receive(message_event("hi", "e1"), cursor="1")
    assert fleet.world.rows(BOT_CURSORS) == fleet.world.rows(EVENTS) == []


async def test_redelivery_and_empty_poll_move_the_cursor(fleet: BotFleet) -> None:
    await add_bot(fleet)
    await wait_until_connected(fleet)
    link = fleet.catalogue.adapters[0].link
    await link.receive(message_event("hi", "e1"), cursor="1")
    await link.receive(message_event("hi", "e1"), cursor="2")
    assert await link.cursor() == "2"
    assert len(fleet.world.rows(EVENTS)) == 1
    assert "duplicate" in [row["step"] for row in fleet.world.rows(TRAIL)]
    await link.receive(cursor="3")
    assert await link.cursor() == "3"


async def test_message_with_unreadable_files_is_stored_without_them(fleet: BotFleet) -> None:
    await add_bot(fleet)
    await wait_until_connected(fleet)
    received = message_event("look", "e1")
    image = {"type": "Image", "base64": "no base64 at all!"}
    fields = received.event.model_dump()
    broken = type(received.event).model_validate({**fields, "message_chain": [*fields["message_chain"], image]})
    await fleet.catalogue.adapters[0].link.receive(type(received)(broken))
    [event] = fleet.world.rows(EVENTS)
    assert event["input_summary"] == "look"
    assert "files_left_out" in event["body"]


async def test_stopping_host_still_stores_platform_events(fleet: BotFleet) -> None:
    await add_bot(fleet)
    await wait_until_connected(fleet)
    fleet.world.core.gateway.stop_accepting()
    await fleet.catalogue.adapters[0].link.receive(message_event("last words", "e1"))
    assert len(fleet.world.rows(EVENTS)) == 1


async def test_event_received_during_the_stop_of_a_bot_is_handled(fleet: BotFleet) -> None:
    """The bot is stopped at any moment before, during or after the commit of the event."""
    for moment in range(30):
        bot_id = f"bot {moment}"
        fleet.catalogue.behaviour[bot_id] = partial(receive_and_wait, f"e{moment}")
        await add_bot(fleet, bot_id)
        for _ in range(moment):
            await asyncio.sleep(0)
        await fleet.repository.remove(bot_id)
        await fleet.bots.apply(bot_id)
    received = [row["event_id"] for row in fleet.world.rows(EVENTS)]
    assert received, "some bots were stopped after the commit"
    await until(lambda: len(fleet.world.rows(OUTCOMES)) == len(received))


async def receive_and_wait(event_id: str, link: HostLink) -> None:
    link.report_status("connected")
    await link.receive(message_event("hi", event_id, chat_id=event_id))
    await asyncio.Event().wait()


async def test_removed_bot_leaves_no_rows(fleet: BotFleet) -> None:
    await add_bot(fleet)
    await wait_until_connected(fleet)
    await fleet.catalogue.adapters[0].link.receive(cursor="1")
    await fleet.world.core.routes.replace("bot", [Route("*", "drop")])
    await fleet.repository.remove("bot")
    await fleet.bots.apply("bot")
    for table in (BOTS, BOT_CURSORS, ROUTES):
        assert fleet.world.rows(table) == []
    assert fleet.bots.bots() == []


async def test_waiting_for_a_bot_ends_when_it_is_removed(fleet: BotFleet) -> None:
    fleet.catalogue.behaviour["bot"] = never_connect
    await add_bot(fleet)
    waiting = asyncio.create_task(fleet.bots.wait_connected("bot"))
    await asyncio.sleep(1)
    assert not waiting.done()
    await fleet.repository.remove("bot")
    await fleet.bots.apply("bot")
    await waiting
    await fleet.bots.wait_connected("bot")


async def never_connect(link: HostLink) -> None:
    await asyncio.Event().wait()


async def test_bots_are_read_back_as_written(fleet: BotFleet) -> None:
    bot = await add_bot(fleet, enabled=False)
    repository = BotRepository(fleet.world.journal, fleet.world.clock)
    await repository.load()
    assert repository.all() == [bot]
    assert "hush" in str(fleet.world.rows(BOTS)), "sealed values are visible in this box"


async def test_capabilities_exclude_apis_missing_in_the_mode(fleet: BotFleet) -> None:
    await add_bot(fleet, "one")
    await add_bot(fleet, "two", config={"address": "a", "mode": "hook"})
    one, two = fleet.bots.capabilities("one"), fleet.bots.capabilities("two")
    assert one is not None
    assert two is not None
    assert set(one.apis) - set(two.apis) == {"get_group_list"}
    assert fleet.bots.capabilities("three") is None


async def call(fleet: BotFleet, api: str, **arguments: object) -> object:
    return await fleet.bots.call(CALL_CONTEXT, "bot", api, arguments)


async def test_plugin_calls_the_platform_and_gets_a_protocol_answer(fleet: BotFleet) -> None:
    await add_bot(fleet)
    await wait_until_connected(fleet)
    assert await call(fleet, "is_muted", group_id="quiet") == {"muted": True}
    chain = [{"type": "Plain", "text": "hello"}]
    sent = await call(fleet, "send_message", target_type="group", target_id="g", chain=chain, idempotency_key=None)
    assert sent == {"message_id": "m1", "raw": None}
    [(_, kind, target, components, _)] = fleet.catalogue.adapters[0].sent
    assert (kind, target, components[0].text) == ("group", "g", "hello")


async def test_reply_goes_to_the_chat_account_and_thread_of_its_event(fleet: BotFleet) -> None:
    await add_bot(fleet)
    await wait_until_connected(fleet)
    received = message_event("hi", "e1", chat_id="c", account="acc", thread_id="t")
    await fleet.catalogue.adapters[0].link.receive(received)
    chain = [{"type": "Plain", "text": "yes"}]
    await call(fleet, "reply_message", event_id="e1", chain=chain, quote=True, idempotency_key=None)
    [(account, kind, target, components, thread)] = fleet.catalogue.adapters[0].sent
    assert (account, kind, target, thread) == ("acc", "private", "c", "t")
    assert [each.type for each in components] == ["Quote", "Plain"]


@pytest.mark.parametrize(
    ("api", "arguments", "code"),
    [
        ("get_group_info", {"group_id": "g"}, "not_supported"),
        (
            "reply_message",
            {"event_id": "other", "chain": [{"type": "Plain", "text": "x"}], "quote": False, "idempotency_key": None},
            "not_found",
        ),
        (
            "send_message",
            {
                "target_type": "group",
                "target_id": "g",
                "chain": [{"type": "Quote", "origin": [{"type": "Image", "artifact_id": "foreign"}]}],
                "idempotency_key": None,
            },
            "invalid_argument",
        ),
    ],
)
async def test_unsupported_or_foreign_call_is_refused_with_a_message(
    fleet: BotFleet, api: str, arguments: dict[str, object], code: str
) -> None:
    await add_bot(fleet)
    await wait_until_connected(fleet)
    with pytest.raises(ProviderFailed) as refused:
        await fleet.bots.call(CALL_CONTEXT, "bot", api, arguments)
    assert refused.value.code == code
    assert refused.value.message


async def test_call_to_a_failed_bot_returns_its_reason(fleet: BotFleet) -> None:
    async def refuse(link: HostLink) -> None:
        raise AdapterStopped("the token is wrong")

    fleet.catalogue.behaviour["bot"] = refuse
    await add_bot(fleet)
    await until(lambda: fleet.bots.status("bot").state == "failed")
    with pytest.raises(ProviderFailed, match="bot 'bot' is failed: the token is wrong"):
        await call(fleet, "get_group_list")
    with pytest.raises(ProviderFailed, match="there is no bot 'ghost'"):
        await fleet.bots.call(CALL_CONTEXT, "ghost", "get_group_list", {})
