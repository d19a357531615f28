"""Tests the chat socket: its frames, their numbers, and the actions of a client."""

import asyncio
import contextlib

import pytest
from websockets.exceptions import ConnectionClosed

from tests.support.chat import Chat
from tests.support.harness import PUPPET, Host, Json, eventually

TEXT = "one two three four five"


async def test_a_message_is_accepted_run_streamed_and_completed_in_this_order(host: Host) -> None:
    agent = host.agent(config={"delay_ms": 30})
    async with Chat(host, agent, session="ordered") as chat:
        assert await chat.answer(TEXT, id="mine") == TEXT

    connected, *rest = chat.frames
    assert (connected["type"], connected["session"], connected["agent_id"]) == ("connected", "ordered", agent)
    accepted = chat.of("accepted")[0]
    assert accepted["id"] == "mine"
    assert accepted["event_id"]
    kinds = [(frame["type"], frame.get("status")) for frame in rest if frame["type"] not in ("delta", "accepted")]
    assert kinds == [("run", "running"), ("message", None), ("run", "completed")]
    assert len({frame["run_id"] for frame in chat.numbered}) == 1


async def test_a_message_grows_word_by_word_and_its_deltas_join_to_it(host: Host) -> None:
    async with Chat(host, host.agent(config={"delay_ms": 30})) as chat:
        whole = await chat.answer(TEXT)

    assert len(chat.of("delta")) >= 3
    assert chat.deltas == whole == TEXT


async def test_frame_numbers_only_grow(host: Host) -> None:
    async with Chat(host, host.agent(config={"delay_ms": 5})) as chat:
        for _ in range(3):
            await chat.answer(TEXT)
        await chat.send(type="ping")
        await chat.until("pong")

    own = [frame["seq"] for frame in chat.numbered]
    assert own == sorted(set(own))
    every = [frame["seq"] for frame in chat.frames]
    assert every == sorted(every), "a frame without a number of its own has that of the one before"


async def test_the_same_id_again_is_the_same_event_and_is_answered_once(host: Host) -> None:
    async with Chat(host, host.agent()) as chat:
        await chat.answer("hello", id="same")
        await chat.say("hello", id="same")
        again = await chat.until("accepted")
        assert await chat.answer("next", id="other") == "next"

    assert again["event_id"] == chat.of("accepted")[0]["event_id"]
    assert [frame["message"]["content"] for frame in chat.of("message")] == ["hello", "next"]


async def test_the_same_id_in_another_session_is_another_event(host: Host) -> None:
    agent = host.agent()
    async with Chat(host, agent, "one") as one, Chat(host, agent, "two") as two:
        assert await one.answer("first", id="same") == "first"
        assert await two.answer("second", id="same") == "second"


async def test_a_run_is_cancelled_from_the_chat(host: Host) -> None:
    async with Chat(host, host.agent(PUPPET)) as chat:
        await chat.say("sleep")
        await chat.until("run", status="running")
        await chat.send(type="cancel")
        await chat.until("run", status="cancelled")
        assert chat.of("message") == []


@pytest.mark.parametrize(
    ("locale", "nothing", "failed"),
    [
        ("", "Nothing is going on here that could be stopped.", "The agent ended without an answer."),
        ("zh-CN", "这里没有可以停止的任务。", "智能体已结束，但没有给出回答。"),
    ],
)
async def test_notices_of_the_host_have_the_users_language(host: Host, locale: str, nothing: str, failed: str) -> None:
    async with Chat(host, host.agent(PUPPET), locale=locale) as chat:
        await chat.say("/stop")
        assert (await chat.until("message"))["message"]["content"] == nothing
        await chat.say("nothing")
        assert (await chat.until("error"))["message"] == failed


async def test_cancelling_nothing_is_an_error_frame(host: Host) -> None:
    async with Chat(host, host.agent()) as chat:
        await chat.send(type="cancel")
        assert (await chat.until("error"))["code"] == "conflict"


async def test_a_ping_is_answered_while_a_run_is_active(host: Host) -> None:
    async with Chat(host, host.agent(PUPPET)) as chat:
        await chat.say("sleep")
        await chat.until("run", status="running")
        await chat.send(type="ping")
        await chat.until("pong")
        assert [run["status"] for run in chat.of("run")] == ["running"]
        await chat.send(type="cancel")
        await chat.until("run", status="cancelled")


