"""Tests WeChat through the whole Host: the login by QR code, ended sessions, windows, kills, and deletion."""

import asyncio
import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from parlour.testing.wechat_simulator import TOKEN, WechatSimulator
from tests.platforms.hooked_bots import hooked_bot
from tests.platforms.onebot11.qq import eventually, to_agent
from tests.platforms.wechat.driver import ANN, WechatDriver
from tests.support.harness import ECHO, ECHO_PLUGIN, NO_RUN_LIMITS, Host, Json, error_code

KILLS, MESSAGES = 3, 18
WINDOW = 10


def status(host: Host, bot_id: str) -> Json:
    return dict(host.http().get(f"/bots/{bot_id}").json()["status"])


@asynccontextmanager
async def unconnected_bot(host: Host, url: str, echo: str) -> AsyncIterator[str]:
    """Yields the id of a bot that has no token yet."""
    config = {"base_url": url, "cdn_base_url": f"{url}/c2c"}
    made = host.http().post("/bots", json={"name": "wechat", "adapter": "wechat", "adapter_config": config})
    assert made.status_code == 201, made.text
    bot_id = made.json()["bot_id"]
    host.http().put(f"/bots/{bot_id}/routes", json=to_agent(echo))
    try:
        yield bot_id
    finally:
        host.http().delete(f"/bots/{bot_id}")


def post(host: Host, path: str, body: Json | None = None) -> Json:
    answer = host.http().post(path, json=body)
    assert answer.status_code == 200, answer.text
    return dict(answer.json())


async def log_in(host: Host, simulator: WechatSimulator, bot_id: str) -> list[str]:
    """Scans and confirms a QR code. Returns the states that the page shows."""
    path = f"/bots/{bot_id}/login"
    step = await asyncio.to_thread(post, host, path)
    states = [step["state"]]
    for status_of_phone in ("scaned", "confirmed"):
        simulator.logins.move(simulator.logins.newest, status_of_phone)
        step = await asyncio.to_thread(post, host, f"{path}/continue", {"session": step["session"]})
        states.append(step["state"])
    return states


async def test_a_bot_is_connected_by_scanning_a_code(platform_host: Host, echo: str) -> None:
    simulator = WechatSimulator()
    async with simulator.listening() as url, unconnected_bot(platform_host, url, echo) as bot_id:
        await eventually(lambda: status(platform_host, bot_id)["state"] == "failed", "the login is missing")
        assert "log in with the QR code" in status(platform_host, bot_id)["last_error"]
        assert await log_in(platform_host, simulator, bot_id) == ["waiting", "scanned", "confirmed"]
        await eventually(lambda: status(platform_host, bot_id)["state"] == "connected", "the bot is connected")
        await simulator.say("hello", ANN)
        await simulator.answered(1, ANN)
        shown = platform_host.http().get(f"/bots/{bot_id}")
        assert shown.json()["secrets_set"] == ["token"]
        assert shown.json()["adapter_config"]["account"]
        assert TOKEN not in shown.text
        audit = platform_host.http().get("/audit", params={"limit": 20}).text
        assert bot_id in audit
        assert TOKEN not in audit


async def test_a_session_of_another_bot_or_a_platform_without_login_is_refused(platform_host: Host, echo: str) -> None:
    simulator = WechatSimulator()
    async with simulator.listening() as url, unconnected_bot(platform_host, url, echo) as first:
        async with unconnected_bot(platform_host, url, echo) as second:
            session = (await asyncio.to_thread(post, platform_host, f"/bots/{first}/login"))["session"]
            assert "qr-1" not in session
            path = f"/bots/{second}/login/continue"
            foreign = platform_host.http().post(path, json={"session": session})
            forged = platform_host.http().post(path, json={"session": "forged"})
            assert {error_code(foreign), error_code(forged)} == {"invalid_argument"}
        body = {"name": "t", "adapter": "telegram", "adapter_config": {"token": "1:a"}, "enabled": False}
        other = platform_host.http().post("/bots", json=body).json()["bot_id"]
        refused = platform_host.http().post(f"/bots/{other}/login")
        assert (refused.status_code, error_code(refused)) == (409, "conflict")
        platform_host.http().delete(f"/bots/{other}")


