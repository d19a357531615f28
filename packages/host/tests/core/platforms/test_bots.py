"""Bots at run time: started, watched, changed and stopped beside each other, with what they hear kept."""

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
from .bot_support import Company, connect, said

ASKING = CallContext("acme/plugin")


@pytest.fixture
async def company() -> AsyncIterator[Company]:
    company = Company(await World.open(echo=True))
    yield company
    await company.bots.close()


async def added(company: Company, bot_id: str = "bot", **fields: object) -> Bot:
    values = {"config": {"address": "a"}, "secrets": {"token": "<hush>"}, **fields}
    bot = Bot(bot_id, bot_id, "fake", **values)  # type: ignore[arg-type]
    await company.book.add(bot)
    await company.bots.apply(bot_id)
    return bot


async def connected(company: Company, bot_id: str = "bot") -> None:
    await until(lambda: company.bots.status(bot_id).state == "connected")


async def test_an_enabled_bot_gets_its_configuration_with_secrets_in_clear(company: Company) -> None:
    await added(company)
    await connected(company)
    assert company.catalogue.made[0].link.config == {"address": "a", "token": "hush"}
    assert company.bots.adapter("bot") is company.catalogue.made[0]


async def test_a_disabled_bot_is_stopped_and_has_no_adapter(company: Company) -> None:
    bot = await added(company)
    await connected(company)
    await company.book.replace(Bot(bot.bot_id, bot.name, bot.adapter, bot.config, bot.secrets, enabled=False))
    await company.bots.apply("bot")
    assert company.bots.adapter("bot") is None
    assert company.bots.status("bot").state == "stopped"


async def test_a_changed_configuration_connects_anew_and_a_changed_name_does_not(company: Company) -> None:
    bot = await added(company)
    await connected(company)
    await company.book.replace(Bot("bot", "another name", "fake", bot.config, bot.secrets))
    await company.bots.apply("bot")
    assert len(company.catalogue.made) == 1
    await company.book.replace(Bot("bot", "another name", "fake", {"address": "b"}, bot.secrets))
    await company.bots.apply("bot")
    await until(lambda: len(company.catalogue.made) == 2)
    assert company.catalogue.made[1].link.config["address"] == "b"


async def test_an_adapter_that_crashes_is_started_again_and_harms_no_other_bot(company: Company) -> None:
    tries: list[float] = []

    async def crash(link: HostLink) -> None:
        tries.append(asyncio.get_running_loop().time())
        raise ValueError("with a token in its text")

    company.catalogue.behaviour["bad"] = crash
    await added(company, "bad")
    await added(company, "good")
    await connected(company, "good")
    await until(lambda: len(tries) == 9)
    waits = [round(later - earlier) for earlier, later in pairwise(tries)]
    assert waits == [1, 2, 4, 8, 16, 32, 60, 60]
    status = company.bots.status("bad")
    assert status.state == "failed"
    assert "the adapter crashed (ValueError" in status.last_error
    assert "token" not in status.last_error
    assert company.bots.status("good").state == "connected"


async def test_an_adapter_that_ends_by_itself_is_started_again(company: Company) -> None:
    async def end_once(link: HostLink) -> None:
        if len(company.catalogue.made) > 1:
            await connect(link)

    company.catalogue.behaviour["bot"] = end_once
    await added(company)
    await connected(company)
    assert len(company.catalogue.made) == 2


async def test_what_only_a_person_can_mend_is_not_tried_again_until_the_bot_is_saved(company: Company) -> None:
    async def refuse(link: HostLink) -> None:
        raise AdapterStopped("the platform does not know this token; enter another one")

    company.catalogue.behaviour["bot"] = refuse
    bot = await added(company)
    await until(lambda: company.bots.status("bot").state == "failed")
    assert company.bots.status("bot").last_error == "the platform does not know this token; enter another one"
    await asyncio.sleep(10_000)
    assert len(company.catalogue.made) == 1
    await company.book.replace(bot)
    await company.bots.apply("bot")
    await until(lambda: len(company.catalogue.made) == 2)


async def test_a_bot_of_an_adapter_that_is_gone_says_so(company: Company) -> None:
    await company.book.add(Bot("old", "old", "vanished"))
    await company.bots.apply("old")
    await until(lambda: company.bots.status("old").state == "failed")
    assert "no adapter 'vanished'" in company.bots.status("old").last_error


