"""Actions that plugins call: the gate that checks every call, and one handler per action."""

from collections.abc import Mapping

from parlour.core.journal import Journal
from parlour.core.model.ports import Clock, Ids
from parlour.core.model.providers import Providers
from parlour.core.runs.model_call_log import ModelCallLog
from parlour.core.runs.steering import SteeringQueue
from parlour.core.runs.tool_outputs import ToolOutputLimiter
from parlour.core.store.artifact_service import ArtifactService
from parlour.core.store.history import EventRecordReader, HistoryReader
from parlour.core.store.storage import DEFAULT_QUOTAS, Storage

from .artifacts import ArtifactActions
from .call_cache import CallCache
from .catalog import CatalogActions
from .chunked_uploads import ChunkedUploads
from .conversations import ConversationActions
from .dry_run import DryRunActions
from .gate import Handler
from .history import EventActions, HistoryActions
from .host import HostInfoActions
from .knowledge import FileActions, KnowledgeActions, SkillActions
from .models import ModelActions
from .platform import PlatformActions
from .platform_action import PlatformRequestActions
from .prompt_attachments import PromptAttachments
from .runs import RunActions
from .runtimes import RuntimeActions
from .state import StateActions
from .steering import SteeringActions
from .storage import StorageActions
from .tools import ToolActions
from .usage_recording import UsageRecorder


def bind_actions(
    journal: Journal,
    steering: SteeringQueue,
    providers: Providers,
    history: HistoryReader,
    events: EventRecordReader,
    artifacts: ArtifactService,
    runs: RunActions,
    runtimes: RuntimeActions,
    conversations: ConversationActions,
    listing: CatalogActions,
    requests: PlatformRequestActions,
    model_calls: ModelCallLog,
    ids: Ids,
    clock: Clock,
    version: str,
) -> Mapping[str, Handler]:
    """Builds the handlers of all Host actions, wrapped by the call cache and by the dry run of reruns."""
    metering = UsageRecorder(journal, model_calls, clock)
    models = ModelActions(providers.models, PromptAttachments(artifacts), metering, model_calls)
    tools = ToolActions(providers.tools, ToolOutputLimiter(artifacts, journal, clock), metering, journal, clock)
    knowledge = KnowledgeActions(providers.knowledge)
    skills = SkillActions(providers.skills)
    state = StateActions(journal, clock)
    storage = StorageActions(Storage(journal, clock), DEFAULT_QUOTAS)
    platform = PlatformActions(providers.platforms, ChunkedUploads(ids, clock))
    transcript = HistoryActions(history)
    log = EventActions(events)
    files = ArtifactActions(artifacts, journal, ids, clock)
    bound: dict[str, Handler] = {
        "invoke_llm": models.invoke,
        "invoke_llm_stream": models.stream,
        "invoke_rerank": models.rerank,
        "invoke_embedding": models.embed,
        "get_tool_detail": tools.detail,
        "call_tool": tools.call,
        "list_tools": tools.list,
        "list_knowledge": knowledge.list,
        "retrieve_knowledge": knowledge.retrieve,
        "list_skills": skills.list,
        "activate_skill": skills.activate,
        "get_file": FileActions(providers.files).get,
        "history_page": transcript.page,
        "history_search": transcript.search,
        "event_get": log.get,
        "event_page": log.page,
        "artifact_metadata": files.metadata,
        "artifact_read": files.read,
        "artifact_create": files.create,
        "state_get": state.get,
        "state_set": state.set,
        "state_delete": state.delete,
        "state_list": state.list,
        "storage_get": storage.get,
        "storage_set": storage.set,
        "storage_delete": storage.delete,
        "storage_list": storage.list,
        "steering_pull": SteeringActions(steering).pull,
        "start_conversation": conversations.start,
        "get_host_version": HostInfoActions(version).version,
        "run_create": runs.create,
        "run_get": runs.get,
        "run_list": runs.list,
        "run_events_page": runs.events,
        "run_cancel": runs.cancel,
        "run_append_result": runs.append,
        "run_finalize": runs.finalize,
        "run_retry": runs.retry,
        "runtime_register": runtimes.register,
        "runtime_heartbeat": runtimes.heartbeat,
        "runtime_wakeups": runtimes.wakeups,
        "runtime_list": runtimes.list,
        "runtime_deregister": runtimes.deregister,
        "run_claim": runtimes.claim,
        "run_renew": runtimes.renew,
        "run_release": runtimes.release,
        "list_plugins": listing.plugins,
        "list_commands": listing.commands,
        "list_bots": platform.bots,
        "get_bot_capabilities": platform.capabilities,
        "platform_action": requests.request,
        **platform.bot_handlers(),
    }
    return DryRunActions(providers.tools).wrap(CallCache(journal, providers.tools, clock).wrap(bound))
