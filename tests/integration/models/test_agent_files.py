"""Tests what the model of the local agent gets of files: PDF and Word documents, in its own format or as text."""

import base64
import json
import re
from collections.abc import Iterator
from typing import Any

import pytest

from parlour.testing.documents import pdf, word
from parlour.testing.model_server import ModelServer, Refuse, Say
from tests.support.agents import AgentHost
from tests.support.harness import Json, texts

from .test_agent_providers import message, responses

TIDES = ["The tide table hangs in room Albatross.", "High water is at 6 pm."]
PDF = base64.b64encode(pdf([TIDES[:1], TIDES[1:]])).decode()
PADDING = "It was a quiet day at the harbour." + " It was a quiet day at the harbour." * 24
DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AgentHost]:
    with ModelServer() as server:
        host = AgentHost(tmp_path_factory.mktemp("files"), server)
        yield host
        host.close()


@pytest.fixture(autouse=True)
def nothing_asked(host: AgentHost) -> None:
    host.server.forget()


def file(name: str, mime_type: str, content: bytes | str) -> Json:
    encoded = content if isinstance(content, str) else base64.b64encode(content).decode()
    return {"type": "file", "name": name, "mime_type": mime_type, "content_base64": encoded}


def send(host: AgentHost, agent: str, *files: Json, conversation: str) -> list[str]:
    contents = [{"type": "text", "text": "read"}, *files]
    body = {"agent_id": agent, "input": {"contents": contents}, "conversation_id": conversation}
    return texts(host.http().post("/events?wait=result", json=body).json())


def given(host: AgentHost, number: int = 1) -> str:
    return str(host.requests(number)[number - 1]["messages"][-1]["content"])


def calls(name: str, **arguments: Any) -> Say:
    function = {"name": name, "arguments": json.dumps(arguments)}
    return Say("", tool_calls=[{"index": 0, "id": "c1", "function": function}])


A_PDF = file("tides.pdf", "application/pdf", PDF)
TEXT = f"[file: tides.pdf]\n[page 1]\n{TIDES[0]}\n[page 2]\n{TIDES[1]}\n[end of file: tides.pdf]"


def test_a_pdf_is_handed_over_to_models_that_take_files(host: AgentHost) -> None:
    taking = host.local(host.model("openai-responses", abilities=["files"]))
    host.server.will(responses(message("A page.")))
    assert send(host, taking, A_PDF, conversation="taken") == ["A page."]
    part = host.requests(1)[0]["input"][-1]["content"][-1]
    assert (part["type"], part["filename"]) == ("input_file", "tides.pdf")
    assert part["file_data"] == f"data:application/pdf;base64,{PDF}"

    host.server.forget()
    send(host, host.local(host.model(abilities=["files"])), A_PDF, conversation="chat")
    assert host.requests(1)[0]["messages"][-1]["content"][-1]["file"]["filename"] == "tides.pdf"


def test_other_models_get_the_text_of_a_document(host: AgentHost) -> None:
    agent = host.local(host.model(abilities=["tools"]))
    send(host, agent, A_PDF, conversation="text")
    assert TEXT in given(host)
    send(host, agent, file("tides.docx", DOCX, word(TIDES)), conversation="word")
    assert f"[file: tides.docx]\n# Harbour\n{TIDES[0]}\n\n{TIDES[1]}\n[end of file: tides.docx]" in given(host, 2)


def test_a_word_file_is_text_also_for_a_model_that_takes_pdf_files(host: AgentHost) -> None:
    agent = host.local(host.model(abilities=["files"]))
    send(host, agent, file("tides.docx", DOCX, word(TIDES)), conversation="word for files")
    assert TIDES[1] in given(host)
    assert "file_data" not in given(host)


