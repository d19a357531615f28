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
    bubbles_by_row = {outbox_id: [each for each in chats.bubbles if each.key == outbox_id] for outbox_id in rows}
    require(
        sum(len(copies) for copies in bubbles_by_row.values()) == len(chats.bubbles), "every message belongs to a row"
    )
    for row in rows.values():
        if row["kind"] != "action":
            _check_row(row, bubbles_by_row, allowed_repeats)


def _check_row(row: Row, bubbles_by_row: dict[str, list[Bubble]], allowed_repeats: int) -> None:
    """Checks for one bubble with the whole text; a second one must be marked as a possible repeat."""
    message, copies = loads(row["payload"])["message"], bubbles_by_row[row["outbox_id"]]
    row_label = f"{row['kind']} {row['outbox_id']}"
    require(len(copies) <= 1 + allowed_repeats, f"{row_label} is shown {len(copies)} times")
    require(all(has_repeat_note(each.first) for each in copies[1:]), f"a repetition of {row_label} is marked")
    if row["state"] != "sent":
        return
    texts = [
        without_repeat_note(each.text).rstrip() for each in [*copies, *bubbles_by_row.get(message.get("edits"), ())]
    ]
    question = message.get("approval", {}).get("status") == "pending"
    require(question or message["content"].rstrip() in texts, f"{row_label} is whole on the platform")


def check_decisions(read: Read, chats: Chats, decisions: list[Decision]) -> None:
    approvals = read(Select(APPROVALS))
    acts = {row["outbox_id"]: row for row in read(Select(OUTBOX)) if row["kind"] == "action"}
    decided_events = read(Select(RUN_EVENTS, where(type="approval.decided")))
    for approval in approvals:
        deciding = [each for each in decisions if each.keyword == approval["keyword"] and each.person == BOSS]
        require(approval["status"] != "pending", f"approval {approval['keyword']} is closed")
        if deciding:
            verdicts = {{"approve": "approved", "deny": "denied"}[each.words.split()[0]] for each in deciding}
            require(approval["status"] in verdicts, f"{approval['keyword']} is what its decider wanted")
        else:
            require(approval["status"] == "expired", f"{approval['keyword']}: nobody may decide but the decider")
        _check_act(approval, acts.get(approval["outbox_id"]), chats)
        _check_told(approval, [row for row in decided_events if row["run_id"] == approval["run_id"]])


def _check_told(approval: Row, decided_events: list[Row]) -> None:
    """Checks that each decision is in the ledger of its run once."""
    decisions = [
        data for row in decided_events if (data := loads(row["data"]))["approval_id"] == approval["approval_id"]
    ]
    decided = [(data["status"], data["decided_by"] or "") for data in decisions]
    require(decided == [(approval["status"], approval["decided_by"])], f"{approval['keyword']} is once in the ledger")


def _check_act(approval: Row, act: Row | None, chats: Chats) -> None:
    user = loads(approval["call"])["calls"][0]["arguments"]["user_id"]
    times = chats.kicked.count(user)
    require((act is not None) == (approval["status"] == "approved"), "what was approved, and only that, is done")
    require(times <= (1 if act is not None else 0), f"'{user}' was removed {times} times")
    require(times == 1 or act is None or act["state"] != "sent", "what is told as done was done")
