"""Which skills are active in a conversation. A skill stays active in later runs of the conversation."""

from typing import Final

from parlour.core.journal import Insert, Journal, Select, Unit, Upsert, above, where
from parlour.core.model.ids import ConversationId, RunId, SkillName
from parlour.core.model.ports import Clock
from parlour.core.store.tables import SKILL_ACTIVATIONS

ACTIVE_MILLISECONDS: Final = 90 * 24 * 3600 * 1000
"""Milliseconds after its last activation after which a skill is not active any more."""
RENEWAL_MILLISECONDS: Final = 24 * 3600 * 1000
"""An activation that is younger is not written again."""


class SkillActivations:
    """The active skills of conversations."""

    def __init__(self, journal: Journal, clock: Clock) -> None:
        self._journal = journal
        self._clock = clock

    async def active(self, conversation_id: ConversationId) -> dict[SkillName, int]:
        """Returns the active skills in the order of their names, each with the time of its activation."""
        if not conversation_id:
            return {}
        conditions = where(conversation_id=conversation_id, expires_at=above(self._clock.now()))
        rows = await self._journal.read(Select(SKILL_ACTIVATIONS, conditions, order=("skill_name",)))
        return {SkillName(row["skill_name"]): int(row["activated_at"]) for row in rows}

    async def activate(self, conversation_id: ConversationId, name: SkillName, run_id: RunId) -> None:
        """Records that a skill is active in a conversation."""
        now = self._clock.now()
        active = await self.active(conversation_id)
        if not conversation_id or now - active.get(name, 0) < RENEWAL_MILLISECONDS:
            return
        row: dict[str, str | int] = {
            "conversation_id": conversation_id,
            "skill_name": name,
            "run_id": run_id,
            "activated_at": now,
            "expires_at": now + ACTIVE_MILLISECONDS,
        }
        key, changed = SKILL_ACTIVATIONS.key, ("run_id", "activated_at", "expires_at")
        insert = Insert(SKILL_ACTIVATIONS, row, conflict=Upsert(key, changed))
        await self._journal.commit(Unit("skill.activate", (insert,)))
