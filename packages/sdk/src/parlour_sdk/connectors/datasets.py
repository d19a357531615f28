"""A knowledge engine for datasets of another system: it searches them over HTTP, and files stay in that system."""

import json
from abc import abstractmethod
from typing import Any

import aiohttp

from parlour_sdk.components.knowledge_engine import KnowledgeContext, KnowledgeEngine
from parlour_sdk.protocol.knowledge import ChunkSource, IngestOutcome, KnowledgeChunk, KnowledgeFile
from parlour_sdk.wire import WireError

from ..values import dataclass

ANSWER_SECONDS = 9.0
"""Seconds that a search may take; the Host waits for ten."""
MAX_ANSWER_BYTES = 4 * 1024 * 1024
_MEANINGS = {
    401: "it refused the API key; check it in the settings of the knowledge base",
    403: "the API key may not search this dataset",
    404: "it knows neither this address nor this dataset; check both in the settings of the knowledge base",
    429: "it has had too many requests; try again in a moment",
}


@dataclass(frozen=True, slots=True)
class DatasetRequest:
    """The request of a search: a path below the base address, and a body."""

    path: str
    body: dict[str, Any]


class DatasetEngine(KnowledgeEngine):
    """Searches a dataset of a service whose configuration has `base_url` and `api_key`."""

    service: str
    """Name of the service in messages."""

    @abstractmethod
    def request(self, query: str, top_k: int, config: dict[str, Any], settings: dict[str, Any]) -> DatasetRequest:
        """Returns the request of a search."""

    @abstractmethod
    def chunks(self, kb_id: str, answer: Any) -> list[KnowledgeChunk]:
        """Returns the passages of an answer, best first. Raises KeyError, TypeError or ValueError if it is another."""

    async def retrieve(
        self, kb_id: str, query: str, top_k: int, filters: dict[str, Any] | None, ctx: KnowledgeContext
    ) -> list[KnowledgeChunk]:
        if filters:
            raise WireError("invalid_argument", f"filters: {self.service} is searched without filters")
        answer = await self._post(ctx.config, self.request(query, top_k, ctx.config, ctx.settings))
        try:
            return self.chunks(kb_id, answer)[:top_k]
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise self._failed("it gave an answer of another form; is this its address?") from error

    async def ingest(self, kb_id: str, file: KnowledgeFile, ctx: KnowledgeContext) -> IngestOutcome | int:
        return IngestOutcome(status="failed", error=f"add the file in {self.service}")

    async def delete(self, kb_id: str, file_id: str | None, ctx: KnowledgeContext) -> None:
        """Leaves the dataset as it is: it belongs to the service."""

    async def _post(self, config: dict[str, Any], request: DatasetRequest) -> Any:
        address = f"{str(config['base_url']).rstrip('/')}/{request.path}"
        headers = {"Authorization": f"Bearer {config['api_key']}"}
        limits = aiohttp.ClientTimeout(total=ANSWER_SECONDS)
        try:
            async with (
                aiohttp.ClientSession(timeout=limits, trust_env=True) as session,
                session.post(address, json=request.body, headers=headers, allow_redirects=False) as response,
            ):
                content = await response.content.read(MAX_ANSWER_BYTES + 1)
                if response.status != 200:
                    raise self._failed(_MEANINGS.get(response.status, f"it answered {response.status}"))
                if len(content) > MAX_ANSWER_BYTES:
                    raise self._failed("its answer is too large")
                return json.loads(content)
        except (TimeoutError, aiohttp.ClientError, OSError) as error:
            raise self._failed(f"it can't be reached ({type(error).__name__})") from error
        except ValueError as error:
            raise self._failed("it gave no JSON; is this its address?") from error

    def _failed(self, reason: str) -> WireError:
        return WireError("runtime_error", f"{self.service} was not searched: {reason}")


def passage(
    kb_id: str, chunk_id: Any, content: str, score: float, source: ChunkSource, **metadata: Any
) -> KnowledgeChunk:
    """Returns a passage with a score from 0 to 1."""
    return KnowledgeChunk(
        chunk_id=str(chunk_id),
        kb_id=kb_id,
        content=content,
        score=min(1.0, max(0.0, float(score))),
        source=source,
        metadata={name: value for name, value in metadata.items() if value is not None},
    )
