"""The questions for the quality of retrieval, and the figures that answers are judged by."""

import json
import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from pydoc_data.topics import topics
from typing import Literal

from parlour_sdk.values import dataclass

QUESTIONS = Path(__file__).parent / "questions"
OTHER_CHINESE = Path(__file__).parent / "other_passages_zh.json"
Half = Literal["tuning", "figures"]
LANGUAGES = ("en", "zh")
KINDS = ("keyword", "paraphrase", "code")
CODE_QUESTION = {"en": "What does {code} say?", "zh": "{code} 规定了什么？"}
MAX_OTHERS = {"en": 700, "zh": 300}
"""Passages about other things in each language."""


@dataclass(frozen=True, slots=True)
class Question:
    """A question, and the position of the passage that answers it; -1 if none does."""

    text: str
    language: str
    kind: str
    answer: int


@dataclass(frozen=True, slots=True)
class QuestionSet:
    """The passages and questions of one half."""

    passages: Sequence[str]
    questions: Sequence[Question]


def load(half: Half) -> QuestionSet:
    passages: list[str] = []
    questions: list[Question] = []
    for language in LANGUAGES:
        for line in _lines(QUESTIONS / f"{half}-{language}.txt"):
            code, passage, keyword, paraphrase = line.split(" | ")
            by_code = CODE_QUESTION[language].format(code=code)
            for kind, text in zip(KINDS, (keyword, paraphrase, by_code), strict=True):
                questions.append(Question(text, language, kind, len(passages)))
            passages.append(f"{passage} ({code})" if language == "en" else f"{passage}（{code}）")
    for line in _lines(QUESTIONS / f"{half}-none.txt"):
        language, text = line.split(" | ")
        questions.append(Question(text, language, "none", -1))
    return QuestionSet(passages, questions)


def _lines(path: Path) -> Iterator[str]:
    return (line for line in path.read_text(encoding="utf-8").splitlines() if not line.startswith("#"))


def others() -> list[str]:
    """Returns passages about other things: Python's own manual, and Chinese texts of the page and the Host.

    The Chinese ones are kept in a file, so that a new text of the page does not change the figures.
    """
    english: list[str] = []
    for topic in topics.values():
        passage = ""
        for paragraph in topic.split("\n\n"):
            passage += f"{paragraph}\n"
            if len(passage) > 600:
                english.append(passage)
                passage = ""
    chinese: list[str] = json.loads(OTHER_CHINESE.read_text(encoding="utf-8"))
    return [*english[: MAX_OTHERS["en"]], *chinese[: MAX_OTHERS["zh"]]]


@dataclass(frozen=True, slots=True)
class Figures:
    """How well questions of one group were answered."""

    recall: float
    """Part of the questions whose passage is among the first five."""
    gain: float
    """nDCG at 10, where one passage answers."""


def figures(ranks: Sequence[int | None]) -> Figures:
    """Returns the figures of questions whose answer was found at these ranks, from 0; None if it was not found."""
    recall = sum(rank is not None and rank < 5 for rank in ranks) / len(ranks)
    gain = sum(1 / math.log2(rank + 2) for rank in ranks if rank is not None and rank < 10) / len(ranks)
    return Figures(recall, gain)
