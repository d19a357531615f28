"""A question that a service suggests is a button on Telegram; its press is the next message to the service."""

from pathlib import Path

import pytest

from parlour.testing.telegram_simulator import Simulator
from parlour_sdk.testing.services import FakeCoze
from tests.platforms.onebot11.qq import to_agent
from tests.platforms.telegram.tg import Telegram
from tests.support.harness import ROOT, Host

COZE = "plugin:parlour/coze-agent/default"
QUESTION = "How much snow will fall in the mountains of Norway before the end of the year?"


@pytest.mark.long
async def test_a_pressed_question_of_the_service_is_the_next_message(tmp_path: Path) -> None:
    host, simulator = Host(tmp_path), Simulator()
    host.install(ROOT / "plugins/coze-agent", "--grant", "network")
    host.start()
    try:
        async with FakeCoze() as service:
            service.suggestions = [QUESTION, "Why?"]
            config = {"api_base": service.url, "api_key": "k", "bot_id": "bot-1"}
            agent = host.agent(COZE, config=config, delivery_policy={"streaming": False})
            async with Telegram(host).bot(to_agent(agent), simulator):
                await simulator.say("Will it rain?")
                await simulator.answered(1)
                [shown] = simulator.world.sent
                assert [button["text"] for button in shown.buttons] == [f"1. {QUESTION[:60]}…", "2. Why?"]
                assert shown.text.endswith(f"\n1. {QUESTION}\n2. Why?")
                await simulator.press(shown, "2. Why?")
                await simulator.answered(2)
            asked = [
                each.json["additional_messages"][0]["content"] for each in service.requests if each.path == "/v3/chat"
            ]
            assert asked == ["Will it rain?", "Why?"]
    finally:
        host.close()
