"""Tests answers, files, albums, topics and actions on Telegram, through adapter, Host, plugin
process and back over HTTP.
"""

import json
from typing import Any

import pytest

from parlour.testing.telegram_simulator import Simulator, native
from tests.platforms.onebot11.qq import eventually, to_agent, to_plugins
from tests.support.harness import Json

from .conftest import ACTING
from .tg import Telegram

ANN, BOB, EVE = 1, 2, 3
GROUP = -1001


async def test_markdown_is_shown_with_entities_and_mentions_no_user(tg: Telegram, echo: str) -> None:
    text = "# Title\\n\\n**bold** `a_b` [you](tg://user?id=7) [site](https://example.com)\\n\\n```py\\nx < 1\\n```"
    async with tg.bot(to_agent(echo)) as bot:
        await bot.simulator.say(text.replace("\\n", "\n"), ANN)
        [shown] = await bot.simulator.answered(1, ANN)
    assert shown.text == "Title\n\nbold a_b you site\n\nx < 1"
    entities = [(each["type"], each.get("url") or each.get("language")) for each in shown.message["entities"]]
    assert entities == [
        ("bold", None),
        ("bold", None),
        ("code", None),
        ("text_link", "https://example.com"),
        ("pre", "py"),
    ]


async def test_an_album_is_one_message_and_its_neighbours_keep_their_order(tg: Telegram) -> None:
    async with tg.bot(to_plugins()) as bot:
        simulator = bot.simulator
        photos = [photo(simulator, f"photo {number}".encode()) for number in range(3)]
        await simulator.say("before", ANN)
        await simulator.album(*photos, user=ANN, caption="three of them")
        await simulator.say("after", ANN)
        await simulator.album(*photos[:2], user=ANN)

        def received_events() -> list[Json]:
            events = [each for each in tg.probed("events") if each["bot_id"] == bot.bot_id]
            return events if len(events) == 4 else []

        events = await eventually(received_events, "the probe received all")
    chains = [[part["type"] for part in each["message_chain"] if part["type"] != "Source"] for each in events]
    assert chains == [["Plain"], ["Image", "Plain", "Image", "Image"], ["Plain"], ["Image", "Image"]]


def photo(simulator: Simulator, data: bytes) -> Json:
    file_id = simulator.world.add_file(data)
    return {"photo": [{"file_id": file_id, "file_unique_id": file_id, "width": 1, "height": 1, "file_size": len(data)}]}


async def test_topics_are_conversations_of_their_own_and_answers_stay_in_them(tg: Telegram, echo: str) -> None:
    simulator = Simulator()
    simulator.faults.in_chat = (100, 1.0)
    forum = simulator.world.add_group(GROUP, is_forum=True)
    forum.topics = {11, 12}
    simulator.world.add_member(GROUP, ANN)
    async with tg.bot(to_agent(echo), simulator) as bot:
        for topic, number in ((11, 0), (12, 0), (11, 1)):
            await _mention(simulator, f"{topic}.{number}", topic=topic)
        shown = await simulator.answered(3, GROUP)
        conversations = [each for each in tg.host.items("/conversations") if each["bot_id"] == bot.bot_id]
    assert [each.text for each in shown if each.thread == 11] == ["11.0", "11.1"]
    assert [each.text for each in shown if each.thread == 12] == ["12.0"]
    assert sorted(each["thread_id"] for each in conversations) == ["11", "12"]


async def _mention(simulator: Simulator, text: str, user: int = ANN, **fields: Any) -> Json:
    name = f"@{simulator.world.bot['username']}"
    return await simulator.say(f"{name} {text}", user, GROUP, entities=native.mention(f"{name} ", name), **fields)


async def test_a_command_is_handled_only_by_the_bot_that_it_names(tg: Telegram, echo: str) -> None:
    simulator = Simulator()
    simulator.world.add_group(GROUP)
    simulator.world.add_member(GROUP, ANN)
    mentioned = [{**to_agent(echo)[0], "filters": {"mentions_bot": True}}]
    async with tg.bot(mentioned, simulator):
        for text in ("/help@another_bot x", f"/help@{simulator.world.bot['username']} y"):
            command = native.entity("bot_command", 0, text.index(" "))
            await simulator.say(text, ANN, GROUP, entities=[command])
        [shown] = await simulator.answered(1, GROUP)
    assert shown.text == "/help y"


ACTIONS = [
    (["message.react", None, {"reaction": "👍"}, 0], "setMessageReaction", {"chat_id": GROUP}),
    (["member.kick", {"user_id": "3"}, None, 0], "banChatMember", {"user_id": EVE}),
    (["group.leave", None, None, 0], "leaveChat", {"chat_id": GROUP}),
]


@pytest.mark.long
async def test_actions_that_the_policy_allows_reach_telegram(tg: Telegram) -> None:
    simulator = Simulator()
    simulator.world.add_group(GROUP, bot_status="administrator")
    for user in (ANN, EVE):
        simulator.world.add_member(GROUP, user)
    agent = tg.host.agent(ACTING, "acting", approval_policy={"*": "allow"})
    async with tg.bot(to_agent(agent), simulator):
        await _mention(simulator, json.dumps([wanted for wanted, _, _ in ACTIONS]))
        await simulator.until(lambda: bool(simulator.made("leaveChat")), seconds=60)
    for _, method, parameters in ACTIONS:
        assert any(parameters.items() <= each.items() for each in simulator.made(method)), method
