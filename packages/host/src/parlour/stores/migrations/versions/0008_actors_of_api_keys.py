"""Senders that an API caller without the scope `platform` named get an id below the caller's own.

Their events, state and budget uses are moved from `<name>` to `key:<key id>:<name>` (`user:<user id>:<name>` for a
person's session). What several callers wrote under one name is copied to each of them. What a person of a platform or
a key with the scope `platform` shares with such a name stays with that person, and no copy is made: it may have been
theirs. State in the scope `subject` is moved in the same way: API callers have subjects of their own. State whose runs retention has removed can't be assigned to a caller and stays where it is.
"""

import hashlib
import json

from alembic import op

from parlour.stores.columns import on_postgres

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None
phase = "contract"

RENAMED = """
    CREATE TEMPORARY TABLE renamed AS
    WITH RECURSIVE named (seq, actor_type, before, after) AS (
        SELECT seq, actor_type, actor_id, principal || ':' || actor_id FROM events
        WHERE source = 'api' AND actor_id <> '' AND (principal LIKE 'key:%' OR principal LIKE 'user:%')
        AND principal <> (CASE actor_type WHEN 'api_key' THEN 'key:' ELSE actor_type || ':' END) || actor_id
        AND principal NOT IN (SELECT 'key:' || key_id FROM api_keys WHERE scope = 'platform')
        UNION
        SELECT events.seq, events.actor_type, named.before, named.after FROM named
        JOIN runs AS creator ON creator.event_seq = named.seq
        JOIN runs AS created ON created.parent_run_id = creator.run_id
        JOIN events ON events.seq = created.event_seq
        WHERE events.source = 'api' AND events.principal LIKE 'plugin:%'
        AND events.actor_type = named.actor_type AND events.actor_id = named.before
    )
    SELECT seq, actor_type, before, after FROM named
"""
"""Events of such senders, and those of the runs that their runs created."""

MOVED_STATE = """
    CREATE TEMPORARY TABLE moved_state AS
    SELECT
        {hash}('actor', own.runner_id, own.binding_id, own.bot_id, own.workspace_id, own.actor_type, before) AS before,
        {hash}('actor', own.runner_id, own.binding_id, own.bot_id, own.workspace_id, own.actor_type, after) AS after
    FROM (
        SELECT DISTINCT runner_id, binding_id, bot_id, workspace_id, actor_type, before, after
        FROM renamed JOIN runs ON runs.event_seq = renamed.seq
    ) AS own LEFT JOIN (
        SELECT DISTINCT runner_id, binding_id, runs.bot_id, runs.workspace_id, actor_type, actor_id
        FROM events JOIN runs ON runs.event_seq = events.seq
        WHERE actor_id IN (SELECT before FROM renamed) AND events.seq NOT IN (SELECT seq FROM renamed)
    ) AS other ON other.runner_id = own.runner_id AND other.binding_id = own.binding_id
        AND other.bot_id = own.bot_id AND other.workspace_id = own.workspace_id
        AND other.actor_type = own.actor_type AND other.actor_id = own.before
    WHERE other.actor_id IS NULL
"""
MOVED_SUBJECTS = """
    INSERT INTO moved_state (before, after)
    WITH subjects AS (
        SELECT DISTINCT runner_id, binding_id, runs.bot_id, runs.workspace_id, subject_type, subject_id,
            CASE WHEN source = 'api' AND principal NOT LIKE 'plugin:%' AND {surface} <> 'platform' THEN principal
            ELSE '' END AS caller
        FROM events JOIN runs ON runs.event_seq = events.seq
        WHERE subject_id IN (SELECT subject_id FROM events WHERE source = 'api' AND subject_id <> '')
    )
    SELECT
        {hash}('subject', own.runner_id, own.binding_id, own.bot_id, own.workspace_id, own.subject_type,
            own.subject_id),
        {hash}('subject', own.runner_id, own.binding_id, own.bot_id, own.workspace_id, own.subject_type,
            own.subject_id, own.caller)
    FROM subjects AS own LEFT JOIN subjects AS other ON other.runner_id = own.runner_id
        AND other.binding_id = own.binding_id AND other.bot_id = own.bot_id
        AND other.workspace_id = own.workspace_id AND other.subject_type = own.subject_type
        AND other.subject_id = own.subject_id AND other.caller = ''
    WHERE own.caller <> '' AND other.caller IS NULL
"""
MOVED_USES = """
    CREATE TEMPORARY TABLE moved_uses AS
    SELECT {sender} || before AS before, {sender} || after AS after
    FROM (
        SELECT DISTINCT events.bot_id, renamed.actor_type, before, after
        FROM renamed JOIN events ON events.seq = renamed.seq
    ) AS own LEFT JOIN (
        SELECT DISTINCT bot_id, actor_type, actor_id FROM events
        WHERE actor_id IN (SELECT before FROM renamed) AND seq NOT IN (SELECT seq FROM renamed)
    ) AS other ON other.bot_id = own.bot_id AND other.actor_type = own.actor_type AND other.actor_id = own.before
    WHERE other.actor_id IS NULL
"""
SENDER = "CASE own.bot_id WHEN '' THEN '' ELSE own.bot_id || '/' END || own.actor_type || ':'"
"""The beginning of a budget's subject."""

