"""Tests files through real processes: created, shown, read and streamed by a plugin, downloaded
over HTTP, and failing.
"""

import base64
import hashlib
import json
import resource
from pathlib import Path
from typing import Any

import httpx
import psutil
import pytest

from tests.support.chat import Chat
from tests.support.harness import ROOT, Host, Json, error_code, eventually, texts

FILING_PLUGIN = ROOT / "tests" / "fixtures" / "plugins" / "filing-agent"
FILER = "plugin:test/filing-agent/default"
PNG = b"\x89PNG\r\n\x1a\n rest"
BLOCK = bytes(range(256)) * 4096


@pytest.fixture(scope="module")
def filing(tmp_path_factory: pytest.TempPathFactory) -> Any:
    host = Host(tmp_path_factory.mktemp("filing"))
    host.install(FILING_PLUGIN)
    host.start()
    yield host
    host.close()


@pytest.fixture(scope="module")
def agent(filing: Host) -> str:
    return filing.agent(FILER)


@pytest.fixture(scope="module")
def path(filing: Host) -> str:
    """Creates a file of ten digits and returns its path."""
    made = upload(filing, b"0123456789", "digits.txt").json()
    return str(made["content"]).removeprefix("/api/v1")


def do(host: Host, agent: str, verb: str, chat: str = "chat", **arguments: Any) -> Any:
    result = host.ask(agent, json.dumps({verb: arguments}), conversation_id=chat)
    return json.loads(texts(result)[0])


def upload(host: Host, content: bytes, name: str = "a.bin", key: str | None = None, **fields: str) -> httpx.Response:
    return host.http(key).post("/files", files={"file": (name, content)}, data=fields)


def place(host: Host, sha256: str) -> Path:
    return host.data / "artifacts" / sha256[:2] / sha256[2:4] / sha256


def incoming(host: Host) -> list[Path]:
    return list((host.data / "artifacts" / "incoming").iterdir())


def test_a_file_that_a_plugin_makes_is_read_by_its_later_run_and_over_http(filing: Host, agent: str) -> None:
    made = do(filing, agent, "make", text="hello", name="a.txt", metadata={"k": [1]})
    again = do(filing, agent, "read", artifact_id=made["artifact_id"], offset=1, length=3)
    assert again == {"text": "ell", "has_more": True, "size_bytes": 5}
    assert do(filing, agent, "look", artifact_id=made["artifact_id"]) == made

    response = filing.http().get(f"/artifacts/{made['artifact_id']}").json()
    assert response == made
    assert (response["mime_type"], response["source"], response["metadata"]) == (
        "text/plain",
        "runner",
        {"k": [1]},
    )
    content = filing.http().get(f"/artifacts/{made['artifact_id']}/content")
    assert (content.status_code, content.content) == (200, b"hello")
    assert content.headers["etag"] == f'"{hashlib.sha256(b"hello").hexdigest()}"'


def test_a_file_can_be_looked_at_without_its_bytes(filing: Host, path: str) -> None:
    whole, head = filing.http().get(path), filing.http().head(path)
    assert (head.status_code, head.content) == (200, b"")
    compared = ("content-length", "content-type", "etag", "accept-ranges", "content-disposition")
    assert {name: head.headers[name] for name in compared} == {name: whole.headers[name] for name in compared}
    part = filing.http().head(path, headers={"range": "bytes=2-4"})
    assert (part.status_code, part.headers["content-range"], part.content) == (206, "bytes 2-4/10", b"")
    assert filing.http().head(path.removesuffix("/content")).status_code == 200
    assert filing.http().head("/artifacts/none/content").status_code == 404


