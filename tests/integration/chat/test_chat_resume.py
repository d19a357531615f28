"""Tests resumed chats: they receive exactly the missed frames, once, and two tabs receive the same frames."""

import asyncio

from tests.integration.conftest import MakeHost
from tests.support.chat import Chat
from tests.support.harness import ECHO_PLUGIN, PUPPET, Host, eventually

WORDS = " ".join(f"word{number}" for number in range(30))


async def test_a_client_cut_mid_stream_gets_exactly_the_missing_text(host: Host) -> None:
    agent = host.agent(config={"delay_ms": 20})
    async with Chat(host, agent) as first:
        await first.say(WORDS)
        for _ in range(5):
            await first.until("delta")
        first.cut()
    assert len(first.deltas) < len(WORDS)

    async with Chat(host, agent, after=first.last_seq) as second:
        message = await second.until("message")
        await second.until("run", status="completed")

    assert first.deltas + second.deltas == WORDS == message["message"]["content"]
    assert next(frame["seq"] for frame in second.numbered) > first.last_seq


async def test_a_client_that_missed_the_beginning_gets_the_run_and_all_its_text(host: Host) -> None:
    agent = host.agent(config={"delay_ms": 20})
    async with Chat(host, agent) as first:
        await first.say(WORDS)
        accepted = await first.until("accepted")

    async with Chat(host, agent, after=accepted["seq"]) as second:
        await second.until("message")

    assert second.of("run")[0]["status"] == "running"
    assert second.deltas == WORDS


async def test_a_client_that_connects_in_mid_stream_receives_the_whole_message_as_deltas(host: Host) -> None:
    agent = host.agent(config={"delay_ms": 20})
    async with Chat(host, agent) as first:
        await first.say(WORDS)
        for _ in range(5):
            await first.until("delta")
        async with Chat(host, agent) as second:
            await second.until("message")

    assert second.deltas == WORDS


async def test_after_the_run_is_over_the_missed_message_is_sent_again(host: Host) -> None:
    agent = host.agent(config={"delay_ms": 20})
    async with Chat(host, agent) as first:
        await first.say(WORDS)
        await first.until("delta")
        first.cut()
    await asyncio.to_thread(eventually, lambda: host.items("/runs", agent_id=agent, status="completed"), "it is over")
    async with Chat(host, agent, after=first.last_seq) as second:
        message = await second.until("message")
        end = await second.until("run")

    assert message["message"]["content"] == WORDS
    assert end["status"] == "completed"
    async with Chat(host, agent, after=end["seq"]) as third:
        await third.send(type="ping")
        await third.until("pong")
    assert third.of("message") == third.of("run") == [], "what was seen is not sent again"


async def test_a_resumed_client_receives_the_missed_end_of_a_run_without_output(host: Host) -> None:
    agent = host.agent(config={"hold_ms": 30_000})
    async with Chat(host, agent) as first:
        await first.say("a long while")
        run = await first.until("run", status="running")
        first.cut()
    await asyncio.to_thread(host.http().post, f"/runs/{run['run_id']}/cancel")
    async with Chat(host, agent, after=first.last_seq) as second:
        end = await second.until("run")

    assert (end["run_id"], end["status"]) == (run["run_id"], "cancelled")


async def test_many_missed_messages_come_in_order_and_once(host: Host) -> None:
    agent = host.agent()
    async with Chat(host, agent) as first:
        await first.answer("seen")
        seen = first.last_seq
        for number in range(120):
            await first.answer(f"missed {number}")

    async with Chat(host, agent, after=seen) as second:
        await second.send(type="ping")
        await second.until("pong")

    assert [frame["message"]["content"] for frame in second.of("message")] == [f"missed {n}" for n in range(120)]


async def test_a_notice_that_was_missed_is_sent_again(host: Host) -> None:
    agent = host.agent(PUPPET)
    async with Chat(host, agent) as first:
        await first.answer("say seen")
        seen = first.last_seq
        await first.say("fail")
        await first.until("error")

    async with Chat(host, agent, after=seen) as second:
        assert (await second.until("error"))["code"] == "puppet.broken"


async def test_a_resumed_client_receives_the_missed_user_messages_of_another_tab_once(host: Host) -> None:
    agent = host.agent()
    async with Chat(host, agent, "away", said=True) as away, Chat(host, agent, "away") as here:
        await here.answer("heard")
        await away.until("run", status="completed")
        away.cut()
        await here.say("missed", id="second")
        await here.until("run", status="completed")
        await here.answer("missed too")
        async with Chat(host, agent, "away", said=True, after=away.last_seq) as back:
            await back.until("message", message={"role": "assistant", "content": "missed too"})
            await here.answer("heard again")
            await back.until("message", message={"role": "assistant", "content": "heard again"})

    user_texts = [frame["text"] for frame in back.of("said")]
    assert [text for text in user_texts if text != "heard"] == ["missed", "missed too", "heard again"]
    assert next(frame["id"] for frame in back.of("said") if frame["text"] == "missed") == "second"
    spoken = [frame for frame in back.frames if frame["type"] in ("said", "message")]
    order = [frame.get("text") or frame["message"]["content"] for frame in spoken]
    assert order[-6:] == ["missed", "missed", "missed too", "missed too", "heard again", "heard again"]
    async with Chat(host, agent, "away", after=away.last_seq) as deaf:
        await deaf.until("message")
    assert deaf.of("said") == [], "only those hear it who ask for it"


async def test_two_tabs_of_a_session_see_the_same_frames(host: Host) -> None:
    agent = host.agent(config={"delay_ms": 10})
    async with Chat(host, agent) as one, Chat(host, agent) as other:
        await one.answer(WORDS)
        await other.until("run", status="completed")
        await other.say("from the other tab")
        await one.until("run", status="completed")
        await other.until("run", status="completed")

    assert other.deltas == one.deltas
    assert [frame for frame in one.numbered if frame["type"] != "delta"] == [
        frame for frame in other.numbered if frame["type"] != "delta"
    ]


async def test_a_session_goes_on_after_a_restart_with_its_history_its_numbers_and_its_state(
    make_host: MakeHost,
) -> None:
    host = make_host(ECHO_PLUGIN).start()
    agent = host.agent(config={"remember": True})
    async with Chat(host, agent, "lasting") as first:
        assert await first.answer("hello") == "1 hello"
        seen = first.last_seq
        assert await first.answer("missed") == "2 missed"

    host.restart()

    async with Chat(host, agent, "lasting", after=seen) as second:
        message = await second.until("message")
        assert message["message"]["content"] == "2 missed"
        assert await second.answer("again") == "3 again"
        assert second.conversation_id == first.conversation_id
        assert [frame["seq"] for frame in second.numbered][-1] > first.last_seq
    async with Chat(host, agent, "another") as other:
        assert await other.answer("hello") == "1 hello", "state belongs to a conversation"