async def test_after_an_ended_session_a_login_continues_without_a_loss(platform_host: Host, echo: str) -> None:
    driver = WechatDriver()
    simulator = driver.simulator
    async with hooked_bot(platform_host, driver, echo) as bot_id:
        await simulator.say("before", ANN)
        await simulator.answered(1, ANN)
        simulator.tokens.clear()
        simulator.server.cut()
        await eventually(lambda: status(platform_host, bot_id)["state"] == "failed", "the session has ended")
        assert "log in again" in status(platform_host, bot_id)["last_error"]
        await simulator.say("while it was out", ANN)
        simulator.tokens.add("another-token")
        simulator.logins.confirmed["bot_token"] = "another-token"
        await log_in(platform_host, simulator, bot_id)
        await simulator.answered(2, ANN)
    assert simulator.texts(ANN) == ["before", "while it was out"]


@pytest.mark.long
async def test_what_exceeds_ten_replies_is_held_with_a_reason_and_sent_at_the_next_message(
    platform_host: Host, echo: str
) -> None:
    driver = WechatDriver()
    simulator = driver.simulator
    simulator.window_messages = WINDOW
    long = "\n\n".join(f"{number} " + "word " * 380 for number in range(WINDOW + 2))
    async with hooked_bot(platform_host, driver, echo) as bot_id:
        await simulator.say(long, ANN)
        await simulator.answered(WINDOW, ANN)

        def held() -> list[Json]:
            items = platform_host.http().get("/events", params={"bot_id": bot_id, "limit": 50}).json()["items"]
            event_id = next(each["event_id"] for each in items if (each["input_summary"] or "").startswith("0 word"))
            steps = platform_host.http().get(f"/events/{event_id}/why").json()["steps"]
            return [each for each in steps if each["step"] == "delivery" and each["data"]["state"] == "held"]

        await eventually(lambda: len(held()) == 2, "the rest is held")
        assert all("about ten replies" in each["text"] for each in held())
        await simulator.say("go on", ANN)
        await simulator.answered(WINDOW + 3, ANN)
    texts = simulator.texts(ANN)
    assert [text.split()[0] for text in texts] == [*map(str, range(WINDOW + 2)), "go"]
    assert all(len(text) <= 2000 for text in texts)


@pytest.mark.long
async def test_messages_around_kills_are_answered_once_and_a_deleted_bot_leaves_no_token(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    driver = WechatDriver()
    simulator, texts = driver.simulator, [f"message {number}" for number in range(MESSAGES)]
    host = Host(tmp_path_factory.mktemp("own host"), **NO_RUN_LIMITS)
    host.install(ECHO_PLUGIN)
    host.start()
    try:
        async with hooked_bot(host, driver, host.agent(ECHO, "echo")) as bot_id:
            for number, text in enumerate(texts):
                await simulator.say(text, ANN)
                if number % (MESSAGES // KILLS) == MESSAGES // KILLS - 1:
                    await asyncio.to_thread(host.kill)
                    await asyncio.to_thread(host.start)
            await write_until_shown(simulator, texts)
            answered = [text for text in simulator.texts(ANN) if not text.startswith("go on")]
            assert len([text for text in answered if text not in texts]) <= KILLS
            assert [text for text in answered if text in texts] == texts
            stored = _rows(host, bot_id)
            assert stored
            assert all(TOKEN not in row for row in stored)
        assert _rows(host, bot_id) == []
    finally:
        host.close()


async def write_until_shown(simulator: WechatSimulator, texts: list[str]) -> None:
    """Lets the user write on until all replies are shown: ten at each message."""
    for number in range(len(texts)):
        enough = len(simulator.sent(ANN)) + WINDOW
        await simulator.say(f"go on {number}", ANN)
        await simulator.until(
            lambda: len(simulator.sent(ANN)) >= enough or set(texts) <= set(simulator.texts(ANN))  # noqa: B023
        )
        if set(texts) <= set(simulator.texts(ANN)):
            return
    raise AssertionError("some replies were never shown")


def _rows(host: Host, bot_id: str) -> list[str]:
    """Returns what the database has about the bot itself: its definition, its position and its reply allowances."""
    found: list[str] = []
    [file] = host.data.rglob("parlour.db")
    with sqlite3.connect(file) as database:
        for table in ("bots", "bot_cursors", "reply_allowances"):
            found += [str(row) for row in database.execute(f"SELECT * FROM {table} WHERE bot_id = ?", (bot_id,))]
    return found
