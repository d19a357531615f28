-- Made by `make documents` from the migrations beside it; change those.

CREATE TABLE agents (
	agent_id TEXT NOT NULL, 
	definition TEXT NOT NULL, 
	created_at INTEGER NOT NULL, 
	updated_at INTEGER NOT NULL, 
	PRIMARY KEY (agent_id)
)
 STRICT

;

CREATE TABLE alembic_version (
	version_num VARCHAR(32) NOT NULL, 
	CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num)
);

CREATE TABLE api_keys (
	key_id TEXT NOT NULL, 
	name TEXT NOT NULL, 
	scope TEXT NOT NULL, 
	digest TEXT NOT NULL, 
	created_at INTEGER NOT NULL, 
	expires_at INTEGER NOT NULL, 
	revoked_at INTEGER NOT NULL, last_used_at INTEGER DEFAULT '0' NOT NULL, labels TEXT DEFAULT '[]' NOT NULL, runners TEXT DEFAULT '[]' NOT NULL, 
	PRIMARY KEY (key_id), 
	CONSTRAINT api_keys_unique_digest UNIQUE (digest)
)
 STRICT

;

CREATE TABLE approvals (
	approval_id TEXT NOT NULL, 
	keyword TEXT NOT NULL, 
	status TEXT NOT NULL, 
	action TEXT NOT NULL, 
	call TEXT NOT NULL, 
	hash TEXT NOT NULL, 
	words TEXT NOT NULL, 
	agent_id TEXT NOT NULL, 
	run_id TEXT NOT NULL, 
	conversation_id TEXT NOT NULL, 
	chat TEXT NOT NULL, 
	requester TEXT NOT NULL, 
	who TEXT NOT NULL, 
	decided_by TEXT NOT NULL, 
	reason TEXT NOT NULL, 
	outbox_id TEXT NOT NULL, 
	outcome TEXT NOT NULL, 
	event_seq INTEGER NOT NULL, 
	created_at INTEGER NOT NULL, 
	expires_at INTEGER NOT NULL, 
	decided_at INTEGER NOT NULL, 
	PRIMARY KEY (approval_id)
)
 STRICT

;

CREATE TABLE artifacts (
	artifact_id TEXT NOT NULL, 
	artifact_type TEXT NOT NULL, 
	mime_type TEXT NOT NULL, 
	name TEXT NOT NULL, 
	sha256 TEXT NOT NULL, 
	source TEXT NOT NULL, 
	workspace_id TEXT NOT NULL, 
	bot_id TEXT NOT NULL, 
	conversation_id TEXT NOT NULL, 
	thread_id TEXT NOT NULL, 
	run_id TEXT NOT NULL, 
	runner_id TEXT NOT NULL, 
	binding_id TEXT NOT NULL, 
	location TEXT NOT NULL, 
	reference TEXT NOT NULL, 
	summary TEXT NOT NULL, 
	metadata TEXT NOT NULL, 
	size_bytes INTEGER NOT NULL, 
	created_at INTEGER NOT NULL, 
	expires_at INTEGER NOT NULL, 
	PRIMARY KEY (artifact_id)
)
 STRICT

;

CREATE TABLE audit (
	seq INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	kind TEXT NOT NULL, 
	workspace_id TEXT NOT NULL, 
	actor TEXT NOT NULL, 
	run_id TEXT NOT NULL, 
	runner_id TEXT NOT NULL, 
	plugin_id TEXT NOT NULL, 
	action TEXT NOT NULL, 
	resource TEXT NOT NULL, 
	scope TEXT NOT NULL, 
	outcome TEXT NOT NULL, 
	code TEXT NOT NULL, 
	detail TEXT NOT NULL, 
	created_at INTEGER NOT NULL
)
 STRICT

;

CREATE TABLE bot_cursors (
	bot_id TEXT NOT NULL, 
	cursor TEXT NOT NULL, 
	updated_at INTEGER NOT NULL, 
	PRIMARY KEY (bot_id)
)
 STRICT

;

CREATE TABLE bots (
	bot_id TEXT NOT NULL, 
	definition TEXT NOT NULL, 
	created_at INTEGER NOT NULL, 
	updated_at INTEGER NOT NULL, 
	PRIMARY KEY (bot_id)
)
 STRICT

;

CREATE TABLE box_workspaces (
	conversation_id TEXT NOT NULL, 
	session_id TEXT NOT NULL, 
	workspace_id TEXT NOT NULL, 
	expires_at INTEGER NOT NULL, 
	PRIMARY KEY (conversation_id, session_id)
)
 STRICT

;

CREATE TABLE budget_uses (
	budget_id TEXT NOT NULL, 
	subject TEXT NOT NULL, 
	period TEXT NOT NULL, 
	tokens INTEGER NOT NULL, 
	cost_micros INTEGER NOT NULL, 
	updated_at INTEGER NOT NULL, 
	PRIMARY KEY (budget_id, subject, period)
)
 STRICT

