"""Checks the invariants of leases under any order of calls, waits and restarts.

A run has at most one holder, only results of its holder count, and each answer is sent once.
"""

import asyncio
from dataclasses import dataclass, field, replace

from hypothesis import given, settings
from hypothesis import strategies as st

from parlour.core.encoding import loads
from parlour.core.errors import CallRejected
from parlour.core.journal import PreparedCallback, Receipt, Select, Unit
from parlour.core.store.ledger import ACTIVE_STATUSES, TRANSITIONS
from parlour.core.store.tables import INBOX, OUTBOX, QUEUE, RUNS

from ..conftest import virtual_loop
from ..support import BreakableJournal, World, settle
from .worker_support import BOARD, Held, ask, claim, granted, queue_run, register, workshop

CLAIMERS = ("anvil", "bellows", "crucible")
STEPS = st.one_of(
    st.just(("queue", 0)),
    st.tuples(st.just("claim"), st.integers(0, 2)),
    *(
        st.tuples(st.just(name), st.integers(0, 5))
        for name in ("renew", "release", "say", "delta", "complete", "fail", "cancel")
    ),
    st.tuples(st.just("wait"), st.sampled_from([1, 9, 20, 31])),
    st.just(("restart", 0)),
)


class WatchedJournal(BreakableJournal):
    """A journal that checks every status transition of a run."""

    async def commit(self, unit: Unit, on_prepared: PreparedCallback | None = None) -> Receipt:
        before = self._statuses()
        receipt = await super().commit(unit, on_prepared)
        for run_id, status in self._statuses().items():
            old = before.get(run_id, status)
            if old != status:
                allowed = TRANSITIONS.get(old, ())
                assert status in allowed, f"{unit.name}: a run went from {old} to {status}"
        return receipt

    def _statuses(self) -> dict[str, str]:
        return {row["run_id"]: row["status"] for row in self.database.read(Select(RUNS))}


@dataclass(slots=True)
class LeaseModel:
    world: World
    held: list[Held] = field(default_factory=list)
    """All claims so far, outdated ones included."""
    accepted_texts: list[str] = field(default_factory=list)
    """Texts that were accepted."""

    def current(self, held: Held) -> bool:
        return any(row["lease"] == held.lease for row in self.world.rows(QUEUE, run_id=held.run_id))

    def ends_now(self, held: Held) -> bool:
        """Returns whether the lease expires right now, so that the next call may be refused."""
        now = self.world.clock.now()
        return any(row["lease_until"] <= now for row in self.world.rows(RUNS, run_id=held.run_id))

    async def step(self, name: str, number: int) -> None:
        match name:
            case "queue":
                await queue_run(self.world)
                await settle()
            case "claim":
                held = await claim(self.world, CLAIMERS[number])
                self.held += [held] if held else []
            case "wait":
                await self._wait(number)
            case "restart":
                self.world = await self.world.restart(plugin_grants=granted)
                self.held = [replace(held, world=self.world) for held in self.held]
                await settle()
            case _:
                if self.held:
                    await self._with(name, self.held[-1 - number % len(self.held)])
        self.check()

    async def _with(self, name: str, held: Held) -> None:
        """Checks that only the current holder of the run is accepted."""
        holds, over = self.current(held), not self.world.rows(QUEUE, run_id=held.run_id)
        ends_now = self.ends_now(held)
        refusal = await self._refusal(name, held)
        await settle()
        if name in ("renew", "cancel"):
            return
        if refusal:
            started = name == "release" and self.world.rows(RUNS, run_id=held.run_id)[0]["status"] == "running"
            assert not holds or started or ends_now, f"{name} was refused to the holder: {refusal}"
        else:
            again = over and name in ("complete", "fail")  # a repetition of its final result
            assert holds or again, f"{name} was accepted from a worker that does not hold the run"

    async def _refusal(self, name: str, held: Held) -> str:
        try:
            await self._do(name, held)
        except CallRejected as refused:
            return refused.message
        return ""

    async def _do(self, name: str, held: Held) -> None:
        text, sequence = f"{held.lease[-4:]}-{len(self.accepted_texts)}", len(self.accepted_texts) + 1000
        match name:
            case "say":
                await held.say(text, sequence=sequence)
                self.accepted_texts.append(text)
            case "delta":
                await held.delta(".", sequence=sequence)
                self.accepted_texts.append("")
            case "complete":
                await held.ask("run_finalize", status="completed")
            case "fail":
                await held.ask("run_finalize", status="failed", error="requested")
            case "cancel":
                await ask(self.world, BOARD, "run_cancel", target_run_id=held.run_id)
            case _:
                await held.ask(f"run_{name}")

    async def _wait(self, seconds: int) -> None:
        """Waits while the workers send heartbeats and renew no lease."""
        for _ in range(seconds):
            await asyncio.sleep(1)
            if int(asyncio.get_running_loop().time()) % 8 == 0:
                for name in CLAIMERS:
                    await register(self.world, name)

    def check(self) -> None:
        waiting = {row["run_id"]: row["lease"] for row in self.world.rows(QUEUE)}
        for row in self.world.rows(RUNS):
            queued_or_held = row["status"] in ("queued", "claimed", "running")
            assert queued_or_held == (row["run_id"] in waiting), row["status"]
            if queued_or_held:
                assert (waiting[row["run_id"]] != "") == (row["status"] != "queued")
        shown = [loads(row["payload"])["message"]["content"] for row in self.world.rows(OUTBOX, kind="message")]
        expected = [text for text in self.accepted_texts if text]
        assert [text for text in shown if text.strip(".")] == expected

    async def finish(self) -> None:
        while active := [row["run_id"] for row in self.world.rows(RUNS) if row["status"] in ACTIVE_STATUSES]:
            for run_id in active:  # a run whose lease expires right now is retried as another
                await ask(self.world, BOARD, "run_cancel", target_run_id=run_id)
            await settle()
        assert self.world.rows(QUEUE) == []
        assert self.world.rows(INBOX) == []


async def scenario(steps: list[tuple[str, int]]) -> None:
    world = await workshop(journal=WatchedJournal())
    for name in CLAIMERS:
        await register(world, name)
    model = LeaseModel(world)
    for name, number in steps:
        await model.step(name, number)
    await model.finish()


@settings(max_examples=150, deadline=None)
@given(st.lists(STEPS, min_size=4, max_size=25).map(lambda steps: [("queue", 0), ("claim", 0), *steps]))
def test_run_has_one_holder_and_one_answer_in_any_order(steps: list[tuple[str, int]]) -> None:
    with asyncio.Runner(loop_factory=virtual_loop) as runner:
        runner.run(scenario(steps))
