"""Tests documents and passages on the chat socket, QQ and Telegram, by the exact requests of the model's service."""

import base64
import re
from collections.abc import Iterator

import pytest

from parlour.testing.documents import pdf, word
from parlour.testing.model_server import ModelServer, Refuse, Say
from tests.integration.knowledge.test_bases import finished, new_base, upload
from tests.support.agent_doors import DOORS, open_door
from tests.support.agents import AgentHost

from .test_agent_findings import answers, said

pytestmark = pytest.mark.long

TIDES = ["The tide table hangs in room Albatross.", "High water is at 6 pm."]
PDF = pdf([TIDES[:1], TIDES[1:]])
PDF_TYPE = "application/pdf"
WORD_TYPE = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
TEXT = f"[file: tides.pdf]\n[page 1]\n{TIDES[0]}\n[page 2]\n{TIDES[1]}\n[end of file: tides.pdf]"
LEAVE = "The deck crew received {} days of annual leave in {}."


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AgentHost]:
    with ModelServer() as server:
        settings = {"PARLOUR__RUNS__PER_SENDER_PER_MINUTE": "10000"}
        host = AgentHost(tmp_path_factory.mktemp("sources on surfaces"), server, **settings)
        yield host
        host.close()


@pytest.fixture(autouse=True)
def nothing_asked(host: AgentHost) -> None:
    host.server.forget()


@pytest.mark.parametrize("door", DOORS)
async def test_a_pdf_reaches_a_model_that_takes_files_with_all_its_bytes(host: AgentHost, door: str) -> None:
    async with open_door(door, host, host.local(host.model(abilities=["files"]))) as chat:
        host.server.will(Say("At 6 pm."), Say("In Albatross."))
        assert await chat.give("when is high water?", "tides.pdf", PDF, PDF_TYPE) == "At 6 pm."
        assert await chat.ask("and where is the table?") == "In Albatross."
    for request in answers(host):
        [file] = [
            part["file"]
            for message in request["messages"]
            if isinstance(message["content"], list)
            for part in message["content"]
            if part["type"] == "file"
        ]
        assert file["filename"] == "tides.pdf"
        assert file["file_data"] == f"data:application/pdf;base64,{base64.b64encode(PDF).decode()}"


@pytest.mark.parametrize("door", DOORS)
async def test_other_models_get_the_text_of_documents(host: AgentHost, door: str) -> None:
    async with open_door(door, host, host.local(host.model(abilities=["tools"]))) as chat:
        await chat.give("when is high water?", "tides.pdf", PDF, PDF_TYPE)
        await chat.give("and here?", "tides.docx", word(TIDES), WORD_TYPE)
    first, second = answers(host)
    assert TEXT in said(first)
    assert f"[file: tides.docx]\n# Harbour\n{TIDES[0]}\n\n{TIDES[1]}\n[end of file: tides.docx]" in said(second)


@pytest.mark.parametrize("door", DOORS)
async def test_a_pdf_that_the_service_refuses_is_given_as_text(host: AgentHost, door: str) -> None:
    async with open_door(door, host, host.local(host.model(abilities=["files"]))) as chat:
        host.server.will(Refuse(400, "could not process file"), Say("At 6 pm."))
        assert await chat.give("when is high water?", "tides.pdf", PDF, PDF_TYPE) == "At 6 pm."
    refused, repeated = answers(host)
    assert "file_data" in str(refused)
    assert "file_data" not in str(repeated)
    assert TIDES[1] in said(repeated)


@pytest.fixture(scope="module")
def base(host: AgentHost) -> str:
    """A knowledge base with two years of one thing, and much about other things in the second year."""
    kb_id = new_base(host)
    texts = [LEAVE.format("twenty-six", 2023), LEAVE.format("thirty-one", 2024)]
    texts += [
        f"In 2024 the fee of pier {number} was {number} euros, and in 2024 it was painted." for number in range(8)
    ]
    for number, text in enumerate(texts):
        finished(host, kb_id, upload(host, kb_id, f"note-{number}.txt", text.encode())["file_id"])
    return kb_id


@pytest.mark.parametrize("door", DOORS)
async def test_a_short_question_is_searched_for_with_the_one_before_and_citations_are_remembered(
    host: AgentHost, base: str, door: str
) -> None:
    agent = host.local(host.model(), knowledge_bases=[base], retrieve_top_k=4)
    async with open_door(door, host, agent) as chat:
        host.server.will(Say("Twenty-six days [1]."), Say("Thirty-one days [1]."), Say("As I said."))
        await chat.ask("How many days of annual leave did the whole deck crew receive in the year 2023, please?")
        await chat.ask("and in 2024?")
        await chat.ask("Thank you. Please say again in one sentence which notes both of your numbers came from.")
    first, second, third = (said(each) for each in answers(host))
    assert f"[1] note-0.txt\n{LEAVE.format('twenty-six', 2023)}" in first
    assert LEAVE.format("thirty-one", 2024) in second.rpartition("<knowledge>")[2]
    assert re.search(rf"shortened.*\n\[1\] note-0\.txt\n{LEAVE.format('twenty-six', 2023)}", second)
    assert f"[1] note-0.txt\n{LEAVE.format('twenty-six', 2023)}" in third
    assert third.count("shortened. They are material") == 2