;

CREATE TABLE budgets (
	budget_id TEXT NOT NULL, 
	definition TEXT NOT NULL, 
	created_at INTEGER NOT NULL, 
	updated_at INTEGER NOT NULL, 
	PRIMARY KEY (budget_id)
)
 STRICT

;

CREATE TABLE calls (
	lineage TEXT NOT NULL, 
	run_id TEXT NOT NULL, 
	action TEXT NOT NULL, 
	request_hash TEXT NOT NULL, 
	state TEXT NOT NULL, 
	answer TEXT NOT NULL, 
	position INTEGER NOT NULL, 
	created_at INTEGER NOT NULL, 
	PRIMARY KEY (lineage, position)
)
 STRICT

;

CREATE TABLE conversations (
	conversation_id TEXT NOT NULL, 
	workspace_id TEXT NOT NULL, 
	source TEXT NOT NULL, 
	bot_id TEXT NOT NULL, 
	chat TEXT NOT NULL, 
	thread_id TEXT NOT NULL, 
	agent_id TEXT NOT NULL, 
	principal TEXT NOT NULL, 
	generation INTEGER NOT NULL, 
	transcript_seq INTEGER NOT NULL, 
	created_at INTEGER NOT NULL, 
	updated_at INTEGER NOT NULL, 
	PRIMARY KEY (conversation_id), 
	CONSTRAINT conversations_unique_generation UNIQUE (workspace_id, source, bot_id, chat, thread_id, agent_id, principal, generation)
)
 STRICT

;

CREATE TABLE default_agents (
	default_id TEXT NOT NULL, 
	scope TEXT NOT NULL, 
	platform TEXT NOT NULL, 
	bot_id TEXT NOT NULL, 
	chat TEXT NOT NULL, 
	thread_id TEXT NOT NULL, 
	actor_id TEXT NOT NULL, 
	agent_id TEXT NOT NULL, 
	created_at INTEGER NOT NULL, 
	updated_at INTEGER NOT NULL, 
	PRIMARY KEY (default_id), 
	CONSTRAINT default_agents_unique_place UNIQUE (scope, platform, bot_id, chat, thread_id, actor_id)
)
 STRICT

;

CREATE TABLE directory (
	bot_id TEXT NOT NULL, 
	kind TEXT NOT NULL, 
	entity_id TEXT NOT NULL, 
	name TEXT NOT NULL, 
	data TEXT NOT NULL, 
	private INTEGER NOT NULL, 
	seen_at INTEGER NOT NULL, 
	PRIMARY KEY (bot_id, kind, entity_id)
)
 STRICT

;

CREATE TABLE directory_members (
	bot_id TEXT NOT NULL, 
	group_id TEXT NOT NULL, 
	user_id TEXT NOT NULL, 
	name TEXT NOT NULL, 
	role TEXT NOT NULL, 
	seen_at INTEGER NOT NULL, 
	PRIMARY KEY (bot_id, group_id, user_id)
)
 STRICT

;

CREATE TABLE directory_messages (
	bot_id TEXT NOT NULL, 
	chat TEXT NOT NULL, 
	message_id TEXT NOT NULL, 
	thread_id TEXT NOT NULL, 
	event_id TEXT NOT NULL, 
	sender_id TEXT NOT NULL, 
	seen_at INTEGER NOT NULL, 
	PRIMARY KEY (bot_id, chat, message_id)
)
 STRICT

;

CREATE TABLE events (
	seq INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	event_id TEXT NOT NULL, 
	event_type TEXT NOT NULL, 
	workspace_id TEXT NOT NULL, 
	source TEXT NOT NULL, 
	source_event_type TEXT NOT NULL, 
	bot_id TEXT NOT NULL, 
	principal TEXT NOT NULL, 
	conversation_id TEXT NOT NULL, 
	thread_id TEXT NOT NULL, 
	actor_type TEXT NOT NULL, 
	actor_id TEXT NOT NULL, 
	actor_name TEXT NOT NULL, 
	subject_type TEXT NOT NULL, 
	subject_id TEXT NOT NULL, 
	input_summary TEXT NOT NULL, 
	body TEXT NOT NULL, 
	event_time INTEGER NOT NULL, 
	created_at INTEGER NOT NULL, 
	CONSTRAINT events_unique_event_id UNIQUE (workspace_id, source, bot_id, principal, event_id)
)
 STRICT

;

