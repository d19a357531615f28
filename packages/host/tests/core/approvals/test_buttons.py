"""Buttons under a question decide like a keyword: by who may, once, and the question shows what became of it."""

import asyncio

import pytest

from parlour.core.store.tables import EVENTS, INBOX, OUTBOX
from parlour.testing.fake_platform import Shown
from parlour_sdk.protocol.chain import Plain, Platform

from .support import ANN, ASK, BOSS, EVE, Group
from .test_approvals import KICK, OPERATOR

MOMENTS = [round(0.0017 * number, 4) for number in range(30)]


async def asked(edits: bool = True, **rule: object) -> tuple[Group, Shown]:
    group = await Group.open({"*": {**ASK, **rule}}, buttons=True, edits=edits)
    await group.ask(await group.run(), *KICK)
    await group.calm()
    return group, group.world.platform.shown[0]


async def test_a_question_has_buttons_that_say_what_one_would_write() -> None:
    group, question = await asked()
    assert [button["label"] for button in question.buttons] == ["Approve", "Deny"]
    assert [button["value"] for button in question.buttons] == [f"approve {group.keyword}", f"deny {group.keyword}"]
    assert f"approve {group.keyword}" in question.text


@pytest.mark.parametrize(("label", "status"), [("Approve", "approved"), ("Deny", "denied")])
async def test_a_press_decides_and_the_question_becomes_its_outcome(label: str, status: str) -> None:
    group, question = await asked()
    await group.world.platform.press(question, label, BOSS)
    await group.calm()
    assert group.approval()["status"] == status
    assert len(group.done("kick_member")) == (status == "approved")
    assert question.buttons == []
    assert question.text.endswith(f"\n{status.capitalize()} by Boss.")
    assert group.texts() == [question.text]
    assert len(group.world.plugins.runs) == 1
    assert group.rows(INBOX) == [row for row in group.rows(INBOX) if row["state"] == "running"]


async def test_where_nothing_can_be_edited_the_outcome_is_said() -> None:
    group, question = await asked(edits=False)
    await group.world.platform.press(question, "Approve", BOSS)
    await group.calm()
    assert group.texts() == [question.text, "Approved."]
    assert len(group.done("kick_member")) == 1


@pytest.mark.parametrize("who", [ANN, EVE], ids=["the requester", "somebody else"])
async def test_a_press_by_the_wrong_person_is_answered_and_leaves_the_buttons(who: object) -> None:
    group, question = await asked()
    await group.world.platform.press(question, "Approve", who)  # type: ignore[arg-type]
    await group.calm()
    assert group.texts()[-1].startswith(f"{who.nickname}: {group.keyword}: you may not decide this")  # type: ignore[attr-defined]
    assert group.approval()["status"] == "pending"
    assert len(question.buttons) == 2
    assert group.done("kick_member") == []


async def test_a_role_in_the_group_presses() -> None:
    group, question = await asked()
    await group.world.platform.press(question, "Approve", EVE, role="admin")
    await group.calm()
    assert len(group.done("kick_member")) == 1


async def test_who_presses_twice_is_told_that_it_is_decided() -> None:
    group, question = await asked()
    before = Shown(**{**vars(question), "chain": list(question.chain)})
    await group.world.platform.press(before, "Approve", BOSS)
    await group.world.platform.press(before, "Deny", BOSS)
    await group.calm()
    assert "it was decided before by user:boss: approved" in group.texts()[-1]
    assert len(group.done("kick_member")) == 1


async def test_a_press_that_the_platform_tells_twice_is_one() -> None:
    group, question = await asked()
    before = Shown(**{**vars(question), "chain": list(question.chain)})
    for _ in range(2):
        await group.world.platform.press(before, "Approve", BOSS, event_id="p1")
    await group.calm()
    assert group.texts() == [question.text]
    assert len(group.done("kick_member")) == 1


