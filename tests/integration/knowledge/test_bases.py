"""Tests knowledge bases through a real Host: files go in, are taken up in the background, and are found."""

import pytest
from prometheus_client.parser import text_string_to_metric_families

from tests.support.harness import Host, Json, error_code, eventually

HANDBOOK = """# Handbook

## Leave

Deck crew receive twenty-six days of annual leave. Requests go to the crew scheduler.

## Expenses

A travel expense claim is paid within ten working days if the receipts are attached to form HR-2103.
"""
CHINESE = """# 手册

## 请假

甲板船员每年享有十八天年休假，须提前四周申请。

## 报销

差旅费报销单十个工作日内汇入工资卡。
"""


def new_base(host: Host, **fields: object) -> str:
    made = host.http().post("/knowledge-bases", json={"name": "Handbook", **fields})
    assert made.status_code == 201, made.text
    return str(made.json()["kb_id"])


def upload(host: Host, kb_id: str, name: str, content: bytes, **query: object) -> Json:
    made = host.http().post(f"/knowledge-bases/{kb_id}/files", files={"file": (name, content)}, params=query)
    assert made.status_code == 201, made.text
    return dict(made.json())


def finished(host: Host, kb_id: str, file_id: str) -> Json:
    def look() -> Json | None:
        file = host.http().get(f"/knowledge-bases/{kb_id}/files/{file_id}").json()
        return dict(file) if file["status"] in ("completed", "failed") else None

    return eventually(look, f"file {file_id} is taken up") or {}


def search(host: Host, kb_id: str, query: str, **fields: object) -> list[Json]:
    answer = host.http().post(f"/knowledge-bases/{kb_id}/search", json={"query": query, **fields})
    assert answer.status_code == 200, answer.text
    return list(answer.json()["items"])


@pytest.fixture(scope="module")
def kb_id(host: Host) -> str:
    return new_base(host)


@pytest.fixture(scope="module")
def handbook(host: Host, kb_id: str) -> Json:
    file = upload(host, kb_id, "handbook.md", HANDBOOK.encode())
    return finished(host, kb_id, file["file_id"])


def test_an_uploaded_file_is_found_with_its_source(host: Host, kb_id: str, handbook: Json) -> None:
    assert (handbook["status"], handbook["progress"], handbook["error"]) == ("completed", 100, None)
    best = search(host, kb_id, "How many days of leave does the crew receive?")[0]
    assert "twenty-six days" in best["text"]
    assert (best["file_id"], best["file_name"], best["heading"]) == (
        handbook["file_id"],
        "handbook.md",
        "Handbook › Leave",
    )


def test_chinese_text_is_found(host: Host, kb_id: str) -> None:
    file = upload(host, kb_id, "手册.md", CHINESE.encode())
    assert finished(host, kb_id, file["file_id"])["status"] == "completed"
    assert "十个工作日" in search(host, kb_id, "差旅费多久汇入工资卡？")[0]["text"]
    assert search(host, kb_id, "年休假", filters={"name": "handbook.md"}, mode="full_text") == []


def test_the_same_file_again_is_a_conflict_that_names_it(host: Host, kb_id: str, handbook: Json) -> None:
    again = host.http().post(f"/knowledge-bases/{kb_id}/files", files={"file": ("handbook.md", HANDBOOK.encode())})
    assert (again.status_code, error_code(again)) == (409, "exists")
    assert again.json()["error"]["details"] == {"file_id": handbook["file_id"]}


def test_a_replaced_file_is_found_as_it_is_now(host: Host) -> None:
    kb_id = new_base(host)
    first = finished(host, kb_id, upload(host, kb_id, "fares.txt", b"The fare is four euros.")["file_id"])
    second = upload(host, kb_id, "fares.txt", b"The fare is nine euros.", replace=True)
    assert second["file_id"] == first["file_id"]
    assert finished(host, kb_id, second["file_id"])["status"] == "completed"
    assert [each["text"] for each in search(host, kb_id, "fare")] == ["The fare is nine euros."]
    base = host.http().get(f"/knowledge-bases/{kb_id}").json()
    assert (base["files"], base["chunks"], base["bytes"]) == (1, 1, len(b"The fare is nine euros."))


def test_a_deleted_file_is_not_found_any_more(host: Host) -> None:
    kb_id = new_base(host)
    file = finished(host, kb_id, upload(host, kb_id, "tides.txt", b"High tide is at noon.")["file_id"])
    address = f"/knowledge-bases/{kb_id}/files/{file['file_id']}"
    assert host.http().delete(address).status_code == 204
    assert host.http().get(address).status_code == 404
    assert search(host, kb_id, "tide") == []
    base = host.http().get(f"/knowledge-bases/{kb_id}").json()
    assert (base["files"], base["chunks"], base["bytes"]) == (0, 0, 0)


def test_text_and_questions_are_taken_up(host: Host) -> None:
    kb_id = new_base(host)
    table = "question,answer\nWhen does the pool close?,In August.\nWho lends skates?,The rink.\n"
    body = {"text": table, "name": "faq.csv", "chunker": "qa", "metadata": {"team": "sports"}}
    made = host.http().post(f"/knowledge-bases/{kb_id}/files", json=body)
    assert made.status_code == 201, made.text
    assert finished(host, kb_id, made.json()["file_id"])["chunks"] == 2
    found = search(host, kb_id, "Who lends skates?", filters={"team": {"$in": ["sports"]}})
    assert found[0]["text"] == "Who lends skates?\nThe rink."
    assert search(host, kb_id, "Who lends skates?", filters={"team": "music"}) == []