def test_shown_files_are_in_the_answer_the_transcript_and_the_ledger(filing: Host, agent: str) -> None:
    files = [{"name": "a.txt", "content": "one"}, {"name": "b.html", "content": "<html>two"}]
    result = filing.ask(agent, json.dumps({"show": {"files": files}}))
    [answer] = result["messages"]
    assert [(ref["name"], ref["mime_type"]) for ref in answer["artifact_refs"]] == [
        ("a.txt", "text/plain"),
        ("b.html", "text/html"),
    ]
    said = filing.items(f"/conversations/{result['conversation_id']}/transcript")[-1]
    facts = filing.items(f"/runs/{result['run']['run_id']}/events")
    assert said["artifact_refs"] == answer["artifact_refs"]
    assert [fact["artifact_refs"] for fact in facts if fact["type"] == "message.completed"] == [answer["artifact_refs"]]
    for ref, file in zip(answer["artifact_refs"], files, strict=True):
        got = filing.http().get(f"/artifacts/{ref['artifact_id']}/content")
        assert got.text == file["content"]


def test_two_conversations_do_not_see_each_others_files(filing: Host, agent: str) -> None:
    made = do(filing, agent, "make", "one", text="secret")
    absent = do(filing, agent, "look", "two", artifact_id="0" * 36)
    for verb in ("look", "read", "digest"):
        response = do(filing, agent, verb, "two", artifact_id=made["artifact_id"])
        assert response["refused"] == absent["refused"] == "not_found"
        assert response["message"].replace(made["artifact_id"], "") == absent["message"].replace("0" * 36, "")


def test_a_chat_key_gets_its_own_files_only(filing: Host, agent: str) -> None:
    ann, ben, viewer = (filing.key("chat", "ann"), filing.key("chat", "ben"), filing.key("viewer"))
    result = filing.ask(agent, json.dumps({"make": {"text": "hers"}}), key=ann)
    artifact_id = json.loads(texts(result)[0])["artifact_id"]
    for path in (f"/artifacts/{artifact_id}", f"/artifacts/{artifact_id}/content"):
        assert filing.http(ann).get(path).status_code == 200
        assert filing.http(viewer).get(path).status_code == 200
        foreign = filing.http(ben).get(path)
        absent = filing.http(ben).get(path.replace(artifact_id, "0" * 36))
        assert (foreign.status_code, error_code(foreign)) == (404, "not_found")
        assert foreign.text.replace(artifact_id, "") == absent.text.replace("0" * 36, "")


def test_an_attachment_of_a_message_becomes_a_file_and_no_base64_is_stored(filing: Host, agent: str) -> None:
    content = PNG + b"x" * 50_000
    encoded = base64.b64encode(content).decode()
    picture = {"type": "image", "name": "cat.png", "content_base64": encoded}
    body = {"agent_id": agent, "input": {"contents": [picture]}, "conversation_id": "pictures"}
    result = filing.http().post("/events?wait=result", json=body).json()
    seen = json.loads(texts(result)[0])
    [ref] = seen["attachments"]
    assert (ref["mime_type"], ref["size_bytes"]) == ("image/png", len(content))
    assert seen["contents"][0]["artifact_id"] == ref["artifact_id"]
    assert filing.http().get(f"/artifacts/{ref['artifact_id']}/content").content == content
    transcript = filing.http().get(f"/conversations/{result['conversation_id']}/transcript").text
    database = b"".join(path.read_bytes() for path in filing.data.glob("parlour.db*"))
    assert encoded not in transcript
    assert encoded.encode()[:2000] not in database


def test_fifty_mebibytes_are_uploaded_and_downloaded_while_the_hosts_memory_stays_flat(
    filing: Host, agent: str
) -> None:
    do(filing, agent, "make_large", "large", mebibytes=3)
    expected = hashlib.sha256(BLOCK * 50).hexdigest()
    before = _peak(filing.process)
    made = do(filing, agent, "make_large", "large", mebibytes=50)
    assert (made["size_bytes"], made["sha256"]) == (50 * len(BLOCK), expected)
    assert do(filing, agent, "digest", "large", artifact_id=made["artifact_id"]) == expected
    got = hashlib.sha256()
    with filing.http().stream("GET", f"/artifacts/{made['artifact_id']}/content") as answer:
        for piece in answer.iter_raw():
            got.update(piece)
    assert got.hexdigest() == expected
    grown = (_peak(filing.process) - before) / 1024 / 1024
    assert grown < 25, f"the Host grew by {grown:.0f} MiB"


