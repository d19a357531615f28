"""What a person has to allow: asked in the chat, decided once by who may, carried out once, whatever happens."""

import asyncio
from dataclasses import replace

import pytest

from parlour.core.approvals.decisions import Decider
from parlour.core.encoding import dumps, loads
from parlour.core.errors import CallRejected
from parlour.core.journal import Receipt, Unit, Update, where
from parlour.core.model.event import Participant
from parlour.core.store.tables import APPROVALS, INBOX, RUNS
from parlour_sdk.protocol.people import User
from parlour_sdk.protocol.platform_events import FriendRequestReceived

from ..support import BreakableJournal, PuppetRun, message
from .support import ANN, ASK, BOSS, EVE, Group

KICK = ("member.kick", {"user_id": "eve"})
OPERATOR = Decider(Participant("api_key", "k1", "Op"), operator=True)


async def asked(policy: dict[str, object] | None = None, **agent: object) -> tuple[Group, PuppetRun]:
    group = await Group.open({"*": ASK, **(policy or {})}, **agent)
    run = await group.run()
    outcome = await group.ask(run, *KICK)
    assert outcome["status"] == "pending"
    assert outcome["approval_id"] == group.approval()["approval_id"]
    return group, run


async def test_it_is_asked_in_the_chat_with_what_to_write() -> None:
    group, _ = await asked()
    await group.calm()
    [text] = group.texts()
    assert "member.kick" in text
    assert f"'approve {group.keyword}' or 'deny {group.keyword}' within 30 minutes" in text
    assert group.done("kick_member") == []


async def test_what_is_asked_for_is_shown_whole_or_said_to_be_longer() -> None:
    group = await Group.open({"*": ASK})
    run = await group.run()
    await group.ask(run, "message.send", None, {"text": "x" * 500 + " and then the end"})
    await group.ask(run, "message.send", None, {"text": "y" * 2000})
    await group.calm()
    [whole, cut] = group.texts()
    assert "and then the end" in whole
    assert "more characters, which are on the page of approvals)\nAsked by" in cut
    run.answer("asked")
    await group.world.rest()


async def test_a_keyword_approves_while_the_run_is_active_and_starts_no_other() -> None:
    group, run = await asked()
    await group.say(f"approve {group.keyword}", BOSS)
    await group.calm()
    assert [done["user_id"] for done in group.done("kick_member")] == ["eve"]
    assert group.texts()[-1] == "Approved."
    assert group.approval()["status"] == "approved"
    assert group.approval()["decided_by"] == "user:boss"
    assert len(group.world.plugins.runs) == 1
    run.answer("asked")
    await group.world.rest()


async def test_a_keyword_denies_with_a_reason() -> None:
    group, _ = await asked()
    await group.say(f"Deny {group.keyword.upper()} she is nice", BOSS)
    await group.calm()
    assert group.done("kick_member") == []
    assert (group.approval()["status"], group.approval()["reason"]) == ("denied", "she is nice")
    assert group.texts()[-1] == "Denied."


@pytest.mark.parametrize("who", [ANN, EVE], ids=["the requester", "somebody else"])
async def test_who_may_not_decide_is_told_so(who: object) -> None:
    group, _ = await asked()
    await group.say(f"approve {group.keyword}", who)  # type: ignore[arg-type]
    await group.calm()
    assert "you may not decide this" in group.texts()[-1]
    assert ("since you asked for it" in group.texts()[-1]) == (who is ANN)
    assert group.approval()["status"] == "pending"
    assert group.done("kick_member") == []


async def test_the_requester_may_decide_if_the_policy_says_so() -> None:
    group, _ = await asked({"member.*": {"decision": "ask", "who": {"requester": True}}})
    await group.say(f"approve {group.keyword}", ANN)
    await group.calm()
    assert len(group.done("kick_member")) == 1


async def test_a_role_in_the_group_may_decide() -> None:
    group, _ = await asked()
    await group.say(f"approve {group.keyword}", EVE, role="admin")
    await group.calm()
    assert len(group.done("kick_member")) == 1