CREATE TABLE feedback (
	feedback_key TEXT NOT NULL, 
	feedback_id TEXT NOT NULL, 
	workspace_id TEXT NOT NULL, 
	bot_id TEXT NOT NULL, 
	content TEXT NOT NULL, 
	reasons TEXT NOT NULL, 
	user_id TEXT NOT NULL, 
	session_id TEXT NOT NULL, 
	message_id TEXT NOT NULL, 
	stream_id TEXT NOT NULL, 
	run_id TEXT NOT NULL, 
	agent_id TEXT NOT NULL, 
	conversation_id TEXT NOT NULL, 
	feedback_type INTEGER NOT NULL, 
	created_at INTEGER NOT NULL, 
	updated_at INTEGER NOT NULL, 
	PRIMARY KEY (feedback_key)
)
 STRICT

;

CREATE TABLE hosts (
	host_id TEXT NOT NULL, 
	name TEXT NOT NULL, 
	version TEXT NOT NULL, 
	started_at INTEGER NOT NULL, 
	fenced_at INTEGER NOT NULL, address TEXT DEFAULT '' NOT NULL, draining INTEGER DEFAULT '0' NOT NULL, 
	PRIMARY KEY (host_id)
)
 STRICT

;

CREATE TABLE inbox (
	lane TEXT NOT NULL, 
	state TEXT NOT NULL, 
	run_id TEXT NOT NULL, 
	event_seq INTEGER NOT NULL, 
	attempts INTEGER NOT NULL, 
	transcribed INTEGER NOT NULL, in_flight INTEGER DEFAULT '0' NOT NULL, failures INTEGER DEFAULT '0' NOT NULL, deaths INTEGER DEFAULT '0' NOT NULL, lone_deaths INTEGER DEFAULT '0' NOT NULL, part TEXT DEFAULT '' NOT NULL, 
	PRIMARY KEY (event_seq)
)
 STRICT

;

CREATE TABLE jobs (
	job_id TEXT NOT NULL, 
	kind TEXT NOT NULL, 
	order_key TEXT NOT NULL, 
	part TEXT NOT NULL, 
	state TEXT NOT NULL, 
	payload TEXT NOT NULL, 
	owner TEXT NOT NULL, 
	stage TEXT NOT NULL, 
	message TEXT NOT NULL, 
	error TEXT NOT NULL, 
	event_seq INTEGER NOT NULL, 
	attempts INTEGER NOT NULL, 
	max_attempts INTEGER NOT NULL, 
	interruptions INTEGER NOT NULL, 
	not_before INTEGER NOT NULL, 
	done INTEGER NOT NULL, 
	total INTEGER NOT NULL, 
	cancel_requested_at INTEGER NOT NULL, 
	lease_until INTEGER NOT NULL, 
	created_at INTEGER NOT NULL, 
	started_at INTEGER NOT NULL, 
	finished_at INTEGER NOT NULL, 
	PRIMARY KEY (job_id)
)
 STRICT

;

CREATE TABLE knowledge_bases (
	kb_id TEXT NOT NULL, 
	name TEXT NOT NULL, 
	definition TEXT NOT NULL, 
	state TEXT NOT NULL, 
	generation INTEGER NOT NULL, 
	dimension INTEGER NOT NULL, 
	files INTEGER NOT NULL, 
	chunks INTEGER NOT NULL, 
	bytes INTEGER NOT NULL, 
	created_at INTEGER NOT NULL, 
	updated_at INTEGER NOT NULL, 
	PRIMARY KEY (kb_id)
)
 STRICT

;

CREATE TABLE knowledge_chunks (
	chunk_id TEXT NOT NULL, 
	kb_id TEXT NOT NULL, 
	file_id TEXT NOT NULL, 
	text TEXT NOT NULL, 
	heading TEXT NOT NULL, 
	hints TEXT NOT NULL, 
	words TEXT NOT NULL, 
	origin TEXT NOT NULL, 
	generation INTEGER NOT NULL, 
	position INTEGER NOT NULL, 
	page INTEGER NOT NULL, 
	char_start INTEGER NOT NULL, 
	char_end INTEGER NOT NULL, 
	tokens INTEGER NOT NULL, 
	enabled INTEGER NOT NULL, 
	updated_at INTEGER NOT NULL, 
	PRIMARY KEY (chunk_id)
)
 STRICT

;

CREATE VIRTUAL TABLE knowledge_chunks_words USING fts5(words, content='knowledge_chunks', tokenize='unicode61 remove_diacritics 0', detail=none);

CREATE TABLE knowledge_files (
	file_id TEXT NOT NULL, 
	kb_id TEXT NOT NULL, 
	name TEXT NOT NULL, 
	mime_type TEXT NOT NULL, 
	sha256 TEXT NOT NULL, 
	artifact_id TEXT NOT NULL, 
	source TEXT NOT NULL, 
	address TEXT NOT NULL, 
	metadata TEXT NOT NULL, 
	options TEXT NOT NULL, 
	state TEXT NOT NULL, 
	job_id TEXT NOT NULL, 
	error_code TEXT NOT NULL, 
	error TEXT NOT NULL, 
	parser TEXT NOT NULL, 
	generation INTEGER NOT NULL, 
	size_bytes INTEGER NOT NULL, 
	pages INTEGER NOT NULL, 
	chunks INTEGER NOT NULL, 
	refreshed_at INTEGER NOT NULL, 
	created_at INTEGER NOT NULL, 
	updated_at INTEGER NOT NULL, 
	PRIMARY KEY (file_id)
)
 STRICT

