"""Browser sessions of users: the digest of a cookie, its user, and the CSRF token that guards changes."""

import hashlib
import secrets

from parlour.core.journal import ANY, Delete, Insert, Journal, Select, Unit, Update, where
from parlour.core.model.ports import Clock
from parlour.core.store.tables import LOGINS, USERS
from parlour_sdk.values import dataclass

from . import audit
from .users import UserAccount, user_from_row

SESSION_LIFETIME_MILLISECONDS = 14 * 24 * 3600 * 1000
"""Milliseconds after its last recorded use at which a session expires."""
USE_RECORD_INTERVAL_MILLISECONDS = 3600 * 1000
"""Milliseconds between two records of a session's use; each one extends the session."""


@dataclass(frozen=True, slots=True)
class BrowserSession:
    """An open browser session and its user."""

    digest: str
    csrf: str
    user: UserAccount
    expires_at: int


class BrowserSessions:
    def __init__(self, journal: Journal, clock: Clock) -> None:
        self._journal = journal
        self._clock = clock

    async def open(self, user: UserAccount, agent: str, address: str) -> tuple[str, BrowserSession]:
        """Creates a session. Returns the cookie's value, which can't be read again.

        Retention deletes sessions that have expired.
        """
        cookie, csrf, now = secrets.token_urlsafe(32), secrets.token_urlsafe(24), self._clock.now()
        login = BrowserSession(_digest(cookie), csrf, user, now + SESSION_LIFETIME_MILLISECONDS)
        row: dict[str, str | int] = {
            "digest": login.digest,
            "user_id": user.user_id,
            "csrf": csrf,
            "agent": agent[:200],
            "address": address,
            "created_at": now,
            "seen_at": now,
            "expires_at": login.expires_at,
        }
        entry = audit.change_entry(f"user:{user.user_id}", "user.login", user.user_id, None, {"address": address}, now)
        await self._journal.commit(Unit("login.open", (Insert(LOGINS, {**row}), entry)))
        return cookie, login

    async def find(self, cookie: str) -> BrowserSession | None:
        """Reads a cookie's session from the database, so that a session that was ended fails on its next request."""
        digest = _digest(cookie)
        rows = await self._journal.read(Select(LOGINS, where(digest=digest), limit=1, point_read=True))
        now = self._clock.now()
        if not rows or rows[0]["expires_at"] <= now:
            return None
        users = await self._journal.read(Select(USERS, where(user_id=rows[0]["user_id"]), limit=1, point_read=True))
        if not users or not users[0]["enabled"]:
            return None
        # A session that was seen in the future comes from a clock that has been set back since: the absolute difference
        # keeps that session from lasting longer.
        if abs(now - rows[0]["seen_at"]) >= USE_RECORD_INTERVAL_MILLISECONDS:
            seen = Update(
                LOGINS,
                {"seen_at": now, "expires_at": now + SESSION_LIFETIME_MILLISECONDS},
                where(digest=digest),
                expect=ANY,
            )
            await self._journal.commit(Unit("login.seen", (seen,)))
        return BrowserSession(digest, rows[0]["csrf"], user_from_row(users[0]), rows[0]["expires_at"])

    async def close(self, login: BrowserSession) -> None:
        user_id = login.user.user_id
        entry = audit.change_entry(f"user:{user_id}", "user.logout", user_id, None, None, self._clock.now())
        deletion = Delete(LOGINS, where(digest=login.digest), expect=ANY)
        await self._journal.commit(Unit("login.close", (deletion, entry)))


def _digest(cookie: str) -> str:
    return hashlib.sha256(cookie.encode(errors="replace")).hexdigest()
