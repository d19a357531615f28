"""The Host dies around a decision: what was approved happens at most once, and what became of it can be told."""

import asyncio

import pytest

from parlour.core.store.tables import OUTBOX

from .support import ASK, BOSS, Group

MOMENTS = [round(0.0017 * number, 4) for number in range(30)]


@pytest.mark.parametrize("moment", MOMENTS)
async def test_whenever_the_host_dies_an_approved_action_happens_at_most_once(moment: float) -> None:
    group = await Group.open({"*": ASK})
    await group.ask(await group.run(), "member.kick", {"user_id": "eve"})
    keyword = group.keyword
    group.world.platform.delay_seconds = 0.02
    said = asyncio.create_task(group.say(f"approve {keyword}", BOSS, event_id="decision"))
    await asyncio.sleep(moment)
    said.cancel()
    group = await group.restart()
    await group.say(f"approve {keyword}", BOSS, event_id="decision")  # nobody knows whether it had arrived
    await group.world.rest()
    [action] = [row for row in group.rows(OUTBOX) if row["kind"] == "action"]
    assert group.approval()["status"] == "approved"
    done = len(group.done("kick_member"))
    assert (done, action["state"]) in ((1, "sent"), (1, "failed"), (0, "failed"))
    if action["state"] == "failed":
        assert "never repeated" in action["reason"]
