"""The API namespaces that exist both inside and outside a run. Each is imported when it is first used."""

from functools import cached_property
from typing import TYPE_CHECKING

from .calls import ApiCalls

if TYPE_CHECKING:
    from .host import HostAPI
    from .knowledge import KnowledgeAPI
    from .models import ModelsAPI
    from .runs import RunsAPI
    from .storage import StorageAPI
    from .tools import ToolsAPI


class SharedAPI:
    def __init__(self, calls: ApiCalls) -> None:
        self._calls = calls

    @cached_property
    def models(self) -> "ModelsAPI":
        from .models import ModelsAPI

        return ModelsAPI(self._calls)

    @cached_property
    def tools(self) -> "ToolsAPI":
        from .tools import ToolsAPI

        return ToolsAPI(self._calls)

    @cached_property
    def knowledge(self) -> "KnowledgeAPI":
        from .knowledge import KnowledgeAPI

        return KnowledgeAPI(self._calls)

    @cached_property
    def storage(self) -> "StorageAPI":
        from .storage import StorageAPI

        return StorageAPI(self._calls)

    @cached_property
    def runs(self) -> "RunsAPI":
        from .runs import RunsAPI

        return RunsAPI(self._calls)

    @cached_property
    def host(self) -> "HostAPI":
        from .host import HostAPI

        return HostAPI(self._calls)
