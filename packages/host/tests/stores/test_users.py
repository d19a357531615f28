"""One owner always remains, also if two owners are changed at the same moment, on both databases."""

import asyncio

import pytest

from parlour.core.access.users import AccountChangeRefused, UserAccount, UserAccounts
from parlour.core.journal import Insert, Journal, Unit
from parlour.core.store.tables import USERS
from parlour.core.system import SystemClock, SystemIds


async def put(journal: Journal, *users: UserAccount) -> None:
    rows = (
        {**user.audit_fields(), "user_id": user.user_id, "enabled": 1, "password": "", "created_at": 0, "updated_at": 0}
        for user in users
    )
    await journal.commit(Unit("test.users", tuple(Insert(USERS, row) for row in rows)))


async def check(journals: list[Journal], change: str) -> None:
    people = [UserAccount(name, f"{name}@example.org", name, "owner", 0) for name in ("ada", "bob")]
    await put(journals[0], *people)
    books = [UserAccounts(journal, SystemIds(), SystemClock()) for journal in journals]

    async def act(book: UserAccounts, user: UserAccount) -> None:
        match change:
            case "demote":
                await book.change("", user, role="viewer")
            case "disable":
                await book.change("", user, enabled=False)
            case "delete":
                await book.remove("", user)

    outcomes = await asyncio.gather(*map(act, books, people), return_exceptions=True)

    left = [user for user in await books[0].all() if user.role == "owner" and user.enabled]
    assert (len(left), sorted(type(each) for each in outcomes if each is not None)) == (1, [AccountChangeRefused])
    with pytest.raises(AccountChangeRefused):
        await act(books[0], left[0])


@pytest.mark.parametrize("change", ["demote", "disable", "delete"])
async def test_one_owner_remains_on_sqlite(on_sqlite: list[Journal], change: str) -> None:
    await check(on_sqlite, change)


@pytest.mark.parametrize("change", ["demote", "disable", "delete"])
async def test_one_owner_remains_on_postgres(on_postgres: list[Journal], change: str) -> None:
    await check(on_postgres, change)
