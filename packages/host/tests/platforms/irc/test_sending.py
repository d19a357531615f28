"""Tests what is sent on IRC: lines within the limits of a server, users who are online, and refusals in words."""

import asyncio
import base64
from collections.abc import AsyncIterator

import pytest

from parlour.core.platforms.port import PlatformRefused, PlatformUncertain
from parlour.platforms.irc.line_pacer import MAX_WAIT_SECONDS, LinePacer
from parlour.testing.irc_simulator import IrcSimulator
from parlour.testing.irc_simulator.client import MAX_LINE_BYTES
from parlour.testing.simulator.faults import PlannedFault
from parlour_sdk.protocol.chain import At, Component, File, Image, Plain, Platform, Quote

from .conftest import Bot

HELLO = base64.b64encode(b"hello").decode()
ANN = "ann!user@people.example"


async def say(bot: Bot, *chain: Component, key: str | None = None) -> None:
    await bot.api.send_message("group", "#talk", list(chain), key)


async def test_long_texts_are_cut_at_words_into_lines_that_other_users_get_whole(bot: Bot) -> None:
    text = "grüße 中文 👨‍👩‍👧 " * 200
    await say(bot, Plain(text=text))
    lines = bot.simulator.texts("#talk")
    assert len(lines) > 5
    source = f":{bot.simulator.world.users['parlour'].mask} PRIVMSG #Talk :"
    assert max(len(f"{source}{line}\r\n".encode()) for line in lines) <= MAX_LINE_BYTES
    assert "".join("".join(lines).split()) == "".join(text.split())


async def test_line_ends_become_lines_and_commands_never_leave_the_text(bot: Bot) -> None:
    await say(bot, Plain(text="one\r\n\r\nQUIT :bye\ntwo\0\x07"))
    assert bot.simulator.texts("#talk") == ["one", "QUIT :bye", "two"]
    assert bot.simulator.client("Parlour") is not None


async def test_many_lines_are_joined_if_the_flood_limit_would_hold_them_for_too_long(
    simulator: IrcSimulator, port: int
) -> None:
    async with Bot(simulator, port, line_interval=10).served() as bot:
        await say(bot, Plain(text="one\ntwo\nthree"))
        assert simulator.texts("#talk") == ["one ⏎ two ⏎ three"]


async def test_an_action_and_a_reply_use_the_forms_of_irc(bot: Bot) -> None:
    asked = await bot.simulator.say("question", bot.simulator.world.users["ann"], "#Talk")
    action = Platform(platform="irc", component_type="action", data={"text": "waves"})
    await say(bot, Quote(id=asked.message_id), At(target=ANN), Plain(text=": yes"), action)
    answer, waved = bot.simulator.sent("#talk")
    assert (answer.text, answer.tags) == ("ann: yes", {"+draft/reply": asked.message_id})
    assert waved.text == "* Parlour waves"


async def test_files_are_links_to_this_host_or_names(bot: Bot) -> None:
    await say(bot, Plain(text="look"), Image(base64=HELLO, name="a.png", mime_type="image/png"))
    await say(bot, File(base64=HELLO, name="a.pdf"), Image(url="https://x.io/b.png"))
    picture, document, linked = bot.simulator.texts("#talk")
    assert picture.startswith("look https://media.parlour.test/hooks/bot?file=")
    assert (document, linked) == ("[a.pdf]", "https://x.io/b.png")


async def test_a_refused_line_is_explained_and_later_ones_are_sent(bot: Bot) -> None:
    bot.simulator.world.channels["#talk"].is_moderated = True
    with pytest.raises(PlatformRefused, match="does not let the bot write") as refused:
        await say(bot, Plain(text="hello"))
    assert refused.value.permanent
    bot.simulator.world.channels["#talk"].is_moderated = False
    await say(bot, Plain(text="again"))
    assert bot.simulator.texts("#talk") == ["again"]


async def test_another_attempt_continues_behind_the_lines_that_were_taken(bot: Bot) -> None:
    text = "\n".join(f"line {number}" for number in range(20))
    bot.simulator.faults.planned.append(PlannedFault("PRIVMSG", answers=False, cuts=True, skip=10))
    with pytest.raises(PlatformUncertain):
        await say(bot, Plain(text=text), key="a-key")
    await bot.connected(2)
    await say(bot, Plain(text=text), key="a-key")
    shown = bot.simulator.texts("#talk")
    assert shown[:8] == [f"line {number}" for number in range(8)]
    assert shown.count("line 3") == 1
    assert shown[-1] == "line 19"


