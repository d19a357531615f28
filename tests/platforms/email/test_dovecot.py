"""Tests the adapter against Dovecot, a real IMAP server: IDLE, positions, renumbering, searches, and copies."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from parlour.core.backoff import Backoff
from parlour.core.platforms.port import PlatformRefused
from parlour.platforms.email.adapter import EmailAdapter
from parlour.testing.email_simulator import EmailSimulator
from parlour.testing.memory_link import MemoryLink
from parlour_sdk.protocol.chain import File, Plain
from tests.platforms.email.dovecot_server import PASSWORD, DovecotServer, dovecot

pytestmark = [pytest.mark.long, pytest.mark.root]
ANN = "ann@people.example"
WAIT_SECONDS = 60.0


class Mailbox:
    """A bot on Dovecot, with aiosmtpd for submission."""

    def __init__(self, server: DovecotServer, simulator: EmailSimulator, account: dict[str, Any]) -> None:
        self.server = server
        self.simulator = simulator
        imap = {"imap_port": server.port, "username": "bot", "password": PASSWORD}
        self.link = MemoryLink({**account, **imap, "hourly_limit": 100})
        simulator.accepts_any_login = True

    @asynccontextmanager
    async def served(self) -> AsyncIterator[EmailAdapter]:
        adapter = EmailAdapter(self.link, Backoff(0.05, 0.2))
        work = asyncio.create_task(adapter.serve())
        try:
            self.link.report_status("stopped")
            await self.link.until(lambda: self.link.now[0] == "connected")
            yield adapter
        finally:
            work.cancel()
            await asyncio.wait([work])

    async def deliver(self, text: str, **fields: str) -> None:
        mail = self.simulator.mail(ANN, text, **fields).as_bytes()
        await asyncio.to_thread(self.server.deliver, mail)

    def texts(self) -> list[str]:
        chains = [getattr(each.event, "message_chain", ()) for each in self.link.incoming]
        return [part.text for chain in chains for part in chain if part.type == "Plain"]

    async def heard(self, text: str) -> None:
        await self.link.until(lambda: text in self.texts(), WAIT_SECONDS)


@pytest.fixture
async def mailbox(tmp_path: Path) -> AsyncIterator[Mailbox]:
    simulator = EmailSimulator()
    async with simulator.listening() as account, dovecot(tmp_path) as server:
        yield Mailbox(server, simulator, account)


async def test_mails_arrive_at_once_in_order_and_after_a_restart(mailbox: Mailbox) -> None:
    await mailbox.deliver("old")
    async with mailbox.served():
        for number in range(5):
            await mailbox.deliver(f"mail {number}")
        await mailbox.heard("mail 4")
    await mailbox.deliver("meanwhile")
    async with mailbox.served():
        await mailbox.heard("meanwhile")
        await mailbox.deliver("grüße 👋", Subject="Ünïcode")
        await mailbox.heard("grüße 👋")
    assert mailbox.texts() == [*(f"mail {number}" for number in range(5)), "meanwhile", "grüße 👋"]


async def test_a_renumbered_inbox_loses_nothing(mailbox: Mailbox) -> None:
    async with mailbox.served():
        await mailbox.deliver("known", Message_ID="<known@people.example>")
        await mailbox.heard("known")
    await mailbox.deliver("meanwhile")
    mailbox.server.renumber()
    async with mailbox.served():
        await mailbox.deliver("after")
        await mailbox.heard("after")
    ids = {each.event.event_id for each in mailbox.link.incoming}
    assert len(ids) == 3
    assert "meanwhile" in mailbox.texts()


async def test_a_restarted_host_finds_thread_mail_and_copy(mailbox: Mailbox) -> None:
    async with mailbox.served():
        await mailbox.deliver("question", Subject="Topic", Message_ID="<q1@people.example>")
        await mailbox.heard("question")
    file = File(base64="A" * 800_000, name="large.bin")
    async with mailbox.served() as adapter:
        api = adapter.api()
        sent = await api.send_message("private", ANN, [Plain(text="answer"), file], "key", "q1@people.example")
        [mail] = mailbox.simulator.sent(ANN)
        assert (mail.message["Subject"], mail.message["In-Reply-To"]) == ("Re: Topic", "<q1@people.example>")

        async def is_known(message_id: str) -> bool:
            return False

        found = await api.find_message("private", ANN, [], "key", is_known)
        assert found is not None
        assert (await api.find_message("private", ANN, [], "other", is_known)) is None
        message = await api.get_message("private", ANN, str(sent.message_id))
        assert [part.type for part in message.chain] == ["Source", "Quote", "Plain", "File"]
        with pytest.raises(PlatformRefused, match="no mail with this id"):
            await api.get_message("private", ANN, "no-such@people.example")
        await mailbox.deliver("more", Subject="Re: Topic")
        await mailbox.heard("more")
        await mailbox.deliver("to the answer", In_Reply_To=f"<{sent.message_id}>")
        await mailbox.heard("to the answer")
    assert {each.thread_id for each in mailbox.link.incoming} == {"q1@people.example"}
