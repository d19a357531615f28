"""Checks the promises on the platform with streamed messages and approvals, after every schedule."""

from collections.abc import Callable

from parlour.core.delivery.rendering.repeat_notes import has_repeat_note, without_repeat_note
from parlour.core.encoding import loads
from parlour.core.journal import Row, Select, where
from parlour.core.store.tables import APPROVALS, OUTBOX, RUN_EVENTS

from .bot import Bubble, Chats
from .deciding import BOSS, Decision
from .promises import require

Read = Callable[[Select], list[Row]]


def check_bubbles(read: Read, chats: Chats, allowed_repeats: int) -> None:
    rows = {row["outbox_id"]: row for row in read(Select(OUTBOX)) if row["surface"] == "platform"}
    shown = {outbox_id: [each for each in chats.bubbles if each.key == outbox_id] for outbox_id in rows}
    require(sum(len(copies) for copies in shown.values()) == len(chats.bubbles), "every message belongs to a row")
    for row in rows.values():
        if row["kind"] != "action":
            _check_row(row, shown, allowed_repeats)


def _check_row(row: Row, shown: dict[str, list[Bubble]], allowed_repeats: int) -> None:
    """Checks for one bubble with the whole text; a second one must be marked as a possible repeat."""
    message, copies = loads(row["payload"])["message"], shown[row["outbox_id"]]
    named = f"{row['kind']} {row['outbox_id']}"
    require(len(copies) <= 1 + allowed_repeats, f"{named} is shown {len(copies)} times")
    require(all(has_repeat_note(each.first) for each in copies[1:]), f"a repetition of {named} is marked")
    if row["state"] != "sent":
        return
    texts = [without_repeat_note(each.text).rstrip() for each in [*copies, *shown.get(message.get("edits"), ())]]
    question = message.get("approval", {}).get("status") == "pending"
    require(question or message["content"].rstrip() in texts, f"{named} is whole on the platform")


def check_decisions(read: Read, chats: Chats, decisions: list[Decision]) -> None:
    approvals = read(Select(APPROVALS))
    acts = {row["outbox_id"]: row for row in read(Select(OUTBOX)) if row["kind"] == "action"}
    told = read(Select(RUN_EVENTS, where(type="approval.decided")))
    for approval in approvals:
        mine = [each for each in decisions if each.keyword == approval["keyword"] and each.person == BOSS]
        require(approval["status"] != "pending", f"approval {approval['keyword']} is closed")
        if mine:
            verdicts = {{"approve": "approved", "deny": "denied"}[each.words.split()[0]] for each in mine}
            require(approval["status"] in verdicts, f"{approval['keyword']} is what its decider wanted")
        else:
            require(approval["status"] == "expired", f"{approval['keyword']}: nobody may decide but the decider")
        _check_act(approval, acts.get(approval["outbox_id"]), chats)
        _check_told(approval, [row for row in told if row["run_id"] == approval["run_id"]])


def _check_told(approval: Row, told: list[Row]) -> None:
    """Checks that each decision is in the ledger of its run once."""
    decisions = [data for row in told if (data := loads(row["data"]))["approval_id"] == approval["approval_id"]]
    said = [(data["status"], data["decided_by"] or "") for data in decisions]
    require(said == [(approval["status"], approval["decided_by"])], f"{approval['keyword']} is once in the ledger")


def _check_act(approval: Row, act: Row | None, chats: Chats) -> None:
    user = loads(approval["call"])["calls"][0]["arguments"]["user_id"]
    times = chats.kicked.count(user)
    require((act is not None) == (approval["status"] == "approved"), "what was approved, and only that, is done")
    require(times <= (1 if act is not None else 0), f"'{user}' was removed {times} times")
    require(times == 1 or act is None or act["state"] != "sent", "what is told as done was done")