MOVES = (
    "INSERT INTO state (scope_key, name, scope, conversation_id, value, updated_at) "
    "SELECT moved_state.after, name, scope, conversation_id, value, updated_at "
    "FROM state JOIN moved_state ON moved_state.before = state.scope_key WHERE true ON CONFLICT DO NOTHING",
    "DELETE FROM state WHERE scope_key IN (SELECT before FROM moved_state)",
    "INSERT INTO budget_uses (budget_id, subject, period, tokens, cost_micros, updated_at) "
    "SELECT budget_id, moved_uses.after, period, tokens, cost_micros, updated_at "
    "FROM budget_uses JOIN moved_uses ON moved_uses.before = budget_uses.subject WHERE true ON CONFLICT DO NOTHING",
    "DELETE FROM budget_uses WHERE subject IN (SELECT before FROM moved_uses)",
    "UPDATE events SET actor_id = (SELECT after FROM renamed WHERE renamed.seq = events.seq) "
    "WHERE seq IN (SELECT seq FROM renamed)",
    # The role that such a caller claimed is kept for readers of the log, under a name that no rule looks at.
    "UPDATE events SET body = replace(body, '\"actor_data\":' || {data}, "
    "'\"actor_data\":' || replace({data}, '\"role\":', '\"claimed_role\":')) "
    "WHERE seq IN (SELECT seq FROM renamed) AND {data} LIKE '%\"role\":%'",
    "DROP TABLE renamed",
    "DROP TABLE moved_state",
    "DROP TABLE moved_uses",
)

POSTGRES_HASH = """
    CREATE FUNCTION pg_temp.scope_key(VARIADIC parts text[]) RETURNS text LANGUAGE sql AS
    $$ SELECT encode(sha256(convert_to(
        '[' || string_agg(to_json(part)::text, ',' ORDER BY place) || ']', 'UTF8'
    )), 'hex') FROM unnest(parts) WITH ORDINALITY AS each (part, place) $$
"""
"""The key of a scope, as `core.facts.state.scope_key` makes it."""


def upgrade() -> None:
    if on_postgres():
        op.execute(POSTGRES_HASH)
        names = {
            "hash": "pg_temp.scope_key",
            "data": "(body::json -> 'actor_data')::text",
            "surface": "(body::json ->> 'surface')",
        }
    else:
        connection = op.get_bind().connection.driver_connection
        assert connection is not None
        connection.create_function("scope_key", -1, _scope_key)
        names = {
            "hash": "scope_key",
            "data": "json_extract(body, '$.actor_data')",
            "surface": "json_extract(body, '$.surface')",
        }
    for statement in (RENAMED, MOVED_STATE, MOVED_SUBJECTS, MOVED_USES, *MOVES):
        op.execute(statement.format(sender=SENDER, **names))
    if on_postgres():
        op.execute("DROP FUNCTION pg_temp.scope_key(text[])")


def _scope_key(*parts: str) -> str:
    text = json.dumps(parts, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()
