"""Reranking in the format that Jina, Cohere, SiliconFlow and others share."""

from typing import Any

from parlour_sdk.protocol.models import Rerank, RerankScore
from parlour_sdk.protocol.usage import Usage

from .base import CallTarget, ModelHttpRequest, entries, number


def build_request(target: CallTarget, request: Rerank) -> ModelHttpRequest:
    body = {"query": request.query, "documents": request.documents, "return_documents": False}
    limit = {} if request.top_k is None else {"top_n": request.top_k}
    fields = {**target.model.parameters, "model": target.model.name}
    return ModelHttpRequest(target.kind.rerank_path, {**fields, **body, **limit})


def parse_scores(body: Any, request: Rerank) -> list[RerankScore]:
    """Returns the scores, the best first; entries that refer to no document of the request are ignored."""
    output = body.get("output") if isinstance(body, dict) else None
    results = entries(body, "results") or entries(output, "results") or entries(body, "data")
    scores = [
        RerankScore(index=each["index"], score=float(score))
        for each in results
        if isinstance(score := each.get("relevance_score", each.get("score")), int | float)
        and isinstance(each.get("index"), int)
        and 0 <= each["index"] < len(request.documents)
    ]
    return sorted(scores, key=lambda each: -each.score)[: request.top_k]


def parse_usage(body: Any) -> Usage | None:
    """Returns the usage. Services report it in several places, and some not at all."""
    data = body if isinstance(body, dict) else {}
    meta = data.get("meta")
    sources = [data.get("usage"), data.get("tokens"), meta.get("tokens") if isinstance(meta, dict) else None]
    names = ("total_tokens", "prompt_tokens", "input_tokens")
    counts = [number(source, name) for source in sources for name in names]
    return Usage(prompt_tokens=max(counts)) if any(counts) else None
