"""Builds the handlers of the actions that plugins call."""

from collections.abc import Iterable, Mapping

from parlour.core.actions.artifacts import ArtifactActions
from parlour.core.actions.call_cache import CallCache
from parlour.core.actions.chunked_uploads import ChunkedUploads
from parlour.core.actions.dry_run import DryRunActions
from parlour.core.actions.handlers import ActionGroup, Handler, collect_handlers
from parlour.core.actions.knowledge import FileActions, KnowledgeActions, SkillActions
from parlour.core.actions.models import ModelActions
from parlour.core.actions.platform import PlatformActions
from parlour.core.actions.prompt_attachments import PromptAttachments
from parlour.core.actions.recorded_searches import RecordedSearches
from parlour.core.actions.state import StateActions
from parlour.core.actions.storage import StorageActions
from parlour.core.actions.tools import ToolActions
from parlour.core.actions.usage_recording import UsageRecorder
from parlour.core.actions.vectors import VectorActions
from parlour.core.approvals.tool_approvals import ToolApprovals
from parlour.core.journal import Journal
from parlour.core.model.ports import Clock, Ids
from parlour.core.model.providers import PluginVectors, ProviderFailed, Providers
from parlour.core.plugin_hooks.direct_replies import DirectReplies
from parlour.core.runs.model_call_log import ModelCallLog
from parlour.core.runs.tool_outputs import ToolOutputLimiter
from parlour.core.store.artifact_service import ArtifactService
from parlour.core.store.storage import DEFAULT_QUOTAS, Storage


def build_handlers(
    groups: Iterable[ActionGroup], providers: Providers, journal: Journal, clock: Clock
) -> Mapping[str, Handler]:
    """Returns the handlers of all groups, wrapped by the call cache and by the dry run of reruns."""
    cache = CallCache(journal, providers.tools, clock)
    return DryRunActions(providers.tools).wrap(cache.wrap(collect_handlers(groups)))


def resource_groups(
    providers: Providers,
    tool_approvals: ToolApprovals,
    artifacts: ArtifactService,
    model_calls: ModelCallLog,
    direct: DirectReplies,
    journal: Journal,
    ids: Ids,
    clock: Clock,
) -> list[ActionGroup]:
    """Returns the actions on resources that are granted to runs and plugins, and on the values that they keep."""
    usage = UsageRecorder(journal, model_calls, clock)
    return [
        ModelActions(providers.models, PromptAttachments(artifacts, providers.documents), usage, model_calls),
        ToolActions(
            providers.tools, tool_approvals, ToolOutputLimiter(artifacts, journal, clock), usage, journal, clock
        ),
        KnowledgeActions(providers.knowledge, RecordedSearches(journal)),
        SkillActions(providers.skills),
        FileActions(providers.files),
        PlatformActions(providers.platforms, direct, ChunkedUploads(ids, clock)),
        ArtifactActions(artifacts, providers.documents, journal, ids, clock),
        StateActions(journal, clock),
        StorageActions(Storage(journal, clock), DEFAULT_QUOTAS),
        VectorActions(lambda: _open_vectors(journal, clock)),
    ]


def _open_vectors(journal: Journal, clock: Clock) -> PluginVectors:
    from parlour.providers.knowledge.installation import INSTALL_COMMAND, is_installed

    if not is_installed():
        raise ProviderFailed("not_supported", f"vectors need an extra that is not installed: {INSTALL_COMMAND}")
    from parlour.providers.knowledge.plugin_vectors import StoredVectors

    return StoredVectors(journal, clock)
