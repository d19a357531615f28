"""Tests `parlour platform probe` in a process of its own, with the simulated Telegram and a person at the terminal."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from parlour.testing.adapter_suite import SuiteChat
from tests.platforms.telegram.driver import TelegramDriver
from tests.support.commands import PARLOUR, parlour
from tests.support.harness import Host, Json

SECONDS = 60.0


class Person:
    """Reads the terminal of a probe, writes in the app, and answers the questions."""

    def __init__(self, process: asyncio.subprocess.Process, driver: TelegramDriver, chat: SuiteChat) -> None:
        self._process = process
        self._driver = driver
        self._chat = chat
        self.transcript = ""

    async def follow(self) -> int:
        """Does what the probe asks for, until it ends. Returns its exit status."""
        assert self._process.stdout is not None
        async with asyncio.timeout(SECONDS):
            while line := (await self._process.stdout.readline()).decode():
                self.transcript += line
                if line.startswith("1. Receive"):
                    await self._driver.say(self._chat, "hello from the person")
                elif "Enter goes on" in line:
                    self._write("")
                elif line.rstrip().endswith("[y/n]"):
                    self._write("n" if "Face" in line else "y")
            return await self._process.wait()

    def _write(self, line: str) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(f"{line}\n".encode())


@asynccontextmanager
async def disabled_bot(host: Host, driver: TelegramDriver) -> AsyncIterator[str]:
    async with driver.running():
        body = {"name": "probed", "adapter": "telegram", "adapter_config": driver.config, "enabled": False}
        bot_id = host.http().post("/bots", json=body).json()["bot_id"]
        try:
            yield bot_id
        finally:
            host.http().delete(f"/bots/{bot_id}")


async def probe(host: Host, driver: TelegramDriver, bot_id: str, record: Path, *options: str) -> tuple[int, str, Json]:
    chat = await driver.chat()
    process = await asyncio.create_subprocess_exec(
        PARLOUR, "platform", "probe", bot_id, "--data", host.data, "--record", record, *options,
        stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT,
    )  # fmt: skip
    person = Person(process, driver, chat)
    try:
        status = await person.follow()
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    assert chat.id not in person.transcript
    assert driver.token not in person.transcript
    written = await asyncio.to_thread(record.read_text, "utf-8")
    assert chat.id not in written
    return status, person.transcript, json.loads(written)


async def test_a_probe_records_what_the_platform_has_shown_without_ids(platform_host: Host, tmp_path: Path) -> None:
    driver = TelegramDriver()
    async with disabled_bot(platform_host, driver) as bot_id:
        status, transcript, record = await probe(platform_host, driver, bot_id, tmp_path / "telegram.json")
    assert status == 0, transcript
    assert (record["platform"], record["mode"]) == ("telegram", "polling")
    assert "message.received" in record["shown"]["events"]
    assert {"Plain", "Image", "File", "Quote"} <= set(record["shown"]["send"])
    assert {"send_message", "edit_message", "delete_message", "get_user_info"} <= set(record["shown"]["apis"])
    assert record["problems"]["apis kick_member"] == "not tried"
    assert record["problems"]["send Voice"] == "not tried"
    assert not {"kick_member", "leave_group", "mute_member"} & set(record["shown"]["apis"])
    assert not any(each.method in ("banChatMember", "leaveChat") for each in driver.simulator.calls)


@pytest.mark.long
async def test_a_named_target_and_file_are_used(platform_host: Host, tmp_path: Path) -> None:
    driver = TelegramDriver()
    voice = tmp_path / "hello.ogg"
    voice.write_bytes(b"OggS")
    async with disabled_bot(platform_host, driver) as bot_id:
        group = await driver.chat("group")
        options = ("--target", f"leave_group={group.id}", "--file", f"Voice={voice}")
        status, transcript, record = await probe(platform_host, driver, bot_id, tmp_path / "t.json", *options)
    assert status == 0, transcript
    assert "leave_group" in record["shown"]["apis"]
    assert "Voice" in record["shown"]["send"]


async def test_a_bot_that_a_host_serves_and_one_that_does_not_exist_are_refused(
    platform_host: Host, tmp_path: Path
) -> None:
    driver = TelegramDriver()
    async with disabled_bot(platform_host, driver) as bot_id:
        body = {"name": "probed", "adapter": "telegram", "adapter_config": driver.config, "enabled": True}
        assert platform_host.http().put(f"/bots/{bot_id}", json=body).status_code == 200
        served = await asyncio.to_thread(parlour, "platform", "probe", bot_id, "--data", platform_host.data)
        unknown = await asyncio.to_thread(parlour, "platform", "probe", "none", "--data", platform_host.data)
    assert (served.returncode, unknown.returncode) == (1, 1)
    assert "disable the bot on its page" in served.stderr
    assert "'none' names 0 bots" in unknown.stderr
