"""Tests what `parlour doctor` says about a Host that shares its database with others."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from aiohttp import web

from parlour.app.cluster.requirements import require_same_key
from parlour.app.data_directory import DataDirectory
from parlour.app.secret_key import FileSecretBox
from parlour.app.settings import HostSettings
from parlour.core.cluster.leases import HostFacts
from parlour.core.model.ids import HostId
from parlour.operations.doctor import cluster
from parlour.stores.postgres import PostgresJournal, migrate
from parlour.stores.postgres.leases import PostgresHostLeases
from parlour.testing.postgres_server import PostgresServer

S3 = {"endpoint": "http://127.0.0.1:9", "bucket": "b", "access_key": "k", "secret_key": "s"}


@pytest.fixture(scope="module")
def server() -> Iterator[PostgresServer]:
    with PostgresServer() as server:
        yield server


@pytest.fixture(scope="module")
def url(server: PostgresServer) -> str:
    address = server.url(server.create())
    asyncio.run(migrate.ensure(address))
    return address


def settings_for(folder: Path, url: str, **cluster_settings: str) -> HostSettings:
    return HostSettings.model_validate(
        {
            "data": folder,
            "database": {"url": url},
            "artifacts": {"store": "s3", "s3": S3},
            "cluster": {"enabled": True, **cluster_settings},
        }
    )


@asynccontextmanager
async def answering_host() -> AsyncIterator[str]:
    """Yields the address of a program that answers as a Host does."""

    async def healthz(_: web.Request) -> web.Response:
        return web.json_response({"status": "ok"})

    app = web.Application()
    app.router.add_get("/healthz", healthz)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    try:
        yield site.name
    finally:
        await runner.cleanup()


async def said(settings: HostSettings) -> list[tuple[str, str]]:
    """Returns the state and the sentence of each finding."""
    return [(finding.state, finding.sentence) async for finding in cluster.check(settings)]


async def test_ways_to_the_other_hosts_are_tried(url: str, tmp_path: Path) -> None:
    settings, leases = settings_for(tmp_path, url), PostgresHostLeases(url)
    async with answering_host() as address:
        for name, at in (("near", address), ("far", "http://127.0.0.1:9"), ("silent", "")):
            await leases.join(HostFacts(HostId(name), name, "1", at))
        found = await said(settings)
    await leases.close()
    assert ("ok", f"the Host 'near' answers at {address}") in found
    warned = [sentence for state, sentence in found if state == "warning"]
    assert [any(part in each for each in warned) for part in ("'far' can't be reached", "'silent' has no address")] == [
        True,
        True,
    ]
    assert any("cluster.address is empty" in each for each in warned)


async def test_a_key_that_is_not_the_one_of_the_cluster_is_a_problem(url: str, tmp_path: Path) -> None:
    settings = settings_for(tmp_path, url)
    key_file = FileSecretBox(DataDirectory(settings.data).secret_key)
    key_file.seal("anything")
    async with PostgresJournal(url) as journal:
        await require_same_key(journal, key_file)
    assert ("ok", "secret.key is the key of the other Hosts") in await said(settings)

    stranger = settings_for(tmp_path / "stranger", url)
    DataDirectory(stranger.data).create()
    assert ("problem", "secret.key is not the key of the other Hosts: this Host does not start") in await said(stranger)


async def test_a_host_that_would_not_start_is_a_problem_and_one_alone_is_not_asked(tmp_path: Path) -> None:
    [(state, sentence)] = await said(settings_for(tmp_path, ""))
    assert (state, "needs database.url" in sentence) == ("problem", True)
    assert await said(HostSettings(data=tmp_path)) == []
