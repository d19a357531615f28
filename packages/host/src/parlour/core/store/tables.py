"""Defines and lists all tables. An absent value is an empty string or zero; times are epoch milliseconds."""

from parlour.core.cluster.tables import HOSTS as HOSTS
from parlour.core.cluster.tables import LEASES as LEASES
from parlour.core.cluster.tables import OWNERS as OWNERS
from parlour.core.journal import Column, Table

from .box_tables import BOX_WORKSPACES as BOX_WORKSPACES
from .columns import columns
from .knowledge_tables import KNOWLEDGE_BASES as KNOWLEDGE_BASES
from .knowledge_tables import KNOWLEDGE_CHUNKS as KNOWLEDGE_CHUNKS
from .knowledge_tables import KNOWLEDGE_FILES as KNOWLEDGE_FILES
from .memory_tables import MEMORIES as MEMORIES
from .memory_tables import MEMORY_CONSENTS as MEMORY_CONSENTS
from .platform_tables import DIRECTORY as DIRECTORY
from .platform_tables import DIRECTORY_MEMBERS as DIRECTORY_MEMBERS
from .platform_tables import DIRECTORY_MESSAGES as DIRECTORY_MESSAGES
from .platform_tables import NAMES as NAMES
from .platform_tables import REPLY_ALLOWANCES as REPLY_ALLOWANCES
from .policy_tables import MCP_SERVERS as MCP_SERVERS
from .policy_tables import PIPELINES as PIPELINES
from .policy_tables import PLUGIN_CONFIGS as PLUGIN_CONFIGS
from .policy_tables import WORD_LISTS as WORD_LISTS
from .skill_tables import SKILL_ACTIVATIONS as SKILL_ACTIVATIONS
from .skill_tables import SKILLS as SKILLS

META = Table("meta", columns("name value"), key=("name",))

API_KEYS = Table(
    "api_keys",
    columns("key_id name scope digest labels runners", "created_at expires_at revoked_at last_used_at"),
    key=("key_id",),
    unique=(("digest",),),
)

USERS = Table(
    "users",
    columns("user_id email name role password", "enabled created_at updated_at"),
    key=("user_id",),
    unique=(("email",),),
)
"""Operators with accounts; `password` is a digest."""

LOGINS = Table(
    "logins",
    columns("digest user_id csrf agent address", "created_at seen_at expires_at"),
    key=("digest",),
    indexes=(("user_id",), ("expires_at",)),
)
"""Browser sessions of operators, by the digest of their cookie."""

WEBHOOKS = Table("webhooks", columns("webhook_id definition", "created_at updated_at"), key=("webhook_id",))
"""Inbound webhooks, which other programs call; their secrets are sealed."""

STATISTICS = Table("statistics", columns("name", "hour amount"), key=("hour", "name"))
"""Statistics by the hour."""

SCHEDULES = Table(
    "schedules",
    columns("schedule_id definition", "due_at fired_at created_at updated_at"),
    key=("schedule_id",),
)

AGENTS = Table("agents", columns("agent_id definition", "created_at updated_at"), key=("agent_id",))

BOTS = Table("bots", columns("bot_id definition", "created_at updated_at"), key=("bot_id",))
"""Configured bots; secrets of a definition are sealed."""

APPROVALS = Table(
    "approvals",
    columns(
        "approval_id keyword status action call hash words agent_id run_id conversation_id chat requester who "
        "decided_by reason outbox_id outcome",
        "event_seq created_at expires_at decided_at",
    ),
    key=("approval_id",),
    indexes=(("status", "approval_id"), ("created_at",), ("conversation_id",), ("run_id",)),
)
"""Actions that need the approval of a person: the fixed call, who may decide, and the decision."""

BOT_CURSORS = Table("bot_cursors", columns("bot_id cursor", "updated_at"), key=("bot_id",))
"""Position of each bot in its platform's stream of events; written with the events that it has read."""

ROUTES = Table(
    "routes", columns("route_id bot_id definition", "position"), key=("route_id",), indexes=(("bot_id", "position"),)
)

DEFAULT_AGENTS = Table(
    "default_agents",
    columns("default_id scope platform bot_id chat thread_id actor_id agent_id", "created_at updated_at"),
    key=("default_id",),
    unique=(("scope", "platform", "bot_id", "chat", "thread_id", "actor_id"),),
)
"""Default agents of a thread, conversation, channel, actor or the workspace; the bot's routes must permit an agent."""

JOBS = Table(
    "jobs",
    columns(
        "job_id kind order_key part state payload owner stage message error",
        "event_seq attempts max_attempts interruptions not_before done total cancel_requested_at lease_until "
        "created_at started_at finished_at",
    ),
    key=("job_id",),
    indexes=(("kind", "order_key", "state", "event_seq", "job_id"), ("state", "part"), ("event_seq",)),
)
"""Background work with retries. Jobs of one kind and `order_key` run one after the other, by `event_seq` and `job_id`.

`attempts` counts the attempts that were begun, `interruptions` those that a stop of the Host ended; if `max_attempts`
is 0, attempts have no limit. `payload` is JSON of the kind; its secrets are sealed.
"""