@pytest.mark.parametrize(("named", "status"), [("boss", "pending"), ("robot", "approved")])
async def test_a_bot_decides_nothing_unless_the_policy_names_it(named: str, status: str) -> None:
    group, _ = await asked({"member.*": {"decision": "ask", "who": {"users": [named], "roles": ["admin"]}}})
    robot = User(id="robot", nickname="Robot", is_bot=True)
    await group.say(f"approve {group.keyword}", robot, role="admin")
    await group.calm()
    assert group.approval()["status"] == status
    assert len(group.texts()) == (1 if status == "pending" else 2), "a bot that is not named gets no word either"


async def test_a_second_decision_is_refused_and_nothing_happens_twice() -> None:
    group, _ = await asked()
    await group.say(f"approve {group.keyword}", BOSS)
    await group.say(f"deny {group.keyword}", BOSS)
    await group.calm()
    assert "it was decided before by user:boss: approved" in group.texts()[-1]
    assert len(group.done("kick_member")) == 1


async def test_two_who_decide_at_once_are_one_decision() -> None:
    group, _ = await asked()
    decide = group.world.core.approvals.decide
    approval_id = group.approval()["approval_id"]
    outcomes = await asyncio.gather(
        *(decide(approval_id, "approve", OPERATOR) for _ in range(5)), return_exceptions=True
    )
    await group.calm()
    assert sum(isinstance(each, CallRejected) for each in outcomes) == 4
    assert len(group.done("kick_member")) == 1


async def test_who_comes_a_moment_too_late_is_told_who_decided() -> None:
    group, _ = await asked()
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

    async def commit(self, unit: Unit) -> Receipt:
        if unit.name == "approval.decide":
            await asyncio.sleep(1)
        return await super().commit(unit)


async def test_a_decision_waits_for_the_one_that_is_being_written() -> None:
    group, _ = await asked(ports={"journal": SlowDecisions()})
    approvals, approval_id = group.world.core.approvals, group.approval()["approval_id"]
    stranger = asyncio.create_task(approvals.decide(approval_id, "deny", Decider(Participant("user", "eve"))))
    first = asyncio.create_task(approvals.decide(approval_id, "approve", OPERATOR))
    with pytest.raises(CallRejected, match="you may not decide this"):
        await stranger
    await asyncio.sleep(0.5)
    with pytest.raises(CallRejected, match="it was decided before by api_key:k1: approved"):
        await approvals.decide(approval_id, "deny", OPERATOR)
    assert (await first).status == "approved"
    assert group.world.journal.units.count("approval.decide") == 1, "the second decision was not tried"


async def test_it_expires_in_words_and_is_refused_afterwards() -> None:
    group, _ = await asked()
    await asyncio.sleep(1801)
    await group.calm()
    assert group.approval()["status"] == "expired"
    assert group.texts()[-1] == f"Nobody decided about {group.keyword} in time, so it was not done."
    await group.say(f"approve {group.keyword}", BOSS)
    await group.calm()
    assert "it is too late. Nobody had decided in time, so it was not done." in group.texts()[-1]
    assert group.done("kick_member") == []


async def test_a_keyword_of_another_chat_is_an_ordinary_message() -> None:
    group, _ = await asked()
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
async def test_a_decision_counts_with_quotes_and_stops_and_a_long_reason(
    written: str, status: str, reason: str
) -> None:
    group, _ = await asked()
    await group.say(written.format(group.keyword), BOSS)
    await group.calm()
    assert (group.approval()["status"], group.approval()["reason"]) == (status, reason)


@pytest.mark.parametrize("written", ["we should approve {}", "approve{}", "approve {}ed", "approve", "{}"])
async def test_words_around_a_keyword_are_no_decision(written: str) -> None:
    group, first = await asked()
    first.answer("asked")
    run = await group.run(written.format(group.keyword))
    assert group.approval()["status"] == "pending"
    run.answer("fine")
    await group.world.rest()


async def test_a_word_that_is_no_keyword_is_an_ordinary_message() -> None:
    group = await Group.open({"*": ASK})
    run = await group.run("approve zzzz")
    assert run.context["input"]["text"] == "approve zzzz"


