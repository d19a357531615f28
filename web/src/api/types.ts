// The shapes of what the Host answers, as far as the page reads them; tests/types.test.ts holds them against its document.

export type Text = Record<string, string>;
export type Json = null | boolean | number | string | Json[] | { [name: string]: Json };
export type Fields = Record<string, unknown>;
export type Page<T> = { items: T[]; next_cursor: string | null };

export type Role = "owner" | "admin" | "operator" | "viewer";
export type Me = {
  kind: "user" | "key";
  user_id: string;
  email: string;
  name: string;
  role: Role;
  reads_model_calls: boolean;
  csrf_token: string;
};
export type Setup = { needed: boolean; token_required: boolean };
export type Info = {
  version: string;
  protocol: number;
  outbound_ips: string[];
  time_zone: string;
  currency: string;
  features: Record<string, boolean>;
};

export type FormType =
  | "string" | "text" | "secret" | "integer" | "number" | "boolean" | "select" | "multi-select" | "json"
  | "prompt-editor" | "llm-model-selector" | "model-fallback-selector" | "rerank-model-selector"
  | "embedding-model-selector" | "knowledge-base-multi-selector" | "tool-multi-selector" | "skill-multi-selector"
  | "file" | "array[file]" | "array[string]";
export type FormItem = {
  name: string;
  label: Text;
  description: Text | null;
  type: FormType;
  required: boolean;
  default: unknown;
  options: { value: string; label: Text | null }[] | null;
  show_if: Fields | null;
  minimum?: number | null;
  maximum?: number | null;
  display: boolean;
};

export type Runner = {
  id: string;
  label: Text;
  description: Text | null;
  capabilities: Record<string, boolean>;
  permissions: Record<string, string[]>;
  config_schema: FormItem[];
  plugin: { id: string; version: string; status: string };
};
export type Selection = "*" | string[];
export type Agent = {
  agent_id: string;
  name: string;
  description: string;
  runner_id: string;
  runner_config: Fields;
  resource_policy: Record<string, unknown>;
  state_policy: { enabled: boolean; scopes: string[] };
  delivery_policy: Fields;
  approval_policy: Record<string, unknown>;
  restart_policy: "auto" | "never" | "always";
  timeout_seconds: number;
  stale_after: number;
  conversation_ttl: number;
  journal_calls: boolean;
  event_types: string[];
  enabled: boolean;
};

export type Usage = { model_calls?: number; tool_calls?: number; unpriced_calls?: number; prompt_tokens?: number; completion_tokens?: number; cost_micros?: number };
export type RunStatus = string;
export type Run = {
  run_id: string;
  event_id: string;
  status: RunStatus;
  status_reason: string | null;
  error: { code?: string; message?: string } | string | null;
  agent_id: string | null;
  bot_id: string | null;
  conversation_id: string | null;
  rerun_of: string | null;
  parent_run_id: string | null;
  runner_id: string;
  attempt: number;
  created_at: number;
  started_at: number | null;
  finished_at: number | null;
  usage: Usage;
  authorization: Grants;
  agent_name?: string | null;
  input_summary?: string | null;
  actor_name?: string | null;
  /** Of one run, not of those in a list. */
  event?: EventRecord | null;
  deliveries?: Delivery[];
  denials?: Denial[];
  reruns?: { run_id: string; agent_id: string | null; status: RunStatus }[];
  /** Of a rerun only. */
  texts?: string[];
  original?: RunSide | null;
};
export type RunSide = Pick<Run, "run_id" | "agent_id" | "status" | "error" | "usage" | "started_at" | "finished_at"> & { texts: string[] };
export type PromptMessage = { role: string; content?: unknown; name?: string; reasoning?: string; tool_calls?: Fields[]; tool_call_id?: string };
export type ModelCall = {
  call_id: string;
  run_id: string;
  model_id: string;
  outcome: string;
  request: Fields;
  answer: Fields;
  truncated: boolean;
  started_at: number;
  finished_at: number;
};
export type RunEvent = {
  sequence: number;
  type: string;
  data: Fields;
  source: string;
  created_at: number;
  artifact_refs: { artifact_id: string; name?: string | null }[];
};
export type Grants = {
  apis?: string[];
  permissions?: string[];
  state_scopes?: string[];
  resources?: Record<string, Record<string, string[]>>;
  storage?: string[];
  actions?: string[];
  other_conversations?: boolean;
};
export type Delivery = {
  outbox_id: string;
  kind: string;
  state: string;
  surface: string;
  bot_id?: string | null;
  text?: string | null;
  attempts: number;
  reason?: string | null;
  platform_message_id?: string | null;
  created_at: number;
  updated_at: number;
};
export type Denial = { action: string; resource?: string | null; code: string | null; created_at: number };
export type Replay = { run_id: string; frames: ({ type: string; at: number } & Fields)[]; complete: boolean };
export type Sentence = { code: string; values: Fields };
export type WhyStep = { at: number; step: string; text: string; data: Fields; sentences: Sentence[] };
export type Why = { event: EventRecord; steps: WhyStep[] };
export type EventRecord = {
  event_id: string;
  event_type: string;
  source: string;
  conversation_id?: string | null;
  bot_id?: string | null;
  actor_id?: string | null;
  actor_name: string | null;
  input_summary: string | null;
  created_at: number;
};
export type TranscriptItem = {
  transcript_id: string;
  seq: number;
  run_id: string | null;
  event_id?: string | null;
  role: "user" | "assistant" | "system" | "tool";
  item_type: string;
  content: string;
  content_json?: unknown[];
  artifact_refs?: unknown[];
  created_at: number;
};
export type ChatSession = {
  session: string;
  conversation_id: string;
  items: number;
  title: string | null;
  updated_at: number;
};

