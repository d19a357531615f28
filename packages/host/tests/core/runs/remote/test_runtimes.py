"""Remote runtimes: who registers them, how long they count as there, and what is written down about it."""

import asyncio

from parlour.core.store.tables import AUDIT, RUNTIMES

from ...support import settle, until
from .workshop import FORGE, OTHER, ask, claim, heartbeats, queued, refusal, register, workshop


async def test_a_runtime_is_listed_as_it_registered() -> None:
    world = await workshop()
    told = await register(
        world,
        labels=["gpu"],
        runners=["plugin:acme/puppet/default"],
        slots=2,
        versions={"python": "3.12"},
        providers=[{"provider": "claude-code", "logged_in": True}],
        workspaces=["/repository"],
    )
    assert told["status"] == "active"
    assert told["expires_at"] - told["registered_at"] == 30_000
    assert (await ask(world, FORGE, "runtime_list"))["items"] == [told]
    assert told["providers"] == [{"provider": "claude-code", "logged_in": True, "detail": None}]


async def test_a_runtime_that_is_heard_of_stays_and_one_that_is_not_is_gone() -> None:
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


async def test_a_runtime_belongs_to_the_plugin_that_registered_it() -> None:
    world = await workshop()
    await register(world)
    assert (await refusal(world, OTHER, "runtime_register", runtime_id="anvil")).code == "denied"
    for action in ("runtime_heartbeat", "runtime_deregister", "run_claim"):
        assert (await refusal(world, OTHER, action, runtime_id="anvil")).code == "not_found"
    await ask(world, FORGE, "runtime_deregister", runtime_id="anvil")
    assert (await register(world, plugin=OTHER))["status"] == "active"


async def test_a_runtime_that_registers_anew_takes_the_place_of_its_earlier_process() -> None:
    world = await workshop()
    await register(world)
    earlier = asyncio.create_task(claim(world, wait=60))
    await settle()
    await register(world)
    assert await earlier is None
    run_id = await queued(world)
    held = await claim(world, wait=10)
    assert held is not None
    assert held.run_id == run_id


async def test_a_waiting_claimer_is_sent_away_when_its_runtime_goes() -> None:
    world = await workshop()
    await register(world)
    waiting = asyncio.create_task(claim(world, wait=60))
    await settle()
    await ask(world, FORGE, "runtime_deregister", runtime_id="anvil")
    assert await waiting is None


async def test_silence_is_noticed_as_soon_as_the_database_is_there_again() -> None:
    world = await workshop()
    await register(world)
    world.journal.broken["runtime.expire"] = 3
    await until(lambda: world.rows(RUNTIMES, status="gone") != [], 60)
