"""Types of the ids, so that a call with the id of another thing does not type-check.

An id is a plain string at run time. It gets its type where it is made or where it enters the Host: from the id
generator, a row, a path parameter or a field of the protocol. Ids that a platform gives out (chats, messages, members)
stay `str`.
"""

from typing import NewType

EventId = NewType("EventId", str)
"""Id that the source of an event gave it; a redelivery is recognized by it."""
ConversationId = NewType("ConversationId", str)
"""Id of one generation of a chat or thread of a bot; made by the Host."""
RunId = NewType("RunId", str)
"""Id of one execution of an agent for one event; made by the Host."""
BotId = NewType("BotId", str)
"""Id of a configured account of a platform."""
AgentId = NewType("AgentId", str)
"""Id of a configured runner with its policies."""
BindingId = NewType("BindingId", str)
"""Id of an agent as it applies to a bot; state is stored under it."""
PluginId = NewType("PluginId", str)
"""Id of a plugin, `author/name`."""
RunnerId = NewType("RunnerId", str)
"""Id of a runner, `plugin:author/name/runner`."""
RuntimeId = NewType("RuntimeId", str)
"""Id of a remote worker, chosen by the worker."""
PartId = NewType("PartId", str)
"""Id of a part, the unit of work that one Host owns: `bot:<id>`, `shard:00` to `shard:63` or `duty:<name>`."""
HostId = NewType("HostId", str)
"""Id of a Host's process in a cluster; a restarted Host has a new one."""
OutboxId = NewType("OutboxId", str)
"""Id of a row of the outbox; made by the Host."""
ApprovalId = NewType("ApprovalId", str)
"""Id of an action that waits for the decision of a person."""
ArtifactId = NewType("ArtifactId", str)
"""Id of a stored or referenced file."""
TranscriptId = NewType("TranscriptId", str)
"""Id of an item of a transcript; made by the Host."""
JobId = NewType("JobId", str)
"""Id of a piece of background work; made by the Host."""
KnowledgeBaseId = NewType("KnowledgeBaseId", str)
"""Id of a knowledge base; made by the Host."""
KnowledgeFileId = NewType("KnowledgeFileId", str)
"""Id of a file of a knowledge base; made by the Host."""
ChunkId = NewType("ChunkId", str)
"""Id of a passage of a knowledge base; a digest, so that ids have no order."""
ModelId = NewType("ModelId", str)
"""Id of a configured model."""
ProviderId = NewType("ProviderId", str)
"""Id of a configured provider of models."""
McpServerId = NewType("McpServerId", str)
"""Id of a configured MCP server."""
ScheduleId = NewType("ScheduleId", str)
"""Id of a schedule."""
InboundWebhookId = NewType("InboundWebhookId", str)
"""Id of an inbound webhook; part of its address."""
DefaultAgentId = NewType("DefaultAgentId", str)
"""Id of the choice of a default agent for a scope."""
RouteId = NewType("RouteId", str)
"""Id of a route of a bot."""
LimitPolicyId = NewType("LimitPolicyId", str)
"""Id of a policy that limits how often something may happen."""
WordListId = NewType("WordListId", str)
"""Id of a list of words for filters."""
PipelineId = NewType("PipelineId", str)
SkillName = NewType("SkillName", str)
"""Name of a skill, which is its id: a skill that is renamed is another one."""
"""Id of a bundle of an agent, a message policy and extensions."""
BudgetId = NewType("BudgetId", str)
"""Id of a budget for the use of models."""
UserId = NewType("UserId", str)
"""Id of an operator's account."""
ApiKeyId = NewType("ApiKeyId", str)
"""Id of an API key; not secret."""

# An absent id is the empty string.
NO_AGENT = AgentId("")
NO_BINDING = BindingId("")
NO_BOT = BotId("")
NO_CONVERSATION = ConversationId("")
NO_OUTBOX = OutboxId("")
NO_LIMITS = LimitPolicyId("")
NO_ROUTE = RouteId("")
NO_PLUGIN = PluginId("")
NO_RUN = RunId("")
NO_MODEL = ModelId("")
NO_RUNNER = RunnerId("")
NO_KEY = ApiKeyId("")
