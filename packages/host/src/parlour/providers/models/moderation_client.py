"""Client of a service that moderates and has no other models. Repetitions and keys are handled by `retry`."""

from collections.abc import AsyncGenerator
from typing import Any

from parlour.core.model.model_config import Model, Provider
from parlour.core.model.moderation import Moderate, ModerationAnswer
from parlour.core.model.providers import ProviderFailed
from parlour.core.models.catalogue import ModelServiceKind
from parlour_sdk.protocol.models import Embed, InvokeModel, Rerank, RerankScore
from parlour_sdk.protocol.usage import Usage

from .dialects.base import CallTarget, ModelHttpRequest, ResponseChunk
from .dialects.moderation.baidu import BaiduModeration, BaiduTokens, key_headers
from .dialects.moderation.base import ModerationFormat, joined_answer
from .dialects.moderation.webhook import WebhookModeration
from .errors import ModelCallFailure
from .http_connection import ProviderConnection
from .retry import KeyRing, RetryingClient
from .stream_reader import read_json
from .timeouts import ModelTimeouts

FORMATS: dict[str, type[ModerationFormat]] = {"baidu-censor": BaiduModeration, "moderation-webhook": WebhookModeration}


class ModerationClient:
    """Client of one moderation service. Raises ProviderFailed and no other error."""

    def __init__(
        self, provider: Provider, kind: ModelServiceKind, keys: tuple[str, ...], timeouts: ModelTimeouts
    ) -> None:
        self._name = provider.name
        self._kind = kind
        self._format = FORMATS[kind.dialect]()
        self._connection = ProviderConnection(provider.base_url or kind.base_url, timeouts)
        self._keys = KeyRing(keys)
        self._timeouts = timeouts
        is_baidu = kind.dialect == "baidu-censor"
        self._tokens = BaiduTokens(self._fetch_token) if is_baidu else None
        signed_path = self._tokens.path if self._tokens is not None else None
        headers = key_headers if is_baidu else _bearer
        self._retrying = RetryingClient(self._connection, self._keys, headers, timeouts, signed_path)

    async def close(self) -> None:
        await self._connection.close()

    async def moderate(self, model: Model, request: Moderate) -> ModerationAnswer:
        target = CallTarget(self._kind, model)
        try:
            answers = [
                self._format.parse_answer(await self._response(question, model))
                for question in self._format.requests(target, request)
            ]
        except ModelCallFailure as failure:
            if failure.code == "key_refused" and self._tokens is not None:
                self._tokens.forget()
            sentence = self._keys.mask(f"{self._name} {failure.sentence}")
            raise ProviderFailed(failure.code, sentence, failure.retryable) from failure
        return joined_answer(answers)

    async def invoke(self, model: Model, request: InvokeModel) -> ResponseChunk:
        raise self._not_supported("answers nothing")

    async def stream(self, model: Model, request: InvokeModel) -> AsyncGenerator[ResponseChunk, None]:
        yield await self.invoke(model, request)

    async def embed(self, model: Model, request: Embed) -> tuple[list[list[float]], Usage | None]:
        raise self._not_supported("makes no embeddings")

    async def rerank(self, model: Model, request: Rerank) -> tuple[list[RerankScore], Usage | None]:
        raise self._not_supported("ranks nothing")

    def _not_supported(self, clause: str) -> ProviderFailed:
        return ProviderFailed("not_supported", f"{self._name} moderates texts and {clause}; choose another provider")

    async def _response(self, question: ModelHttpRequest, model: Model) -> Any:
        exchange, first_block = await self._retrying.request(question, model.name, self._timeouts.total)
        try:
            return await read_json(exchange, first_block)
        finally:
            exchange.close()

    async def _fetch_token(self, question: ModelHttpRequest) -> Any:
        exchange = await self._connection.post(
            question.path, question.headers, question.encoded(), self._timeouts.total
        )
        try:
            return await read_json(exchange, b"")
        finally:
            exchange.close()


def _bearer(key: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {key}"} if key else {}
