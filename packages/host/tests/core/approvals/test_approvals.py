"""Decisions about approvals: made once by an allowed person, and executed once."""

import asyncio
from dataclasses import replace

import pytest

from parlour.core.approvals.decisions import Decider
from parlour.core.encoding import dumps, loads
from parlour.core.errors import CallRejected
from parlour.core.journal import PreparedCallback, Receipt, Unit, Update, where
from parlour.core.model.event import Participant
from parlour.core.store.tables import APPROVALS
from parlour_sdk.protocol.people import User

from ..support import BreakableJournal, message
from .approval_support import ANN, ASK, BOSS, EVE, KICK, OPERATOR, Group, request_kick


async def test_keyword_approves_during_the_run_and_starts_no_other_run() -> None:
    group, run = await request_kick()
    await group.say(f"approve {group.keyword}", BOSS)
    await group.calm()
    assert [done["user_id"] for done in group.done("kick_member")] == ["eve"]
    assert group.texts()[-1] == "Approved."
    assert group.approval()["status"] == "approved"
    assert group.approval()["decided_by"] == "user:boss"
    assert len(group.world.plugins.runs) == 1
    run.answer("asked")
    await group.world.rest()


async def test_keyword_denies_with_a_reason() -> None:
    group, _ = await request_kick()
    await group.say(f"Deny {group.keyword.upper()} she is nice", BOSS)
    await group.calm()
    assert group.done("kick_member") == []
    assert (group.approval()["status"], group.approval()["reason"]) == ("denied", "she is nice")
    assert group.texts()[-1] == "Denied."


@pytest.mark.parametrize("who", [ANN, EVE], ids=["the requester", "another member"])
async def test_person_without_the_right_to_decide_is_refused(who: object) -> None:
    group, _ = await request_kick()
    await group.say(f"approve {group.keyword}", who)  # type: ignore[arg-type]
    await group.calm()
    assert "you may not decide this" in group.texts()[-1]
    assert ("since you asked for it" in group.texts()[-1]) == (who is ANN)
    assert group.approval()["status"] == "pending"
    assert group.done("kick_member") == []


async def test_requester_may_decide_if_the_policy_allows_it() -> None:
    group, _ = await request_kick({"member.*": {"decision": "ask", "who": {"requester": True}}})
    await group.say(f"approve {group.keyword}", ANN)
    await group.calm()
    assert len(group.done("kick_member")) == 1


async def test_role_in_the_group_may_decide() -> None:
    group, _ = await request_kick()
    await group.say(f"approve {group.keyword}", EVE, role="admin")
    await group.calm()
    assert len(group.done("kick_member")) == 1


@pytest.mark.parametrize(("named", "status"), [("boss", "pending"), ("robot", "approved")])
async def test_bot_decides_only_if_the_policy_names_it(named: str, status: str) -> None:
    group, _ = await request_kick({"member.*": {"decision": "ask", "who": {"users": [named], "roles": ["admin"]}}})
    robot = User(id="robot", nickname="Robot", is_bot=True)
    await group.say(f"approve {group.keyword}", robot, role="admin")
    await group.calm()
    assert group.approval()["status"] == status
    assert len(group.texts()) == (1 if status == "pending" else 2), "an unnamed bot gets no reply"


async def test_second_decision_is_refused_without_effect() -> None:
    group, _ = await request_kick()
    await group.say(f"approve {group.keyword}", BOSS)
    await group.say(f"deny {group.keyword}", BOSS)
    await group.calm()
    assert "it was decided before by user:boss: approved" in group.texts()[-1]
    assert len(group.done("kick_member")) == 1


async def test_concurrent_decisions_are_one_decision() -> None:
    group, _ = await request_kick()
    decide = group.world.core.approvals.decide
    approval_id = group.approval()["approval_id"]
    outcomes = await asyncio.gather(
        *(decide(approval_id, "approve", OPERATOR) for _ in range(5)), return_exceptions=True
    )
    await group.calm()
    assert sum(isinstance(each, CallRejected) for each in outcomes) == 4
    assert len(group.done("kick_member")) == 1


async def test_late_decision_names_the_earlier_one() -> None:
    group, _ = await request_kick()
    approvals, approval_id = group.world.core.approvals, group.approval()["approval_id"]
    stranger = asyncio.create_task(approvals.decide(approval_id, "deny", Decider(Participant("user", "eve"))))
    first = asyncio.create_task(approvals.decide(approval_id, "approve", OPERATOR))
    with pytest.raises(CallRejected, match="you may not decide this"):
        await stranger
    with pytest.raises(CallRejected, match="it was decided before by api_key:k1: approved"):
        await approvals.decide(approval_id, "deny", Decider(Participant("user", "boss")))
    assert (await first).status == "approved"


class SlowDecisions(BreakableJournal):
    """Takes a second for each decision."""

    async def commit(self, unit: Unit, on_prepared: PreparedCallback | None = None) -> Receipt:
        if unit.name == "approval.decide":
            await asyncio.sleep(1)
        return await super().commit(unit, on_prepared)


async def test_decision_waits_for_the_one_being_written() -> None:
    group, _ = await request_kick(ports={"journal": SlowDecisions()})
    approvals, approval_id = group.world.core.approvals, group.approval()["approval_id"]
    stranger = asyncio.create_task(approvals.decide(approval_id, "deny", Decider(Participant("user", "eve"))))
    first = asyncio.create_task(approvals.decide(approval_id, "approve", OPERATOR))
    with pytest.raises(CallRejected, match="you may not decide this"):
        await stranger
    await asyncio.sleep(0.5)
    with pytest.raises(CallRejected, match="it was decided before by api_key:k1: approved"):
        await approvals.decide(approval_id, "deny", OPERATOR)
    assert (await first).status == "approved"
    assert group.world.journal.units.count("approval.decide") == 1, "the second decision was not committed"