async def test_since_tells_when_the_state_began(company: Company) -> None:
    await added(company)
    await connected(company)
    since = company.bots.status("bot").since
    await asyncio.sleep(10)
    link = company.catalogue.made[0].link
    link.report_status("connected", "account 1 was claimed twice")
    assert (company.bots.status("bot").since, company.bots.status("bot").last_error) == (
        since,
        "account 1 was claimed twice",
    )
    link.report_status("connecting")
    assert company.bots.status("bot").since >= since + 10_000


async def test_what_a_stopped_adapter_still_says_is_not_believed(company: Company) -> None:
    await added(company)
    await connected(company)
    link = company.catalogue.made[0].link
    await company.book.remove("bot")
    await company.bots.apply("bot")
    link.report_status("connected")
    assert company.bots.status("bot").state == "stopped"


async def test_events_of_several_chats_keep_their_order_and_take_the_cursor_along(company: Company) -> None:
    await added(company)
    await connected(company)
    link = company.catalogue.made[0].link
    heard = [said(f"{number}", f"e{number}", chat_id=f"c{number % 2}") for number in range(6)]
    await link.receive(*heard, cursor="7")
    events = company.world.rows(EVENTS)
    for chat in ("c0", "c1"):
        own = [event["event_id"] for event in events if f"private:{chat}" in event["body"]]
        assert own == sorted(own)
        assert len(own) == 3
    assert await link.cursor() == "7"
    assert events[-1]["event_id"] == "e5"


async def test_a_cursor_is_not_kept_when_its_event_is_not(company: Company) -> None:
    await added(company)
    await connected(company)
    link = company.catalogue.made[0].link
    company.world.journal.broken["event.accept"] = 1
    with pytest.raises(StorageFailed):
        await link.receive(said("hi", "e1"), cursor="1")
    assert company.world.rows(BOT_CURSORS) == company.world.rows(EVENTS) == []


async def test_a_redelivery_moves_the_cursor_and_a_silent_poll_too(company: Company) -> None:
    await added(company)
    await connected(company)
    link = company.catalogue.made[0].link
    await link.receive(said("hi", "e1"), cursor="1")
    await link.receive(said("hi", "e1"), cursor="2")
    assert await link.cursor() == "2"
    assert len(company.world.rows(EVENTS)) == 1
    assert "duplicate" in [row["step"] for row in company.world.rows(TRAIL)]
    await link.receive(cursor="3")
    assert await link.cursor() == "3"


async def test_a_message_whose_files_can_not_be_taken_comes_in_without_them(company: Company) -> None:
    await added(company)
    await connected(company)
    heard = said("look", "e1")
    image = {"type": "Image", "base64": "no base64 at all!"}
    fields = heard.event.model_dump()
    broken = type(heard.event).model_validate({**fields, "message_chain": [*fields["message_chain"], image]})
    await company.catalogue.made[0].link.receive(type(heard)(broken))
    [event] = company.world.rows(EVENTS)
    assert event["input_summary"] == "look"
    assert "files_left_out" in event["body"]


async def test_a_host_that_stops_still_keeps_what_a_platform_tells(company: Company) -> None:
    await added(company)
    await connected(company)
    company.world.core.gateway.stop_accepting()
    await company.catalogue.made[0].link.receive(said("last words", "e1"))
    assert len(company.world.rows(EVENTS)) == 1


async def test_what_a_bot_heard_as_it_was_stopped_is_answered_all_the_same(company: Company) -> None:
    """Whether it was stopped before the event was durable, at that moment or after it."""
    for moment in range(30):
        bot_id = f"bot {moment}"
        company.catalogue.behaviour[bot_id] = partial(say_and_stay, f"e{moment}")
        await added(company, bot_id)
        for _ in range(moment):
            await asyncio.sleep(0)
        await company.book.remove(bot_id)
        await company.bots.apply(bot_id)
    heard = [row["event_id"] for row in company.world.rows(EVENTS)]
    assert heard, "some of them were stopped after it"
    await until(lambda: len(company.world.rows(OUTCOMES)) == len(heard))


async def say_and_stay(event_id: str, link: HostLink) -> None:
    link.report_status("connected")
    await link.receive(said("hi", event_id, chat_id=event_id))
    await asyncio.Event().wait()


