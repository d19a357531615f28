"""The endpoints of Hosts and parts: what they show, and what draining and moving change."""

from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest

from parlour.core.access.browser_sessions import BrowserSessions
from parlour.core.access.keys import ApiKeys
from parlour.core.cluster.balance import Members, plan_moves
from parlour.core.cluster.leases import LEASE_SECONDS, HostFacts
from parlour.core.cluster.owner_rows import NO_HOST, all_parts
from parlour.core.journal import Insert, Select, Unit
from parlour.core.model.ids import HostId, PartId
from parlour.core.redaction import Redactor
from parlour.core.store.tables import AUDIT, OWNERS
from parlour.core.system import SystemClock, SystemIds
from parlour.http.allowed_hosts import AllowedHosts
from parlour.http.api_router import API_PREFIX
from parlour.http.cluster import endpoints
from parlour.http.cluster.endpoints import CLOCK_TOLERANCE_MILLISECONDS
from parlour.http.errors import ErrorResponses
from parlour.http.fastapi_app import create_app
from parlour.http.principals import Authenticator
from parlour.testing.memory_journal import MemoryDatabase, MemoryJournal
from parlour.testing.memory_leases import MemoryHostLeases

OWN, OTHER = HostId("own"), HostId("other")
BOT, FREE = PartId("bot:b1"), PartId("bot:b2")


class SharedDatabase:
    """A database with two Hosts, on a clock that the test sets, and clients of the first one."""

    def __init__(self) -> None:
        self.now = SystemClock().now()
        database = MemoryDatabase()
        self.journal = MemoryJournal(database)
        self.leases = MemoryHostLeases(database, lambda: self.now)
        self.clients: dict[str, httpx.AsyncClient] = {}

    async def fill(self) -> None:
        await self.leases.join(HostFacts(OWN, "first", "1.0", "http://first:5300"))
        await self.leases.join(HostFacts(OTHER, "second", "1.1", ""))
        rows = [
            {"part": part, "host_id": host, "wanted": "", "epoch": 3} for part, host in ((BOT, OWN), (FREE, NO_HOST))
        ]
        await self.journal.commit(Unit("test.own", tuple(Insert(OWNERS, {**row, "moved_at": 0}) for row in rows)))

    def add_client(self, scope: str, secret: str, host_id: HostId) -> None:
        keys = ApiKeys(self.journal, SystemIds(), SystemClock())
        access = Authenticator(keys, BrowserSessions(self.journal, SystemClock()), AllowedHosts("127.0.0.1", ()))
        routers = [endpoints.router(self.journal, host_id, SystemClock())]
        app = create_app("0", access, ErrorResponses(Redactor()), 4096, 4096, routers)
        headers = {"Authorization": f"Bearer {secret}"}
        base = f"http://host{API_PREFIX}"
        self.clients[scope] = httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url=base, headers=headers)

    async def hosts(self) -> dict[str, dict[str, Any]]:
        answer = await self.clients["viewer"].get("/hosts")
        assert answer.status_code == 200, answer.text
        return {each["host_id"]: each for each in answer.json()["items"]}

    async def audited(self) -> list[tuple[str, str]]:
        """Returns the recorded changes of Hosts and parts, in order."""
        rows = await self.journal.read(Select(AUDIT, order=("seq",)))
        return [(row["action"], row["resource"]) for row in rows if not row["action"].startswith("key.")]

    async def change(self, path: str, status: int = 202, client: str = "admin", **body: str) -> dict[str, Any]:
        answer = await self.clients[client].post(path, json=body)
        assert answer.status_code == status, answer.text
        return dict(answer.json())


@pytest.fixture
async def shared() -> AsyncIterator[SharedDatabase]:
    shared = SharedDatabase()
    await shared.fill()
    keys = ApiKeys(shared.journal, SystemIds(), SystemClock())
    for scope in ("viewer", "admin"):
        shared.add_client(scope, (await keys.create(scope, scope))[0], OWN)
    yield shared
    for client in shared.clients.values():
        await client.aclose()