;

CREATE TABLE leases (
	host_id TEXT NOT NULL, 
	slot INTEGER NOT NULL, 
	lease_until INTEGER NOT NULL, 
	PRIMARY KEY (host_id), 
	UNIQUE (slot)
)
 STRICT

;

CREATE TABLE limits (
	policy_id TEXT NOT NULL, 
	subject TEXT NOT NULL, 
	shape TEXT NOT NULL, 
	conversation_id TEXT NOT NULL, 
	window INTEGER NOT NULL, 
	used INTEGER NOT NULL, 
	previous INTEGER NOT NULL, 
	full_at INTEGER NOT NULL, 
	expires_at INTEGER NOT NULL, 
	PRIMARY KEY (policy_id, subject, shape)
)
 STRICT

;

CREATE TABLE logins (
	digest TEXT NOT NULL, 
	user_id TEXT NOT NULL, 
	csrf TEXT NOT NULL, 
	agent TEXT NOT NULL, 
	address TEXT NOT NULL, 
	created_at INTEGER NOT NULL, 
	seen_at INTEGER NOT NULL, 
	expires_at INTEGER NOT NULL, 
	PRIMARY KEY (digest)
)
 STRICT

;

CREATE TABLE mcp_servers (
	server_id TEXT NOT NULL, 
	name TEXT NOT NULL, 
	definition TEXT NOT NULL, 
	created_at INTEGER NOT NULL, 
	updated_at INTEGER NOT NULL, 
	PRIMARY KEY (server_id), 
	CONSTRAINT mcp_servers_unique_name UNIQUE (name)
)
 STRICT

;

CREATE TABLE memories (
	memory_id TEXT NOT NULL, 
	agent_id TEXT NOT NULL, 
	bot_id TEXT NOT NULL, 
	owner_type TEXT NOT NULL, 
	owner_id TEXT NOT NULL, 
	principal TEXT NOT NULL, 
	chat TEXT NOT NULL, 
	conversation_id TEXT NOT NULL, 
	run_id TEXT NOT NULL, 
	text TEXT NOT NULL, 
	origin TEXT NOT NULL, 
	private INTEGER NOT NULL, 
	created_at INTEGER NOT NULL, 
	updated_at INTEGER NOT NULL, 
	expires_at INTEGER NOT NULL, 
	PRIMARY KEY (memory_id)
)
 STRICT

;

CREATE TABLE memory_consents (
	agent_id TEXT NOT NULL, 
	bot_id TEXT NOT NULL, 
	owner_type TEXT NOT NULL, 
	owner_id TEXT NOT NULL, 
	principal TEXT NOT NULL, 
	decision TEXT NOT NULL, 
	updated_at INTEGER NOT NULL, 
	PRIMARY KEY (agent_id, bot_id, owner_type, owner_id, principal)
)
 STRICT

;

CREATE TABLE meta (
	name TEXT NOT NULL, 
	value TEXT NOT NULL, 
	PRIMARY KEY (name)
)
 STRICT

;

CREATE TABLE model_calls (
	call_id TEXT NOT NULL, 
	run_id TEXT NOT NULL, 
	actor_type TEXT NOT NULL, 
	actor_id TEXT NOT NULL, 
	model_id TEXT NOT NULL, 
	outcome TEXT NOT NULL, 
	request TEXT NOT NULL, 
	answer TEXT NOT NULL, 
	truncated INTEGER NOT NULL, 
	created_at INTEGER NOT NULL, 
	finished_at INTEGER NOT NULL, 
	PRIMARY KEY (call_id)
)
 STRICT

;

CREATE TABLE model_providers (
	provider_id TEXT NOT NULL, 
	definition TEXT NOT NULL, 
	created_at INTEGER NOT NULL, 
	updated_at INTEGER NOT NULL, 
	PRIMARY KEY (provider_id)
)
 STRICT

;

CREATE TABLE models (
	model_id TEXT NOT NULL, 
	provider_id TEXT NOT NULL, 
	definition TEXT NOT NULL, 
	created_at INTEGER NOT NULL, 
	updated_at INTEGER NOT NULL, 
	PRIMARY KEY (model_id)
)
 STRICT

;

CREATE TABLE names (
	bot_id TEXT NOT NULL, 
	kind TEXT NOT NULL, 
	entity_id TEXT NOT NULL, 
	name TEXT NOT NULL, 
	created_at INTEGER NOT NULL, 
	expires_at INTEGER NOT NULL, 
	PRIMARY KEY (bot_id, kind, entity_id)
)
 STRICT

