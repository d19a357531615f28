"""Defines the tables of a cluster: Hosts, leases, and who owns which part. A single Host leaves them empty."""

from typing import Final

from parlour.core.journal import Column, Table


def _columns(text: str, integer: str) -> tuple[Column, ...]:
    return tuple(Column(name) for name in text.split()) + tuple(Column(name, "integer") for name in integer.split())


HOSTS = Table("hosts", _columns("host_id name version address", "started_at fenced_at draining"), key=("host_id",))
"""Hosts by the id of their process. Once `fenced_at` is set, the Host can commit nothing any more. One that is
`draining` gives its parts away and takes no more.
"""

LEASES = Table("leases", _columns("host_id", "slot lease_until"), key=("host_id",), unique=(("slot",),))
"""The lease of each Host that is not fenced, and its number slot. `lease_until` is a time of the database's clock."""

OWNERS = Table("owners", _columns("part host_id wanted", "epoch moved_at"), key=("part",), indexes=(("host_id",),))
"""The owner of each part; empty if it is free. `epoch` rises with each change of the owner, `wanted` names the Host
that asks for the part."""

CLUSTER_TABLES: Final = (HOSTS, LEASES, OWNERS)
"""Tables that belong to running Hosts: backups leave them out."""
