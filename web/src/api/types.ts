// The types of the Host's responses and request bodies under the names that the page uses. schema.d.ts is generated from
// the Host's OpenAPI document: a schema that is renamed there is renamed here, and nowhere else.
import type { components } from "./schema";

type Schemas = components["schemas"];

export type Text = Record<string, string>;
export type Fields = Record<string, unknown>;
export type Page<T> = { items: T[]; next_cursor: string | null };

export type Me = Schemas["SessionUserResponse"];
export type Role = Me["role"];
export type User = Schemas["UserResponse"];
export type ApiKey = Schemas["ApiKey"];
export type Settings = Schemas["SettingsResponse"];
export type SettingsBody = Schemas["SettingsBody"];

export type FormItem = Schemas["FormItem"];
export type FormType = FormItem["type"];
export type Runner = Schemas["Runner"];
export type Adapter = Schemas["AdapterManifest"];

export type Agent = Schemas["AgentResponse"];
export type AgentBody = Schemas["AgentChange"];
export type Pipeline = Schemas["PipelineResponse"];
export type Worker = Schemas["RuntimeResponse"];
export type ClusterHost = Schemas["HostResponse"];
export type ClusterPart = Schemas["PartResponse"];
export type QueuedRun = Schemas["QueuedRunResponse"];
export type BoxSession = Schemas["BoxSessionResponse"];
export type SkillDetail = Schemas["SkillDetailResponse"];
export type SkillPreview = Schemas["SkillPreviewResponse"];
export type InstalledSkills = Schemas["InstalledSkillsResponse"];
export type EventResult = Schemas["EventResult"];
export type PipelineBody = Schemas["PipelineBody"];
export type PolicyBody = Schemas["MessagePolicy"];
export type ResourcePolicy = Schemas["ResourcePolicyResponse"];
export type Selection = ResourcePolicy["tools"];

export type Bot = Schemas["BotResponse"];
export type BotLogin = Schemas["LoginResponse"];
export type Route = Schemas["RouteResponse"];
export type HandlerType = Route["handler_type"];
export type DefaultAgent = Schemas["DefaultAgentResponse"];
export type Conversation = Schemas["ConversationResponse"];
export type DryRun = Schemas["DryRun"];
export type DryRunStep = Schemas["DryRunStep"];

export type ModelKind = Schemas["ModelKind"];
export type Provider = Schemas["ProviderResponse"];
export type Model = Schemas["ModelResponse"];
export type ModelBody = Schemas["ModelBody"];
export type Budget = Schemas["BudgetResponse"];
export type BudgetBody = Schemas["BudgetBody"];
export type BudgetUse = Schemas["BudgetUse"];
export type UsageItem = Schemas["UsageResponse"];

export type Plugin = Schemas["PluginResponse"];
export type PluginPage = Schemas["PluginPageResponse"];
export type PluginProgram = Schemas["PluginProgramResponse"];
export type BundledPlugin = Schemas["BundledPluginResponse"];
export type PermissionWords = Schemas["PermissionTextResponse"];
export type KnowledgeBase = Schemas["KnowledgeBaseResponse"];
export type KnowledgeFile = Schemas["KnowledgeFileResponse"];
export type KnowledgeChunk = Schemas["ChunkResponse"];
export type Memory = Schemas["MemoryResponse"];
export type KnowledgeSearch = Schemas["SearchResponse"];
export type Tool = Schemas["ToolDetail"];
export type McpServer = Schemas["McpServerResponse"];
export type McpServerBody = Schemas["McpServerBody"];
export type McpStatus = Schemas["McpStatus"];
export type UploadedFile = Schemas["UploadedFileResponse"];

export type Approval = Schemas["ApprovalResponse"];
export type EventRecord = Schemas["EventResponse"];
export type WhyStep = Schemas["TrailStepResponse"];
export type ChatSession = Schemas["SessionResponse"];
/** An element of a message: text, a file, a quote and others. */
export type ContentElement = NonNullable<Schemas["AgentInput"]["contents"]>[number];
export type TranscriptItem = Schemas["TranscriptItemResponse"];

export type Run = Schemas["RunListItem"];
export type RunSide = Schemas["RunSide"];
export type RunStatus = Run["status"];
export type Usage = Schemas["RunUsageResponse"];
export type Delivery = Schemas["DeliveryResponse"];
export type Denial = Schemas["Denial"];

// Below are objects that the document leaves open ({[key]: unknown}) and the page reads.

/** `authorization` of a run. */
export type Grants = {
  apis?: string[];
  permissions?: string[];
  state_scopes?: string[];
  resources?: Record<string, Record<string, string[]>>;
  storage?: string[];
  actions?: string[];
  other_conversations?: boolean;
};
export type RunDetail = Omit<Schemas["RunDetail"], "authorization"> & { authorization: Grants };
/** `data` is unknown in the document; each type of event has its own fields. */
export type RunEvent = Omit<Schemas["RunEventResponse"], "data"> & { data: Fields };
/** A message in the `request` of a recorded model call. */
export type PromptMessage = {
  role: string;
  content?: unknown;
  name?: string;
  reasoning?: string;
  tool_calls?: Fields[];
  tool_call_id?: string;
};
/** Counters by name, such as `runs.completed`; the document names only some of them. */
export type Counters = Record<string, number>;
export type Stats = { items: ({ hour: number } & Counters)[]; totals: Counters };