def _peak(process: psutil.Process) -> int:
    """Returns the peak memory of the process in bytes."""
    status = Path(f"/proc/{process.pid}/status").read_text()
    [line] = [line for line in status.splitlines() if line.startswith("VmHWM")]
    return int(line.split()[1]) * 1024


def test_an_upload_that_a_run_does_not_finish_leaves_nothing(filing: Host, agent: str) -> None:
    start_marker = filing.shared_file("begun", "test/filing-agent")
    filing.send(agent, json.dumps({"begin_and_wait": {"file": str(start_marker)}}), conversation_id="cut")
    eventually(start_marker.exists, "the upload is under way")
    assert incoming(filing)
    run_id = filing.active_run(agent)
    assert filing.http().post(f"/runs/{run_id}/cancel").status_code == 200
    eventually(lambda: not incoming(filing), "the rest of the upload is gone")


def test_a_damaged_or_missing_file_is_reported(filing: Host, agent: str) -> None:
    made = do(filing, agent, "make", text="soon damaged")
    file = place(filing, made["sha256"])
    file.write_bytes(b"soon")
    response = do(filing, agent, "read", artifact_id=made["artifact_id"])
    assert (response["refused"], "4 of 12 bytes" in response["message"]) == ("runtime_error", True)
    answer = filing.http().get(f"/artifacts/{made['artifact_id']}/content")
    assert (answer.status_code, error_code(answer)) == (500, "runtime_error")
    file.unlink()
    assert "missing" in do(filing, agent, "read", artifact_id=made["artifact_id"])["message"]
    file.symlink_to(filing.data / "parlour.db")
    linked = filing.http().get(f"/artifacts/{made['artifact_id']}/content")
    assert (linked.status_code, "missing" in linked.text) == (500, True)


class TestContent:
    @pytest.mark.parametrize(
        ("range_header", "status", "content", "content_range"),
        [
            ("bytes=0-3", 206, b"0123", "bytes 0-3/10"),
            ("bytes=4-", 206, b"456789", "bytes 4-9/10"),
            ("bytes=-2", 206, b"89", "bytes 8-9/10"),
            ("bytes=-99", 206, b"0123456789", "bytes 0-9/10"),
            ("bytes=8-99", 206, b"89", "bytes 8-9/10"),
            ("bytes=0-0", 206, b"0", "bytes 0-0/10"),
            ("bytes=0-1,4-5", 200, b"0123456789", None),
            ("lines=1-2", 200, b"0123456789", None),
            ("bytes=-", 200, b"0123456789", None),
        ],
    )
    def test_a_range_is_answered(
        self, filing: Host, path: str, range_header: str, status: int, content: bytes, content_range: str | None
    ) -> None:
        answer = filing.http().get(path, headers={"Range": range_header})
        assert (answer.status_code, answer.content, answer.headers.get("content-range")) == (
            status,
            content,
            content_range,
        )
        assert answer.headers["content-length"] == str(len(content))

    @pytest.mark.parametrize(
        "range_header",
        [
            *("bytes=10-", "bytes=99-100", "bytes=5-2", "bytes=-0"),
            *(f"bytes={'9' * 5000}-", f"bytes=0-{'9' * 5000}", f"bytes=-{'9' * 5000}"),
        ],
        ids=lambda range_header: range_header[:20],
    )
    def test_a_range_outside_the_file_is_refused(self, filing: Host, path: str, range_header: str) -> None:
        answer = filing.http().get(path, headers={"Range": range_header})
        assert (answer.status_code, error_code(answer)) == (416, "range_not_satisfiable")

    def test_a_cached_file_is_not_sent_again(self, filing: Host, path: str) -> None:
        tag = filing.http().get(path).headers["etag"]
        known = filing.http().get(path, headers={"If-None-Match": f'"other", {tag}'})
        assert (known.status_code, known.content) == (304, b"")
        stale = filing.http().get(path, headers={"Range": "bytes=0-1", "If-Range": '"other"'})
        assert (stale.status_code, stale.content) == (200, b"0123456789")

    @pytest.mark.parametrize(
        ("name", "content", "disposition", "kind"),
        [
            ("page.png", b"<html><script>alert(1)</script>", "attachment", "text/html; charset=utf-8"),
            ("a.svg", b'<svg onload="alert(1)"/>', "attachment", "image/svg+xml"),
            ("cat.png", PNG, "inline", "image/png"),
            ("note.txt", b"hello", "inline", "text/plain; charset=utf-8"),
            ("tool", b"\x7fELF\x00", "attachment", "application/octet-stream"),
        ],
    )
    def test_content_that_could_run_in_a_browser_is_a_download(
        self, filing: Host, name: str, content: bytes, disposition: str, kind: str
    ) -> None:
        made = upload(filing, content, name, mime_type="image/png").json()
        answer = filing.http().get(f"/artifacts/{made['file_id']}/content")
        assert answer.headers["content-type"] == kind
        assert answer.headers["content-disposition"].startswith(f"{disposition}; filename*=UTF-8''{name}")
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert "sandbox" in answer.headers["content-security-policy"]


