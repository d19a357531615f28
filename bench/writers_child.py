"""A writer of the writers benchmark: commits batches of events for some seconds and prints how many. Run as a file."""

import asyncio
import sys
import time

from parlour.core.journal import Insert, Ref, Unit
from parlour.core.store.tables import EVENTS, INBOX
from parlour.stores.postgres import PostgresJournal
from parlour.testing.journal_contract import filled

BATCH_UNITS = 5


def accept(event_id: str) -> Unit:
    """Returns a unit like that of an accepted event."""
    event = Insert(EVENTS, filled(EVENTS, event_id=event_id, body="{}"), returning=("seq",))
    return Unit("event.accept", (event, Insert(INBOX, filled(INBOX, event_seq=Ref(0, "seq"), state="owed"))))


async def write(url: str, slot: int, name: str, seconds: float) -> int:
    async with PostgresJournal(url, slot=slot) as journal:
        await journal.commit(accept(f"{name} first"))
        print(flush=True)
        await asyncio.to_thread(sys.stdin.readline)
        units, end = 0, time.perf_counter() + seconds
        while time.perf_counter() < end:
            batch = [accept(f"{name} {units + number}") for number in range(BATCH_UNITS)]
            await asyncio.gather(*map(journal.commit, batch))
            units += BATCH_UNITS
        return units


if __name__ == "__main__":
    print(asyncio.run(write(sys.argv[1], int(sys.argv[2]), sys.argv[3], float(sys.argv[4]))))