;

CREATE TABLE outbox (
	seq INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	outbox_id TEXT NOT NULL, 
	surface TEXT NOT NULL, 
	target TEXT NOT NULL, 
	conversation_id TEXT NOT NULL, 
	bot_id TEXT NOT NULL, 
	run_id TEXT NOT NULL, 
	kind TEXT NOT NULL, 
	state TEXT NOT NULL, 
	payload TEXT NOT NULL, 
	reason TEXT NOT NULL, 
	platform_message_id TEXT NOT NULL, 
	feed_seq INTEGER NOT NULL, 
	attempts INTEGER NOT NULL, 
	possibly_repeated INTEGER NOT NULL, 
	not_before INTEGER NOT NULL, 
	expires_at INTEGER NOT NULL, 
	created_at INTEGER NOT NULL, 
	updated_at INTEGER NOT NULL, part TEXT DEFAULT '' NOT NULL, 
	CONSTRAINT outbox_unique_outbox_id UNIQUE (outbox_id)
)
 STRICT

;

CREATE TABLE outcomes (
	outcome TEXT NOT NULL, 
	reason TEXT NOT NULL, 
	run_id TEXT NOT NULL, 
	event_seq INTEGER NOT NULL, 
	decided_at INTEGER NOT NULL, 
	PRIMARY KEY (event_seq)
)
 STRICT

;

CREATE TABLE owners (
	part TEXT NOT NULL, 
	host_id TEXT NOT NULL, 
	wanted TEXT NOT NULL, 
	epoch INTEGER NOT NULL, 
	moved_at INTEGER NOT NULL, 
	PRIMARY KEY (part)
)
 STRICT

;

CREATE TABLE pipelines (
	pipeline_id TEXT NOT NULL, 
	definition TEXT NOT NULL, 
	created_at INTEGER NOT NULL, 
	updated_at INTEGER NOT NULL, 
	PRIMARY KEY (pipeline_id)
)
 STRICT

;

CREATE TABLE plugin_configs (
	plugin_id TEXT NOT NULL, 
	definition TEXT NOT NULL, 
	created_at INTEGER NOT NULL, 
	updated_at INTEGER NOT NULL, 
	PRIMARY KEY (plugin_id)
)
 STRICT

;

CREATE TABLE queue (
	run_id TEXT NOT NULL, 
	runner_id TEXT NOT NULL, 
	plugin_id TEXT NOT NULL, 
	labels TEXT NOT NULL, 
	lease TEXT NOT NULL, 
	request TEXT NOT NULL, 
	created_at INTEGER NOT NULL, part TEXT DEFAULT '' NOT NULL, 
	PRIMARY KEY (run_id)
)
 STRICT

;

CREATE TABLE reply_allowances (
	bot_id TEXT NOT NULL, 
	event_id TEXT NOT NULL, 
	chat TEXT NOT NULL, 
	handle TEXT NOT NULL, 
	fallback TEXT NOT NULL, 
	scope TEXT NOT NULL, 
	reason TEXT NOT NULL, 
	allowed INTEGER NOT NULL, 
	used INTEGER NOT NULL, 
	repeatable INTEGER NOT NULL, 
	until INTEGER NOT NULL, 
	created_at INTEGER NOT NULL, 
	expires_at INTEGER NOT NULL, 
	PRIMARY KEY (bot_id, event_id)
)
 STRICT

;

CREATE TABLE reservations (
	reservation_id TEXT NOT NULL, 
	run_id TEXT NOT NULL, 
	model_id TEXT NOT NULL, 
	held TEXT NOT NULL, 
	tokens INTEGER NOT NULL, 
	cost_micros INTEGER NOT NULL, 
	created_at INTEGER NOT NULL, 
	PRIMARY KEY (reservation_id)
)
 STRICT

;

CREATE TABLE routes (
	route_id TEXT NOT NULL, 
	bot_id TEXT NOT NULL, 
	definition TEXT NOT NULL, 
	position INTEGER NOT NULL, 
	PRIMARY KEY (route_id)
)
 STRICT

;

CREATE TABLE run_events (
	run_id TEXT NOT NULL, 
	type TEXT NOT NULL, 
	data TEXT NOT NULL, 
	source TEXT NOT NULL, 
	artifact_refs TEXT NOT NULL, 
	metadata TEXT NOT NULL, 
	sequence INTEGER NOT NULL, 
	first_sequence INTEGER NOT NULL, 
	last_sequence INTEGER NOT NULL, 
	created_at INTEGER NOT NULL, 
	PRIMARY KEY (run_id, sequence)
)
 STRICT

;

