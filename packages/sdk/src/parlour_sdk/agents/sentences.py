"""The few sentences that an agent itself says to users, in the language of the run."""

from typing import Final, Literal

SentenceKey = Literal["cut", "filtered", "filtered_partly", "no_text", "media_refused", "tool_limit"]
SENTENCES: Final[dict[SentenceKey, tuple[str, str]]] = {
    "cut": (
        "… (cut here: the longest answer was reached)",
        "……（已截断：达到回答长度上限）",
    ),
    "filtered": (
        "The model's service withheld this answer because of its content rules.",
        "模型服务因内容规则未给出回答。",
    ),
    "filtered_partly": (
        "… (the model's service withheld the rest because of its content rules)",
        "……（模型服务因内容规则未给出其余内容）",
    ),
    "no_text": (
        "The model thought about it and gave no answer. Please ask again, or in a shorter way.",
        "模型思考后没有给出回答。请再问一次，或换一种更简短的问法。",
    ),
    "media_refused": (
        "(I could not look at the file or picture: the model's service refused it.)",
        "（无法查看文件或图片：模型服务拒绝了它。）",
    ),
    "tool_limit": (
        "I stopped after {rounds} rounds of tool calls without coming to an answer.",
        "调用工具 {rounds} 轮后仍未得出回答，已停止。",
    ),
}


def sentence(key: SentenceKey, locale: str | None, **values: object) -> str:
    """Returns a sentence in Chinese for a Chinese locale, and in English otherwise."""
    english, chinese = SENTENCES[key]
    return (chinese if (locale or "").lower().startswith("zh") else english).format(**values)
