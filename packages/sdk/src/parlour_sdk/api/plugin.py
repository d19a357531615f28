"""The API of listeners, tools, commands, engines and parsers: calls outside a run, with the plugin's permissions."""

import os
import time
from functools import cached_property
from typing import TYPE_CHECKING

from .base import SharedAPI
from .calls import ApiCalls, WireCaller

if TYPE_CHECKING:
    from parlour_sdk.protocol.runs import ClaimedRun

    from .conversations import ConversationsAPI
    from .groups import GroupsAPI
    from .knowledge_files import KnowledgeFilesAPI
    from .listing import ListingAPI
    from .media import MediaAPI
    from .messages import MessagesAPI
    from .platform import PlatformAPI
    from .processes import ProcessesAPI
    from .run import AgentRunAPI
    from .runtimes import RuntimeWorkerAPI
    from .users import UsersAPI
    from .vectors import VectorsAPI


class PluginAPI(SharedAPI):
    """One instance serves the whole plugin. Its calls belong to no run, so their ids name the process."""

    def __init__(self, caller: WireCaller) -> None:
        super().__init__(ApiCalls(caller, f"plugin-{os.urandom(8).hex()}", None))
        self._caller = caller

    def claimed(self, claimed: "ClaimedRun") -> "AgentRunAPI":
        """Returns the API of a run that this plugin claimed as a remote worker and executes."""
        from .run import AgentRunAPI

        deadline = claimed.context.runtime.deadline_at
        seconds_left = None if deadline is None else deadline / 1000 - time.time()
        return AgentRunAPI(self._caller, claimed.run.run_id, seconds_left, claimed.lease)

    @cached_property
    def messages(self) -> "MessagesAPI":
        from .messages import MessagesAPI

        return MessagesAPI(self._calls)

    @cached_property
    def groups(self) -> "GroupsAPI":
        from .groups import GroupsAPI

        return GroupsAPI(self._calls)

    @cached_property
    def users(self) -> "UsersAPI":
        from .users import UsersAPI

        return UsersAPI(self._calls)

    @cached_property
    def media(self) -> "MediaAPI":
        from .media import MediaAPI

        return MediaAPI(self._calls)

    @cached_property
    def platform(self) -> "PlatformAPI":
        from .platform import PlatformAPI

        return PlatformAPI(self._calls)

    @cached_property
    def processes(self) -> "ProcessesAPI":
        from .processes import ProcessesAPI

        return ProcessesAPI(self._calls)

    @cached_property
    def knowledge_files(self) -> "KnowledgeFilesAPI":
        from .knowledge_files import KnowledgeFilesAPI

        return KnowledgeFilesAPI(self._calls)

    @cached_property
    def vectors(self) -> "VectorsAPI":
        from .vectors import VectorsAPI

        return VectorsAPI(self._calls)

    @cached_property
    def listing(self) -> "ListingAPI":
        from .listing import ListingAPI

        return ListingAPI(self._calls)

    @cached_property
    def conversations(self) -> "ConversationsAPI":
        from .conversations import ConversationsAPI

        return ConversationsAPI(self._calls)

    @cached_property
    def runtimes(self) -> "RuntimeWorkerAPI":
        from .runtimes import RuntimeWorkerAPI

        return RuntimeWorkerAPI(self._calls)