CREATE TABLE runs (
	run_id TEXT NOT NULL, 
	event_id TEXT NOT NULL, 
	agent_id TEXT NOT NULL, 
	binding_id TEXT NOT NULL, 
	runner_id TEXT NOT NULL, 
	plugin_id TEXT NOT NULL, 
	conversation_id TEXT NOT NULL, 
	thread_id TEXT NOT NULL, 
	workspace_id TEXT NOT NULL, 
	bot_id TEXT NOT NULL, 
	status TEXT NOT NULL, 
	status_reason TEXT NOT NULL, 
	error TEXT NOT NULL, 
	parent_run_id TEXT NOT NULL, 
	claimed_by TEXT NOT NULL, 
	usage TEXT NOT NULL, 
	snapshot TEXT NOT NULL, 
	metadata TEXT NOT NULL, 
	event_seq INTEGER NOT NULL, 
	attempt INTEGER NOT NULL, 
	shown INTEGER NOT NULL, 
	effects INTEGER NOT NULL, 
	created_at INTEGER NOT NULL, 
	started_at INTEGER NOT NULL, 
	finished_at INTEGER NOT NULL, 
	updated_at INTEGER NOT NULL, 
	deadline_at INTEGER NOT NULL, 
	cancel_requested_at INTEGER NOT NULL, 
	lease_until INTEGER NOT NULL, 
	feed_seq INTEGER NOT NULL, rerun_of TEXT DEFAULT '' NOT NULL, created_by TEXT DEFAULT '' NOT NULL, part TEXT DEFAULT '' NOT NULL, 
	PRIMARY KEY (run_id)
)
 STRICT

;

CREATE TABLE runtimes (
	runtime_id TEXT NOT NULL, 
	workspace_id TEXT NOT NULL, 
	plugin_id TEXT NOT NULL, 
	status TEXT NOT NULL, 
	definition TEXT NOT NULL, 
	registered_at INTEGER NOT NULL, 
	last_seen_at INTEGER NOT NULL, 
	expires_at INTEGER NOT NULL, key_id TEXT DEFAULT '' NOT NULL, 
	PRIMARY KEY (runtime_id)
)
 STRICT

;

CREATE TABLE schedules (
	schedule_id TEXT NOT NULL, 
	definition TEXT NOT NULL, 
	due_at INTEGER NOT NULL, 
	fired_at INTEGER NOT NULL, 
	created_at INTEGER NOT NULL, 
	updated_at INTEGER NOT NULL, 
	PRIMARY KEY (schedule_id)
)
 STRICT

;

CREATE TABLE skill_activations (
	conversation_id TEXT NOT NULL, 
	skill_name TEXT NOT NULL, 
	run_id TEXT NOT NULL, 
	activated_at INTEGER NOT NULL, 
	expires_at INTEGER NOT NULL, 
	PRIMARY KEY (conversation_id, skill_name)
)
 STRICT

;

CREATE TABLE skills (
	skill_name TEXT NOT NULL, 
	definition TEXT NOT NULL, 
	sha256 TEXT NOT NULL, 
	artifact_id TEXT NOT NULL, 
	created_at INTEGER NOT NULL, 
	updated_at INTEGER NOT NULL, 
	PRIMARY KEY (skill_name)
)
 STRICT

;

CREATE TABLE state (
	scope_key TEXT NOT NULL, 
	name TEXT NOT NULL, 
	scope TEXT NOT NULL, 
	conversation_id TEXT NOT NULL, 
	value TEXT NOT NULL, 
	updated_at INTEGER NOT NULL, 
	PRIMARY KEY (scope_key, name)
)
 STRICT

;

CREATE TABLE statistics (
	name TEXT NOT NULL, 
	hour INTEGER NOT NULL, 
	amount INTEGER NOT NULL, 
	PRIMARY KEY (hour, name)
)
 STRICT

;

CREATE TABLE storage (
	area TEXT NOT NULL, 
	owner TEXT NOT NULL, 
	name TEXT NOT NULL, 
	value BLOB NOT NULL, 
	size_bytes INTEGER NOT NULL, 
	updated_at INTEGER NOT NULL, 
	PRIMARY KEY (area, owner, name)
)
 STRICT

;

CREATE TABLE trail (
	entry_id TEXT NOT NULL, 
	step TEXT NOT NULL, 
	data TEXT NOT NULL, 
	event_seq INTEGER NOT NULL, 
	created_at INTEGER NOT NULL, 
	PRIMARY KEY (entry_id)
)
 STRICT

;

