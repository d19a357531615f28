"""Defines the numbers of counted rows on PostgreSQL: counter * 64 + slot.

Every writer has a slot, and every slot has its own counter for each table, so that writers with different slots never
wait for each other. Numbers are unique in their table, and grow without gaps within a slot. A single Host uses slot 0.
Numbers stay below 2^53, so that JavaScript can represent them: a counter has room for 2^47 rows.
"""

from typing import Final

SLOT_COUNT: Final = 64
"""Number of slots, the factor between a counter and its number; `carry_out.sql` and migration 0014 use it too."""
PLAIN_SLOT: Final = 0
"""The slot of a Host that has its database to itself, and of commands beside it."""


def require_slot(slot: int) -> int:
    """Returns the slot. Raises ValueError if there is no such slot."""
    if not 0 <= slot < SLOT_COUNT:
        raise ValueError(f"slot {slot} does not exist: slots are 0 to {SLOT_COUNT - 1}")
    return slot


def counter_reaching(number: int) -> int:
    """Returns the lowest counter value after which every slot gives out numbers above `number`."""
    return -(-number // SLOT_COUNT)


def create_counter(table: str, slot: int) -> str:
    """Returns SQL that creates the counter of a slot. It starts where the counters of other slots are now, so that a
    new slot's numbers are above all existing ones.
    """
    return (
        f"INSERT INTO journal_counters (name, slot, counter) SELECT '{table}', {slot}, coalesce(max(counter), 0) "
        f"FROM journal_counters WHERE name = '{table}' ON CONFLICT DO NOTHING"
    )
