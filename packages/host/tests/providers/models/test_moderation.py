"""Services that moderate and have no other models: Baidu's text review, and an endpoint of the operator's own."""

import json
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import pytest

from parlour.core.model.model_config import Model, Provider
from parlour.core.model.moderation import Moderate, ModerationAnswer
from parlour.core.model.providers import ProviderFailed
from parlour.core.models.catalogue import DialectName, ModelServiceKind
from parlour.providers.models.moderation_client import ModerationClient
from parlour.providers.models.timeouts import ModelTimeouts
from parlour.testing.model_server import ModelServer, Raw, Refuse
from parlour_sdk.protocol.models import Embed

from .asking import request

PAIR = "an-api-key:a-secret-key"
REVIEW = "/rest/2.0/solution/v1/text_censor/v2/user_defined"

Make = Callable[..., ModerationClient]


@pytest.fixture(scope="module")
def shared() -> Iterator[ModelServer]:
    with ModelServer() as server:
        yield server


@pytest.fixture
def server(shared: ModelServer) -> ModelServer:
    shared.forget()
    return shared


@pytest.fixture
async def make(server: ModelServer) -> AsyncIterator[Make]:
    made: list[ModerationClient] = []

    def make(dialect: DialectName, *keys: str, address: str = "") -> ModerationClient:
        kind = ModelServiceKind("kind", "Kind", dialect)
        provider = Provider("p", "Censor", "kind", address or server.address)
        made.append(ModerationClient(provider, kind, keys, ModelTimeouts(first_pause=0.01)))
        return made[-1]

    yield make
    for client in made:
        await client.close()


def says(**fields: Any) -> Raw:
    return Raw(json.dumps(fields).encode(), content_type="application/json")


async def moderate(client: ModerationClient, *texts: str, **parameters: Any) -> ModerationAnswer:
    model = Model("m", "p", "the-model", "moderation", parameters=parameters)
    return await client.moderate(model, Moderate("m", texts))


def categories(answer: ModerationAnswer) -> dict[str, tuple[bool, float]]:
    return {each.name: (each.is_flagged, each.score) for each in answer.categories}


async def test_baidu_names_what_it_found(server: ModelServer, make: Make) -> None:
    hits = [{"words": ["x"], "probability": 0.8}, {"words": [], "probability": 0.91}]
    findings = [
        {"type": 12, "subType": 5, "conclusionType": 2, "hits": hits},
        {"type": 12, "subType": 4, "conclusionType": 3, "msg": "maybe"},
        {"type": 11, "subType": 0, "conclusionType": 2},
        {"type": 12, "subType": 21, "conclusionType": 2},
    ]
    server.will(says(log_id=1, conclusion="不合规", conclusionType=2, data=findings))
    answer = await moderate(make("baidu-censor", "bce-v3/ALTAK-key"), "one", "two", strategyId=7)
    assert answer.is_flagged
    assert categories(answer) == {
        "abuse": (True, 0.91),
        "advertising": (True, 0.5),
        "banned_words": (True, 1.0),
        "12.21": (True, 1.0),
    }
    [asked] = server.requests
    assert (asked.path, asked.body) == (REVIEW, {"strategyId": "7", "text": "one\ntwo"})
    assert asked.headers["Authorization"] == "Bearer bce-v3/ALTAK-key"


async def test_baidu_finds_nothing_in_a_compliant_text(server: ModelServer, make: Make) -> None:
    server.will(says(log_id=1, conclusion="合规", conclusionType=1))
    assert await moderate(make("baidu-censor", "key"), "a kind text") == ModerationAnswer(False, ())


async def test_long_text_is_checked_in_parts(server: ModelServer, make: Make) -> None:
    found = [{"type": 12, "subType": 2, "conclusionType": 2, "hits": [{"probability": 0.7}]}]
    server.will(says(conclusionType=1), says(conclusionType=2, data=found))
    text = "é花" * 4000 + "e"
    assert (await moderate(make("baidu-censor", "key"), text)).is_flagged
    parts = [each.body["text"] for each in server.requests]
    assert "".join(parts) == text
    assert len(parts) == 2
    assert all(len(each.encode()) <= 20_000 for each in parts)


async def test_key_pair_is_exchanged_for_one_token(server: ModelServer, make: Make) -> None:
    client = make("baidu-censor", PAIR)
    server.will(says(access_token="24.t", expires_in=2_592_000), says(conclusionType=1), says(conclusionType=1))
    await moderate(client, "one")
    await moderate(client, "two")
    assert [each.path for each in server.requests] == ["/oauth/2.0/token", *[f"{REVIEW}?access_token=24.t"] * 2]
    exchange = {"grant_type": "client_credentials", "client_id": "an-api-key", "client_secret": "a-secret-key"}
    assert server.requests[0].body == exchange
    assert not any("Authorization" in each.headers for each in server.requests)