CREATE TABLE transcript (
	transcript_id TEXT NOT NULL, 
	conversation_id TEXT NOT NULL, 
	thread_id TEXT NOT NULL, 
	event_id TEXT NOT NULL, 
	run_id TEXT NOT NULL, 
	role TEXT NOT NULL, 
	item_type TEXT NOT NULL, 
	content TEXT NOT NULL, 
	content_json TEXT NOT NULL, 
	artifact_refs TEXT NOT NULL, 
	metadata TEXT NOT NULL, 
	seq INTEGER NOT NULL, 
	event_seq INTEGER NOT NULL, 
	created_at INTEGER NOT NULL, event_type TEXT DEFAULT '' NOT NULL, words TEXT DEFAULT '' NOT NULL, 
	PRIMARY KEY (transcript_id), 
	CONSTRAINT transcript_unique_seq UNIQUE (conversation_id, seq)
)
 STRICT

;

CREATE VIRTUAL TABLE transcript_words USING fts5(words, content='transcript', tokenize='unicode61 remove_diacritics 0');

CREATE TABLE users (
	user_id TEXT NOT NULL, 
	email TEXT NOT NULL, 
	name TEXT NOT NULL, 
	role TEXT NOT NULL, 
	password TEXT NOT NULL, 
	enabled INTEGER NOT NULL, 
	created_at INTEGER NOT NULL, 
	updated_at INTEGER NOT NULL, 
	PRIMARY KEY (user_id), 
	CONSTRAINT users_unique_email UNIQUE (email)
)
 STRICT

;

CREATE TABLE versions (
	name TEXT NOT NULL, 
	version INTEGER NOT NULL, 
	PRIMARY KEY (name)
)
 STRICT

;

CREATE TABLE webhooks (
	webhook_id TEXT NOT NULL, 
	definition TEXT NOT NULL, 
	created_at INTEGER NOT NULL, 
	updated_at INTEGER NOT NULL, 
	PRIMARY KEY (webhook_id)
)
 STRICT

;

CREATE TABLE word_lists (
	list_id TEXT NOT NULL, 
	definition TEXT NOT NULL, 
	created_at INTEGER NOT NULL, 
	updated_at INTEGER NOT NULL, 
	PRIMARY KEY (list_id)
)
 STRICT

;

CREATE INDEX approvals_by_conversation_id ON approvals (conversation_id);

CREATE INDEX approvals_by_created_at ON approvals (created_at);

CREATE INDEX approvals_by_run_id ON approvals (run_id);

CREATE INDEX approvals_by_status_approval_id ON approvals (status, approval_id);

CREATE INDEX artifacts_by_conversation_id_artifact_id ON artifacts (conversation_id, artifact_id);

CREATE INDEX artifacts_by_created_at ON artifacts (created_at);

CREATE INDEX artifacts_by_expires_at ON artifacts (expires_at);

CREATE INDEX artifacts_by_run_id ON artifacts (run_id);

CREATE INDEX artifacts_by_sha256 ON artifacts (sha256);

CREATE INDEX audit_by_created_at ON audit (created_at);

CREATE INDEX audit_by_kind_seq ON audit (kind, seq);

CREATE INDEX audit_by_run_id ON audit (run_id);

CREATE INDEX box_workspaces_by_expires_at ON box_workspaces (expires_at);

CREATE INDEX box_workspaces_by_session_id ON box_workspaces (session_id);

CREATE INDEX budget_uses_by_budget_id_period_tokens ON budget_uses (budget_id, period, tokens);

CREATE INDEX budget_uses_by_period ON budget_uses (period);

CREATE INDEX calls_by_run_id ON calls (run_id);

CREATE INDEX conversations_by_principal_conversation_id ON conversations (principal, conversation_id);

CREATE INDEX directory_by_seen_at ON directory (seen_at);

CREATE INDEX directory_members_by_bot_id_user_id ON directory_members (bot_id, user_id);

CREATE INDEX directory_members_by_seen_at ON directory_members (seen_at);

CREATE INDEX directory_messages_by_bot_id_message_id ON directory_messages (bot_id, message_id);

CREATE INDEX directory_messages_by_bot_id_sender_id ON directory_messages (bot_id, sender_id);

CREATE INDEX directory_messages_by_seen_at ON directory_messages (seen_at);

CREATE INDEX events_by_actor_id_seq ON events (actor_id, seq);

CREATE INDEX events_by_conversation_id_seq ON events (conversation_id, seq);

CREATE INDEX events_by_event_id ON events (event_id);

CREATE INDEX events_by_event_type_seq ON events (event_type, seq);

CREATE INDEX feedback_by_agent_id_feedback_key ON feedback (agent_id, feedback_key);

CREATE INDEX feedback_by_conversation_id ON feedback (conversation_id);

CREATE INDEX feedback_by_run_id ON feedback (run_id);

CREATE INDEX inbox_by_part_event_seq ON inbox (part, event_seq);

CREATE INDEX inbox_by_run_id ON inbox (run_id);

CREATE INDEX jobs_by_event_seq ON jobs (event_seq);

CREATE INDEX jobs_by_kind_order_key_state_event_seq_job_id ON jobs (kind, order_key, state, event_seq, job_id);