async def test_a_disconnect_frame_closes_the_connection_normally(host: Host) -> None:
    async with Chat(host, host.agent()) as chat:
        await chat.send(type="disconnect")
        await asyncio.wait_for(chat.socket.wait_closed(), 30)
        assert chat.socket.close_code == 1000


@pytest.mark.parametrize(
    "text",
    [
        "",
        "no json",
        "[]",
        "null",
        '{"type": "dance"}',
        '{"text": "no type"}',
        '{"type": "message", "text": 7}',
        '{"type": "message", "text": "hi", "colour": "red"}',
        '{"type": "message"}',
        '{"type": "message", "text": "  "}',
        '{"type": "message", "text": "hi", "id": ""}',
        '{"type": "message", "text": "half a pair: \\ud800"}',
        '{"type": "message", "contents": [{"type": "image"}]}',
    ],
)
async def test_an_invalid_frame_is_answered_with_an_error_and_the_connection_stays_open(host: Host, text: str) -> None:
    async with Chat(host, host.agent()) as chat:
        await chat.socket.send(text)
        error = await chat.until("error")
        assert error["code"] == "invalid_argument"
        assert error["message"]
        assert await chat.answer("still here") == "still here"


async def test_a_binary_frame_is_answered_with_an_error_and_the_connection_stays_open(host: Host) -> None:
    async with Chat(host, host.agent()) as chat:
        await chat.socket.send(b'{"type": "ping"}')
        assert (await chat.until("error"))["code"] == "invalid_argument"
        assert await chat.answer("still here") == "still here"


async def test_a_frame_over_one_mebibyte_closes_the_connection(host: Host) -> None:
    async with Chat(host, host.agent()) as chat:
        with contextlib.suppress(ConnectionClosed):  # the Host may close it before all is written
            await chat.say("x" * 1024 * 1024)
        await asyncio.wait_for(chat.socket.wait_closed(), 30)
        assert chat.socket.close_code == 1009


async def test_tool_calls_are_shown_while_they_run(host: Host) -> None:
    async with Chat(host, host.agent(PUPPET)) as chat:
        assert await chat.answer("tool") == "blue"

    assert [(frame["tool_name"], frame["status"]) for frame in chat.of("tool")] == [
        ("weather", "started"),
        ("weather", "completed"),
    ]


async def test_a_failure_is_an_error_frame_with_its_run(host: Host) -> None:
    async with Chat(host, host.agent(PUPPET)) as chat:
        await chat.say("fail")
        error = await chat.until("error")
        ended = await chat.until("run", status="failed")

    assert (error["code"], error["run_id"]) == ("puppet.broken", ended["run_id"])
    assert error["message"] == "The string of the puppet broke."


async def test_chat_messages_are_read_back_over_http(host: Host) -> None:
    agent = host.agent()
    async with Chat(host, agent, "kept") as chat:
        await chat.answer("remember me")

    items: list[Json] = host.items(f"/agents/{agent}/chat/kept/messages")
    assert [(item["role"], item["content"]) for item in items] == [
        ("user", "remember me"),
        ("assistant", "remember me"),
    ]


async def test_connected_clients_are_listed_and_receive_a_broadcast(host: Host) -> None:
    agent, key = host.agent(), host.key("chat", "listener")
    path = f"/agents/{agent}/chat"
    async with Chat(host, agent, session="one", key=key) as chat, Chat(host, agent, session="two") as other:
        sessions = [each["session"] for each in host.items(f"{path}/connections")]
        assert sorted(sessions) == ["one", "two"]
        assert [each["session"] for each in host.items(f"{path}/connections", key)] == ["one"]
        broadcast = host.http().post(f"{path}/broadcast", json={"message": "closing soon"})
        assert broadcast.json() == {"connections": 2}
        for listener in (chat, other):
            assert (await listener.until("broadcast"))["message"]["content"] == "closing soon"
        assert host.http(key).post(f"{path}/broadcast", json={"message": "x"}).status_code == 403
        assert host.http().post(f"{path}/broadcast", json={"message": ""}).status_code == 422
        assert await chat.answer("hello") == "hello"
    eventually(lambda: host.items(f"{path}/connections") == [], "both are gone")
    assert [role for role, _ in host.transcript(chat.conversation_id)] == ["user", "assistant"]
