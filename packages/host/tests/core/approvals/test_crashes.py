"""A crash of the Host during a decision: the approved action is executed at most once and its state is recorded."""

import asyncio

import pytest

from parlour.core.store.tables import OUTBOX

from .approval_support import ASK, BOSS, Group

MOMENTS = [round(0.0017 * number, 4) for number in range(30)]


@pytest.mark.parametrize("moment", MOMENTS)
async def test_approved_action_is_executed_at_most_once_despite_a_crash(moment: float) -> None:
    group = await Group.open({"*": ASK})
    await group.ask(await group.run(), "member.kick", {"user_id": "eve"})
    keyword = group.keyword
    group.world.platform.delay_seconds = 0.02
    saying = asyncio.create_task(group.say(f"approve {keyword}", BOSS, event_id="decision"))
    await asyncio.sleep(moment)
    saying.cancel()
    group = await group.restart()
    await group.say(f"approve {keyword}", BOSS, event_id="decision")  # its arrival before the crash is unknown
    await group.world.rest()
    [action] = [row for row in group.rows(OUTBOX) if row["kind"] == "action"]
    assert group.approval()["status"] == "approved"
    done = len(group.done("kick_member"))
    assert (done, action["state"]) in ((1, "sent"), (1, "failed"), (0, "failed"))
    if action["state"] == "failed":
        assert "never repeated" in action["reason"]
