"""Tests the adapter on real IRC servers and the simulated one, with the library `irc` on the other side."""

import asyncio
import json
import subprocess
from collections.abc import AsyncIterator, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import pytest

from parlour.core.backoff import Backoff
from parlour.core.platforms.port import PlatformRefused
from parlour.platforms.irc.adapter import IrcAdapter
from parlour.testing.certificates import make_certificate
from parlour.testing.irc_simulator import IrcSimulator
from parlour.testing.memory_link import MemoryLink
from parlour_sdk.protocol.chain import At, Plain
from tests.platforms.irc.irc_servers import inspircd, ngircd, ngircd_with_tls
from tests.support.harness import ROOT

pytestmark = pytest.mark.long
PYTHON = ROOT / ".tools" / "peers" / "irc" / "bin" / "python"
PERSON = Path(__file__).with_name("irc_person.py")
CHANNEL = "#parlour"
ANSWER_SECONDS = 20.0


def simulated(folder: Path) -> AbstractAsyncContextManager[int]:
    return IrcSimulator().listening()


class Person:
    """The person, who uses another client."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self._process = process
        self._seen: list[dict[str, Any]] = []

    async def sees(self, kind: str, number: int = 1) -> list[dict[str, Any]]:
        """Waits until this many things of a kind were seen, and returns them."""
        assert self._process.stdout is not None
        async with asyncio.timeout(ANSWER_SECONDS):
            while len(found := [each for each in self._seen if each["kind"] == kind]) < number:
                line = await asyncio.to_thread(self._process.stdout.readline)
                assert line, "the person has left"
                self._seen.append(json.loads(line))
        return found

    def say(self, target: str, text: str) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(f"{target} {text}\n")
        self._process.stdin.flush()


@contextmanager
def person(folder: Path, port: int, nick: str) -> Iterator[Person]:
    assert PYTHON.exists(), "the library irc is not installed; run: make peers"
    with (folder / "person.log").open("w") as log:
        command = [PYTHON, PERSON, str(port), nick, CHANNEL]
        process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True, cwd=folder
        )
    try:
        yield Person(process)
    finally:
        process.kill()
        process.wait(ANSWER_SECONDS)


@asynccontextmanager
async def bot(port: int, **config: Any) -> AsyncIterator[tuple[IrcAdapter, MemoryLink]]:
    server = {"host": "127.0.0.1", "port": port, "security": "none", "nick": "Parlour", "line_interval": 0}
    link = MemoryLink({**server, "channels": [CHANNEL], **config})
    adapter = IrcAdapter(link, Backoff(0.1))
    work = asyncio.create_task(adapter.serve())
    try:
        await link.until(lambda: link.now[0] == "connected", ANSWER_SECONDS)
        yield adapter, link
    finally:
        work.cancel()
        await asyncio.wait([work])


@pytest.mark.parametrize("server", [ngircd, inspircd, simulated])
async def test_a_person_with_another_client_and_the_bot_talk_over_the_server(server: Any, tmp_path: Path) -> None:
    async with server(tmp_path) as port, bot(port) as (adapter, link):
        with person(tmp_path, port, "Ann") as ann:
            await ann.sees("endofnames")
            joined = (await link.events(1))[0].event
            assert joined.member.user.nickname == "Ann"  # type: ignore[attr-defined]

            ann.say(CHANNEL, "Parlour: grüße 👋")
            said = (await link.events(2))[1]
            chain = said.event.message_chain  # type: ignore[attr-defined]
            assert [type(each) for each in chain[1:]] == [At, Plain]
            assert chain[-1].text == "grüße 👋"

            text = "viele Wörter und 中文 " * 100
            await adapter.api().send_message("group", CHANNEL, [Plain(text=text)], "key")
            count = len(await ann.sees("pubmsg", 5))
            while "".join("".join(each["text"]) for each in await ann.sees("pubmsg", count)).replace(
                " ", ""
            ) != text.replace(" ", ""):
                count += 1

            ann.say("Parlour", "\x01VERSION\x01")
            [answer] = await ann.sees("ctcpreply")
            assert answer["text"] == ["VERSION", "Parlour"]
            ann.say("Parlour", "a secret")
            private = (await link.events(3))[2].event
            chat = private.chat_id  # type: ignore[attr-defined]
            await adapter.api().send_message("private", chat, [Plain(text="understood")], "other")
            [answer] = await ann.sees("privmsg")
            assert answer["text"] == ["understood"]

            members = await adapter.api().get_group_member_list(CHANNEL)
            assert {each.user.nickname for each in members} == {"Ann", "Parlour"}
            with pytest.raises(PlatformRefused, match="no user or channel"):
                await adapter.api().send_message("private", "nobody!x@y", [Plain(text="x")])
            await adapter.api().call_platform_api("set_topic", {"channel": CHANNEL, "topic": "tea"})
            await ann.sees("topic")
            await adapter.api().kick_member(CHANNEL, chat)
            assert (await ann.sees("kick"))[0]["text"][0] == "Ann"


@pytest.mark.parametrize("server", [ngircd, inspircd])
async def test_a_second_bot_takes_another_nick_and_later_ones_the_free_one(server: Any, tmp_path: Path) -> None:
    async with server(tmp_path) as port:
        async with bot(port) as (first, _), bot(port) as (second, link):
            assert "is in use" in link.now[1]
            groups = await second.api().get_group_member_list(CHANNEL)
            assert {each.user.nickname for each in groups} == {"Parlour", "Parlour_"}
            assert await first.api().get_group_list()
        async with bot(port, channels=[CHANNEL, "#other"]) as (adapter, link):
            assert link.now == ("connected", "")
            assert len(await adapter.api().get_group_list()) == 2


async def test_the_ids_of_a_server_with_ircv3_name_the_bot_s_messages(tmp_path: Path) -> None:
    async with inspircd(tmp_path) as port, bot(port) as (adapter, link):
        with person(tmp_path, port, "Ann") as ann:
            await ann.sees("endofnames")
            ann.say(CHANNEL, "hello")
            said = (await link.events(2))[1].event
            sent = await adapter.api().send_message("group", CHANNEL, [Plain(text="hello, too")], "key")
            assert sent.message_id not in ("", said.event_id)
            await adapter.api().react("group", CHANNEL, said.event_id, "👍")
            await adapter.api().send_typing("group", CHANNEL)


async def test_the_bot_talks_over_tls_and_refuses_a_certificate_that_it_does_not_trust(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    certificate, nothing = tmp_path / "server.pem", tmp_path / "nothing.pem"
    certificate.write_text(make_certificate("127.0.0.1").pem)
    certificate.chmod(0o644)
    nothing.touch()
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    async with ngircd_with_tls(tmp_path, certificate) as port:
        async with bot(port, security="tls") as (first, _), bot(port, security="tls", nick="Other") as (_, heard):
            await first.api().send_message("group", CHANNEL, [Plain(text="hello over TLS")], "key")
            await heard.until(lambda: any(each.event.type == "message.received" for each in heard.incoming))
        monkeypatch.setenv("SSL_CERT_FILE", str(nothing))
        link = MemoryLink({"host": "127.0.0.1", "port": port, "nick": "Parlour"})
        work = asyncio.create_task(IrcAdapter(link, Backoff(0.1)).serve())
        await link.until(lambda: "its certificate is not trusted" in link.now[1], ANSWER_SECONDS)
        work.cancel()
        await asyncio.wait([work])
