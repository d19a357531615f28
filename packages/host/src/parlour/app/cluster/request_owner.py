"""Finds the Host that has to answer a request: the owner of the bot, run, approval or conversation that it names."""

import re
from collections.abc import Awaitable, Callable
from typing import Final

from parlour.core.cluster.leased_ownership import LeasedOwnership
from parlour.core.cluster.parts import bot_part, part_of
from parlour.core.journal import Journal, Select, StorageFailed, where
from parlour.core.model.ids import ApprovalId, BotId, ConversationId, PartId
from parlour.core.store.approvals import ApprovalStore
from parlour.core.store.tables import CONVERSATIONS, HOSTS, LEASES, OWNERS, RUNS

Find = Callable[[str], Awaitable[PartId | None]]
_NAME: Final = r"([^/]{1,128})"


class RequestOwner:
    """Finds owners by the paths of requests."""

    def __init__(self, journal: Journal, ownership: LeasedOwnership) -> None:
        self._journal = journal
        self._ownership = ownership
        self._approvals = ApprovalStore(journal)
        api = "/api/v1"
        self._targets: list[tuple[str, re.Pattern[str], Find]] = [
            ("", re.compile(rf"/hooks/{_NAME}(/.*)?"), self._bot),
            ("POST", re.compile(rf"{api}/runs/{_NAME}/(cancel|rerun)"), self._run),
            ("POST", re.compile(rf"{api}/approvals/{_NAME}"), self._approval),
            ("POST", re.compile(rf"{api}/conversations/{_NAME}/reset"), self._conversation),
            ("DELETE", re.compile(rf"{api}/conversations/{_NAME}"), self._conversation),
        ]

    async def find(self, method: str, path: str) -> str | None:
        """Returns the owner of what a request names, as `http.owner_relay.OwnerFinder` says."""
        for wanted, pattern, find in self._targets:
            if wanted in ("", method) and (match := pattern.fullmatch(path)):
                try:
                    part = await find(match[1])
                    return "" if part is None else await self.address(part)
                except StorageFailed:
                    return None
        return ""

    async def address(self, part: PartId) -> str | None:
        """Returns the address of the owner of a part."""
        if self._ownership.holds(part):
            return ""
        try:
            return await self._stored_address(part)
        except StorageFailed:
            return None

    async def _stored_address(self, part: PartId) -> str | None:
        owners = await self._journal.read(Select(OWNERS, where(part=part), ("host_id",), limit=1, point_read=True))
        host_id = owners[0]["host_id"] if owners else ""
        if not host_id:
            return None
        lease = await self._journal.read(Select(LEASES, where(host_id=host_id), ("slot",), limit=1, point_read=True))
        hosts = await self._journal.read(Select(HOSTS, where(host_id=host_id), ("address",), limit=1, point_read=True))
        return (hosts[0]["address"] or None) if lease and hosts else None

    async def _bot(self, bot_id: str) -> PartId | None:
        return bot_part(BotId(bot_id))

    async def _run(self, run_id: str) -> PartId | None:
        rows = await self._journal.read(Select(RUNS, where(run_id=run_id), ("part",), limit=1, point_read=True))
        return PartId(rows[0]["part"]) if rows else None

    async def _approval(self, approval_id: str) -> PartId | None:
        approval = await self._approvals.get(ApprovalId(approval_id))
        return part_of(BotId(approval.chat["bot_id"]), approval.conversation_id) if approval else None

    async def _conversation(self, conversation_id: str) -> PartId | None:
        query = Select(CONVERSATIONS, where(conversation_id=conversation_id), ("bot_id",), limit=1)
        rows = await self._journal.read(query)
        return part_of(rows[0]["bot_id"], ConversationId(conversation_id)) if rows else None
