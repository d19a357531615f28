"""Accounts of the people who use the page: name, role and password. `browser_sessions` handles their logins."""

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Literal, get_args

from parlour.core.journal import (
    ANY,
    Condition,
    Delete,
    GuardFailed,
    Insert,
    Journal,
    Row,
    Select,
    Unit,
    UnitBuilder,
    Update,
    where,
)
from parlour.core.model.ids import UserId
from parlour.core.model.ports import Clock, Ids
from parlour.core.store import memories, model_calls
from parlour.core.store.tables import LOGINS, META, USERS
from parlour_sdk.values import dataclass

from . import audit
from .passwords import PasswordHasher, PasswordRefused

Role = Literal["owner", "admin", "operator", "viewer"]
ROLES: tuple[Role, ...] = get_args(Role)
EMAIL = re.compile(r"[^@\s]+@[^@\s]+")
OWNER_EXISTS = "there is an owner already; log in instead"
_DUMMY_PASSWORD_HASH = (
    "$argon2id$v=19$m=32768,t=3,p=1$y9keVJfkpwCLPh1jO74+Jw$enHmLfknnTYzQ9QURvVSuyEvrsIccWYMPTykIIogRMk"
)
"""Hash that a password is checked against if the account does not exist."""


@dataclass(frozen=True, slots=True)
class UserAccount:
    """An account, without its password."""

    user_id: UserId
    email: str
    name: str
    role: Role
    created_at: int
    enabled: bool = True

    def audit_fields(self) -> dict[str, str | bool]:
        """Returns the fields that are stored in the audit."""
        return {"email": self.email, "name": self.name, "role": self.role, "enabled": self.enabled}


