"""Tests that files of a message reach the sandbox, and that files from its outbox are sent with the answer."""

import json
from collections.abc import Iterator

import pytest

from tests.support.harness import Host, Json, eventually, texts
from tests.support.scripted import CALLER, CALLING_PLUGIN

DRAW = """
import struct, zlib
def chunk(kind, data):
    return struct.pack("!I", len(data)) + kind + data + struct.pack("!I", zlib.crc32(kind + data))
rows = b"".join(b"\\0" + bytes([x, 0, 0] * 8)[:24] for x in range(8))
header = struct.pack("!IIBBBBB", 8, 8, 8, 2, 0, 0, 0)
picture = b"\\x89PNG\\r\\n\\x1a\\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")
open("/workspace/outbox/picture.png", "wb").write(picture)
"""


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Host]:
    host = Host(tmp_path_factory.mktemp("attachments"))
    host.install(CALLING_PLUGIN)
    host.start()
    yield host
    host.close()


@pytest.fixture(scope="module")
def agent(host: Host) -> str:
    return host.agent(CALLER, box_policy={"tools": ["exec", "read", "write"]})


def script(*calls: tuple[str, Json]) -> str:
    return json.dumps([["call_tool", {"tool_name": f"box.{name}", "parameters": given}] for name, given in calls])


def sent_files(result: Json) -> list[Json]:
    return [ref for message in result["messages"] for ref in message.get("artifact_refs") or ()]


def test_produced_picture_is_sent_with_the_answer_once(host: Host, agent: str) -> None:
    commands = [
        ("exec", {"command": "mkdir -p outbox"}),
        ("write", {"path": "draw.py", "content": DRAW}),
        ("exec", {"command": "python3 draw.py && echo drawn"}),
    ]
    result = host.ask(agent, script(*commands), conversation_id="picture")
    last = json.loads(texts(result)[0])[-1]
    assert [element["text"] for element in last["content"]] == ["drawn\n", "Sent with your next message: picture.png."]
    [file] = sent_files(result)
    assert (file["name"], file["mime_type"]) == ("picture.png", "image/png")
    content = host.http().get(f"/artifacts/{file['artifact_id']}/content").content
    assert content.startswith(b"\x89PNG")
    again = host.ask(agent, script(("exec", {"command": "ls -A outbox"})), conversation_id="picture")
    assert sent_files(again) == []
    assert "picture" not in texts(again)[0]


def test_outbox_sends_no_links_and_nothing_that_is_too_large(host: Host, agent: str) -> None:
    command = "mkdir -p outbox; ln -s /etc/passwd outbox/link; truncate -s 30M outbox/large; echo x > 'outbox/a;b.txt'"
    result = host.ask(agent, script(("exec", {"command": command})), conversation_id="outbox")
    assert [file["name"] for file in sent_files(result)] == ["a_b.txt"]
    assert "large is not sent" in texts(result)[0]


def test_files_of_the_message_are_in_the_inbox(host: Host, agent: str) -> None:
    uploaded = host.http().post("/files", files={"file": ("../../evil name.txt", b"from the person", "text/plain")})
    assert uploaded.status_code == 201, uploaded.text
    file = {"type": "file", "artifact_id": uploaded.json()["artifact_id"]}
    given = {"text": script(("exec", {"command": "ls inbox; cat inbox/*"})), "contents": [file]}
    body = {"event_type": "message.received", "agent_id": agent, "conversation_id": "inbox"}
    answer = host.http().post("/events?wait=result", json={**body, "input": given})
    assert answer.status_code == 200, answer.text
    assert "evil name.txt" in texts(answer.json())[0]
    assert "from the person" in texts(answer.json())[0]
    beside = host.ask(agent, script(("exec", {"command": "ls -A"})), conversation_id="another")
    assert "inbox" not in texts(beside)[0]


def test_files_of_one_conversation_are_never_sent_to_another(host: Host, agent: str) -> None:
    background = "mkdir -p outbox; (while ! test -e go; do :; done; echo late > outbox/late.txt) > /dev/null 2>&1 &"
    host.ask(agent, script(("exec", {"command": background})), conversation_id="first")
    other = host.ask(agent, script(("exec", {"command": "mkdir -p outbox; ls -A outbox"})), conversation_id="second")
    assert sent_files(other) == []
    wait = "touch go; while ! test -e outbox/late.txt; do sleep 0.05; done"
    first = host.ask(agent, script(("exec", {"command": wait})), conversation_id="first")
    assert [file["name"] for file in sent_files(first)] == ["late.txt"]


def test_run_that_fails_after_writing_still_sends_its_files(host: Host, agent: str) -> None:
    calls = json.loads(script(("exec", {"command": "mkdir -p outbox; echo kept > outbox/kept.txt"})))
    event = host.send(agent, json.dumps([*calls, ["fail", {}]]), conversation_id="failing")
    run = eventually(
        lambda: next(
            (each for each in host.items("/runs") if each["event_id"] == event["event_id"] and each["finished_at"]),
            None,
        ),
        "the run ends",
        30,
    )
    assert run["status"] == "failed"
    items = host.items(f"/conversations/{run['conversation_id']}/transcript")
    assert [ref["name"] for item in items for ref in item["artifact_refs"] if item["role"] == "assistant"] == [
        "kept.txt"
    ]
