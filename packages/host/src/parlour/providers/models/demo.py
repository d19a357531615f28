"""The demo model: needs no key and no network, answers immediately, and explains what to do next."""

from collections.abc import AsyncGenerator, Iterator

from parlour.core.model.model_config import Model
from parlour.core.model.moderation import Moderate, ModerationAnswer
from parlour.core.model.providers import ProviderFailed
from parlour_sdk import tokens
from parlour_sdk.protocol.content import plain_text
from parlour_sdk.protocol.models import Embed, InvokeModel, Rerank, RerankScore
from parlour_sdk.protocol.usage import Usage

from .dialects.base import ResponseChunk
from .estimates import estimate_tokens

HEARD_CHARACTERS = 200
ANSWERS = {
    "en": (
        "Hello! I am the demo model that comes with Parlour: I need no key, and I can't think. "
        "{heard}"
        "To talk to a real model, open Models, add a provider with your API key, and add one of its models: "
        "your default agent takes it at once."
    ),
    "zh": (
        "你好！我是 Parlour 自带的演示模型：不需要密钥，也不会思考。"
        "{heard}"
        "要和真正的模型对话，请打开“模型”页面，用你的 API 密钥添加一个供应商，再添加它的一个模型："
        "默认智能体会立即使用它。"
    ),
}
HEARD = {"en": 'I heard: "{text}". ', "zh": "我听到的是：“{text}”。"}


class Demo:
    """Backend of the demo model. It gives the same answer to the same text, whatever else is requested."""

    async def close(self) -> None:
        pass

    async def invoke(self, model: Model, request: InvokeModel) -> ResponseChunk:
        text = reply(request)
        prompt_tokens = sum(estimate_tokens(plain_text(each.content)) for each in request.messages)
        usage = Usage(prompt_tokens=prompt_tokens, completion_tokens=estimate_tokens(text))
        return ResponseChunk(text, usage=usage, finish_reason="stop", done=True)

    async def stream(self, model: Model, request: InvokeModel) -> AsyncGenerator[ResponseChunk, None]:
        response = await self.invoke(model, request)
        for part in _in_parts(response.text):
            yield ResponseChunk(part)
        response.text = ""
        yield response

    async def embed(self, model: Model, request: Embed) -> tuple[list[list[float]], Usage | None]:
        raise ProviderFailed("not_supported", "the demo model makes no embeddings; add a provider that does")

    async def rerank(self, model: Model, request: Rerank) -> tuple[list[RerankScore], Usage | None]:
        raise ProviderFailed("not_supported", "the demo model ranks nothing; add a provider that does")

    async def moderate(self, model: Model, request: Moderate) -> ModerationAnswer:
        raise ProviderFailed("not_supported", "the demo model moderates nothing; add a provider that does")


def reply(request: InvokeModel) -> str:
    user_texts = [plain_text(each.content).strip() for each in request.messages if each.role == "user"]
    text = user_texts[-1] if user_texts else ""
    language = "zh" if tokens.WIDE.search(text) else "en"
    excerpt = text if len(text) <= HEARD_CHARACTERS else f"{text[:HEARD_CHARACTERS]}…"
    return ANSWERS[language].format(heard=HEARD[language].format(text=excerpt) if excerpt else "")


def _in_parts(text: str) -> Iterator[str]:
    """Splits a text into sentences, so that streaming is visible."""
    start = 0
    for index, character in enumerate(text):
        if character in ".!:。！：" and index + 1 < len(text):
            yield text[start : index + 1]
            start = index + 1
    yield text[start:]