async def test_an_operator_decides_from_outside_and_the_chat_hears_of_it() -> None:
    group, _ = await asked()
    await group.world.core.approvals.decide(group.approval()["approval_id"], "approve", OPERATOR)
    await group.calm()
    assert group.texts()[-1] == f"{group.keyword} was approved."
    assert len(group.done("kick_member")) == 1


async def test_it_is_asked_where_the_policy_says() -> None:
    staff = {"bot_id": "bot", "chat_type": "group", "chat_id": "99"}
    group, _ = await asked({"member.*": {**ASK, "show_in": staff}})
    await group.calm()
    assert group.texts("7") == []
    assert len(group.texts("99")) == 1
    await group.say(f"approve {group.keyword}", BOSS, chat_id="99")
    await group.calm()
    assert len(group.done("kick_member")) == 1


async def test_people_decide_in_their_chat_about_what_a_key_brought_there() -> None:
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
    assert group.approval()["status"] == "pending", "the key speaks for nobody of the chat"
    await group.say(f"approve {group.keyword}", BOSS)
    await group.calm()
    assert len(group.done("kick_member")) == 1


async def test_what_happened_in_no_chat_is_asked_about_where_its_answers_go() -> None:
    fallback = {"bot_id": "bot", "chat_type": "group", "chat_id": "99"}
    group = await Group.open(
        {"elsewhere/*": ASK},
        "elsewhere/*",
        event_types=("*",),
        delivery_policy={"fallback_target": fallback},
    )
    due = message("it is time", surface="schedule", event_type="schedule.triggered", bot_id="bot", principal="")
    await group.world.core.gateway.ingest(due)
    run = await group.world.plugins.next_run()
    await group.ask(run, "member.kick", {"user_id": "eve", "group_id": "7"})
    run.answer("it is asked")
    await group.calm()
    assert [text.split()[0] for text in group.texts("99")] == ["This", "it"]
    await group.say(f"approve {group.keyword}", BOSS, chat_id="99")
    await group.calm()
    assert len(group.done("kick_member")) == 1


@pytest.mark.parametrize("fallback", [{}, {"bot_id": "bot", "chat_type": "group", "chat_id": "99"}])
async def test_a_stranger_is_not_asked_about_their_own_request(fallback: dict[str, str]) -> None:
    group = await Group.open({"*": ASK}, event_types=("*",), delivery_policy={"fallback_target": fallback})
    wants = FriendRequestReceived(event_id="e1", timestamp=0, request_id="r1", user=EVE)
    await group.world.platform.happen(wants)
    run = await group.world.plugins.next_run()
    await group.ask(run, "friend_request.answer", None, {"approve": True})
    run.send(run.finished("silent"))
    run.end()
    await group.calm()
    assert len(group.texts("99")) == (1 if fallback else 0)
    await group.world.core.approvals.decide(group.approval()["approval_id"], "approve", OPERATOR)
    await group.calm()
    assert group.texts("eve") == []
    assert [each["request_id"] for each in group.done("answer_friend_request")] == ["r1"]


@pytest.mark.parametrize(
    ("seconds", "told"), [(10, "10 seconds"), (60, "1 minute"), (119, "1 minute"), (120, "2 minutes")]
)
async def test_nobody_is_promised_more_time_than_there_is(seconds: float, told: str) -> None:
    group, _ = await asked({"member.*": {**ASK, "seconds": seconds}})
    await group.calm()
    assert f"within {told}." in group.texts()[0]


async def test_a_run_that_waits_goes_on_with_the_result() -> None:
    group = await Group.open({"*": ASK})
    run = await group.run()
    waiting = asyncio.create_task(group.ask(run, *KICK, wait=60))
    await group.calm()
    assert not waiting.done()
    await group.say(f"approve {group.keyword}", BOSS)
    outcome = await waiting
    assert outcome["status"] == "done"
    run.answer("done it")
    await group.world.rest()


async def test_a_run_that_waits_hears_of_a_denial() -> None:
    group = await Group.open({"*": ASK})
    run = await group.run()
    waiting = asyncio.create_task(group.ask(run, *KICK, wait=60))
    await group.calm()
    await group.say(f"deny {group.keyword}", BOSS)
    assert (await waiting)["status"] == "denied"


