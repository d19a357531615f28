"""A Host that owns one part and repeats one effect: a guarded unit, then a line in a file.

`python -m tests.cluster.lease_child URL HOST_ID FILE COUNT GATE` stops its own process between the unit and the effect
of the last round. It ends with status 75 when it is fenced. With GATE `off` it does not look at its lease.
"""

import asyncio
import os
import signal
import sys
from pathlib import Path

from parlour.core.cluster import owner_rows
from parlour.core.cluster.leased_ownership import LeasedOwnership
from parlour.core.cluster.leases import HostFacts, HostLease
from parlour.core.journal import Insert, Unit
from parlour.core.model.ids import HostId
from parlour.core.store.tables import META
from parlour.stores.postgres import PostgresJournal
from parlour.stores.postgres.lease_thread import LeaseThread
from parlour.stores.postgres.leases import PostgresHostLeases
from parlour.testing.leases_contract import PART

FENCED_STATUS = 75


async def main(url: str, host_id: HostId, effects: Path, count: int, has_gate: bool) -> None:
    leases = PostgresHostLeases(url)
    slot = await leases.join(HostFacts(host_id, "child", "1.0"))
    lease = HostLease(on_lost=lambda: os._exit(FENCED_STATUS))
    ownership = LeasedOwnership(lease)
    async with PostgresJournal(url, exclusive=True, slot=slot, host_id=host_id) as journal:
        with LeaseThread(url, host_id, lease):
            await journal.commit(Unit("part.add", (owner_rows.add(PART),)))
            [part] = await owner_rows.all_parts(journal)
            await journal.commit(Unit("part.take", (owner_rows.take(part, host_id, 1),)))
            ownership.add(PART, part.epoch + 1)
            for number in range(count):
                note = Insert(META, {"name": f"{host_id} {number}", "value": "sending"})
                await journal.commit(Unit("test.sending", (note, *ownership.guards(PART))))
                if number == count - 1:
                    os.kill(os.getpid(), signal.SIGSTOP)
                if has_gate and (gate := ownership.effect_gate()) is not None:
                    await gate
                with effects.open("a") as file:
                    file.write(f"{host_id} {number}\n")


if __name__ == "__main__":
    url, host_id, effects, count, gate = sys.argv[1:]
    asyncio.run(main(url, HostId(host_id), Path(effects), int(count), gate == "on"))