class AccountChangeRefused(Exception):
    """Raised when an account can't be created or changed as requested; the message says why."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(message)
        self.field = field
        self.message = message


class UserAccounts:
    def __init__(self, journal: Journal, ids: Ids, clock: Clock) -> None:
        self._journal = journal
        self._ids = ids
        self._clock = clock
        self._passwords = PasswordHasher()

    async def has_any(self) -> bool:
        return bool(await self._journal.read(Select(USERS, (), ("user_id",), limit=1, point_read=True)))

    async def all(self) -> list[UserAccount]:
        return [user_from_row(row) for row in await self._journal.read(Select(USERS, order=("user_id",)))]

    async def get(self, user_id: UserId) -> UserAccount | None:
        rows = await self._journal.read(Select(USERS, where(user_id=user_id), limit=1, point_read=True))
        return user_from_row(rows[0]) if rows else None

    async def authenticate(self, email: str, password: str) -> UserAccount | None:
        """Returns the user of an email address and a password, or None.

        An account that does not exist takes as long to check, so that the time does not reveal which ones do.
        """
        rows = await self._journal.read(Select(USERS, where(email=_normalize_email(email)), limit=1))
        matches = await self._passwords.verify(password, rows[0]["password"] if rows else _DUMMY_PASSWORD_HASH)
        return user_from_row(rows[0]) if rows and matches and rows[0]["enabled"] else None

    async def create(
        self, actor: str, email: str, name: str, role: Role, password: str, first: bool = False
    ) -> UserAccount:
        """Creates an account; with `first`, only while there is no other account. Raises AccountChangeRefused."""
        if first and await self.has_any():
            raise AccountChangeRefused("", OWNER_EXISTS)
        user = UserAccount(
            UserId(self._ids.new()),
            _validate_email(email),
            name.strip() or email.split("@")[0],
            role,
            self._clock.now(),
        )
        values = {
            **user.audit_fields(),
            "enabled": 1,
            "user_id": user.user_id,
            "password": await self._digest(password),
        }
        draft = UnitBuilder("user.create")
        if first:
            draft.add(Insert(META, {"name": "first_owner", "value": user.user_id}))
        draft.add(Insert(USERS, {**values, "created_at": user.created_at, "updated_at": user.created_at}))
        audit_actor = actor or f"user:{user.user_id}"
        draft.add(
            audit.change_entry(audit_actor, "user.create", user.user_id, None, user.audit_fields(), user.created_at)
        )
        try:
            await self._journal.commit(draft.build())
        except GuardFailed as failure:
            if first and failure.statement == 0:
                raise AccountChangeRefused("", OWNER_EXISTS) from failure
            raise AccountChangeRefused("email", f"'{user.email}' has an account already") from failure
        return user

    async def change(
        self,
        actor: str,
        before: UserAccount,
        name: str | None = None,
        role: Role | None = None,
        enabled: bool | None = None,
        password: str | None = None,
    ) -> UserAccount:
        """Changes an account. A user whose password or role changes or who is disabled has to log in again.

        Raises AccountChangeRefused.
        """
        after = replace(
            before,
            name=before.name if name is None else name.strip() or before.name,
            role=before.role if role is None else role,
            enabled=before.enabled if enabled is None else enabled,
        )
        now = self._clock.now()
        values: dict[str, str | int] = {**after.audit_fields(), "enabled": int(after.enabled), "updated_at": now}
        if password is not None:
            values["password"] = await self._digest(password)
        draft = UnitBuilder("user.change")
        draft.add(Update(USERS, {**values}, _unchanged(before)))
        if password is not None or after.role != before.role or not after.enabled:
            draft.add(Delete(LOGINS, where(user_id=before.user_id), expect=ANY))
        audit_values = {**after.audit_fields(), **({"password": "changed"} if password is not None else {})}
        draft.add(audit.change_entry(actor, "user.change", before.user_id, before.audit_fields(), audit_values, now))
        await self._commit(draft, before, loses_owner=_loses_owner_role(before, after))
        return after

    async def remove(self, actor: str, user: UserAccount) -> None:
        """Deletes an account. Raises AccountChangeRefused if it is the last owner or was changed since it was read."""
        draft = UnitBuilder("user.remove")
        draft.add(Delete(USERS, _unchanged(user)))
        draft.add(Delete(LOGINS, where(user_id=user.user_id), expect=ANY))
        draft.add(model_calls.remove_for_actor("user", user.user_id))
        draft.add(*memories.forget_person("user", user.user_id))
        draft.add(audit.change_entry(actor, "user.remove", user.user_id, user.audit_fields(), None, self._clock.now()))
        await self._commit(draft, user, loses_owner=user.role == "owner")

    async def _commit(self, draft: UnitBuilder, user: UserAccount, loses_owner: bool) -> None:
        """Commits a change of a user whose first statement is guarded by `_unchanged`. Raises AccountChangeRefused.

        If an owner is lost, the same unit checks that another one exists, so that two owners who demote each other at
        the same time can't both succeed.
        """
        unit = draft.build()
        checks: list[tuple[Update, ...]] = [()]
        if loses_owner:
            checks = [(_still_owner(each),) for each in _owners(await self.all(), excluded=user)]
        for check in checks:
            try:
                await self._journal.commit(Unit(unit.name, (*unit.statements, *check)))
                return
            except GuardFailed as failure:
                if failure.statement == 0:
                    raise AccountChangeRefused("", "this account was changed meanwhile; read it again") from failure
        raise AccountChangeRefused("role", "this is the last owner; make somebody else owner first")

    async def _digest(self, password: str) -> str:
        try:
            return await self._passwords.hash(password)
        except PasswordRefused as refusal:
            raise AccountChangeRefused("password", str(refusal)) from refusal


def _unchanged(user: UserAccount) -> tuple[Condition, ...]:
    return where(user_id=user.user_id, role=user.role, enabled=int(user.enabled))


def _still_owner(user: UserAccount) -> Update:
    return Update(USERS, {"role": "owner"}, where(user_id=user.user_id, role="owner", enabled=1))


def _owners(users: Sequence[UserAccount], excluded: UserAccount) -> list[UserAccount]:
    return [each for each in users if each.role == "owner" and each.enabled and each.user_id != excluded.user_id]


def _loses_owner_role(before: UserAccount, after: UserAccount) -> bool:
    return before.role == "owner" and (after.role != "owner" or not after.enabled)


def _normalize_email(email: str) -> str:
    return email.strip().casefold()


def _validate_email(email: str) -> str:
    normalized = _normalize_email(email)
    if len(normalized) > 254 or not EMAIL.fullmatch(normalized):
        raise AccountChangeRefused("email", "an address looks like name@example.org")
    return normalized


def user_from_row(row: Row) -> UserAccount:
    return UserAccount(row["user_id"], row["email"], row["name"], row["role"], row["created_at"], bool(row["enabled"]))
