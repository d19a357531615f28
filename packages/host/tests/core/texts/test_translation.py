"""Translation of the Host's English sentences by templates."""

import json
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from parlour.core.texts.templates import parse
from parlour.core.texts.translation import FOLDER, MAX_CHARACTERS, sentences, translate

CHINESE = "zh-Hans"
MAX_SECONDS = 1.0
"""Far above what it takes: an exponential search would take minutes."""
values = st.text(st.characters(whitelist_categories=("Lu", "Ll", "Nd")), min_size=1, max_size=20)


@pytest.mark.parametrize(
    ("english", "chinese"),
    [
        ("this session is over; log in again", "登录已失效；请重新登录"),
        (
            "agent 'x' does not exist; GET /api/v1/agents lists them",
            "智能体“x”不存在；可用 GET /api/v1/agents 查看列表",
        ),
        ("port: Input should be a valid integer, not a text", "port: 应为整数，而不是文本"),
        (
            "runner_config.model: must be the id of a model, not a number",
            "runner_config.model: 必须是模型的 ID，而不是数字",
        ),
        ("name: String should have at least 1 character", "name: 至少需要 1 个字符"),
        ("Acme does not accept the API key (401): bad key", "Acme 不接受该 API 密钥（401）：bad key"),
        ("the run is over: its status is completed", "运行已结束：状态为已完成"),
        (": the run took longer than 5 s", "：运行用时超过 5 秒"),
        (
            "the platform refused: the bot is not in this group; trying again in 5 s",
            "平台拒绝：机器人不在此群中；5 秒后重试",
        ),
        (
            "no route takes message.received by a bot, after route 'x': it is disabled",
            "没有路由处理 message.received（由机器人发出），此前：路由“x”：已停用",
        ),
        (
            "Run a1 failed after 0.3 s: its process ended. Nothing of it had been shown.",
            "运行在 0.3 秒后失败：其进程已结束。没有发送过任何内容。",
        ),
    ],
)
def test_sentence_is_translated_with_nested_sentences(english: str, chinese: str) -> None:
    assert translate(english, CHINESE) == chinese


def test_quoted_names_are_not_translated() -> None:
    assert translate("there is no tool 'it was stopped'", CHINESE) == "工具“it was stopped”不存在"


@pytest.mark.parametrize("text", ["", "hello", "What a person wrote, and more: this; and that.", "你好，世界"])
def test_text_of_others_is_unchanged(text: str) -> None:
    assert translate(text, CHINESE) == text


@pytest.mark.parametrize("language", ["en", "de", ""])
def test_english_and_unknown_languages_get_the_original(language: str) -> None:
    assert translate("this session is over; log in again", language) == "this session is over; log in again"


@given(st.data())
@settings(deadline=None, max_examples=300)
def test_template_returns_its_values(data: st.DataObject) -> None:
    source = parse(data.draw(st.sampled_from(sorted(sentences(CHINESE)))))
    filled = {name: data.draw(values) for name in source.names}
    text = "".join(
        part
        for literal, name in zip(source.literals, (*source.names, ""), strict=True)
        for part in (literal, filled.get(name, ""))
    )

    matched = source.match(text) if source.names else {}

    assert matched is not None
    assert "".join(matched.values()) == "".join(filled[name] for name in dict.fromkeys(source.names))


@given(st.data())
@settings(deadline=None, max_examples=300)
def test_quoted_value_is_unchanged(data: st.DataObject) -> None:
    quoted = sorted(english for english in sentences(CHINESE) if "'{}'" in english and english.count("{") == 1)
    value = data.draw(values)

    translated = translate(data.draw(st.sampled_from(quoted)).replace("{}", value), CHINESE)

    assert value in translated


@given(st.text(max_size=2 * MAX_CHARACTERS))
@settings(deadline=None)
def test_no_input_raises(text: str) -> None:
    assert isinstance(translate(text, CHINESE), str)


@pytest.mark.parametrize(
    "piece",
    [
        "; ",
        ": ",
        ". ",
        "a: b; c, not d and e or f. ",
        "the platform refused: ",
        "it: ",
        "'",
        "no route takes x, after ",
    ],
)
def test_long_text_with_punctuation_is_translated_fast(piece: str) -> None:
    translate("warm", CHINESE)
    started = time.process_time()
    translate((piece * MAX_CHARACTERS)[:MAX_CHARACTERS], CHINESE)

    assert time.process_time() - started < MAX_SECONDS


def test_translations_use_all_values_except_plural_endings() -> None:
    for english, chinese in sentences(CHINESE).items():
        source, target = parse(english), parse(chinese)
        endings = {name for name, before in zip(source.names, source.literals, strict=False) if before[-4:].isalpha()}
        assert set(target.names) <= set(source.names), english
        if english not in NARROWER:
            assert set(source.names) - set(target.names) <= endings, english


def test_each_template_has_one_translation() -> None:
    found = [name for file in (FOLDER / CHINESE).glob("*.json") for name in json.loads(file.read_text("utf-8"))]

    assert len(found) == len(set(found))


NARROWER = frozenset(
    english
    for english in sentences(CHINESE)
    if {"run", "before", "event", "code", "reason"} & set(parse(english).names)
)
"""Sentences of the decision trail, whose translations leave out ids."""
