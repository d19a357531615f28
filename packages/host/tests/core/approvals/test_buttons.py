"""Buttons of an approval request decide like its keyword, and the request shows the outcome."""

import asyncio

import pytest

from parlour.core.store.tables import EVENTS, INBOX, OUTBOX
from parlour.testing.fake_platform import ShownMessage
from parlour_sdk.protocol.chain import Plain, Platform

from .approval_support import ANN, ASK, BOSS, EVE, KICK, OPERATOR, Group

MOMENTS = [round(0.0017 * number, 4) for number in range(30)]


async def request_kick(edits: bool = True, **rule: object) -> tuple[Group, ShownMessage]:
    group = await Group.open({"*": {**ASK, **rule}}, buttons=True, edits=edits)
    await group.ask(await group.run(), *KICK)
    await group.calm()
    return group, group.world.platform.shown[0]


async def test_request_has_buttons_with_the_keyword_commands() -> None:
    group, question = await request_kick()
    assert [button["label"] for button in question.buttons] == ["Approve", "Deny"]
    assert [button["value"] for button in question.buttons] == [f"approve {group.keyword}", f"deny {group.keyword}"]
    assert f"approve {group.keyword}" in question.text


@pytest.mark.parametrize(("label", "status"), [("Approve", "approved"), ("Deny", "denied")])
async def test_button_decides_and_the_request_shows_the_outcome(label: str, status: str) -> None:
    group, question = await request_kick()
    await group.world.platform.press(question, label, BOSS)
    await group.calm()
    assert group.approval()["status"] == status
    assert len(group.done("kick_member")) == (status == "approved")
    assert question.buttons == []
    assert question.text.endswith(f"\n{status.capitalize()} by Boss.")
    assert group.texts() == [question.text]
    assert len(group.world.plugins.runs) == 1
    assert group.rows(INBOX) == [row for row in group.rows(INBOX) if row["state"] == "running"]


async def test_outcome_is_a_new_message_if_messages_cannot_be_edited() -> None:
    group, question = await request_kick(edits=False)
    await group.world.platform.press(question, "Approve", BOSS)
    await group.calm()
    assert group.texts() == [question.text, "Approved."]
    assert len(group.done("kick_member")) == 1


@pytest.mark.parametrize("who", [ANN, EVE], ids=["the requester", "another member"])
async def test_button_pressed_by_another_person_is_refused_and_stays(who: object) -> None:
    group, question = await request_kick()
    await group.world.platform.press(question, "Approve", who)  # type: ignore[arg-type]
    await group.calm()
    assert group.texts()[-1].startswith(f"{who.nickname}: {group.keyword}: you may not decide this")  # type: ignore[attr-defined]
    assert group.approval()["status"] == "pending"
    assert len(question.buttons) == 2
    assert group.done("kick_member") == []


async def test_role_in_the_group_may_press_a_button() -> None:
    group, question = await request_kick()
    await group.world.platform.press(question, "Approve", EVE, role="admin")
    await group.calm()
    assert len(group.done("kick_member")) == 1


async def test_second_press_is_refused_as_decided() -> None:
    group, question = await request_kick()
    before = ShownMessage(**{**vars(question), "chain": list(question.chain)})
    await group.world.platform.press(before, "Approve", BOSS)
    await group.world.platform.press(before, "Deny", BOSS)
    await group.calm()
    assert "it was decided before by user:boss: approved" in group.texts()[-1]
    assert len(group.done("kick_member")) == 1


async def test_redelivered_press_is_handled_once() -> None:
    group, question = await request_kick()
    before = ShownMessage(**{**vars(question), "chain": list(question.chain)})
    for _ in range(2):
        await group.world.platform.press(before, "Approve", BOSS, event_id="p1")
    await group.calm()
    assert group.texts() == [question.text]
    assert len(group.done("kick_member")) == 1