class TestUploads:
    def test_an_upload_belongs_to_its_sender_until_a_message_attaches_it(self, filing: Host, agent: str) -> None:
        ann, ben = filing.key("chat", "ann"), filing.key("chat", "ben")
        answer = upload(filing, PNG, "../../cat.png", ann)
        made = answer.json()
        assert (answer.status_code, made["name"], made["mime_type"]) == (201, "cat.png", "image/png")
        assert made["expires_at"] - made["created_at"] == pytest.approx(86_400_000, abs=5_000)
        path = f"/files/{made['file_id']}"
        assert filing.http(ann).get(path).json() == made
        assert filing.http(ben).get(path).status_code == 404
        assert filing.http(ben).delete(path).status_code == 404

        taking = {"contents": [{"type": "image", "artifact_id": made["file_id"]}]}
        stolen = filing.http(ben).post("/events", json={"agent_id": agent, "input": taking})
        assert (stolen.status_code, "input.contents.0.artifact_id" in stolen.text) == (422, True)
        taken = filing.http(ann).post("/events?wait=result", json={"agent_id": agent, "input": taking}).json()
        seen = json.loads(texts(taken)[0])
        assert seen["attachments"][0]["artifact_id"] == made["file_id"]
        assert filing.http(ann).get(path).json()["expires_at"] is None

    def test_the_sender_of_an_upload_can_delete_it(self, filing: Host) -> None:
        ann = filing.key("chat", "ann")
        made = upload(filing, b"mine", key=ann).json()
        path = f"/files/{made['file_id']}"
        assert filing.http(ann).delete(path).status_code == 204
        assert filing.http(ann).get(path).status_code == 404
        assert filing.http(ann).get(f"/artifacts/{made['file_id']}").status_code == 404
        assert filing.http(ann).delete(path).status_code == 404

    def test_a_file_that_a_run_created_is_not_an_upload(self, filing: Host, agent: str) -> None:
        made = do(filing, agent, "make", text="hello")
        assert filing.http().get(f"/files/{made['artifact_id']}").status_code == 404
        assert filing.http().delete(f"/files/{made['artifact_id']}").status_code == 404

    @pytest.mark.parametrize(
        ("request_", "status"),
        [
            ({"json": {"file": "x"}}, 415),
            ({"files": {"other": ("a", b"x")}}, 422),
            ({"files": {"file": ("a", b"x")}, "data": {"colour": "red"}}, 422),
            ({"content": b"--x\r\nnonsense", "headers": {"Content-Type": "multipart/form-data; boundary=x"}}, 422),
        ],
        ids=["json", "no file", "unknown field", "cut"],
    )
    def test_a_body_that_is_not_an_upload_is_refused(self, filing: Host, request_: Json, status: int) -> None:
        answer = filing.http().post("/files", **request_)
        assert answer.status_code == status
        assert error_code(answer)
        assert list((filing.data / "uploads").iterdir()) == []

    def test_a_viewer_uploads_nothing(self, filing: Host) -> None:
        assert upload(filing, b"x", key=filing.key("viewer")).status_code == 403


