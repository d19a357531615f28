"""S3-compatible storage passes the contract suite of object stores; its failures are retried or reported."""

import asyncio
import os
import re
import uuid
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import httpx
import pytest

from parlour.core.journal import StorageFailed
from parlour.core.store.objects import ObjectStore
from parlour.stores.objects import s3_client
from parlour.stores.objects.factory import open_object_store
from parlour.stores.objects.signature import S3Account
from parlour.testing.objects_contract import HELLO, ObjectStoreContract, content, names, put
from parlour.testing.s3_server import S3Server


@pytest.fixture(scope="session")
def server() -> Iterator[S3Server]:
    with S3Server() as server:
        yield server


@pytest.fixture
def account(server: S3Server) -> S3Account:
    """A prefix of the bucket for one test."""
    return server.account(f"test of {uuid.uuid4()}/é+/")


@pytest.fixture
def upload_folder(tmp_path: Path) -> Path:
    return tmp_path / "a b"


@pytest.fixture
def short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(s3_client, "FIRST_PAUSE_SECONDS", 0.001)


class TestS3Objects(ObjectStoreContract):
    @pytest.fixture
    async def objects(self, account: S3Account, upload_folder: Path) -> AsyncIterator[ObjectStore]:
        async with open_object_store(upload_folder, account) as objects:
            yield objects


async def failure(account: S3Account, upload_folder: Path) -> StorageFailed:
    async with open_object_store(upload_folder, account) as objects:
        with pytest.raises(StorageFailed) as failed:
            await put(objects, b"hello")
        assert files(upload_folder) == []
        return failed.value


def files(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]


async def test_a_wrong_secret_is_refused_with_the_setting_to_check(server: S3Server, upload_folder: Path) -> None:
    failed = await failure(server.account(secret_key="wrong"), upload_folder)
    assert (failed.code, "artifacts.s3.access_key" in failed.message) == ("storage_failed", True)
    assert "wrong" not in failed.message


async def test_a_missing_bucket_is_reported(server: S3Server, upload_folder: Path) -> None:
    failed = await failure(server.account(bucket="nowhere"), upload_folder)
    assert "artifacts.s3.bucket" in failed.message


@pytest.mark.usefixtures("short_pauses")
async def test_an_unreachable_server_is_reported_after_bounded_retries(server: S3Server, upload_folder: Path) -> None:
    account = S3Account("http://127.0.0.1:1", "bucket", "key", "secret")
    async with asyncio.timeout(10):
        failed = await failure(account, upload_folder)
    assert "can't be reached" in failed.message


async def test_more_than_one_page_is_listed(
    account: S3Account, upload_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with open_object_store(upload_folder, account) as objects:
        stored = {(await put(objects, b"%d" % number)).sha256 for number in range(5)}
        ask = s3_client.query
        monkeypatch.setattr(
            s3_client,
            "query",
            lambda parameters: ask({**parameters, "max-keys": "2"} if "list-type" in parameters else parameters),
        )
        assert set(await names(objects)) == stored


async def test_two_hosts_see_the_same_objects(account: S3Account, tmp_path: Path) -> None:
    async with open_object_store(tmp_path / "one", account) as one, open_object_store(tmp_path / "two", account) as two:
        await put(one, b"hello")
        assert await content(two, HELLO) == b"hello"


async def test_unfinished_uploads_of_a_dead_process_are_deleted(account: S3Account, upload_folder: Path) -> None:
    (upload_folder / "sending").mkdir(parents=True)
    (upload_folder / "sending" / "rest").write_bytes(b"half")
    async with open_object_store(upload_folder, account):
        assert files(upload_folder) == []


@asynccontextmanager
async def failing_proxy(server: S3Server, answers: list[bytes]) -> AsyncIterator[str]:
    """Serves a proxy that gives these answers first (an empty one closes the connection), then those of the server."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        if answers:
            writer.write(answers.pop(0))
        else:
            await relay(head, reader, writer)
        writer.close()

    async def relay(head: bytes, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        url = httpx.URL(server.endpoint)
        upstream, to = await asyncio.open_connection(url.host, url.port)
        to.write(head.replace(b"keep-alive", b"close"))
        length = re.search(rb"content-length: *(\d+)", head, re.I)
        to.write(await reader.readexactly(int(length[1]) if length else 0))
        writer.write(await upstream.read())
        to.close()

    listening = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with listening:
        yield f"127.0.0.1:{listening.sockets[0].getsockname()[1]}"


BUSY = b"HTTP/1.1 503 Slow Down\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"


@pytest.mark.usefixtures("short_pauses")
@pytest.mark.parametrize(
    ("answers", "succeeds"), [([BUSY, b"", BUSY], True), ([BUSY] * 4, False)], ids=["soon", "never"]
)
async def test_a_busy_server_is_retried(
    server: S3Server, account: S3Account, upload_folder: Path, answers: list[bytes], succeeds: bool
) -> None:
    async with failing_proxy(server, list(answers)) as address:
        proxied = replace(account, endpoint=f"http://{address}")
        if not succeeds:
            assert "503" in (await failure(proxied, upload_folder)).message
            return
        async with open_object_store(upload_folder, proxied) as objects:
            whole = os.urandom(700_000)
            stored = await put(objects, whole)
            assert await content(objects, stored.sha256) == whole
