"""Tests the quotas of bases, and that changes by people are audited."""

from collections.abc import Iterator

import pytest

from tests.support.harness import Host, error_code

from .test_bases import finished, new_base, search, upload

CHUNKS = 40


@pytest.fixture(scope="module")
def small_host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Host]:
    limits = {"FILES": 2, "CHUNKS": CHUNKS, "TOTAL_BYTES": 200_000, "FILE_BYTES": 150_000}
    settings = {f"PARLOUR__KNOWLEDGE__{name}": value for name, value in limits.items()}
    host = Host(tmp_path_factory.mktemp("small"), **settings)
    host.start()
    yield host
    host.close()


def refused(host: Host, kb_id: str, content: bytes) -> tuple[int, str]:
    answer = host.http().post(f"/knowledge-bases/{kb_id}/files", files={"file": ("more.txt", content)})
    return answer.status_code, error_code(answer)


def test_a_base_has_limited_files_and_room_after_a_deletion(small_host: Host) -> None:
    kb_id = new_base(small_host)
    first = finished(small_host, kb_id, upload(small_host, kb_id, "one.txt", b"High tide.")["file_id"])
    finished(small_host, kb_id, upload(small_host, kb_id, "two.txt", b"Low tide.")["file_id"])
    assert refused(small_host, kb_id, b"Ebb.") == (409, "quota")
    small_host.http().delete(f"/knowledge-bases/{kb_id}/files/{first['file_id']}")
    upload(small_host, kb_id, "more.txt", b"Ebb.")


def test_a_file_with_too_many_passages_fails_and_leaves_nothing(small_host: Host) -> None:
    kb_id = new_base(small_host)
    text = "\n\n".join(f"# Pier {number}\n\nThe tide at pier {number}." for number in range(CHUNKS + 30))
    file = finished(small_host, kb_id, upload(small_host, kb_id, "piers.md", text.encode())["file_id"])
    assert (file["status"], file["error"]["code"], file["chunks"]) == ("failed", "quota", 0)
    assert search(small_host, kb_id, "tide at pier 3") == []
    assert small_host.http().get(f"/knowledge-bases/{kb_id}").json()["chunks"] == 0


def test_one_file_and_all_files_together_have_limited_bytes(small_host: Host) -> None:
    kb_id = new_base(small_host)
    assert refused(small_host, kb_id, b"tide " * 40_000) == (413, "file.too_large")
    other = new_base(small_host)
    for base in (kb_id, other):
        content = f"{base[-6:] * 20}\n".encode() * 900
        file = finished(small_host, base, upload(small_host, base, "large.txt", content)["file_id"])
        assert file["status"] == "completed", file
    assert refused(small_host, other, b"Ebb.") == (409, "quota")


def test_changes_by_people_are_audited(host: Host) -> None:
    kb_id = new_base(host)
    file = finished(host, kb_id, upload(host, kb_id, "note.txt", b"The harbour master sits in Dock Street.")["file_id"])
    files = f"/knowledge-bases/{kb_id}/files"
    [chunk] = host.items(f"{files}/{file['file_id']}/chunks")
    address = f"{files}/{file['file_id']}/chunks/{chunk['chunk_id']}"
    host.http().patch(address, json={"text": "The harbour master sits at Pier Nine."})
    host.http().patch(address, json={"enabled": False})
    host.http().delete(f"{files}/{file['file_id']}")
    host.http().delete(f"/knowledge-bases/{kb_id}")
    entries = [each for each in host.items("/audit") if kb_id in str(each) or chunk["chunk_id"] in str(each)]
    actions = [each["action"] for each in reversed(entries)]
    assert actions[0] == "knowledge_base.create"
    assert actions[-1] == "knowledge_base.delete"
    assert actions.count("knowledge_chunk.change") == 2
    [edit, *_] = [each for each in entries[::-1] if each["action"] == "knowledge_chunk.change"]
    assert "Dock Street" in str(edit)
    assert "Pier Nine" in str(edit)
