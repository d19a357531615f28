"""Remote workers: registration, heartbeats and their audit entries."""

import asyncio

from parlour.core.journal import Unit
from parlour.core.model.ids import PluginId, RuntimeId
from parlour.core.store import remote_workers
from parlour.core.store.remote_workers import ACTIVE, RemoteWorker
from parlour.core.store.tables import AUDIT, RUNTIMES

from ..support import settle, until
from .worker_support import FORGE, OTHER, ask, claim, heartbeats, queue_run, refusal, register, workshop


async def test_worker_is_listed_as_registered() -> None:
    world = await workshop()
    registered = await register(
        world,
        labels=["gpu"],
        runners=["plugin:acme/puppet/default"],
        slots=2,
        versions={"python": "3.12"},
        providers=[{"provider": "claude-code", "logged_in": True}],
        workspaces=["/repository"],
    )
    assert registered["status"] == "active"
    assert registered["expires_at"] - registered["registered_at"] == 30_000
    assert (await ask(world, FORGE, "runtime_list"))["items"] == [registered]
    assert registered["providers"] == [{"provider": "claude-code", "logged_in": True, "detail": None}]


async def test_worker_without_heartbeats_is_gone() -> None:
    world = await workshop()
    await register(world, "alive")
    await register(world, "silent")
    beats = asyncio.create_task(heartbeats(world, "alive"))
    await asyncio.sleep(100)
    beats.cancel()
    runtimes = {each["runtime_id"]: each["status"] for each in (await ask(world, FORGE, "runtime_list"))["items"]}
    assert runtimes == {"alive": "active", "silent": "gone"}
    gone = world.rows(AUDIT, kind="runtime", outcome="gone")
    assert [(row["resource"], row["created_at"] - world.rows(RUNTIMES)[0]["registered_at"]) for row in gone] == [
        ("silent", 30_000)
    ]
    assert (await refusal(world, FORGE, "runtime_heartbeat", runtime_id="silent")).code == "not_found"
    assert (await register(world, "silent"))["status"] == "active"


async def test_worker_belongs_to_the_plugin_that_registered_it() -> None:
    world = await workshop()
    await register(world)
    assert (await refusal(world, OTHER, "runtime_register", runtime_id="anvil")).code == "denied"
    for action in ("runtime_heartbeat", "runtime_deregister", "run_claim"):
        assert (await refusal(world, OTHER, action, runtime_id="anvil")).code == "not_found"
    await ask(world, FORGE, "runtime_deregister", runtime_id="anvil")
    assert (await register(world, plugin=OTHER))["status"] == "active"


async def test_new_registration_replaces_the_earlier_process() -> None:
    world = await workshop()
    await register(world)
    earlier = asyncio.create_task(claim(world, wait=60))
    await settle()
    await register(world)
    assert await earlier is None
    run_id = await queue_run(world)
    held = await claim(world, wait=10)
    assert held is not None
    assert held.run_id == run_id


async def test_waiting_claim_ends_when_its_worker_deregisters() -> None:
    world = await workshop()
    await register(world)
    waiting = asyncio.create_task(claim(world, wait=60))
    await settle()
    await ask(world, FORGE, "runtime_deregister", runtime_id="anvil")
    assert await waiting is None


async def test_expiry_of_a_worker_is_retried_after_a_failed_commit() -> None:
    world = await workshop()
    await register(world)
    world.journal.broken["runtime.expire"] = 3
    await until(lambda: world.rows(RUNTIMES, status="gone") != [], 60)
    assert world.journal.broken["runtime.expire"] == 0
    assert [row["resource"] for row in world.rows(AUDIT, kind="runtime", outcome="gone")] == ["anvil"]


async def test_a_worker_that_another_host_hears_of_is_not_gone() -> None:
    world = await workshop()
    await register(world)
    [runtime] = await world.core.workers.all()
    await asyncio.sleep(20)
    now = world.clock.now()
    await world.journal.commit(Unit("runtime.heartbeat", (remote_workers.record_seen(runtime, now, now + 30_000),)))
    await asyncio.sleep(20)
    assert world.rows(RUNTIMES)[0]["status"] == "active"
    await asyncio.sleep(25)
    assert world.rows(RUNTIMES)[0]["status"] == "gone"


async def test_a_worker_whose_host_ended_is_watched_by_the_host_that_takes_the_duty() -> None:
    world = await workshop()
    runtime = RemoteWorker(
        RuntimeId("left"), PluginId(FORGE), ACTIVE, {"labels": [], "runners": [], "slots": 1}, 1, 1, 2
    )
    await world.journal.commit(Unit("runtime.register", (remote_workers.insert(runtime),)))
    await asyncio.sleep(40)
    assert world.rows(RUNTIMES)[0]["status"] == "active"
    await world.core.workers.recover()
    await asyncio.sleep(31)
    assert world.rows(RUNTIMES)[0]["status"] == "gone"


async def test_a_worker_that_is_watched_already_gets_no_more_time_from_the_duty() -> None:
    world = await workshop()
    await register(world)
    await asyncio.sleep(20)
    await world.core.workers.recover()
    await asyncio.sleep(11)
    assert world.rows(RUNTIMES)[0]["status"] == "gone"