CONVERSATIONS = Table(
    "conversations",
    columns(
        "conversation_id workspace_id source bot_id chat thread_id agent_id principal",
        "generation transcript_seq created_at updated_at",
    ),
    key=("conversation_id",),
    unique=(("workspace_id", "source", "bot_id", "chat", "thread_id", "agent_id", "principal", "generation"),),
    indexes=(("principal", "conversation_id"),),
)

EVENTS = Table(
    "events",
    columns(
        "event_id event_type workspace_id source source_event_type bot_id principal conversation_id thread_id "
        "actor_type actor_id actor_name subject_type subject_id input_summary body",
        "seq event_time created_at",
    ),
    key=("seq",),
    unique=(("workspace_id", "source", "bot_id", "principal", "event_id"),),
    indexes=(("conversation_id", "seq"), ("event_type", "seq"), ("event_id",), ("actor_id", "seq")),
    sequence_column="seq",
)

INBOX = Table(
    "inbox",
    columns("lane part state run_id", "event_seq attempts transcribed in_flight failures deaths lone_deaths"),
    key=("event_seq",),
    indexes=(("run_id",), ("part", "event_seq")),
)
"""Events that still have to be handled. `part` says which Host owns them (`core/cluster/parts.py`).

`attempts` counts the runs that were started. `in_flight` is 1 while plugins work on the event. `failures` counts the
runs that failed by themselves, `deaths` the crashes of the Host while the event was in flight, and `lone_deaths` the
crashes at which no other event was in flight.
"""

OUTCOMES = Table("outcomes", columns("outcome reason run_id", "event_seq decided_at"), key=("event_seq",))

RUNS = Table(
    "runs",
    columns(
        "run_id event_id agent_id binding_id runner_id plugin_id conversation_id thread_id workspace_id bot_id "
        "part status status_reason error parent_run_id rerun_of created_by claimed_by usage snapshot metadata",
        "event_seq attempt shown effects created_at started_at finished_at updated_at deadline_at "
        "cancel_requested_at lease_until feed_seq",
    ),
    key=("run_id",),
    indexes=(
        ("event_seq",),
        ("status", "run_id"),
        ("agent_id", "run_id"),
        ("conversation_id", "run_id"),
        ("bot_id", "run_id"),
    ),
)

RUN_EVENTS = Table(
    "run_events",
    columns("run_id type data source artifact_refs metadata", "sequence first_sequence last_sequence created_at"),
    key=("run_id", "sequence"),
)

TRANSCRIPT = Table(
    "transcript",
    columns(
        "transcript_id conversation_id thread_id event_id event_type run_id role item_type content content_json "
        "artifact_refs metadata words",
        "seq event_seq created_at",
    ),
    key=("transcript_id",),
    unique=(("conversation_id", "seq"),),
    indexes=(("run_id",),),
)
"""Conversations as users saw them. `words` has the search terms of the content; the full-text indexes use them."""
ITEM_COLUMNS = tuple(name for name in TRANSCRIPT.column_names if name != "words")
"""Columns of a transcript item without its search terms."""

OUTBOX = Table(
    "outbox",
    columns(
        "outbox_id surface target part conversation_id bot_id run_id kind state payload reason platform_message_id",
        "seq feed_seq attempts possibly_repeated not_before expires_at created_at updated_at",
    ),
    key=("seq",),
    unique=(("outbox_id",),),
    indexes=(("state", "part", "seq"), ("conversation_id", "feed_seq"), ("run_id",), ("platform_message_id",)),
    sequence_column="seq",
)

STATE = Table(
    "state",
    columns("scope_key name scope conversation_id value", "updated_at"),
    key=("scope_key", "name"),
    indexes=(("conversation_id",),),
)

AUDIT = Table(
    "audit",
    columns(
        "kind workspace_id actor run_id runner_id plugin_id action resource scope outcome code detail", "seq created_at"
    ),
    key=("seq",),
    indexes=(("run_id",), ("kind", "seq"), ("created_at",)),
    sequence_column="seq",
)
"""Audit entries. Kind `access`: calls of plugins and whether they were permitted; `admin`: changes by operators;
`runtime`: remote workers and their claims.
"""

ARTIFACTS = Table(
    "artifacts",
    columns(
        "artifact_id artifact_type mime_type name sha256 source workspace_id bot_id conversation_id thread_id run_id "
        "runner_id binding_id location reference summary metadata",
        "size_bytes created_at expires_at",
    ),
    key=("artifact_id",),
    indexes=(("conversation_id", "artifact_id"), ("run_id",), ("sha256",), ("created_at",), ("expires_at",)),
)
"""Artifacts. Location `object`: content by sha256 in the object store; `url` and `platform`: fetched on first read."""

STORAGE = Table(
    "storage",
    (*columns("area owner name"), Column("value", "blob"), *columns(integer="size_bytes updated_at")),
    key=("area", "owner", "name"),
)

