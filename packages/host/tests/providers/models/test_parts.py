"""Small parts of the model providers: tool names, keys, prices, estimates, the catalogue, the demo model."""

import subprocess
import sys
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parlour.core.model.model_config import Model, Prices
from parlour.core.models.budgeted_models import limit_answer
from parlour.providers.models import estimates
from parlour.providers.models.catalogue import ShippedCatalogue
from parlour.providers.models.demo import Demo
from parlour.providers.models.dialects.common import ToolNames
from parlour.providers.models.retry import KeyRing
from parlour_sdk.protocol.usage import Usage

from .asking import TOOL, request

EXPECTED_KINDS = """
openai anthropic gemini deepseek xai moonshot zhipu dashscope volcengine siliconflow modelscope openrouter
giteeai compshare ppio shengsuanyun jiekou 302ai qiniu tokenpony ollama lmstudio vllm openai-compatible demo"""


@given(st.sets(st.text(min_size=1, max_size=100)))
def test_tool_names_are_valid_for_services_and_map_back(names: set[str]) -> None:
    known = ToolNames(names)
    wire = [known.wire(name) for name in names]
    assert all(0 < len(each) <= 64 and each.replace("_", "a").replace("-", "a").isalnum() for each in wire)
    assert all(each.isascii() for each in wire)
    assert {known.own(each) for each in wire} == names


def test_a_paused_key_is_replaced_by_the_next_until_its_pause_is_over() -> None:
    ring = KeyRing(("a", "b"))
    assert (ring.current(0), ring.pause("a", 0, 10), ring.current(1)) == ("a", True, "b")
    assert not ring.pause("b", 1, 60)
    assert ring.current(2) == "a"
    assert ring.current(11) == "a"


def test_keys_are_masked_in_messages() -> None:
    assert KeyRing(("sk-secret",)).mask("no such key: sk-secret.") == "no such key: ********."


def test_cost_is_counted_in_whole_micro_units_and_rounded_up() -> None:
    prices = Prices(input=2.5, output=10, cached_input=1.25)
    assert prices.cost_micros(Usage(prompt_tokens=100, completion_tokens=10, cached_tokens=40)) == 300
    assert Prices(input=0.15).cost_micros(Usage(prompt_tokens=1)) == 1
    assert Prices().cost_micros(Usage(prompt_tokens=10**9)) == 0


def test_the_worst_case_is_never_less_than_the_estimate() -> None:
    model_request = request("hello 你好", tools=[TOOL])
    worst = estimates.worst_case_usage(Model("m", "p", "n", max_output_tokens=50), model_request)
    assert worst.prompt_tokens >= estimates.estimate_prompt_tokens(model_request)
    assert worst.completion_tokens == 50
    for extra, tokens in (
        ({"max_tokens": 7}, 7),
        ({"max_tokens": 7, "max_completion_tokens": 9}, 9),
        ({"max_tokens": 7, "n": 3}, 21),
        ({"generationConfig": {"maxOutputTokens": 8}}, 8),
    ):
        assert estimates.worst_case_usage(Model("m", "p", "n"), request(extra=extra)).completion_tokens == tokens


@pytest.mark.parametrize("own", [{"max_completion_tokens": 900}, {"generationConfig": {"maxOutputTokens": 900}}])
def test_a_limit_of_the_request_replaces_that_of_the_model(own: dict[str, Any]) -> None:
    model = Model("m", "p", "n", parameters={"temperature": 1, **own})
    assert estimates.worst_case_usage(model, request(extra={"max_tokens": 7})).completion_tokens == 7
    assert estimates.worst_case_usage(model, request()).completion_tokens == 900


def test_several_answers_share_the_reserved_tokens() -> None:
    model, model_request = Model("m", "p", "n", max_output_tokens=50), request(extra={"n": 3})
    assert estimates.worst_case_usage(model, limit_answer(model_request, 100)).completion_tokens <= 100


@given(st.text())
def test_a_text_has_no_more_tokens_than_bytes(text: str) -> None:
    assert estimates.estimate_tokens(text) <= max(1, len(text.encode(errors="replace")))


def test_the_catalogue_has_every_expected_service() -> None:
    kinds = {kind.kind: kind for kind in ShippedCatalogue().kinds()}
    assert set(EXPECTED_KINDS.split()) <= set(kinds)
    own_address = ("openai-compatible", "moderation-webhook", "demo")
    assert all(kind.base_url for name, kind in kinds.items() if name not in own_address)
    assert all(kind.key_page for kind in kinds.values() if kind.needs_key)


async def test_the_demo_model_explains_the_next_step_and_streams_it() -> None:
    model, model_request = Model("demo", "demo", "demo"), request("hello", tools=[TOOL])
    whole = await Demo().invoke(model, model_request)
    pieces = [piece async for piece in Demo().stream(model, model_request)]
    assert "add a provider" in whole.text
    assert "".join(piece.text for piece in pieces) == whole.text
    assert len(pieces) > 3
    assert (pieces[-1].done, pieces[-1].usage) == (True, whole.usage)


async def test_the_demo_model_answers_chinese_in_chinese() -> None:
    assert "演示模型" in (await Demo().invoke(Model("demo", "demo", "demo"), request("你好"))).text


def test_no_heavy_module_is_loaded_before_a_model_call() -> None:
    code = "import sys, parlour.app.models; print('aiohttp' in sys.modules, 'nacl' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False"]
