"""Refuses a cluster whose settings or keys would lose or misread data."""

from parlour.core.encoding import dumps, loads
from parlour.core.journal import Insert, Journal, Select, Unit, Upsert, where
from parlour.core.store.tables import META

from ..secret_key import FileSecretBox
from ..settings import ConfigurationInvalid, HostSettings

KEY_DIGEST = "cluster_key_digest"
"""Name of the row of `meta` with the digest of the key that seals the secrets of the database."""


def require_shared_stores(settings: HostSettings) -> None:
    """Raises ConfigurationInvalid if data of this Host would be out of reach of the others."""
    if not settings.database.url.get_secret_value():
        raise ConfigurationInvalid(
            "cluster.enabled needs database.url: several Hosts share a PostgreSQL database; a SQLite file serves one"
        )
    if settings.artifacts.store != "s3":
        raise ConfigurationInvalid(
            "cluster.enabled needs artifacts.store 's3': files on the disk of one Host are out of reach of the others. "
            "Set artifacts.store and artifacts.s3; docs/operate/cluster.md says how to move existing files"
        )
    if settings.runtime.url:
        raise ConfigurationInvalid(
            "cluster.enabled can't be combined with runtime.url: a standalone plugin runtime serves one Host"
        )


async def require_same_key(journal: Journal, key_file: FileSecretBox) -> None:
    """Raises ConfigurationInvalid if other Hosts seal secrets with a key that this Host does not have.

    The first Host of a cluster stores the digest of its key. While a key is being replaced, the older one counts too.
    """
    newest, *_ = digests = key_file.digests()
    first = Insert(META, {"name": KEY_DIGEST, "value": dumps(newest)}, conflict="ignore")
    await journal.commit(Unit("cluster.key", (first,)))
    [row] = await journal.read(Select(META, where(name=KEY_DIGEST), ("value",)))
    stored = loads(row["value"])
    if stored not in digests:
        raise ConfigurationInvalid(
            f"the key file '{key_file.files.current}' is not the one of the other Hosts, so their secrets could not be "
            "read: copy the file secret.key of another Host to this place"
        )
    if stored != newest:
        replaced = Insert(META, {"name": KEY_DIGEST, "value": dumps(newest)}, conflict=Upsert(("name",), ("value",)))
        await journal.commit(Unit("cluster.key", (replaced,)))
