"""Tests what is kept of nine bots: sealed in a backup, gone with the bot, and untouched by a rerun."""

import asyncio
import sqlite3
from contextlib import AsyncExitStack, closing
from pathlib import Path

import pytest

from parlour.testing.adapter_suite import PlatformDriver, SuiteChat
from tests.platforms.drivers import PLATFORMS
from tests.platforms.hooked_bots import hooked_bot
from tests.platforms.onebot11.qq import eventually
from tests.support.commands import parlour_here
from tests.support.harness import ECHO, ECHO_PLUGIN, NO_RUN_LIMITS, Host

NINE = ("discord", "slack", "kook", "line", "satori", "email", "whatsapp", "mattermost", "irc")
WITH_CURSOR = {"discord", "kook", "satori", "email", "mattermost", "irc"}
"""Platforms on which a bot continues at a position of its own."""
WITH_ALLOWANCE = {"line", "whatsapp"}
TABLES = ("bots", "bot_cursors", "reply_allowances", "routes", "directory")


@pytest.mark.long
@pytest.mark.timeout(300)
async def test_states_are_kept_sealed_and_end_with_their_bot(tmp_path_factory: pytest.TempPathFactory) -> None:
    host = Host(tmp_path_factory.mktemp("own host"), **NO_RUN_LIMITS)
    folder = tmp_path_factory.mktemp("backups")
    host.install(ECHO_PLUGIN)
    host.start()
    drivers = {name: PLATFORMS[name].driver() for name in NINE}
    bots: dict[str, str] = {}
    try:
        echo = host.agent(ECHO, "echo")
        async with AsyncExitStack() as stack:
            for name, driver in drivers.items():
                bots[name] = await stack.enter_async_context(hooked_bot(host, driver, echo))
            chats = {name: await _answered(driver) for name, driver in drivers.items()}
            for name, driver in drivers.items():
                await _rerun_sends_nothing(host, bots[name], driver, chats[name])
            stored = _rows(host.data / "parlour.db", bots)
            assert {name for name in NINE if stored[name]["bot_cursors"]} == WITH_CURSOR
            assert {name for name in NINE if stored[name]["reply_allowances"]} == WITH_ALLOWANCE

            archive = folder / "backup"
            done = await asyncio.to_thread(parlour_here, "backup", archive, "--data", host.data)
            assert done.returncode == 0, done.stderr
            restored = folder / "restored"
            done = await asyncio.to_thread(parlour_here, "restore", archive, "--data", restored)
            assert done.returncode == 0, done.stderr
            assert _rows(restored / "parlour.db", bots) == stored
            assert (restored / "secret.key").read_bytes() == (host.data / "secret.key").read_bytes()
            tokens = {driver.token.encode() for driver in drivers.values()}
            for file in (each for place in (host.data, folder) for each in place.rglob("*") if each.is_file()):
                content = file.read_bytes()
                assert not [token for token in tokens if token in content], file
        assert _rows(host.data / "parlour.db", bots) == {name: {table: [] for table in TABLES} for name in NINE}
        assert await asyncio.to_thread(lambda: host.http().get("/bots").json()["items"]) == []
    finally:
        host.close()


async def _answered(driver: PlatformDriver) -> SuiteChat:
    chat = await driver.chat()
    await driver.say(chat, "hello")
    await driver.until(lambda: any("hello" in text for text in driver.read(chat)))
    return chat


async def _rerun_sends_nothing(host: Host, bot_id: str, driver: PlatformDriver, chat: SuiteChat) -> None:
    shown = driver.read(chat)
    [run] = await eventually(lambda: host.items("/runs", bot_id=bot_id, status="completed"), "the run is over")
    again = host.http().post(f"/runs/{run['run_id']}/rerun", json={}).json()["run_id"]
    await eventually(lambda: host.run(again)["status"] == "completed", "the rerun is over")
    assert driver.read(chat) == shown


def _rows(database: Path, bots: dict[str, str]) -> dict[str, dict[str, list[str]]]:
    """Returns what the database has about each bot, by table."""
    with closing(sqlite3.connect(database)) as connection:
        return {
            name: {
                table: [str(row) for row in connection.execute(f"SELECT * FROM {table} WHERE bot_id = ?", (bot_id,))]
                for table in TABLES
            }
            for name, bot_id in bots.items()
        }
