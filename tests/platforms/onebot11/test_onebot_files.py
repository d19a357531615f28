"""Tests pictures on QQ, whose links expire: they are downloaded before a run starts, and a missing
one is named in text.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager

import pytest

from parlour.testing.onebot_simulator import native
from tests.integration.chat.test_artifacts import FILER, FILING_PLUGIN, PNG
from tests.support.harness import Host

from .qq import QQ, to_agent

ANN = 1


@pytest.fixture(scope="module")
def filing(tmp_path_factory: pytest.TempPathFactory) -> Iterator[QQ]:
    host = Host(tmp_path_factory.mktemp("host with files"), PARLOUR__TOOLS__ALLOWED_ADDRESSES="127.0.0.1/32")
    host.install(FILING_PLUGIN)
    host.start()
    yield QQ(host)
    host.close()


@asynccontextmanager
async def picture(status: str = "200 OK") -> AsyncIterator[str]:
    """Serves a picture while the context is open and returns its address."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        head = f"HTTP/1.1 {status}\r\ncontent-length: {len(PNG)}\r\nconnection: close\r\n\r\n"
        writer.write(head.encode() + PNG)
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    async with server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/cat.png?rkey=secret"


async def test_a_picture_is_stored_before_its_link_expires(filing: QQ) -> None:
    bot = filing.bot(to_agent(filing.host.agent(FILER)))
    async with bot.connected() as simulator:
        async with picture() as url:
            await simulator.say([native.segment("image", file="cat.png", url=url)], ANN)
            [seen] = await simulator.answered(1)
        [ref] = json.loads(seen.text)["attachments"]
        content = await asyncio.to_thread(filing.host.http().get, f"/artifacts/{ref['artifact_id']}/content")
    bot.delete()
    assert (content.status_code, content.content) == (200, PNG)


@pytest.mark.parametrize("status", ["404 Not Found", "503 Service Unavailable"])
async def test_an_answer_whose_picture_is_gone_is_sent_without_it_and_names_it(filing: QQ, status: str) -> None:
    bot = filing.bot(to_agent(filing.host.agent(FILER)))
    async with bot.connected() as simulator, picture(status) as url:
        words = native.text(json.dumps({"give_back": {}}))
        said = await simulator.say([words, native.segment("image", file="cat.png", url=url)], ANN)
        [shown] = await simulator.answered(1)
        [step] = await filing.wait_for_deliveries(said, "sent", "failed")
    bot.delete()
    assert shown.text == "Here it is.\n[cat.png can't be shown here]"
    assert "shown twice" not in step["text"]
    assert "secret" not in filing.host.log()