async def test_hosts_are_listed_with_their_parts_and_how_they_are_doing(shared: SharedDatabase) -> None:
    hosts = await shared.hosts()
    assert (hosts[OWN]["name"], hosts[OWN]["parts"], hosts[OWN]["answers_this"]) == ("first", [BOT], True)
    assert (hosts[OWN]["health"], hosts[OTHER]["health"]) == ("healthy", "unreachable")
    assert (hosts[OTHER]["address"], hosts[OTHER]["answers_this"]) == (None, False)

    await shared.leases.leave(OTHER)
    hosts = await shared.hosts()
    assert (hosts[OTHER]["state"], hosts[OTHER]["health"], hosts[OTHER]["lease_until"]) == ("fenced", "ended", None)


async def test_a_host_that_does_not_renew_its_lease_is_late(shared: SharedDatabase) -> None:
    shared.now -= round(LEASE_SECONDS * 1000) + CLOCK_TOLERANCE_MILLISECONDS + 1000
    await shared.leases.renew(OTHER)
    hosts = await shared.hosts()
    assert (hosts[OWN]["health"], hosts[OTHER]["health"]) == ("healthy", "late")


async def test_a_drained_host_gives_its_parts_away_until_it_is_resumed(shared: SharedDatabase) -> None:
    drained = await shared.change(f"/hosts/{OWN}/drain")
    assert (drained["state"], drained["health"]) == ("draining", "draining")
    await shared.change(f"/hosts/{OTHER}/drain")
    assert (await shared.hosts())[OTHER]["health"] == "drained"
    resumed = await shared.change(f"/hosts/{OWN}/resume")
    assert (resumed["state"], resumed["health"]) == ("live", "healthy")
    assert await shared.audited() == [("host.drain", OWN), ("host.drain", OTHER), ("host.resume", OWN)]


async def test_a_moved_part_is_given_to_the_named_host(shared: SharedDatabase) -> None:
    moved = await shared.change(f"/parts/{BOT}/move", host_id=OTHER)
    assert (moved["host_id"], moved["wanted_by"], moved["epoch"]) == (OWN, OTHER, 3)
    listed = (await shared.clients["viewer"].get("/parts")).json()["items"]
    assert [(each["part"], each["wanted_by"]) for each in listed] == [(BOT, OTHER), (FREE, None)]
    moves = plan_moves(await all_parts(shared.journal), Members(OWN, [OWN, OTHER]), shared.now)
    assert [each.part for each in moves.release] == [BOT]


async def test_moves_to_a_host_that_is_gone_or_drained_and_of_unknown_parts_are_refused(shared: SharedDatabase) -> None:
    await shared.change("/parts/bot:unknown/move", 404, host_id=OTHER)
    await shared.change(f"/parts/{BOT}/move", 404, host_id="unknown")
    await shared.change(f"/hosts/{OTHER}/drain")
    assert (await shared.change(f"/parts/{BOT}/move", 409, host_id=OTHER))["error"]["code"] == "conflict"
    await shared.leases.leave(OTHER)
    await shared.change(f"/hosts/{OTHER}/drain", 404)


async def test_only_an_admin_drains_and_moves(shared: SharedDatabase) -> None:
    await shared.change(f"/hosts/{OWN}/drain", 403, "viewer")
    await shared.change(f"/hosts/{OWN}/resume", 403, "viewer")
    await shared.change(f"/parts/{BOT}/move", 403, "viewer", host_id=OTHER)
    assert await shared.audited() == []


async def test_a_host_with_its_database_to_itself_lists_nothing(shared: SharedDatabase) -> None:
    keys = ApiKeys(shared.journal, SystemIds(), SystemClock())
    shared.add_client("single", (await keys.create("single", "viewer"))[0], NO_HOST)
    for path in ("/hosts", "/parts"):
        assert (await shared.clients["single"].get(path)).json() == {"items": [], "next_cursor": None}
