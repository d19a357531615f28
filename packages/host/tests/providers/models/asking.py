"""Shared requests, models and recorded answers for the tests of dialects."""

from pathlib import Path
from typing import Any

from pydantic_core import from_json

from parlour.core.model.model_config import Model
from parlour.core.models.catalogue import ModelServiceKind
from parlour.providers.models.dialects.base import CallTarget, ModelDialect, ResponseChunk, ResponseParser
from parlour.providers.models.dialects.common import ToolNames
from parlour.providers.models.sse import SseSplitter
from parlour.providers.models.stream_reader import DONE
from parlour_sdk.protocol.models import InvokeModel

SAMPLES = Path(__file__).with_name("samples")
PICTURE = {"type": "image", "mime_type": "image/png", "content_base64": "aGk="}
TOOL = {"name": "time.now", "description": "The time", "parameters_schema": {"type": "object", "properties": {}}}
DIALOGUE = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": [{"type": "text", "text": "What is this?"}, PICTURE]},
    {
        "role": "assistant",
        "content": "I look.",
        "tool_calls": [{"id": "c1", "name": "time.now", "arguments": {"zone": "UTC"}}],
    },
    {"role": "tool", "tool_call_id": "c1", "content": "noon"},
]


def called(dialect: str, **fields: Any) -> CallTarget:
    kind = {name: fields.pop(name) for name in ("limit_word", "returns_reasoning") if name in fields}
    return CallTarget(ModelServiceKind("kind", "Kind", dialect, **kind), Model("m", "p", "the-model", **fields))


def request(messages: Any = "hello", **fields: Any) -> InvokeModel:
    listed = [{"role": "user", "content": messages}] if isinstance(messages, str) else messages
    return InvokeModel.model_validate({"call_id": "1", "model_id": "m", "messages": listed, **fields})


def body(dialect: ModelDialect, model_request: InvokeModel, **fields: Any) -> dict[str, Any]:
    named = {"Anthropic": "anthropic", "Gemini": "gemini"}.get(type(dialect).__name__, "openai")
    names = ToolNames(tool.name for tool in model_request.tools or ())
    return dialect.chat(called(named, **fields), model_request, names, stream=True).body


def read(answer: ResponseParser, sample: str) -> ResponseChunk:
    """Parses a recorded stream and returns the sum of its pieces."""
    splitter, joined = SseSplitter(), ResponseChunk()
    content = (SAMPLES / sample).read_bytes()
    for event in [*splitter.feed(content), *splitter.end()]:
        if event != DONE:
            joined.add(answer.parse_event(from_json(event)))
    return joined