CREATE INDEX jobs_by_state_part ON jobs (state, part);

CREATE INDEX knowledge_chunks_by_file_id_generation_position ON knowledge_chunks (file_id, generation, position);

CREATE INDEX knowledge_chunks_by_kb_id_chunk_id ON knowledge_chunks (kb_id, chunk_id);

CREATE INDEX knowledge_files_by_artifact_id ON knowledge_files (artifact_id);

CREATE INDEX knowledge_files_by_kb_id_file_id ON knowledge_files (kb_id, file_id);

CREATE INDEX knowledge_files_by_kb_id_name ON knowledge_files (kb_id, name);

CREATE INDEX knowledge_files_by_kb_id_sha256 ON knowledge_files (kb_id, sha256);

CREATE INDEX limits_by_conversation_id ON limits (conversation_id);

CREATE INDEX limits_by_expires_at ON limits (expires_at);

CREATE INDEX limits_by_subject ON limits (subject);

CREATE INDEX logins_by_expires_at ON logins (expires_at);

CREATE INDEX logins_by_user_id ON logins (user_id);

CREATE INDEX memories_by_agent_id_bot_id_owner_type_owner_id_principal ON memories (agent_id, bot_id, owner_type, owner_id, principal);

CREATE INDEX memories_by_conversation_id ON memories (conversation_id);

CREATE INDEX memories_by_expires_at ON memories (expires_at);

CREATE INDEX memories_by_owner_type_owner_id ON memories (owner_type, owner_id);

CREATE INDEX memory_consents_by_owner_type_owner_id ON memory_consents (owner_type, owner_id);

CREATE INDEX model_calls_by_actor_type_actor_id ON model_calls (actor_type, actor_id);

CREATE INDEX model_calls_by_run_id ON model_calls (run_id);

CREATE INDEX models_by_provider_id ON models (provider_id);

CREATE INDEX names_by_expires_at ON names (expires_at);

CREATE INDEX outbox_by_conversation_id_feed_seq ON outbox (conversation_id, feed_seq);

CREATE INDEX outbox_by_platform_message_id ON outbox (platform_message_id);

CREATE INDEX outbox_by_run_id ON outbox (run_id);

CREATE INDEX outbox_by_state_part_seq ON outbox (state, part, seq);

CREATE INDEX owners_by_host_id ON owners (host_id);

CREATE INDEX queue_by_created_at ON queue (created_at);

CREATE INDEX queue_by_part ON queue (part);

CREATE INDEX reply_allowances_by_bot_id_chat_created_at ON reply_allowances (bot_id, chat, created_at);

CREATE INDEX reply_allowances_by_expires_at ON reply_allowances (expires_at);

CREATE INDEX routes_by_bot_id_position ON routes (bot_id, position);

CREATE INDEX runs_by_agent_id_run_id ON runs (agent_id, run_id);

CREATE INDEX runs_by_bot_id_run_id ON runs (bot_id, run_id);

CREATE INDEX runs_by_conversation_id_run_id ON runs (conversation_id, run_id);

CREATE INDEX runs_by_event_seq ON runs (event_seq);

CREATE INDEX runs_by_status_run_id ON runs (status, run_id);

CREATE INDEX skill_activations_by_expires_at ON skill_activations (expires_at);

CREATE INDEX skill_activations_by_skill_name ON skill_activations (skill_name);

CREATE INDEX skills_by_artifact_id ON skills (artifact_id);

CREATE INDEX state_by_conversation_id ON state (conversation_id);

CREATE INDEX trail_by_event_seq ON trail (event_seq);

CREATE INDEX transcript_by_run_id ON transcript (run_id);

CREATE TRIGGER knowledge_chunks_added AFTER INSERT ON knowledge_chunks BEGIN INSERT INTO knowledge_chunks_words (rowid, words) VALUES (new.rowid, new.words); END;

CREATE TRIGGER knowledge_chunks_changed AFTER UPDATE OF words ON knowledge_chunks BEGIN INSERT INTO knowledge_chunks_words (knowledge_chunks_words, rowid, words) VALUES ('delete', old.rowid, old.words); INSERT INTO knowledge_chunks_words (rowid, words) VALUES (new.rowid, new.words); END;

CREATE TRIGGER knowledge_chunks_removed AFTER DELETE ON knowledge_chunks BEGIN INSERT INTO knowledge_chunks_words (knowledge_chunks_words, rowid, words) VALUES ('delete', old.rowid, old.words); END;

CREATE TRIGGER transcript_removed AFTER DELETE ON transcript WHEN EXISTS (SELECT 1 FROM transcript_words_docsize WHERE id = old.rowid) BEGIN INSERT INTO transcript_words (transcript_words, rowid, words) VALUES ('delete', old.rowid, old.words); END;

INSERT INTO alembic_version VALUES ('0026');
