"""One table of background jobs, which takes over the pending deliveries to listeners and webhooks (contract).

`listening` and `webhook_calls` are dropped after their rows have been copied. A job keeps the number of attempts, the
time of the next one and, for a webhook, the id that its receiver knows.
"""

from zlib import crc32

import sqlalchemy as sa
from alembic import op

from parlour.stores.columns import integer, on_postgres, text

revision = "0013"
down_revision = "0012"
branch_labels = None
depends_on = None
phase = "contract"
"""A Host of an older release does not know the table of jobs, and reads tables that are gone."""

COLUMNS = (
    "job_id, kind, order_key, part, state, payload, owner, stage, message, error, event_seq, attempts, max_attempts, "
    "interruptions, not_before, done, total, cancel_requested_at, lease_until, created_at, started_at, finished_at"
)
LISTENER_JOBS = f"""
    INSERT INTO jobs ({COLUMNS})
    SELECT '00000000-0000-7000-8000-' || substr(CAST(1000000000000 + ROW_NUMBER() OVER (
            ORDER BY listening.event_seq, listening.plugin_id
        ) AS text), 2),
        'listener', listening.plugin_id,
        CASE WHEN COALESCE(events.bot_id, '') <> '' THEN 'bot:' || events.bot_id
        ELSE 'shard:' || substr(CAST(100 + ({{crc32}}(listening.plugin_id) & 63) AS text), 2) END,
        'pending',
        '{{{{"observing":' || CASE listening.observing WHEN 1 THEN 'true' ELSE 'false' END
            || ',"finished":' || CASE listening.past WHEN '' THEN '[]' ELSE listening.past END
            || ',"tries":' || CAST(listening.attempts AS text) || '}}}}',
        '', '', '', '', listening.event_seq, listening.attempts, 0, 0, listening.not_before, 0, 0, 0, 0,
        listening.created_at, 0, 0
    FROM listening LEFT JOIN events ON events.seq = listening.event_seq
"""
"""Ids of these jobs sort before all others, so that clean-up, which begins with the oldest, finds them."""
WEBHOOK_JOBS = f"""
    INSERT INTO jobs ({COLUMNS})
    SELECT call_id, 'webhook', call_id, 'bot:' || bot_id, 'pending', request, '', '', '', '', event_seq, attempts,
        {{retries}} + 1, 0, not_before, 0, 0, 0, 0, created_at, 0, 0
    FROM webhook_calls
"""
POSTGRES_CRC32 = """
    CREATE FUNCTION pg_temp.crc32(value text) RETURNS bigint LANGUAGE plpgsql AS $$
    DECLARE
        bytes bytea = convert_to(value, 'UTF8');
        checksum bigint = 4294967295;
    BEGIN
        FOR place IN 0 .. length(bytes) - 1 LOOP
            checksum = checksum # get_byte(bytes, place);
            FOR bit IN 1 .. 8 LOOP
                checksum = (checksum >> 1) # (CASE WHEN checksum & 1 = 1 THEN 3988292384 ELSE 0 END);
            END LOOP;
        END LOOP;
        RETURN checksum # 4294967295;
    END $$
"""
"""The checksum by which work that belongs to no bot is divided into parts, as in `core.cluster.parts`."""


def upgrade() -> None:
    op.create_table(
        "jobs",
        *text("job_id kind order_key part state payload owner stage message error"),
        *integer("event_seq attempts max_attempts interruptions not_before done total cancel_requested_at lease_until"),
        *integer("created_at started_at finished_at"),
        sa.PrimaryKeyConstraint("job_id"),
        sqlite_strict=True,
    )
    op.create_index(
        "jobs_by_kind_order_key_state_event_seq_job_id",
        "jobs",
        ["kind", "order_key", "state", "event_seq", "job_id"],
    )
    op.create_index("jobs_by_state_part", "jobs", ["state", "part"])
    op.create_index("jobs_by_event_seq", "jobs", ["event_seq"])
    if on_postgres():
        op.execute(POSTGRES_CRC32)
        names = {
            "crc32": "pg_temp.crc32",
            "retries": "CAST(CAST(request AS json) -> 'config' ->> 'retry_count' AS bigint)",
        }
    else:
        connection = op.get_bind().connection.driver_connection
        assert connection is not None
        connection.create_function("crc32", 1, lambda key: crc32(key.encode()))
        names = {"crc32": "crc32", "retries": "json_extract(request, '$.config.retry_count')"}
    op.execute(sa.text(LISTENER_JOBS.format(**names).replace(":", "\\:")))
    op.execute(sa.text(WEBHOOK_JOBS.format(**names).replace(":", "\\:")))
    if on_postgres():
        op.execute("DROP FUNCTION pg_temp.crc32(text)")
    op.drop_table("listening")
    op.drop_table("webhook_calls")
