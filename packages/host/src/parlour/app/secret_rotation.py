"""Replaces the key of the stored secrets: seals each of them with a new key, then deletes the old one.

The replacement can stop at any moment and is taken up again. Until its end both keys are kept, and each stored secret
opens with one of them; see `SecretKeyFiles`.
"""

import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any, Final

from parlour.core.access.audit import change_entry
from parlour.core.access.keys import COMMAND_LINE_ACTOR
from parlour.core.encoding import dumps, loads
from parlour.core.journal import ANY, Journal, Row, Select, Table, Unit, Update, above, where
from parlour.core.model.ports import Clock
from parlour.core.store import tables

from .secret_key import KEY_BYTES, FileSecretBox

logger = logging.getLogger(__name__)

TABLES_WITHOUT_SECRETS: Final = frozenset(
    (
        *(tables.META, tables.API_KEYS, tables.USERS, tables.LOGINS, tables.STATISTICS, tables.VERSIONS),
        *(tables.EVENTS, tables.INBOX, tables.OUTCOMES, tables.TRAIL, tables.AUDIT, tables.CONVERSATIONS),
        *(tables.RUNS, tables.RUN_EVENTS, tables.TRANSCRIPT, tables.OUTBOX, tables.STATE, tables.CALLS),
        *(tables.MODEL_CALLS, tables.ARTIFACTS, tables.STORAGE, tables.FEEDBACK, tables.BUDGET_USES),
        *(tables.RESERVATIONS, tables.NAMES, tables.LIMITS, tables.REPLY_ALLOWANCES, tables.KNOWLEDGE_FILES),
        *(tables.KNOWLEDGE_CHUNKS, tables.DIRECTORY, tables.DIRECTORY_MEMBERS, tables.DIRECTORY_MESSAGES),
        *(tables.SKILLS, tables.SKILL_ACTIVATIONS, tables.BOX_WORKSPACES, tables.HOSTS, tables.LEASES, tables.OWNERS),
    )
)
"""Tables that are not searched, since they are large or never contain a sealed secret. All others are searched, so
that a new table needs no entry."""
PAGE_ROWS = 500
"""Rows that are read at once."""
MIN_SEALED_CHARACTERS = (KEY_BYTES + 8) * 4 // 3
"""Characters of an empty secret when it is sealed: 24 bytes of nonce and 16 of authentication, in base64."""

SETTLE_SECONDS = 60.0
"""Seconds for which a running Host keeps the old key: no request that changes the configuration takes as long."""

Step = Callable[[], Awaitable[object]]


class SecretRotation:
    """Completes a replacement of the key that `SecretKeyFiles.begin` has begun."""

    def __init__(self, journal: Journal, clock: Clock, box: FileSecretBox, reload: Step, settle: Step) -> None:
        """`reload` reads the configuration in memory again; `settle` waits until no request from before the reload
        can still store what it has read.
        """
        self._journal = journal
        self._clock = clock
        self._box = box
        self._reload = reload
        self._settle = settle

    async def complete(self) -> int:
        """Completes a replacement that is under way. Returns the number of secrets that were sealed with the new key.

        Raises StorageFailed; both keys are kept then.
        """
        files = self._box.files
        if not files.is_replacing():
            return 0
        sealed = 0
        if files.next.exists():
            sealed += await self._reseal_and_reload()
            await self._record(sealed)
            files.promote()
        await self._settle()
        sealed += await self._reseal_and_reload()
        files.forget_previous()
        logger.info("the key of the secrets was replaced: %d secrets were sealed with the new one", sealed)
        return sealed

    async def _record(self, sealed: int) -> None:
        change = change_entry(
            COMMAND_LINE_ACTOR, "secrets.rotate", "secret.key", None, {"secrets": sealed}, self._clock.now()
        )
        await self._journal.commit(Unit("secrets.rotate", (change,)))

    async def _reseal_and_reload(self) -> int:
        """Seals secrets again until none is left that an older key sealed, with the configuration read again."""
        total = 0
        while sealed := await self._reseal_all():
            total += sealed
        await self._reload()
        return total + await self._reseal_all()

    async def _reseal_all(self) -> int:
        count = 0
        for table in tables.TABLES:
            if table not in TABLES_WITHOUT_SECRETS:
                async for row in self._rows(table):
                    count += await self._reseal_row(table, row)
        return count

    async def _rows(self, table: Table) -> AsyncIterator[Row]:
        if len(table.key) > 1:  # small tables
            for row in await self._journal.read(Select(table)):
                yield row
            return
        [key] = table.key
        conditions = where()
        while rows := await self._journal.read(Select(table, conditions, order=(key,), limit=PAGE_ROWS)):
            for row in rows:
                yield row
            conditions = where(**{key: above(rows[-1][key])})

    async def _reseal_row(self, table: Table, row: Row) -> int:
        """Replaces the sealed secrets of a row, if it was not changed since. Returns their number."""
        changed, count = {}, 0
        for column in table.columns:
            text = row[column.name]
            if isinstance(text, str) and len(text) >= MIN_SEALED_CHARACTERS:
                resealed = ResealedText(text, self._box.reseal)
                if resealed.count:
                    changed[column.name] = resealed.text
                    count += resealed.count
        if changed:
            unchanged = where(**{name: row[name] for name in (*table.key, *changed)})
            await self._journal.commit(Unit("secrets.reseal", (Update(table, changed, unchanged, expect=ANY),)))
        return count


class ResealedText:
    """A stored text with its sealed secrets replaced: the text is one of them, or JSON that contains some."""

    def __init__(self, text: str, reseal: Callable[[str], str | None]) -> None:
        self.count = 0
        self._reseal = reseal
        self.text = text
        if text[0] in '{["':
            try:
                value = loads(text)
            except ValueError:
                return
            replaced = self._replace(value)
            if self.count:
                self.text = dumps(replaced)
        else:
            self.text = self._replace(text)

    def _replace(self, value: Any) -> Any:
        match value:
            case str() if len(value) >= MIN_SEALED_CHARACTERS:
                resealed = self._reseal(value)
                self.count += resealed is not None
                return value if resealed is None else resealed
            case list():
                return [self._replace(each) for each in value]
            case dict():
                return {name: self._replace(each) for name, each in value.items()}
        return value
