"""The functions that a connection creates on the server, so that a whole batch is one call.

Each shape of a statement or a query becomes a function of the connection, which the server plans once; `step` calls the
one with a given number. They are in the connection's own temporary schema and end with it.
"""

from collections.abc import Mapping
from pathlib import Path

from parlour.stores.sql import StatementPlan

from .batch_encoding import blob_columns
from .connection import PostgresConnection
from .numbers import PLAIN_SLOT, create_counter

EXECUTE_BATCH_SQL = Path(__file__).with_name("carry_out.sql").read_text(encoding="utf-8")
ANSWER_QUERIES_SQL = Path(__file__).with_name("answer.sql").read_text(encoding="utf-8")


class ServerFunctions:
    """The functions of one connection."""

    def __init__(self, connection: PostgresConnection, slot: int = PLAIN_SLOT) -> None:
        self._connection = connection
        self._slot = slot
        self._existing: set[int] = set()

    async def ensure(self, plans: Mapping[int, StatementPlan], timeout: float) -> None:
        missing = {number: plan for number, plan in plans.items() if number not in self._existing}
        if missing:
            existing = self._existing | missing.keys()
            script = [*(_step(number, plan) for number, plan in missing.items()), _dispatch(existing)]
            counters = {plan.table.name for plan in missing.values() if plan.uses_counter}
            script += [create_counter(name, self._slot) for name in sorted(counters)]
            await run_script(self._connection, ";\n".join(script), timeout)
            self._existing = existing


async def run_script(connection: PostgresConnection, script: str, timeout: float) -> None:
    """Executes the whole script or nothing, even on a connection that is otherwise read-only."""
    await connection.execute(f"SET TRANSACTION READ WRITE;\n{script}", timeout=timeout)


def _step(number: int, plan: StatementPlan) -> str:
    names = (*plan.columns, plan.table.sequence_column) if plan.uses_counter else plan.columns
    if names:
        aliases = [f"value_{position}" for position in range(len(names))]
        pairs = zip(names, aliases, strict=True)
        values = [f"encode({alias}, 'base64')" if name in blob_columns(plan.table) else alias for name, alias in pairs]
        rows = f"SELECT coalesce(jsonb_agg(jsonb_build_array({', '.join(values)})), '[]') INTO answer FROM touched"
        body = f"WITH touched ({', '.join(aliases)}) AS ({plan.text}) {rows};"
    else:
        body = f"{plan.text}; GET DIAGNOSTICS answer = ROW_COUNT;"
    return (
        f"CREATE FUNCTION pg_temp.step_{number}(jsonb, bigint) RETURNS jsonb LANGUAGE plpgsql AS $step$\n"
        f"#variable_conflict use_column\n"
        f"DECLARE answer {'jsonb' if names else 'bigint'};\n"
        f"BEGIN {body} RETURN to_jsonb(answer); END\n$step$"
    )


def _dispatch(numbers: set[int]) -> str:
    cases = "\n".join(f"WHEN {number} THEN RETURN pg_temp.step_{number}($2, $3);" for number in sorted(numbers))
    return (
        "CREATE OR REPLACE FUNCTION pg_temp.step(int, jsonb, bigint) RETURNS jsonb LANGUAGE plpgsql AS $step$\n"
        f"BEGIN CASE $1\n{cases}\nEND CASE; END\n$step$"
    )