async def test_a_removed_bot_leaves_no_routes_no_cursor_and_no_row(company: Company) -> None:
    await added(company)
    await connected(company)
    await company.catalogue.made[0].link.receive(cursor="1")
    await company.world.core.routes.replace("bot", [Route("*", "drop")])
    await company.book.remove("bot")
    await company.bots.apply("bot")
    for table in (BOTS, BOT_CURSORS, ROUTES):
        assert company.world.rows(table) == []
    assert company.bots.bots() == []


async def test_who_waits_for_a_bot_does_not_wait_for_one_that_is_gone(company: Company) -> None:
    company.catalogue.behaviour["bot"] = never_connect
    await added(company)
    waiting = asyncio.create_task(company.bots.wait_connected("bot"))
    await asyncio.sleep(1)
    assert not waiting.done()
    await company.book.remove("bot")
    await company.bots.apply("bot")
    await waiting
    await company.bots.wait_connected("bot")


async def never_connect(link: HostLink) -> None:
    await asyncio.Event().wait()


async def test_bots_are_read_back_as_they_were_written(company: Company) -> None:
    bot = await added(company, enabled=False)
    book = BotRepository(company.world.journal, company.world.clock)
    await book.load()
    assert book.all() == [bot]
    assert "hush" in str(company.world.rows(BOTS)), "this box seals visibly"


async def test_what_the_mode_can_not_do_is_no_capability(company: Company) -> None:
    await added(company, "one")
    await added(company, "two", config={"address": "a", "mode": "hook"})
    one, two = company.bots.capabilities("one"), company.bots.capabilities("two")
    assert one is not None
    assert two is not None
    assert set(one.apis) - set(two.apis) == {"get_group_list"}
    assert company.bots.capabilities("three") is None


async def call(company: Company, api: str, **arguments: object) -> object:
    return await company.bots.call(ASKING, "bot", api, arguments)


async def test_a_plugin_calls_the_platform_and_gets_its_answer_in_the_wires_shape(company: Company) -> None:
    await added(company)
    await connected(company)
    assert await call(company, "is_muted", group_id="quiet") == {"muted": True}
    chain = [{"type": "Plain", "text": "hello"}]
    sent = await call(company, "send_message", target_type="group", target_id="g", chain=chain, idempotency_key=None)
    assert sent == {"message_id": "m1", "raw": None}
    [(_, kind, target, components, _)] = company.catalogue.made[0].sent
    assert (kind, target, components[0].text) == ("group", "g", "hello")


async def test_a_reply_goes_to_the_chat_account_and_thread_of_its_event(company: Company) -> None:
    await added(company)
    await connected(company)
    heard = said("hi", "e1", chat_id="c", account="acc", thread_id="t")
    await company.catalogue.made[0].link.receive(heard)
    chain = [{"type": "Plain", "text": "yes"}]
    await call(company, "reply_message", event_id="e1", chain=chain, quote=True, idempotency_key=None)
    [(account, kind, target, components, thread)] = company.catalogue.made[0].sent
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
                "chain": [{"type": "Quote", "origin": [{"type": "Image", "artifact_id": "somebody's"}]}],
                "idempotency_key": None,
            },
            "invalid_argument",
        ),
    ],
)
async def test_what_a_plugin_may_not_or_can_not_do_is_refused_in_words(
    company: Company, api: str, arguments: dict[str, object], code: str
) -> None:
    await added(company)
    await connected(company)
    with pytest.raises(ProviderFailed) as refused:
        await company.bots.call(ASKING, "bot", api, arguments)
    assert refused.value.code == code
    assert refused.value.message


async def test_a_bot_that_does_not_run_says_why_to_a_plugin(company: Company) -> None:
    async def refuse(link: HostLink) -> None:
        raise AdapterStopped("the token is wrong")

    company.catalogue.behaviour["bot"] = refuse
    await added(company)
    await until(lambda: company.bots.status("bot").state == "failed")
    with pytest.raises(ProviderFailed, match="bot 'bot' is failed: the token is wrong"):
        await call(company, "get_group_list")
    with pytest.raises(ProviderFailed, match="there is no bot 'ghost'"):
        await company.bots.call(ASKING, "ghost", "get_group_list", {})
