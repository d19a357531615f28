"""Reads the occasions of approvals (sender and group): from their events, and from the table of names where an event
has only ids."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from parlour.core.approvals.texts import read_occasion
from parlour.core.encoding import loads
from parlour.core.journal import Journal, Row, Select, one_of, where
from parlour.core.store.tables import EVENTS, NAMES

Names = dict[tuple[str, str, str], str]
_COLUMNS = ("seq", "bot_id", "actor_id", "actor_name", "body")


async def read_occasions(journal: Journal, seqs: Sequence[int]) -> dict[int, dict[str, Any]]:
    """Returns the occasions of these events by sequence number; a deleted event is left out."""
    events = await journal.read(Select(EVENTS, where(seq=one_of(*set(seqs))), _COLUMNS)) if seqs else ()
    occasions = {int(event["seq"]): _occasion(event) for event in events}
    names = await _known_names(journal, events, occasions)
    for event in events:
        occasion = occasions[int(event["seq"])]
        for part, kind in (("actor", "user"), ("group", "group")):
            key = (event["bot_id"], kind, occasion[f"{part}_id"])
            occasion[f"{part}_name"] = occasion[f"{part}_name"] or names.get(key, "")
    return occasions


def _occasion(event: Row) -> dict[str, Any]:
    data = loads(event["body"]).get("data", {})
    return asdict(read_occasion(event["actor_id"], event["actor_name"], data))


async def _known_names(journal: Journal, events: Sequence[Row], occasions: dict[int, dict[str, Any]]) -> Names:
    bots = {event["bot_id"] for event in events if event["bot_id"]}
    ids = {occasion[part] for occasion in occasions.values() for part in ("actor_id", "group_id") if occasion[part]}
    if not bots or not ids:
        return {}
    rows = await journal.read(Select(NAMES, where(bot_id=one_of(*bots), entity_id=one_of(*ids))))
    return {(row["bot_id"], row["kind"], row["entity_id"]): row["name"] for row in rows}
