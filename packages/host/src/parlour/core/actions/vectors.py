"""Actions by which plugins keep and search vectors in the Host, in the place of a store of their own."""

from collections.abc import Callable

from parlour.core.model.providers import PluginVectors
from parlour.core.runs.caller import ActionCaller
from parlour_sdk.protocol.calls import Done
from parlour_sdk.protocol.vectors import FoundVectors, VectorDelete, VectorList, VectorPage, VectorSearch, VectorUpsert

from .handlers import Handler


class VectorActions:
    """Vectors belong to the plugin, like its storage. `open_vectors` is called by the first action."""

    def __init__(self, open_vectors: Callable[[], PluginVectors]) -> None:
        self._open_vectors = open_vectors
        self._opened: PluginVectors | None = None

    def handlers(self) -> dict[str, Handler]:
        return {
            "vector_upsert": self.upsert,
            "vector_search": self.search,
            "vector_delete": self.delete,
            "vector_list": self.list,
        }

    async def upsert(self, caller: ActionCaller, request: VectorUpsert) -> Done:
        await self._vectors().upsert(_owner(caller), request.collection, request.vectors)
        return Done()

    async def search(self, caller: ActionCaller, request: VectorSearch) -> FoundVectors:
        found = await self._vectors().search(
            _owner(caller), request.collection, request.vector, request.top_k, request.filters
        )
        return FoundVectors(hits=list(found))

    async def delete(self, caller: ActionCaller, request: VectorDelete) -> Done:
        await self._vectors().delete(_owner(caller), request.collection, request.vector_ids, request.prefix)
        return Done()

    async def list(self, caller: ActionCaller, request: VectorList) -> VectorPage:
        return await self._vectors().list_ids(
            _owner(caller), request.collection, request.prefix or "", request.after or "", request.limit
        )

    def _vectors(self) -> PluginVectors:
        if self._opened is None:
            self._opened = self._open_vectors()
        return self._opened


def _owner(caller: ActionCaller) -> str:
    return caller.grant.storage["plugin"]
