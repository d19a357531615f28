"""Connects an agent service that is reached over HTTP. Each name is imported when it is first used.

A runner is a subclass of `HttpAgentRunner`: it builds the request, and its `EventReader` turns the events of the
service into updates. Sessions, files, time limits, cancellation and errors are handled here.
"""

from typing import TYPE_CHECKING

from parlour_sdk._lazy_imports import lazy_getattr

if TYPE_CHECKING:
    from parlour_sdk.components.agent_runner import ConnectionCheck as ConnectionCheck

    from .client import MAX_ERROR_BYTES as MAX_ERROR_BYTES
    from .client import FormFile as FormFile
    from .client import ServiceClient as ServiceClient
    from .client import ServiceRequest as ServiceRequest
    from .config import HttpAgentConfig as HttpAgentConfig
    from .config import Seconds as Seconds
    from .config import ServiceAddress as ServiceAddress
    from .errors import FailureReason as FailureReason
    from .errors import ServiceFailure as ServiceFailure
    from .input_files import InputFile as InputFile
    from .reader import EventReader as EventReader
    from .runner import HttpAgentRunner as HttpAgentRunner
    from .splitters import EventStreamSplitter as EventStreamSplitter
    from .splitters import JsonLinesSplitter as JsonLinesSplitter
    from .splitters import JsonTextSplitter as JsonTextSplitter
    from .splitters import ServerEvent as ServerEvent
    from .turn import ServiceTurn as ServiceTurn
    from .updates import AnswerDelta as AnswerDelta
    from .updates import AnswerEnd as AnswerEnd
    from .updates import AnswerFile as AnswerFile
    from .updates import AnswerMetadata as AnswerMetadata
    from .updates import AnswerText as AnswerText
    from .updates import Citations as Citations
    from .updates import NodeProgress as NodeProgress
    from .updates import Question as Question
    from .updates import SessionNamed as SessionNamed
    from .updates import StreamEnd as StreamEnd
    from .updates import Suggestions as Suggestions
    from .updates import TaskNamed as TaskNamed
    from .updates import ThinkingDelta as ThinkingDelta
    from .updates import ToolEnd as ToolEnd
    from .updates import ToolStart as ToolStart
    from .updates import Update as Update
    from .updates import UsageReport as UsageReport
    from .values import answer_file as answer_file
    from .values import authorization as authorization
    from .values import citation as citation
    from .values import content_text as content_text
    from .values import decoded as decoded
    from .values import default_path as default_path
    from .values import json_object as json_object
    from .values import usage_report as usage_report

LAZY_EXPORTS = {
    ".client": ("MAX_ERROR_BYTES", "FormFile", "ServiceClient", "ServiceRequest"),
    ".config": ("HttpAgentConfig", "Seconds", "ServiceAddress"),
    ".errors": ("FailureReason", "ServiceFailure"),
    ".input_files": ("InputFile",),
    ".reader": ("EventReader",),
    ".runner": ("ConnectionCheck", "HttpAgentRunner"),
    ".splitters": ("JsonLinesSplitter", "JsonTextSplitter", "ServerEvent", "EventStreamSplitter"),
    ".turn": ("ServiceTurn",),
    ".updates": (
        *("AnswerDelta", "AnswerEnd", "AnswerFile", "AnswerMetadata", "AnswerText", "Citations", "NodeProgress"),
        *("Question", "SessionNamed", "StreamEnd", "Suggestions", "TaskNamed", "ThinkingDelta", "ToolEnd"),
        *("ToolStart", "Update", "UsageReport"),
    ),
    ".values": (
        *("answer_file", "authorization", "citation", "content_text", "decoded", "default_path", "json_object"),
        "usage_report",
    ),
}
__getattr__ = lazy_getattr(__name__, LAZY_EXPORTS)
