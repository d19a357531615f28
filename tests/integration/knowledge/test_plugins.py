"""Tests that knowledge engines and parsers of plugins are really called, with large files, refusals and crashes."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing

import pytest

from tests.support.harness import Host, Json, error_code, eventually

from .plugin_files import write_engine, write_parser
from .test_bases import finished, new_base, search, upload

FILM = "1\n00:00:01,000 --> 00:00:02,500\nGood\nmorning.\n\n2\n00:01:00,000 --> 00:01:02,000\nThe tide is high.\n"
SHELF = "test/shelf-text"
PARSER = "test/subtitles.subtitles"


@pytest.fixture(scope="module")
def plugin_host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Host]:
    folder = tmp_path_factory.mktemp("plugins")
    settings = {"PARLOUR__PLUGINS__LONGEST_RESTART_SECONDS": 1, "PARLOUR__PLUGINS__GIVE_UP_AFTER": 100}
    host = Host(tmp_path_factory.mktemp("knowledge plugins"), **settings)
    for takes in ("text", "content"):
        host.install(write_engine(folder / takes, takes), "--grant", "storage")
    host.install(write_parser(folder / "parser"))
    host.start()
    yield host
    host.close()


def shelf_base(host: Host, takes: str = "text", **config: str) -> str:
    return new_base(host, engine=f"test/shelf-{takes}", engine_config={"shelf": "left", **config})


def stored(host: Host, kb_id: str) -> int:
    """Returns the number of files that the engine has of a base."""
    with closing(sqlite3.connect(host.data / "parlour.db")) as database:
        [[count]] = database.execute("SELECT count(*) FROM storage WHERE name LIKE ?", [f"{kb_id}/%"])
    return int(count)


def problem_of(host: Host, kb_id: str) -> str | None:
    base: Json = host.http().get(f"/knowledge-bases/{kb_id}").json()
    return None if base["problem"] is None else str(base["problem"])


def test_engines_and_parsers_are_listed_with_their_forms(plugin_host: Host) -> None:
    engines = {each["engine"]: each for each in plugin_host.http().get("/knowledge-engines").json()["items"]}
    assert engines[SHELF]["files"] == "text"
    assert [item["name"] for item in engines[SHELF]["config_schema"]] == ["shelf", "key"]
    assert [item["name"] for item in engines[SHELF]["retrieval_schema"]] == ["shout"]
    [parser] = plugin_host.http().get("/knowledge-parsers").json()["items"]
    assert (parser["parser"], parser["extensions"]) == (PARSER, [".srt"])


def test_an_engine_keeps_finds_and_deletes_a_file(plugin_host: Host) -> None:
    kb_id = shelf_base(plugin_host, key="s3cret")
    text = b"# Tides\n\nHigh tide is at noon.\n\n# Ropes\n\nRopes are dry."
    file = finished(plugin_host, kb_id, upload(plugin_host, kb_id, "tides.md", text)["file_id"])
    assert (file["status"], file["chunks"], file["error"]) == ("completed", 2, None)
    found = search(plugin_host, kb_id, "high tide", explain=True)
    assert "High tide is at noon." in found[0]["text"]
    assert (found[0]["file_id"], found[0]["parts"]) == (file["file_id"], {"engine": 1.0})
    assert found[0]["metadata"]["key"] == "s3cret"
    assert "s3cret" not in plugin_host.http().get(f"/knowledge-bases/{kb_id}").text
    shouted = search(plugin_host, kb_id, "high tide", settings={"shout": True})
    assert "HIGH TIDE IS AT NOON." in shouted[0]["text"]
    deleted = plugin_host.http().delete(f"/knowledge-bases/{kb_id}/files/{file['file_id']}")
    assert deleted.status_code == 204
    eventually(lambda: search(plugin_host, kb_id, "high tide") == [], "the engine has deleted the file")


def test_a_deleted_base_is_deleted_in_its_engine(plugin_host: Host) -> None:
    kb_id = shelf_base(plugin_host)
    finished(plugin_host, kb_id, upload(plugin_host, kb_id, "a.txt", b"High tide is at noon.")["file_id"])
    assert stored(plugin_host, kb_id) == 1
    assert plugin_host.http().delete(f"/knowledge-bases/{kb_id}").status_code == 204
    eventually(lambda: stored(plugin_host, kb_id) == 0, "the engine has deleted the base")


def test_a_large_file_is_read_in_pieces_and_parsed_for_the_engine(plugin_host: Host) -> None:
    kb_id = shelf_base(plugin_host, "content")
    text = "# Tides\n\n" + "\n\n".join(f"Paragraph {number} about pier {number}. " * 15 for number in range(1500))
    file = finished(plugin_host, kb_id, upload(plugin_host, kb_id, "large.md", text.encode())["file_id"])
    assert file["status"] == "completed", file
    found = search(plugin_host, kb_id, "pier 77.")
    assert found[0]["metadata"]["length"] == len(text.encode()) > 512 * 1024


def test_a_refusal_and_a_crash_of_an_engine_end_in_a_code(plugin_host: Host) -> None:
    kb_id = shelf_base(plugin_host)
    refused = finished(plugin_host, kb_id, upload(plugin_host, kb_id, "r.txt", b"refuse this")["file_id"])
    assert (refused["status"], refused["error"]["code"]) == ("failed", "engine.refused")
    assert "with 'r.txt', failed with ValueError" in refused["error"]["message"]
    crashed = upload(plugin_host, kb_id, "c.txt", b"crash now")

    def is_noted() -> bool:
        job = plugin_host.http().get(f"/jobs/{crashed['job_id']}").json()
        return job["attempts"] >= 1 and "stopped during the call" in str(job)

    eventually(is_noted, "the crash is noted")
    plugin_host.http().delete(f"/knowledge-bases/{kb_id}/files/{crashed['file_id']}")


def test_a_parser_is_chosen_at_the_upload(plugin_host: Host) -> None:
    kb_id = new_base(plugin_host)
    address, form = f"/knowledge-bases/{kb_id}/files", {"file": ("film.srt", FILM.encode())}
    chosen = plugin_host.http().post(address, files=form, data={"parser": PARSER})
    assert chosen.status_code == 201, chosen.text
    read = finished(plugin_host, kb_id, chosen.json()["file_id"])
    assert (read["status"], read["parser"], read["chunks"]) == ("completed", PARSER, 2)
    best = search(plugin_host, kb_id, "the tide is high")[0]
    assert (best["text"], best["heading"], best["page"]) == ("The tide is high.", "00:01:00", 2)
    unknown = plugin_host.http().post(address, files=form, data={"parser": "test/none.x"})
    assert (unknown.status_code, error_code(unknown)) == (422, "invalid_argument")


def test_a_base_assigns_parsers_to_formats_and_large_files_reach_them(plugin_host: Host) -> None:
    kb_id = new_base(plugin_host, settings={"parsers": {".srt": PARSER}})
    lines = (f"{number}\n00:00:01,000 --> 00:00:02,000\n{'word ' * 200}{number}.\n" for number in range(1, 600))
    film = "\n".join(lines)
    assert len(film) > 512 * 1024
    file = finished(plugin_host, kb_id, upload(plugin_host, kb_id, "film.srt", film.encode())["file_id"])
    assert (file["status"], file["parser"], file["pages"]) == ("completed", PARSER, 599), file


def test_without_its_plugin_a_base_says_what_is_missing(plugin_host: Host) -> None:
    kb_id = shelf_base(plugin_host, "content")
    disabled = plugin_host.http().put("/plugins/test/shelf-content", json={"enabled": False})
    assert disabled.status_code == 200, disabled.text
    eventually(lambda: problem_of(plugin_host, kb_id) is not None, "the base is unavailable")
    answer = plugin_host.http().post(f"/knowledge-bases/{kb_id}/search", json={"query": "tide"})
    assert (answer.status_code, error_code(answer)) == (503, "engine.unavailable")
    plugin_host.http().put("/plugins/test/shelf-content", json={"enabled": True})
    eventually(lambda: problem_of(plugin_host, kb_id) is None, "the engine is back")