async def test_refused_token_is_replaced_by_the_next_call(server: ModelServer, make: Make) -> None:
    client = make("baidu-censor", PAIR)
    server.will(says(access_token="old", expires_in=2_592_000), says(error_code=110, error_msg="Access token invalid"))
    with pytest.raises(ProviderFailed) as failed:
        await moderate(client, "one")
    assert failed.value.code == "key_refused"
    server.will(says(access_token="new", expires_in=2_592_000), says(conclusionType=1))
    assert not (await moderate(client, "one")).is_flagged
    assert server.requests[-1].path == f"{REVIEW}?access_token=new"


async def test_token_that_ends_soon_is_not_kept(server: ModelServer, make: Make) -> None:
    client = make("baidu-censor", PAIR)
    server.will(says(access_token="a", expires_in=60), says(conclusionType=1))
    await moderate(client, "one")
    server.will(says(access_token="b", expires_in=60), says(conclusionType=1))
    await moderate(client, "two")
    assert [each.path.rpartition("=")[2] for each in server.requests[1::2]] == ["a", "b"]


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        (says(error_code=18, error_msg="Open api qps request limit reached"), "rate_limited"),
        (says(error_code=6, error_msg="No permission to access data"), "key_refused"),
        (says(error_code=282000, error_msg="internal error"), "provider_failed"),
        (says(conclusionType=4), "provider_failed"),
        (says(conclusion="合规"), "answer_malformed"),
        (Raw(b"[]", content_type="application/json"), "answer_malformed"),
        (Raw(b"<html>", content_type="text/html"), "answer_malformed"),
        (Refuse(403, "no"), "key_refused"),
    ],
)
async def test_answer_without_a_verdict_is_a_failure(server: ModelServer, make: Make, answer: Any, code: str) -> None:
    server.will(answer)
    with pytest.raises(ProviderFailed) as failed:
        await moderate(make("baidu-censor", "the-only-key"), "text")
    assert failed.value.code == code
    assert "the-only-key" not in failed.value.message


async def test_key_pair_that_is_refused_says_so(server: ModelServer, make: Make) -> None:
    server.will(says(error="invalid_client", error_description="unknown client id"))
    with pytest.raises(ProviderFailed) as failed:
        await moderate(make("baidu-censor", PAIR), "text")
    assert (failed.value.code, len(server.requests)) == ("key_refused", 1)
    assert "unknown client id" in failed.value.message


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ({"verdict": "pass"}, (False, {})),
        ({"verdict": "block"}, (True, {})),
        (
            {"verdict": "block", "categories": {"hate": 0.9, "spam": 3}},
            (True, {"hate": (True, 0.9), "spam": (True, 1.0)}),
        ),
        ({"verdict": "block", "categories": ["hate"], "score": 0.7}, (True, {"hate": (True, 0.7)})),
        ({"verdict": "pass", "categories": {"hate": 0.2}}, (False, {"hate": (False, 0.2)})),
    ],
)
async def test_webhook_decides(server: ModelServer, make: Make, answer: dict[str, Any], expected: Any) -> None:
    server.will(says(**answer))
    verdict = await moderate(
        make("moderation-webhook", "token", address=f"{server.address}/check"), "one", "two", tenant="a"
    )
    assert (verdict.is_flagged, categories(verdict)) == expected
    [asked] = server.requests
    assert (asked.path, asked.headers["Authorization"]) == ("/check", "Bearer token")
    assert asked.body == {"tenant": "a", "model": "the-model", "texts": ["one", "two"]}


@pytest.mark.parametrize("answer", [{"verdict": "maybe"}, {"flagged": True}])
async def test_webhook_without_a_verdict_is_a_failure(server: ModelServer, make: Make, answer: dict[str, Any]) -> None:
    server.will(says(**answer))
    with pytest.raises(ProviderFailed) as failed:
        await moderate(make("moderation-webhook"), "one")
    assert failed.value.code == "answer_malformed"
    assert "Authorization" not in server.requests[0].headers


async def test_moderation_service_has_no_other_models(make: Make) -> None:
    client, model = make("moderation-webhook"), Model("m", "p", "name")
    with pytest.raises(ProviderFailed, match="answers nothing"):
        await client.invoke(model, request())
    with pytest.raises(ProviderFailed, match="makes no embeddings"):
        await client.embed(model, Embed(call_id="1", model_id="m", texts=["a"]))
