"""Pending work has a part, which one Host owns, and on PostgreSQL every slot has counters of its own.

A part is `bot:<id>`, or `shard:<number>` of a conversation without a bot (see `core.cluster.parts`). A number on
PostgreSQL is counter * 64 + slot from now on. Counters are set so that all new numbers are above all old ones.
"""

from zlib import crc32

from alembic import op

from parlour.stores.columns import add, on_postgres, text

revision = "0014"
down_revision = "0013"
branch_labels = None
depends_on = None
phase = "contract"
"""A Host of an older release can't insert rows without a part, and numbers rows without slots."""

SHARDS = """
    CREATE TEMPORARY TABLE conversation_shards AS
    SELECT conversation_id, {shard}(conversation_id) AS part FROM (
        SELECT conversation_id FROM outbox WHERE bot_id = '' UNION SELECT conversation_id FROM runs WHERE bot_id = ''
    ) AS own
"""
"""Each conversation's shard, computed once."""
FILLS = (
    "CREATE UNIQUE INDEX conversation_shards_by_id ON conversation_shards (conversation_id)",
    "UPDATE inbox SET part = coalesce((SELECT 'bot:' || bot_id FROM events "
    "WHERE events.seq = inbox.event_seq AND bot_id <> ''), {shard}(lane))",
    *(
        f"UPDATE {table} SET part = CASE bot_id WHEN '' THEN (SELECT shards.part FROM conversation_shards AS shards "
        f"WHERE shards.conversation_id = {table}.conversation_id) ELSE 'bot:' || bot_id END"
        for table in ("runs", "outbox")
    ),
    "UPDATE queue SET part = coalesce((SELECT runs.part FROM runs WHERE runs.run_id = queue.run_id), {shard}(''))",
    "DROP TABLE conversation_shards",
)

POSTGRES_SHARD = """
    CREATE FUNCTION pg_temp.shard(value text) RETURNS text LANGUAGE plpgsql AS $$
    DECLARE
        bytes CONSTANT bytea := convert_to(value, 'UTF8');
        remainders CONSTANT bigint[] := '{{{remainders}}}';
        crc bigint := 4294967295;
    BEGIN
        FOR place IN 0 .. length(bytes) - 1 LOOP
            crc := (crc >> 8) # remainders[((crc # get_byte(bytes, place)) & 255) + 1];
        END LOOP;
        RETURN 'shard:' || lpad(((crc # 4294967295) & 63)::text, 2, '0');
    END $$
"""
"""Computes a CRC-32 byte by byte, with the remainders of all bytes."""
COUNTERS = (
    "ALTER TABLE journal_counters RENAME COLUMN last TO counter",
    "UPDATE journal_counters SET counter = (counter + 63) / 64",
    "ALTER TABLE journal_counters ADD COLUMN slot BIGINT NOT NULL DEFAULT 0",
    "ALTER TABLE journal_counters ALTER COLUMN slot DROP DEFAULT",
    "ALTER TABLE journal_counters DROP CONSTRAINT journal_counters_pkey",
    "ALTER TABLE journal_counters ADD PRIMARY KEY (name, slot)",
)
"""Slot 0 continues above the old numbers. The first writer of another slot starts where the counters are then."""


def upgrade() -> None:
    for table in ("inbox", "outbox", "queue", "runs"):
        [column] = text("part")
        add(table, column, "")
    shard = _create_shard_function()
    for statement in (SHARDS, *FILLS):
        op.execute(statement.format(shard=shard))
    op.create_index("inbox_by_part_event_seq", "inbox", ["part", "event_seq"])
    op.create_index("queue_by_part", "queue", ["part"])
    op.drop_index("outbox_by_state_seq", "outbox")
    op.create_index("outbox_by_state_part_seq", "outbox", ["state", "part", "seq"])
    if on_postgres():
        for statement in ("DROP FUNCTION pg_temp.shard(text)", *COUNTERS):
            op.execute(statement)


def _create_shard_function() -> str:
    """Creates the function of this connection that returns a conversation's shard, and returns its name."""
    if on_postgres():
        op.execute(POSTGRES_SHARD.format(remainders=",".join(str(_remainder(byte)) for byte in range(256))))
        return "pg_temp.shard"
    connection = op.get_bind().connection.driver_connection
    assert connection is not None
    connection.create_function("shard", 1, lambda value: f"shard:{crc32(value.encode()) % 64:02}")
    return "shard"


def _remainder(byte: int) -> int:
    for _ in range(8):
        byte = byte >> 1 ^ (0xEDB88320 if byte & 1 else 0)
    return byte