async def test_keyword_in_another_chat_is_an_ordinary_message() -> None:
    group, _ = await request_kick()
    await group.say(f"approve {group.keyword}", BOSS, chat_id="8")
    run = await group.world.plugins.next_run()
    assert run.context["input"]["text"] == f"approve {group.keyword}"
    assert group.approval()["status"] == "pending"


@pytest.mark.parametrize(
    ("written", "status", "reason"),
    [
        ("'approve {}'", "approved", ""),
        ("“Approve {}”", "approved", ""),
        ("approve {}.", "approved", ""),
        ("/approve {}！", "approved", ""),
        ("approve: {}", "approved", ""),
        ("deny {}, she is nice", "denied", "she is nice"),
        ("deny {} " + "no" * 1000, "denied", "no" * 500),
    ],
)
async def test_decision_accepts_quotes_punctuation_and_long_reasons(written: str, status: str, reason: str) -> None:
    group, _ = await request_kick()
    await group.say(written.format(group.keyword), BOSS)
    await group.calm()
    assert (group.approval()["status"], group.approval()["reason"]) == (status, reason)


@pytest.mark.parametrize("written", ["we should approve {}", "approve{}", "approve {}ed", "approve", "{}"])
async def test_keyword_within_other_text_is_no_decision(written: str) -> None:
    group, first = await request_kick()
    first.answer("asked")
    run = await group.run(written.format(group.keyword))
    assert group.approval()["status"] == "pending"
    run.answer("fine")
    await group.world.rest()


async def test_unknown_keyword_is_an_ordinary_message() -> None:
    group = await Group.open({"*": ASK})
    run = await group.run("approve zzzz")
    assert run.context["input"]["text"] == "approve zzzz"


async def test_operator_decision_is_announced_in_the_chat() -> None:
    group, _ = await request_kick()
    await group.world.core.approvals.decide(group.approval()["approval_id"], "approve", OPERATOR)
    await group.calm()
    assert group.texts()[-1] == f"{group.keyword} was approved."
    assert len(group.done("kick_member")) == 1


async def test_api_key_message_cannot_decide_in_the_chat() -> None:
    group = await Group.open({"*": ASK})
    room = {"chat_type": "group", "chat_id": "7"}
    by_key = {"surface": "platform", "chat": "the key's own name", "principal": "key:k1", "data": room}
    await group.world.core.gateway.ingest(message("please", **by_key))
    run = await group.world.plugins.next_run()
    await group.ask(run, *KICK)
    run.answer("it is asked")
    await group.calm()
    assert len(group.texts()) == 2
    await group.world.core.gateway.ingest(message(f"approve {group.keyword}", actor="boss", **by_key))
    (await group.world.plugins.next_run()).answer("that was a message")
    assert group.approval()["status"] == "pending", "the key represents no member of the chat"
    await group.say(f"approve {group.keyword}", BOSS)
    await group.calm()
    assert len(group.done("kick_member")) == 1


async def test_pending_request_survives_a_restart_unchanged() -> None:
    group, _ = await request_kick()
    keyword = group.keyword
    group = await group.restart()
    await group.say(f"approve {keyword}", BOSS)
    await group.world.rest()
    assert [(done["group_id"], done["user_id"]) for done in group.done("kick_member")] == [("7", "eve")]


async def test_action_approved_while_offline_is_executed_once_after_a_restart() -> None:
    group, _ = await request_kick()
    group.world.platform.cut()
    await group.world.core.approvals.decide(group.approval()["approval_id"], "approve", OPERATOR)
    await group.calm()
    assert group.done("kick_member") == []
    group.world.platform.mend()
    group = await group.restart()
    await group.world.rest()
    await group.calm()
    assert len(group.done("kick_member")) == 1
    assert '"sent"' in group.approval()["outcome"]


async def test_modified_call_is_not_executed() -> None:
    group, _ = await request_kick()
    row = group.approval()
    changed = Update(APPROVALS, {"call": row["call"].replace("eve", "boss")}, where(approval_id=row["approval_id"]))
    await group.world.journal.commit(Unit("test.tamper", (changed,)))
    with pytest.raises(CallRejected, match="not what was asked"):
        await group.world.core.approvals.decide(row["approval_id"], "approve", OPERATOR)
    await group.calm()
    assert group.done("kick_member") == []


async def test_decision_and_decider_are_audited() -> None:
    group, _ = await request_kick()
    await group.say(f"deny {group.keyword} no", BOSS)
    [entry] = group.audited("approval.decide")
    assert entry["actor"] == "user:boss"
    assert '"denied"' in entry["detail"]


async def test_principal_that_sent_the_event_counts_as_requester() -> None:
    group, _ = await request_kick()
    row = group.approval()
    who = {**loads(row["who"]), "principal": "key:k1"}
    await group.world.journal.commit(Unit("test.brought", (Update(APPROVALS, {"who": dumps(who)}, ()),)))
    group = await group.restart()
    same = replace(OPERATOR, principal="key:k1")
    with pytest.raises(CallRejected, match="since you asked for it"):
        await group.world.core.approvals.decide(row["approval_id"], "approve", same)
    other = replace(OPERATOR, principal="key:k2")
    await group.world.core.approvals.decide(row["approval_id"], "approve", other)
    assert group.approval()["status"] == "approved"