async def test_button_under_another_message_decides_nothing() -> None:
    group, question = await request_kick()
    misleading = [Plain(text="Do you like me?"), *(each for each in question.chain if isinstance(each, Platform))]
    shown = ShownMessage("out-other", "group", "7", "", misleading)
    await group.world.platform.press(shown, "Approve", BOSS)
    await group.calm()
    assert "belongs to no question" in group.texts()[-1]
    assert group.approval()["status"] == "pending"


async def test_button_of_an_unknown_request_starts_no_run() -> None:
    group, question = await request_kick()
    [buttons] = [each for each in question.chain if isinstance(each, Platform)]
    old = [{**button, "value": "approve zzzz"} for button in buttons.data["buttons"]]
    shown = ShownMessage("out-old", "group", "7", "", [buttons.model_copy(update={"data": {"buttons": old}})])
    await group.world.platform.press(shown, "Approve", BOSS)
    await group.calm()
    assert "not known any more" in group.texts()[-1]
    assert len(group.world.plugins.runs) == 1


async def test_decision_by_an_operator_removes_the_buttons() -> None:
    group, question = await request_kick()
    await group.world.core.approvals.decide(group.approval()["approval_id"], "deny", OPERATOR, "not today")
    await group.calm()
    assert question.buttons == []
    assert question.text.endswith("Denied by Op. not today")
    assert group.texts() == [question.text]


async def test_decision_by_keyword_removes_the_buttons_and_is_confirmed() -> None:
    group, question = await request_kick()
    await group.say(f"approve {group.keyword}", BOSS)
    await group.calm()
    assert question.buttons == []
    assert group.texts() == [question.text, "Approved."]


async def test_expiry_removes_the_buttons() -> None:
    group, question = await request_kick()
    await asyncio.sleep(1801)
    await group.calm()
    assert question.buttons == []
    assert question.text.endswith("Nobody decided in time, so it was not done.")


async def test_outcome_is_a_new_message_if_the_request_was_deleted() -> None:
    group, question = await request_kick()
    group.world.platform.refuse("edit_message", "it was deleted", permanent=True)
    await group.world.platform.press(question, "Approve", BOSS)
    await group.calm()
    assert group.texts()[-1].endswith("Approved by Boss.")
    assert len(group.done("kick_member")) == 1


async def test_edit_with_lost_answer_is_repeated_without_mark() -> None:
    group, question = await request_kick()
    group.world.platform.lose_answer("edit_message")
    await group.world.platform.press(question, "Approve", BOSS)
    await group.calm()
    assert question.text.endswith("Approved by Boss.")
    assert group.texts() == [question.text]


async def test_button_works_after_a_restart() -> None:
    group, question = await request_kick()
    group = await group.restart()
    await group.world.platform.press(question, "Approve", BOSS)
    await group.world.rest()
    assert len(group.done("kick_member")) == 1
    assert question.text.endswith("Approved by Boss.")


@pytest.mark.parametrize("moment", MOMENTS)
async def test_recorded_press_decides_despite_a_crash(moment: float) -> None:
    group, question = await request_kick()
    group.world.platform.delay_seconds = 0.02
    pressing = asyncio.create_task(group.world.platform.press(question, "Approve", BOSS, event_id="p1"))
    await asyncio.sleep(moment)
    pressing.cancel()
    group = await group.restart()
    await group.world.rest()
    recorded = [row for row in group.rows(EVENTS) if row["event_id"] == "p1"]
    action_rows = [row for row in group.rows(OUTBOX) if row["kind"] == "action"]
    if not recorded:  # the platform delivers it again
        assert (group.approval()["status"], len(question.buttons), action_rows) == ("pending", 2, [])
        return
    assert group.approval()["status"] == "approved"
    assert [row for row in group.rows(INBOX) if row["state"] == "control"] == []
    assert len(group.done("kick_member")) <= len(action_rows) == 1
    assert question.buttons == []
    assert question.text.endswith("Approved by Boss.")