def test_a_long_document_is_read_on_with_the_tool(host: AgentHost) -> None:
    agent = host.local(host.model(abilities=["tools"]))
    lines = [f"Line {number} of the log book of the harbour master. {PADDING}" for number in range(60)]
    send(host, agent, file("log.docx", DOCX, word(lines)), conversation="long")
    note = given(host)
    assert lines[0] in note
    assert lines[-1] not in note
    where = note.partition("[the file goes on: artifact ")[2].partition("]")[0]
    artifact, _, rest = where.partition(", next offset ")
    offset = int(rest.partition(" of ")[0])
    assert offset == 20_000
    host.server.will(calls("artifact_read", artifact_id=artifact, offset=offset), Say("Read."))
    host.ask(agent, "and then?", conversation_id="long")
    result = [each["content"] for each in host.requests(3)[2]["messages"] if each["role"] == "tool"][-1]
    before, after = note.rpartition("\n[the file goes on")[0], result.partition("\n[next offset")[0]
    joined = " ".join((before.partition("[file: log.docx]\n")[2] + after).split())
    assert all(line in joined for line in lines[:40])


def test_an_agent_without_granted_tools_reads_documents_too(host: AgentHost) -> None:
    agent = host.local(host.model(abilities=["tools"]), tools=[])
    note = file("big.docx", DOCX, word([f"Paragraph {number} about the tides. {PADDING}" for number in range(60)]))
    send(host, agent, note, conversation="own tool")
    artifact = given(host).partition("goes on: artifact ")[2].partition(",")[0]
    host.server.will(calls("artifact_read", artifact_id=artifact, offset=20_000), Say("Read."))
    host.ask(agent, "and then?", conversation_id="own tool")
    result = [each["content"] for each in host.requests(3)[2]["messages"] if each["role"] == "tool"][-1]
    assert "about the tides." in result
    assert "Error" not in result


def test_a_pdf_that_the_service_refuses_is_given_as_text_and_nobody_is_bothered(host: AgentHost) -> None:
    agent = host.local(host.model(abilities=["files"]))
    host.server.will(Refuse(400, "could not process file"), Say("At 6 pm."))
    assert send(host, agent, A_PDF, conversation="refused") == ["At 6 pm."]
    refused, repeated = host.requests(2)
    assert "file_data" in str(refused)
    assert TIDES[1] in str(repeated)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"%PDF-1.7 \xff nothing that makes sense", "the file is damaged"),
        (pdf([[]]), "it may consist of pictures"),
        (b"", "the document has no text"),
    ],
)
def test_a_document_that_can_not_be_read_is_named_with_the_reason(host: AgentHost, content: bytes, reason: str) -> None:
    agent = host.local(host.model(abilities=["tools"]))
    upload = host.http().post("/files", files={"file": ("bad.pdf", content, "application/pdf")}).json()
    attached = {"type": "file", "name": "bad.pdf", "mime_type": "application/pdf", "artifact_id": upload["artifact_id"]}
    assert send(host, agent, attached, conversation=f"bad {len(content)}") == ["pong"]
    assert "[file: bad.pdf, " in given(host)
    assert reason in given(host)


def test_a_document_does_not_exceed_the_window_of_a_small_model(host: AgentHost) -> None:
    agent = host.local(host.model(abilities=["tools"], context_window=4000, max_output_tokens=500))
    lines = [f"Line {number} of the log book of the harbour master. {PADDING}" for number in range(60)]
    assert send(host, agent, file("log.docx", DOCX, word(lines)), conversation="small") == ["pong"]
    assert 200 < len(given(host)) < 10_000
    assert lines[0] in given(host)


def test_why_says_in_outline_what_the_model_was_given(host: AgentHost) -> None:
    agent = host.local(host.model(abilities=["tools"]))
    host.server.will(Refuse(400, "no"), Say("pong"))
    contents = [{"type": "text", "text": "read"}, A_PDF]
    body = {"agent_id": agent, "input": {"contents": contents}, "conversation_id": "why"}
    event_id = host.http().post("/events?wait=result", json=body).json()["event_id"]
    steps = host.http().get(f"/events/{event_id}/why").json()["steps"]
    [given] = [each for each in steps if each["step"] == "model.called"]
    assert given["data"]["given"]["files"] == 1
    assert re.fullmatch(r"Model fake got 2 messages of \d+ characters and gave no answer: \w+\.", given["text"])

    event_id = host.ask(agent, "hello", conversation_id="why not")["event_id"]
    steps = host.http().get(f"/events/{event_id}/why").json()["steps"]
    [given] = [each for each in steps if each["step"] == "model.called"]
    assert re.fullmatch(r"Model fake got 2 messages of \d+ characters, 4 tools, 0 files\.", given["text"])