async def test_a_run_that_waited_long_enough_is_told_that_it_is_pending() -> None:
    group = await Group.open({"*": ASK})
    run = await group.run()
    with pytest.raises(CallRejected) as refused:
        await group.ask(run, *KICK, wait=60)
    assert refused.value.code == "approval_pending"
    assert refused.value.details == {"approval_id": group.approval()["approval_id"]}


async def test_a_run_that_waits_holds_its_lane_and_no_slot() -> None:
    group = await Group.open({"*": ASK})
    group.world.core.lanes._slots._free = 1
    run = await group.run()
    waiting = asyncio.create_task(group.ask(run, *KICK, wait=600))
    await group.calm()
    await group.say("another chat", EVE, chat_id="8")
    other = await group.world.plugins.next_run()
    await group.say("same chat", EVE)
    other.answer("served")
    await group.calm()
    assert group.texts("8") == ["served"]
    assert len(group.world.plugins.runs) == 2
    await group.say(f"deny {group.keyword}", BOSS)
    assert (await waiting)["status"] == "denied"
    run.answer("well")
    (await group.world.plugins.next_run()).answer("next")
    await group.world.rest()
    assert group.world.core.lanes._slots._free == 1


async def test_a_restart_forgets_nothing_and_the_call_is_the_one_that_was_asked_for() -> None:
    group, _ = await asked()
    keyword = group.keyword
    group = await group.restart()
    await group.say(f"approve {keyword}", BOSS)
    await group.world.rest()
    assert [(done["group_id"], done["user_id"]) for done in group.done("kick_member")] == [("7", "eve")]


async def test_what_was_approved_while_the_bot_was_away_is_done_after_a_restart_once() -> None:
    group, _ = await asked()
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


async def test_a_call_that_was_changed_behind_the_hosts_back_is_not_carried_out() -> None:
    group, _ = await asked()
    row = group.approval()
    changed = Update(APPROVALS, {"call": row["call"].replace("eve", "boss")}, where(approval_id=row["approval_id"]))
    await group.world.journal.commit(Unit("test.tamper", (changed,)))
    with pytest.raises(CallRejected, match="not what was asked"):
        await group.world.core.approvals.decide(row["approval_id"], "approve", OPERATOR)
    await group.calm()
    assert group.done("kick_member") == []


async def test_the_agent_can_react_to_the_decision() -> None:
    group, run = await asked(event_types=("message.received", "approval.decided"))
    run.answer("asked")
    await group.say(f"approve {group.keyword}", BOSS)
    reaction = await group.world.plugins.next_run()
    event = reaction.context["event"]
    assert event["event_type"] == "approval.decided"
    assert (event["data"]["decision"], event["data"]["decided_by"]) == ("approve", "user:boss")
    assert reaction.context["actor"]["actor_id"] == "boss"
    assert reaction.context["subject"]["subject_type"] == "approval"
    assert not reaction.context["input"].get("text")
    reaction.answer("Thank you.")
    await group.world.rest()
    assert group.texts()[-1] == "Thank you."


async def test_an_agent_that_takes_no_such_events_is_left_in_peace() -> None:
    group, run = await asked()
    run.answer("asked")
    await group.say(f"approve {group.keyword}", BOSS)
    await group.world.rest()
    assert len(group.events("approval.decided")) == 1
    assert len(group.world.plugins.runs) == 1
    assert group.rows(INBOX) == []


async def test_decisions_and_deciders_are_in_the_audit() -> None:
    group, _ = await asked()
    await group.say(f"deny {group.keyword} no", BOSS)
    [entry] = group.audited("approval.decide")
    assert entry["actor"] == "user:boss"
    assert '"denied"' in entry["detail"]


async def test_a_run_that_asked_is_not_repeated() -> None:
    group, run = await asked()
    run.crash()
    await group.world.rest()
    assert len(group.world.plugins.runs) == 1
    assert group.rows(RUNS)[0]["effects"] == 1
    await group.say(f"approve {group.keyword}", BOSS)
    await group.world.rest()
    assert len(group.done("kick_member")) == 1


async def test_whoever_brought_the_event_has_asked_whomever_the_event_names() -> None:
    group, _ = await asked()
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