async def test_a_button_that_an_agent_put_under_other_words_decides_nothing() -> None:
    group, question = await asked()
    trap = [Plain(text="Do you like me?"), *(each for each in question.chain if isinstance(each, Platform))]
    shown = Shown("out-other", "group", "7", "", trap)
    await group.world.platform.press(shown, "Approve", BOSS)
    await group.calm()
    assert "belongs to no question" in group.texts()[-1]
    assert group.approval()["status"] == "pending"


async def test_a_button_whose_question_nobody_knows_starts_no_run() -> None:
    group, question = await asked()
    [buttons] = [each for each in question.chain if isinstance(each, Platform)]
    old = [{**button, "value": "approve zzzz"} for button in buttons.data["buttons"]]
    shown = Shown("out-old", "group", "7", "", [buttons.model_copy(update={"data": {"buttons": old}})])
    await group.world.platform.press(shown, "Approve", BOSS)
    await group.calm()
    assert "not known any more" in group.texts()[-1]
    assert len(group.world.plugins.runs) == 1


async def test_a_decision_from_elsewhere_takes_the_buttons_away() -> None:
    group, question = await asked()
    await group.world.core.approvals.decide(group.approval()["approval_id"], "deny", OPERATOR, "not today")
    await group.calm()
    assert question.buttons == []
    assert question.text.endswith("Denied by Op. not today")
    assert group.texts() == [question.text]


async def test_a_written_decision_takes_the_buttons_away_and_is_answered() -> None:
    group, question = await asked()
    await group.say(f"approve {group.keyword}", BOSS)
    await group.calm()
    assert question.buttons == []
    assert group.texts() == [question.text, "Approved."]


async def test_buttons_go_when_the_time_is_over() -> None:
    group, question = await asked()
    await asyncio.sleep(1801)
    await group.calm()
    assert question.buttons == []
    assert question.text.endswith("Nobody decided in time, so it was not done.")


async def test_what_became_of_a_question_that_is_gone_is_said() -> None:
    group, question = await asked()
    group.world.platform.refuse("edit_message", "it was deleted", permanent=True)
    await group.world.platform.press(question, "Approve", BOSS)
    await group.calm()
    assert group.texts()[-1].endswith("Approved by Boss.")
    assert len(group.done("kick_member")) == 1


async def test_an_edit_without_an_answer_is_made_again_and_not_marked() -> None:
    group, question = await asked()
    group.world.platform.lose_answer("edit_message")
    await group.world.platform.press(question, "Approve", BOSS)
    await group.calm()
    assert question.text.endswith("Approved by Boss.")
    assert group.texts() == [question.text]


async def test_a_press_after_a_restart_decides() -> None:
    group, question = await asked()
    group = await group.restart()
    await group.world.platform.press(question, "Approve", BOSS)
    await group.world.rest()
    assert len(group.done("kick_member")) == 1
    assert question.text.endswith("Approved by Boss.")


@pytest.mark.parametrize("moment", MOMENTS)
async def test_a_press_that_was_recorded_decides_whenever_the_host_dies(moment: float) -> None:
    group, question = await asked()
    group.world.platform.delay_seconds = 0.02
    pressing = asyncio.create_task(group.world.platform.press(question, "Approve", BOSS, event_id="p1"))
    await asyncio.sleep(moment)
    pressing.cancel()
    group = await group.restart()
    await group.world.rest()
    recorded = [row for row in group.rows(EVENTS) if row["event_id"] == "p1"]
    acts = [row for row in group.rows(OUTBOX) if row["kind"] == "action"]
    if not recorded:  # then the platform tells it again
        assert (group.approval()["status"], len(question.buttons), acts) == ("pending", 2, [])
        return
    assert group.approval()["status"] == "approved"
    assert [row for row in group.rows(INBOX) if row["state"] == "control"] == []
    assert len(group.done("kick_member")) <= len(acts) == 1
    assert question.buttons == []
    assert question.text.endswith("Approved by Boss.")
