"""Reads the occasions of approvals (sender and group): from their events, and from the table of names where an event
has only ids."""

from collections.abc import Sequence

from parlour.core.approvals.texts import read_occasion
from parlour.core.encoding import loads
from parlour.core.journal import Journal, Row, Select, one_of, where
from parlour.core.store.tables import EVENTS, NAMES

from .schemas import OccasionResponse

Names = dict[tuple[str, str, str], str]
_COLUMNS = ("seq", "bot_id", "actor_id", "actor_name", "body")


async def read_occasions(journal: Journal, seqs: Sequence[int]) -> dict[int, OccasionResponse]:
    """Returns the occasions of these events by sequence number; a deleted event is left out."""
    events = await journal.read(Select(EVENTS, where(seq=one_of(*set(seqs))), _COLUMNS)) if seqs else ()
    occasions = {int(event["seq"]): _occasion(event) for event in events}
    names = await _known_names(journal, events, occasions)
    for event in events:
        occasion, bot_id = occasions[int(event["seq"])], event["bot_id"]
        occasion["actor_name"] = occasion["actor_name"] or names.get((bot_id, "user", occasion["actor_id"]), "")
        occasion["group_name"] = occasion["group_name"] or names.get((bot_id, "group", occasion["group_id"]), "")
    return occasions


def _occasion(event: Row) -> OccasionResponse:
    data = loads(event["body"]).get("data", {})
    occasion = read_occasion(event["actor_id"], event["actor_name"], data)
    return {
        "actor_id": occasion.actor_id,
        "actor_name": occasion.actor_name,
        "group_id": occasion.group_id,
        "group_name": occasion.group_name,
        "comment": occasion.comment,
    }


async def _known_names(journal: Journal, events: Sequence[Row], occasions: dict[int, OccasionResponse]) -> Names:
    bots = {event["bot_id"] for event in events if event["bot_id"]}
    ids = {each for occasion in occasions.values() for each in (occasion["actor_id"], occasion["group_id"]) if each}
    if not bots or not ids:
        return {}
    rows = await journal.read(Select(NAMES, where(bot_id=one_of(*bots), entity_id=one_of(*ids))))
    return {(row["bot_id"], row["kind"], row["entity_id"]): row["name"] for row in rows}