export type Adapter = {
  name: string;
  label: Text;
  description: Text;
  config: FormItem[];
  supported_events: string[];
};
export type Bot = {
  bot_id: string;
  name: string;
  adapter: string;
  adapter_config: Fields;
  secrets_set: string[];
  enabled: boolean;
  status: { state: string; since: number | null; last_error: string | null };
};
export type HandlerType = "agent" | "webhook" | "plugin" | "drop";
export type Route = {
  route_id: string;
  event_type: string;
  handler_type: HandlerType;
  handler_config: Fields;
  filters: Fields;
  enabled: boolean;
  priority: number;
  description: string;
};
export type DefaultAgent = {
  default_id: string;
  scope: "thread" | "conversation" | "channel" | "actor" | "workspace";
  platform: string | null;
  bot_id: string | null;
  chat: string | null;
  thread_id: string | null;
  actor_id: string | null;
  agent_id: string;
  agent_name: string;
  agent_enabled: boolean;
};
export type Conversation = {
  conversation_id: string;
  source: string;
  bot_id: string | null;
  chat: string | null;
  thread_id: string | null;
};
export type DryRunStep = { kind: "route" | "default" | "outcome"; name: string; code: string; values: Fields; text: string };
export type DryRun = { route: Route | null; handler_type: HandlerType; agent_id: string | null; steps: DryRunStep[] };

export type ModelKind = {
  kind: string;
  label: string;
  base_url: string;
  needs_key: boolean;
  key_page: string;
  currency: string;
  models: { name: string; type: string; context_window: number }[];
};
export type Provider = { provider_id: string; name: string; kind: string; base_url: string; api_keys: string[] };
export type Model = {
  model_id: string;
  provider_id: string;
  name: string;
  type: "llm" | "embedding" | "rerank";
  context_window: number | null;
  max_output_tokens: number | null;
  abilities: string[];
  prices: { input: number; output: number; cached_input: number | null } | null;
  parameters: Fields;
};
export type ModelTest = { ok: boolean; message: string; milliseconds?: number };
export type Budget = {
  budget_id: string;
  name: string;
  scope: string;
  target: string;
  period: string;
  tokens: number | null;
  cost_micros: number | null;
  enabled: boolean;
  current_period: string;
  uses: BudgetUse[];
};
export type BudgetUse = {
  subject: string;
  used: { tokens: number; cost_micros: number };
  left: { tokens: number | null; cost_micros: number | null };
};

export type PermissionWords = { key: string; values: Record<string, string>; text: string };
export type Plugin = {
  id: string;
  version: string;
  status: string;
  reason: string | null;
  enabled: boolean;
  label: Text | null;
  description: Text | null;
  permissions: Record<"asked" | "granted" | "ungranted", Record<string, string[]>> & { words: Record<"asked" | "granted" | "ungranted", PermissionWords[]> };
  sandbox: string | null;
  sandbox_reason: string | null;
  sandbox_remedy: string | null;
  sandbox_missing: boolean;
  sandbox_command: string | null;
  source: string;
  components: { kind: string; name: string }[];
  warnings: string[];
};

export type Tool = { tool_name: string; description: string; parameters_schema: Fields; read_only: boolean; source: string };
export type McpServer = {
  server_id: string;
  name: string;
  transport: "http" | "sse" | "stdio";
  url: string;
  command: string;
  arguments: string[];
  headers: Record<string, string>;
  environment: Record<string, string>;
  enabled: boolean;
  unsandboxed_by: string;
  unsandboxed_at: number;
  status: McpStatus;
};
export type McpStatus = {
  state: string;
  since: number | null;
  last_error: string | null;
  protocol_version: string | null;
  server: { name: string; version: string };
  tools: { name: string; description: string; read_only: boolean }[];
  left_out: string[];
};
export type Occasion = { actor_id: string; actor_name: string; group_id: string; group_name: string; comment: string };
export type Approval = {
  approval_id: string;
  status: "pending" | "approved" | "denied" | "expired";
  action: string;
  words: string;
  run_id: string;
  agent_id: string;
  conversation_id: string;
  requester: string;
  occasion: Occasion | null;
  call: Fields;
  decided_at: number | null;
  outcome: Fields | null;
  created_at: number;
  expires_at: number;
  decided_by: string | null;
  reason: string | null;
};
export type Stats = { items: ({ hour: number } & Record<string, number>)[]; totals: Record<string, number> };
export type UsageItem = {
  day: string;
  agent_id: string | null;
  agent_name: string | null;
  model_id: string;
  model_name: string | null;
  calls: number;
  prompt_tokens: number;
  completion_tokens: number;
  cost_micros: number;
  unpriced_calls: number;
};
export type User = { user_id: string; email: string; name: string; role: Role; enabled: boolean; created_at: number };
export type Settings = {
  retention: { events_days: number; run_events_days: number; artifacts_days: number; audit_days: number; model_calls_days: number };
  runs: { concurrent: number; per_person: number; per_sender_per_minute: number; per_conversation_per_minute: number };
  workspace: { time_zone: string; language: string; outbound_ips: string[]; currency: string };
  logs: { level: string };
  /** The names of those that differ from the settings file. */
  changed: string[];
};
export type ApiKey = {
  key_id: string;
  name: string;
  scope: string;
  created_at: number;
  expires_at: number | null;
  last_used_at: number | null;
  revoked_at: number | null;
  key?: string;
};