def test_limits_and_quota_are_settings(make_host: Any) -> None:
    host: Host = make_host(
        PARLOUR__HTTP__UPLOAD_BYTES=64 * 1024,
        PARLOUR__ARTIFACTS__ARTIFACT_BYTES=20 * 1024,
        PARLOUR__ARTIFACTS__QUOTA_BYTES=30 * 1024,
        PARLOUR__ARTIFACTS__UNCLAIMED_UPLOAD_HOURS=0.0003,
    )
    host.start()
    for size, status in ((100 * 1024, 413), (30 * 1024, 413), (20 * 1024, 201), (20 * 1024, 413)):
        answer = upload(host, b"x" * size)
        assert answer.status_code == status
        if status == 413:
            assert error_code(answer) == "payload_too_large"
    made = upload(host, b"short").json()
    path = f"/files/{made['file_id']}"
    eventually(lambda: host.http().get(path).status_code == 404, "an upload without a message is deleted")
    assert incoming(host) == []


def test_without_disk_space_a_file_is_refused_and_nothing_of_it_stays(make_host: Any) -> None:
    host: Host = make_host(FILING_PLUGIN)
    host.start()
    agent = host.agent(FILER)
    large = base64.b64encode(PNG * 1000).decode()
    event = {"agent_id": agent, "input": {"contents": [{"type": "image", "content_base64": large}]}, "event_id": "once"}
    unlimited = (resource.RLIM_INFINITY, resource.RLIM_INFINITY)
    resource.prlimit(host.process.pid, resource.RLIMIT_FSIZE, (4096, resource.RLIM_INFINITY))
    try:
        answers = [upload(host, PNG * 1000), host.http().post("/events", json=event)]
    finally:
        resource.prlimit(host.process.pid, resource.RLIMIT_FSIZE, unlimited)
    assert [(each.status_code, error_code(each)) for each in answers] == [(507, "storage_full")] * 2
    assert incoming(host) == list((host.data / "uploads").iterdir()) == []
    assert str(host.data) not in answers[1].text
    assert upload(host, PNG * 1000).status_code == 201
    assert host.http().post("/events?wait=result", json=event).json()["outcome"] == "answered"


def test_unfinished_uploads_of_a_dead_host_are_deleted_at_the_next_start(make_host: Any) -> None:
    host: Host = make_host()
    rest = [host.data / "uploads" / "tmp" / "upload", host.data / "artifacts" / "incoming" / "half"]
    for path in rest:
        path.parent.mkdir(parents=True)
        path.write_bytes(b"half")
    host.start()
    assert not any(path.exists() for path in rest)


async def test_a_picture_in_a_chat_frame_becomes_a_file_and_an_unknown_file_is_an_error(
    filing: Host, agent: str
) -> None:
    async with Chat(filing, agent) as chat:
        await chat.send(type="message", contents=[{"type": "file", "artifact_id": "nothing"}])
        error = await chat.until("error")
        assert (error["code"], "input.contents.0.artifact_id" in error["message"]) == ("invalid_argument", True)
        await chat.send(type="message", contents=[{"type": "image", "content_base64": base64.b64encode(PNG).decode()}])
        answer = await chat.until("message")
    [ref] = json.loads(answer["message"]["content"])["attachments"]
    assert (ref["mime_type"], ref["size_bytes"]) == ("image/png", len(PNG))