def test_what_cannot_be_read_is_refused_or_fails_with_a_code(host: Host) -> None:
    kb_id = new_base(host)
    picture = {"file": ("a.png", b"\x89PNG\r\n\x1a\n" + bytes(100))}
    refused = host.http().post(f"/knowledge-bases/{kb_id}/files", files=picture)
    assert (refused.status_code, error_code(refused)) == (415, "file.type")
    damaged = upload(host, kb_id, "broken.pdf", b"%PDF-1.7\nthis is no document")
    file = finished(host, kb_id, damaged["file_id"])
    assert (file["status"], file["error"]["code"]) == ("failed", "parse.failed")
    assert host.http().post(f"/knowledge-bases/{kb_id}/search", json={"query": " "}).status_code == 422


def test_a_passage_can_be_changed_added_and_switched_off(host: Host) -> None:
    kb_id = new_base(host)
    file = finished(host, kb_id, upload(host, kb_id, "note.txt", b"The harbour master sits in Dock Street.")["file_id"])
    chunks = f"/knowledge-bases/{kb_id}/files/{file['file_id']}/chunks"
    [chunk] = host.items(chunks)
    changed = host.http().patch(f"{chunks}/{chunk['chunk_id']}", json={"text": "The harbour master sits at Pier Nine."})
    assert (changed.status_code, changed.json()["origin"]) == (200, "edited")
    assert "Pier Nine" in search(host, kb_id, "harbour master", mode="full_text")[0]["text"]
    added = host.http().post(chunks, json={"text": "Lost umbrellas are kept by the purser."})
    assert added.status_code == 201, added.text
    assert "purser" in search(host, kb_id, "lost umbrellas", mode="full_text")[0]["text"]
    off = host.http().patch(f"{chunks}/{chunk['chunk_id']}", json={"enabled": False})
    assert off.json()["enabled"] is False
    assert search(host, kb_id, "harbour master", mode="full_text") == []


def test_a_base_in_use_is_not_deleted(host: Host) -> None:
    kb_id = new_base(host)
    agent = host.agent(name="reader", resource_policy={"knowledge_bases": [kb_id]})
    refused = host.http().delete(f"/knowledge-bases/{kb_id}")
    assert (refused.status_code, error_code(refused)) == (409, "in_use")
    assert refused.json()["error"]["details"] == {"agents": ["reader"]}
    assert host.http().get(f"/knowledge-bases/{kb_id}").json()["used_by"] == ["reader"]
    host.http().delete(f"/agents/{agent}")
    assert host.http().delete(f"/knowledge-bases/{kb_id}").status_code == 204
    assert host.http().get(f"/knowledge-bases/{kb_id}").status_code == 404


def test_settings_are_tried_before_they_are_saved(host: Host, kb_id: str, handbook: Json) -> None:
    query = "expense claim of a zebra"
    tried = {"query": query, "explain": True, "settings": {"mode": "full_text", "min_score": 0.99}}
    answer = host.http().post(f"/knowledge-bases/{kb_id}/search", json=tried).json()
    assert (answer["items"], answer["notes"]) == ([], ["nothing_fits"])
    explained = host.http().post(f"/knowledge-bases/{kb_id}/search", json={"query": query, "explain": True}).json()
    assert set(explained["items"][0]["parts"]) == {"vector", "words", "similarity"}
    assert explained["timings"].keys() >= {"candidates", "fuse"}


def test_all_vectors_are_made_anew_while_the_base_is_searched(host: Host) -> None:
    kb_id = new_base(host)
    finished(host, kb_id, upload(host, kb_id, "tides.txt", b"High tide is at noon.")["file_id"])
    assert host.http().post(f"/knowledge-bases/{kb_id}/reembed").status_code == 202
    eventually(
        lambda: host.http().get(f"/knowledge-bases/{kb_id}").json()["status"] == "ready", "the vectors are complete"
    )
    assert search(host, kb_id, "tide", mode="vector")


def stages(host: Host) -> dict[str, float]:
    """Returns how often each stage was measured, by stage and outcome."""
    text = host.http(host.key("viewer")).get(f"{host.address}/metrics").text
    samples = (sample for family in text_string_to_metric_families(text) for sample in family.samples)
    counted = [sample for sample in samples if sample.name == "parlour_knowledge_stage_seconds_count"]
    return {f"{each.labels['stage']} {each.labels['outcome']}": each.value for each in counted}


def test_stages_of_files_and_searches_are_measured(host: Host) -> None:
    before = stages(host)
    kb_id = new_base(host)
    finished(host, kb_id, upload(host, kb_id, "handbook.md", HANDBOOK.encode())["file_id"])
    finished(host, kb_id, upload(host, kb_id, "damaged.pdf", b"%PDF-1.7 but nothing else")["file_id"])
    search(host, kb_id, "annual leave")

    after = stages(host)

    gained = {name: after[name] - before.get(name, 0) for name in after}
    once = ("parse done", "chunk done", "embed_query done", "search done", "parse failed")
    assert {name: gained[name] for name in once} == dict.fromkeys(once, 1)
    assert gained["embed done"] >= 1
    jobs = host.http(host.key("viewer")).get(f"{host.address}/metrics").text
    assert 'parlour_knowledge_jobs_total{task="ingest",outcome="failed"}' in jobs