FEEDBACK = Table(
    "feedback",
    columns(
        "feedback_key feedback_id workspace_id bot_id content reasons user_id session_id message_id stream_id run_id "
        "agent_id conversation_id",
        "feedback_type created_at updated_at",
    ),
    key=("feedback_key",),
    indexes=(("agent_id", "feedback_key"), ("run_id",), ("conversation_id",)),
)

CALLS = Table(
    "calls",
    columns("lineage run_id action request_hash state answer", "position created_at"),
    key=("lineage", "position"),
    indexes=(("run_id",),),
)
"""Recorded calls: `lineage` is the first run of an event's attempts, `position` the order of the call in its run."""

MODEL_CALLS = Table(
    "model_calls",
    columns(
        "call_id run_id actor_type actor_id model_id outcome request answer",
        "truncated created_at finished_at",
    ),
    key=("call_id",),
    indexes=(("run_id",), ("actor_type", "actor_id")),
)
"""Prompt, parameters and answer of each model call of a run; `request` and `answer` are JSON without secrets."""

QUEUE = Table(
    "queue",
    columns("run_id part runner_id plugin_id labels lease request", "created_at"),
    key=("run_id",),
    indexes=(("created_at",), ("part",)),
)
"""Runs that wait for a remote worker, or are claimed by one."""

RUNTIMES = Table(
    "runtimes",
    columns("runtime_id workspace_id plugin_id key_id status definition", "registered_at last_seen_at expires_at"),
    key=("runtime_id",),
)

TRAIL = Table(
    "trail",
    columns("entry_id step data", "event_seq created_at"),
    key=("entry_id",),
    indexes=(("event_seq",),),
)
"""Notes about decisions on an event that no other table records."""

MODEL_PROVIDERS = Table(
    "model_providers", columns("provider_id definition", "created_at updated_at"), key=("provider_id",)
)
"""Configured model services; their keys are sealed."""

MODELS = Table(
    "models",
    columns("model_id provider_id definition", "created_at updated_at"),
    key=("model_id",),
    indexes=(("provider_id",),),
)

BUDGETS = Table("budgets", columns("budget_id definition", "created_at updated_at"), key=("budget_id",))

BUDGET_USES = Table(
    "budget_uses",
    columns("budget_id subject period", "tokens cost_micros updated_at"),
    key=("budget_id", "subject", "period"),
    indexes=(("budget_id", "period", "tokens"), ("period",)),
)
"""Use of a budget by a subject in a period, including current reservations."""

RESERVATIONS = Table(
    "reservations",
    columns("reservation_id run_id model_id held", "tokens cost_micros created_at"),
    key=("reservation_id",),
)
"""Active model calls with their maximum use; `held` lists the rows of `budget_uses` that include it."""

LIMITS = Table(
    "limits",
    columns("policy_id subject shape conversation_id", "window used previous full_at expires_at"),
    key=("policy_id", "subject", "shape"),
    indexes=(("subject",), ("conversation_id",), ("expires_at",)),
)
"""Counters of rate limits: uses in the window that starts at `window` and in the one before.

`full_at` is the time at which a token bucket is full again, in microseconds. All Hosts share the rows.
"""

VERSIONS = Table("versions", columns("name", "version"), key=("name",))
"""Versions of the tables that Hosts cache, by name; see `table_versions.py`."""

TABLES: tuple[Table, ...] = (
    META,
    API_KEYS,
    USERS,
    LOGINS,
    STATISTICS,
    WEBHOOKS,
    SCHEDULES,
    AGENTS,
    BOTS,
    BOT_CURSORS,
    APPROVALS,
    ROUTES,
    DEFAULT_AGENTS,
    JOBS,
    CONVERSATIONS,
    EVENTS,
    INBOX,
    OUTCOMES,
    RUNS,
    RUN_EVENTS,
    TRANSCRIPT,
    OUTBOX,
    STATE,
    AUDIT,
    ARTIFACTS,
    STORAGE,
    FEEDBACK,
    CALLS,
    MODEL_CALLS,
    QUEUE,
    RUNTIMES,
    TRAIL,
    MCP_SERVERS,
    MODEL_PROVIDERS,
    MODELS,
    BUDGETS,
    BUDGET_USES,
    RESERVATIONS,
    NAMES,
    LIMITS,
    PIPELINES,
    PLUGIN_CONFIGS,
    WORD_LISTS,
    VERSIONS,
    DIRECTORY,
    DIRECTORY_MEMBERS,
    DIRECTORY_MESSAGES,
    REPLY_ALLOWANCES,
    KNOWLEDGE_BASES,
    KNOWLEDGE_FILES,
    KNOWLEDGE_CHUNKS,
    MEMORIES,
    MEMORY_CONSENTS,
    SKILLS,
    SKILL_ACTIVATIONS,
    BOX_WORKSPACES,
    HOSTS,
    LEASES,
    OWNERS,
)
