"""Decides which artifacts a principal may see: those of conversations it may see, and its own uploads."""

from parlour.core.journal import Journal, Select, where
from parlour.core.store.artifacts import Artifact
from parlour.core.store.tables import CONVERSATIONS

from ..principals import Principal


class ArtifactAccess:
    def __init__(self, journal: Journal) -> None:
        self._journal = journal

    async def allows(self, principal: Principal, artifact: Artifact) -> bool:
        if principal.may("viewer") or self.owns(principal, artifact):
            return True
        conversation_id = artifact.scope.conversation_id
        query = Select(CONVERSATIONS, where(conversation_id=conversation_id), ("principal",), limit=1)
        rows = await self._journal.read(query) if conversation_id else []
        return bool(rows) and rows[0]["principal"] == principal.owner

    def owns(self, principal: Principal, artifact: Artifact) -> bool:
        return artifact.info.source == "upload" and artifact.reference == principal.owner