async def test_a_private_message_goes_to_the_same_user_only(bot: Bot) -> None:
    world = bot.simulator.world
    eve = world.add_user("Eve", account="eve")
    await bot.simulator.say("hello", eve, "Parlour")
    [incoming] = await bot.link.events(1)
    assert incoming.event.chat_id == "eve"  # type: ignore[attr-defined]
    await bot.api.send_message("private", "eve", [Plain(text="by account")])
    await bot.api.send_message("private", ANN, [Plain(text="by mask")])
    assert bot.simulator.texts("eve") == ["by account"]
    assert bot.simulator.texts("ann") == ["by mask"]
    world.users["ann"].host = "elsewhere.example"
    await bot.simulator.deliver(":Ann!user@people.example QUIT :bye", "Parlour")
    await bot.link.until(lambda: bot.link.incoming[-1].event.type == "group.member_left")
    with pytest.raises(PlatformRefused, match="another nick"):
        await bot.api.send_message("private", ANN, [Plain(text="to an impostor")])
    with pytest.raises(PlatformRefused, match="no user or channel"):
        await bot.api.send_message("private", "nobody!x@y", [Plain(text="hello")])


async def test_accounts_and_roles_follow_what_the_server_says(bot: Bot) -> None:
    for line in (
        ":Zoe!zoe@people.example JOIN #Talk * :Zoe",
        ":Zoe!zoe@people.example ACCOUNT zoe",
        ":Ann!user@people.example MODE #Talk +o Zoe",
        "@account=zoe;msgid=1 :Zoe!zoe@people.example PRIVMSG #Talk :as admin",
        ":Zoe!zoe@people.example NICK Zola",
        ":Ann!user@people.example MODE #Talk -o Zola",
        "@account=zoe;msgid=2 :Zola!zoe@people.example PRIVMSG #Talk :as member",
    ):
        await bot.simulator.deliver(line, "Parlour")
    await bot.link.until(lambda: len(bot.link.incoming) == 3)
    said = [each for each in bot.link.incoming if each.event.type == "message.received"]
    assert [each.role for each in said] == ["admin", "member"]
    assert {each.event.sender.id for each in said} == {"zoe"}  # type: ignore[attr-defined]


async def test_a_bot_that_floods_is_disconnected_and_the_status_says_so(simulator: IrcSimulator, port: int) -> None:
    simulator.max_lines = 12
    async with Bot(simulator, port, line_interval=0).served() as bot:
        with pytest.raises(PlatformUncertain):
            await say(bot, Plain(text="\n".join(str(number) for number in range(30))))
        await bot.link.until(lambda: any("Excess Flood" in problem for _, problem in bot.link.states))


async def test_lines_are_spaced_after_a_burst_and_too_many_are_refused_for_a_while() -> None:
    pacer, clock = LinePacer(2.0), asyncio.get_running_loop()
    for _ in range(4):
        await asyncio.wait_for(pacer.take(), 0.5)
    started_at = clock.time()
    pacer = LinePacer(0.05)
    for _ in range(6):
        await pacer.take()
    assert clock.time() - started_at >= 0.09
    pacer = LinePacer(2.0)
    pacer.reserve(20)
    with pytest.raises(PlatformRefused) as refused:
        pacer.reserve(10)
    assert refused.value.account_wide
    assert refused.value.retry_after == 40.0 == MAX_WAIT_SECONDS


@pytest.fixture
async def plain(simulator: IrcSimulator, port: int) -> AsyncIterator[Bot]:
    simulator.capabilities = []
    async with Bot(simulator, port).served() as bot:
        yield bot


async def test_reactions_and_typing_need_a_server_that_passes_them_on(plain: Bot) -> None:
    for call in (plain.api.react("group", "#talk", "1", "👍"), plain.api.send_typing("group", "#talk")):
        with pytest.raises(PlatformRefused, match="neither reactions nor typing"):
            await call
