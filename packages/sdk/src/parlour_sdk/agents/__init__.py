"""The parts of agents: for those that call the Host's models, and for those that connect a service over HTTP.

`ToolLoop` puts most parts of a model-driven agent together; each can be used without the others, and is imported when
it is first used. `HttpAgentRunner` is the base of an agent that a service answers for.
"""

from typing import TYPE_CHECKING

from parlour_sdk._lazy_imports import lazy_getattr

if TYPE_CHECKING:
    from .compaction import HistoryCompactor as HistoryCompactor
    from .context_budget import history_tokens as history_tokens
    from .context_budget import prompt_tokens as prompt_tokens
    from .errors import TurnError as TurnError
    from .history import GroupContext as GroupContext
    from .history import HistoryItem as HistoryItem
    from .history import TranscriptReader as TranscriptReader
    from .http_agent.config import HttpAgentConfig as HttpAgentConfig
    from .http_agent.errors import ServiceFailure as ServiceFailure
    from .http_agent.runner import HttpAgentRunner as HttpAgentRunner
    from .interim import InterimTexts as InterimTexts
    from .knowledge import KnowledgeSearch as KnowledgeSearch
    from .knowledge import KnowledgeSelection as KnowledgeSelection
    from .media import adapt_to_model as adapt_to_model
    from .model_call import FallbackModelCall as FallbackModelCall
    from .model_call import request_answer as request_answer
    from .model_call import request_text as request_text
    from .model_health import ModelHealth as ModelHealth
    from .models import ModelChain as ModelChain
    from .models import selected_models as selected_models
    from .platform_tools import platform_tools as platform_tools
    from .reasoning_filter import ReasoningFilter as ReasoningFilter
    from .reply_stream import ModelReply as ModelReply
    from .reply_stream import ReplyBuilder as ReplyBuilder
    from .speakers import GroupMembers as GroupMembers
    from .speakers import Speaker as Speaker
    from .steering import SteeringReader as SteeringReader
    from .template_variables import TemplateVariables as TemplateVariables
    from .token_estimates import TokenRatio as TokenRatio
    from .token_estimates import estimate_messages as estimate_messages
    from .token_estimates import estimate_text as estimate_text
    from .token_estimates import estimate_tools as estimate_tools
    from .tool_calls import RunTools as RunTools
    from .tool_loop import ToolLoop as ToolLoop
    from .tools import Toolbox as Toolbox
    from .tools import ToolDetails as ToolDetails
    from .turn_messages import TurnMessages as TurnMessages
    from .user_message import UserMessage as UserMessage

LAZY_EXPORTS = {
    ".compaction": ("HistoryCompactor",),
    ".context_budget": ("history_tokens", "prompt_tokens"),
    ".errors": ("TurnError",),
    ".history": ("GroupContext", "HistoryItem", "TranscriptReader"),
    ".interim": ("InterimTexts",),
    ".knowledge": ("KnowledgeSearch", "KnowledgeSelection"),
    ".media": ("adapt_to_model",),
    ".model_call": ("FallbackModelCall", "request_answer", "request_text"),
    ".model_health": ("ModelHealth",),
    ".models": ("ModelChain", "selected_models"),
    ".platform_tools": ("platform_tools",),
    ".reasoning_filter": ("ReasoningFilter",),
    ".reply_stream": ("ModelReply", "ReplyBuilder"),
    ".speakers": ("GroupMembers", "Speaker"),
    ".steering": ("SteeringReader",),
    ".template_variables": ("TemplateVariables",),
    ".token_estimates": ("TokenRatio", "estimate_messages", "estimate_text", "estimate_tools"),
    ".tool_calls": ("RunTools",),
    ".tool_loop": ("ToolLoop",),
    ".tools": ("Toolbox", "ToolDetails"),
    ".turn_messages": ("TurnMessages",),
    ".user_message": ("UserMessage",),
    ".http_agent.config": ("HttpAgentConfig",),
    ".http_agent.errors": ("ServiceFailure",),
    ".http_agent.runner": ("HttpAgentRunner",),
}
__getattr__ = lazy_getattr(__name__, LAZY_EXPORTS)
