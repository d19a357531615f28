"""Tests that imaplib and smtplib, unmodified, work with the simulated account, so that it is valid evidence."""

import asyncio
import imaplib
import smtplib
from collections.abc import AsyncIterator
from typing import Any

import pytest

from parlour.testing.email_simulator import EmailSimulator
from parlour.testing.email_simulator.world import BOT_ADDRESS, PASSWORD, USERNAME

ANN = "ann@people.example"


@pytest.fixture
async def simulator() -> AsyncIterator[EmailSimulator]:
    simulator = EmailSimulator()
    async with simulator.listening():
        yield simulator


def client(simulator: EmailSimulator) -> imaplib.IMAP4:
    made = imaplib.IMAP4("127.0.0.1", simulator.imap_port, timeout=20)
    made.login(USERNAME, PASSWORD)
    return made


async def test_imaplib_reads_searches_flags_and_stores(simulator: EmailSimulator) -> None:
    stored = await simulator.say(ANN, "hello", Subject="One", Message_ID="<one@people.example>")
    await simulator.say(ANN, "more", Subject="Two")

    def use() -> None:
        imap = client(simulator)
        assert imap.select("INBOX") == ("OK", [b"2"])
        assert imap.response("UIDVALIDITY")[1] == [b"1000"]
        assert imap.uid("SEARCH", "HEADER", "Message-ID", '"<one@people.example>"') == ("OK", [b"1"])
        assert imap.uid("SEARCH", "UID", "9:*") == ("OK", [b"2"])
        _, answer = imap.uid("FETCH", "1", "(UID INTERNALDATE RFC822.SIZE BODY.PEEK[])")
        part: Any = answer[0]
        assert part[1] == stored.content
        assert b'INTERNALDATE "' in part[0]
        assert "\\Seen" not in stored.flags
        assert imap.uid("STORE", "1", "+FLAGS", "(\\Seen)")[0] == "OK"
        assert imap.append("Sent", "(\\Seen)", "", b"From: a@b.example\r\n\r\ncopy")[0] == "OK"
        assert any(b"\\Sent" in each for each in imap.list()[1] if isinstance(each, bytes))
        imap.logout()

    await asyncio.to_thread(use)
    assert "\\Seen" in stored.flags
    assert len(simulator.world.folders["Sent"].mails) == 1


async def test_what_a_real_server_rejects_is_rejected(simulator: EmailSimulator) -> None:
    def use() -> list[str]:
        refused = []

        def expect(call: Any, *arguments: Any) -> None:
            try:
                status, answer = call(*arguments)
                refused.append(f"{status} {answer[0]!r}")
            except imaplib.IMAP4.error as error:
                refused.append(str(error))

        imap = imaplib.IMAP4("127.0.0.1", simulator.imap_port, timeout=20)
        expect(imap.login, USERNAME, "wrong")
        imap.login(USERNAME, PASSWORD)
        expect(imap.select, "Missing")
        imap.select("INBOX")
        expect(imap.uid, "SEARCH", "NONSENSE")
        expect(imap.uid, "FETCH", "x", "(UID)")
        expect(imap.uid, "FETCH", "1:*", "NONSENSE")
        expect(imap.append, "Missing", "", "", b"mail")
        imap.logout()
        return refused

    await simulator.say(ANN, "hello")
    found = await asyncio.to_thread(use)
    words = [
        "AUTHENTICATIONFAILED",
        "no such folder",
        "invalid criteria",
        "invalid criteria",
        "unknown item",
        "TRYCREATE",
    ]
    assert [word in text for word, text in zip(words, found, strict=True)] == [True] * 6, found


async def test_smtplib_submits_and_is_refused_as_by_a_submission_server(simulator: EmailSimulator) -> None:
    mail = simulator.mail(BOT_ADDRESS, "sent", to=ANN).as_bytes()

    def use() -> list[int]:
        codes = []
        with smtplib.SMTP("127.0.0.1", simulator.smtp_port, timeout=20) as smtp:
            smtp.ehlo()
            codes.append(smtp.docmd("MAIL FROM:<bot@parlour.example>")[0])
            for password in ("wrong", PASSWORD):
                try:
                    codes.append(smtp.login(USERNAME, password)[0])
                except smtplib.SMTPAuthenticationError as error:
                    codes.append(error.smtp_code)
            smtp.sendmail(BOT_ADDRESS, [ANN], mail)
            for sender, content in ((ANN, mail), (BOT_ADDRESS, b"From: bot@parlour.example\r\n\r\nno headers")):
                try:
                    smtp.sendmail(sender, [ANN], content)
                except smtplib.SMTPDataError as error:
                    codes.append(error.smtp_code)
            try:
                smtp.sendmail(BOT_ADDRESS, ["x@nowhere.example"], mail)
            except smtplib.SMTPRecipientsRefused as refused:
                codes += [code for code, _ in refused.recipients.values()]
        return codes

    assert await asyncio.to_thread(use) == [530, 535, 235, 553, 550, 550]
    assert simulator.texts() == ["sent"]
