"""Tests what is fetched and when: the first start, restarts, renumbered folders, silence, and refused logins."""

import asyncio
from typing import Any

import pytest

from parlour.core.platforms.port import AdapterStopped
from parlour.platforms.email import watcher
from parlour.testing.email_simulator import EmailSimulator

from .conftest import ANN, Bot


async def test_mails_from_before_the_first_start_are_not_answered(
    simulator: EmailSimulator, account: dict[str, Any]
) -> None:
    await simulator.say(ANN, "old")
    async with Bot(simulator, account).served() as bot:
        await simulator.say(ANN, "new")
        await bot.heard("new")
    assert bot.texts() == ["new"]


async def test_a_restarted_host_fetches_what_came_meanwhile_in_order(
    simulator: EmailSimulator, account: dict[str, Any]
) -> None:
    async with Bot(simulator, account).served() as first:
        await simulator.say(ANN, "first")
        await first.heard("first")
    for text in ("second", "third"):
        await simulator.say(ANN, text)
    async with Bot(simulator, account, first.link.stored_cursor).served() as bot:
        await bot.heard("third")
    assert bot.texts() == ["second", "third"]


async def test_a_renumbered_folder_loses_nothing_and_answers_no_old_mail(
    simulator: EmailSimulator, account: dict[str, Any]
) -> None:
    simulator.world.inbox.add(simulator.mail(ANN, "old").as_bytes(), received_at=1_700_000_000)
    async with Bot(simulator, account).served() as first:
        await simulator.say(ANN, "known")
        known = await first.heard("known")
    await simulator.say(ANN, "meanwhile")
    simulator.world.inbox.renumber()
    async with Bot(simulator, account, first.link.stored_cursor).served() as bot:
        await simulator.say(ANN, "after")
        await bot.heard("after")
        again = await bot.heard("known")
    assert bot.texts() == ["known", "meanwhile", "after"]
    assert again.event.event_id == known.event.event_id


async def test_a_server_without_idle_is_polled(
    simulator: EmailSimulator, account: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watcher, "POLL_SECONDS", 0.02)
    simulator.imap.idles = False
    async with Bot(simulator, account).served() as bot:
        await simulator.say(ANN, "polled")
        await bot.heard("polled")


async def test_idle_is_begun_again_and_a_silent_server_is_left(
    bot: Bot, simulator: EmailSimulator, account: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watcher, "IDLE_SECONDS", 0.05)
    monkeypatch.setattr("parlour.platforms.email.imap.ANSWER_TIMEOUT_SECONDS", 0.5)
    simulator.imap.cut()
    await simulator.say(ANN, "one")
    await bot.heard("one")
    logins = simulator.imap.logins
    simulator.imap.is_silent = True
    await bot.link.until(lambda: "did not answer in time" in bot.link.now[1])
    simulator.imap.is_silent = False
    await simulator.say(ANN, "two")
    await bot.heard("two")
    assert simulator.imap.logins > logins


async def test_a_wrong_password_stops_the_bot_after_three_attempts(
    simulator: EmailSimulator, account: dict[str, Any]
) -> None:
    bot = Bot(simulator, {**account, "password": "wrong"})
    with pytest.raises(AdapterStopped, match="check username and password"):
        await bot.adapter.serve()
    assert all("wrong" not in error for _, error in bot.link.states)


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"imap_port": 1}, "the IMAP server can't be reached"),
        ({"smtp_port": 1}, "the SMTP server can't be reached"),
        ({"imap_security": "tls"}, "does not speak TLS"),
        ({"smtp_security": "starttls"}, "offers no STARTTLS"),
        ({"folder": "Missing"}, "there is no such folder"),
    ],
)
async def test_a_wrong_server_is_named_in_the_status(
    simulator: EmailSimulator, account: dict[str, Any], change: dict[str, Any], problem: str
) -> None:
    bot = Bot(simulator, {**account, **change})
    work = asyncio.create_task(bot.adapter.serve())
    try:
        await bot.link.until(lambda: problem in bot.link.now[1])
    finally:
        work.cancel()


async def test_a_mail_that_is_too_large_is_read_in_part(
    bot: Bot, simulator: EmailSimulator, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watcher, "MAX_MAIL_BYTES", 20_000)
    monkeypatch.setattr(watcher, "CUT_BYTES", 5_000)
    mail = simulator.mail(ANN, "with a large file")
    mail.add_attachment(b"x" * 50_000, maintype="application", subtype="pdf", filename="a.pdf")
    await simulator.deliver(mail)
    incoming = await bot.heard("with a large file")
    kinds = [part.type for part in incoming.event.message_chain]
    assert kinds == ["Source", "Plain", "Unknown", "Platform"]


async def test_mails_are_marked_as_read_after_they_were_stored(bot: Bot, simulator: EmailSimulator) -> None:
    await simulator.say(ANN, "hello")
    await bot.heard("hello")
    await simulator.until(lambda: simulator.unseen() == 0)


async def test_a_server_that_takes_no_connections_is_left_alone_for_a_minute(
    bot: Bot, simulator: EmailSimulator
) -> None:
    simulator.imap.goodbye = "[UNAVAILABLE] too many connections"
    simulator.imap.cut()
    await bot.link.until(lambda: "too many connections; trying again in 60 s" in bot.link.now[1])
