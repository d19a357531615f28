"""Tests web pages of a base: fetched, guarded against private addresses, and fetched again after some days."""

import sqlite3
from contextlib import closing
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pytest

from tests.integration.conftest import MakeHost
from tests.support.harness import Host, Json, error_code, eventually

from .test_bases import finished, new_base, search


class Page:
    """A web page on this machine."""

    def __init__(self) -> None:
        self.text = "High tide is at noon."
        self.status = 200
        self.requests = 0
        page = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:  # the name that the library calls
                page.requests += 1
                content = f"<html><body><h1>Tides</h1><p>{page.text}</p></body></html>".encode()
                self.send_response(page.status)
                self.send_header("Content-Type", "text/html; charset=utf-8")
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, format: str, *values: object) -> None:
                """Writes nothing."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self.server.server_address[1]}/tides"


@pytest.fixture
def page() -> Page:
    page = Page()
    thread = Thread(target=page.server.serve_forever, daemon=True)
    thread.start()
    return page


def add_page(host: Host, kb_id: str, url: str, **fields: object) -> Json:
    made = host.http().post(f"/knowledge-bases/{kb_id}/files", json={"url": url, **fields})
    assert made.status_code == 201, made.text
    return dict(made.json())


def let_days_pass(host: Host) -> None:
    """Makes all pages due, as the clock would."""
    host.stop()
    with closing(sqlite3.connect(host.data / "parlour.db")) as database, database:
        changed = database.execute("UPDATE jobs SET not_before = 1 WHERE order_key LIKE 'refresh:%'").rowcount
    assert changed == 1, "there is one job for the page"
    host.start()


@pytest.mark.long
def test_a_page_is_fetched_again_and_only_taken_up_if_it_has_changed(make_host: MakeHost, page: Page) -> None:
    host = make_host(PARLOUR__TOOLS__ALLOWED_ADDRESSES="127.0.0.1/32").start()
    kb_id = new_base(host)
    file = finished(host, kb_id, add_page(host, kb_id, page.address, refresh_days=7)["file_id"])
    assert (file["status"], file["refresh_days"], page.requests) == ("completed", 7, 1)
    [chunk] = host.items(f"/knowledge-bases/{kb_id}/files/{file['file_id']}/chunks")

    let_days_pass(host)
    eventually(lambda: page.requests == 2, "the page is fetched again")
    again = finished(host, kb_id, file["file_id"])
    [same] = host.items(f"/knowledge-bases/{kb_id}/files/{file['file_id']}/chunks")
    assert (again["status"], same["chunk_id"]) == ("completed", chunk["chunk_id"])

    page.text = "High tide is at six."
    let_days_pass(host)
    eventually(lambda: "six" in str(search(host, kb_id, "high tide")), "the page is found as it is now")
    [new] = host.items(f"/knowledge-bases/{kb_id}/files/{file['file_id']}/chunks")
    assert new["chunk_id"] != chunk["chunk_id"]

    page.status = 404
    let_days_pass(host)
    eventually(lambda: page.requests == 4, "the page is fetched again")
    gone = finished(host, kb_id, file["file_id"])
    assert (gone["status"], gone["error"]["code"]) == ("failed", "page.unreachable")
    assert "six" in str(search(host, kb_id, "high tide"))
    page.status = 200
    let_days_pass(host)
    eventually(lambda: finished(host, kb_id, file["file_id"])["status"] == "completed", "the page is back")


def test_private_addresses_and_days_for_other_files_are_refused(host: Host, page: Page) -> None:
    kb_id = new_base(host)
    file = finished(host, kb_id, add_page(host, kb_id, page.address)["file_id"])
    assert (file["status"], file["error"]["code"], page.requests) == ("failed", "page.unreachable", 0)
    body = {"text": "High tide.", "name": "tides.txt", "refresh_days": 3}
    refused = host.http().post(f"/knowledge-bases/{kb_id}/files", json=body)
    assert (refused.status_code, error_code(refused)) == (422, "invalid_argument")
