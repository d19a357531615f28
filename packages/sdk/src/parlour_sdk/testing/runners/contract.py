"""The rows of the contract, and which of them a runner has to keep."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from parlour_sdk.values import dataclass

from . import general_rows, service_rows


@dataclass(frozen=True, slots=True)
class ContractRow:
    """One promise of the contract. `check` raises AssertionError if the runner breaks it."""

    name: str
    check: Callable[[Any], Awaitable[None]]

    async def run(self, new_rig: Callable[[], Any]) -> None:
        """Checks the row with a new rig."""
        async with new_rig() as rig:
            await self.check(rig)

    def __str__(self) -> str:
        return self.name


ROWS = tuple(ContractRow(check.__name__, check) for check in (*general_rows.ROWS, *service_rows.ROWS))


def contract_rows(not_applicable: Mapping[str, str] | None = None) -> list[ContractRow]:
    """Returns the rows for a runner. A row that can't apply is named with the reason.

    Raises ValueError if a name is unknown or a reason is missing.
    """
    left_out = dict(not_applicable or {})
    names = {row.name for row in ROWS}
    for name, reason in left_out.items():
        if name not in names:
            raise ValueError(f"the contract has no row '{name}'; it has {', '.join(sorted(names))}")
        if not reason.strip():
            raise ValueError(f"say why the row '{name}' can't apply")
    return [row for row in ROWS if row.name not in left_out]


def service_row_names() -> list[str]:
    """Returns the rows that only a runner of a service can keep."""
    return [check.__name__ for check in service_rows.ROWS]
