"""Models and providers are written to the database; the default agent gets the first real model."""

from typing import Any

import pytest

from parlour.core.config.agents import AgentRepository
from parlour.core.config.default_model import DEFAULT_AGENT_META_KEY, DefaultModelAssigner
from parlour.core.config.models import ModelRepository
from parlour.core.journal import Insert, Unit
from parlour.core.model.model_config import Model, Prices, Provider
from parlour.core.models.catalogue import CatalogueModel, ModelServiceKind, apply_catalogue_defaults
from parlour.core.store.tables import META
from parlour.testing import MemoryJournal
from parlour_sdk.protocol.usage import Usage

from ..support import LoopClock, make_agent

PROVIDER = Provider("p", "Mine", "openai", "https://example.org", ("sealed",))
MODEL = Model("m", "p", "gpt", "llm", 100, 10, ("vision",), Prices(1, 2, 0.5), {"temperature": 0})


async def reload(journal: MemoryJournal) -> ModelRepository:
    repository = ModelRepository(journal, LoopClock())
    await repository.load()
    return repository


async def test_model_and_provider_are_read_back_as_written() -> None:
    journal = MemoryJournal()
    repository = await reload(journal)
    await repository.put_provider(PROVIDER)
    await repository.put_model(MODEL)
    for each in (repository, await reload(journal)):
        assert (each.provider("p"), each.model("m")) == (PROVIDER, MODEL)
        [resource] = each.resources()
        assert (resource.model_id, resource.provider, resource.context_window) == ("m", "Mine", 100)
        assert resource.abilities == ["vision"]


async def test_changed_and_removed_models_stay_so_after_a_restart() -> None:
    journal = MemoryJournal()
    repository = await reload(journal)
    await repository.put_provider(PROVIDER)
    await repository.put_model(MODEL)
    await repository.put_model(Model("m", "p", "other"))
    await repository.put_model(Model("n", "p", "gone"))
    await repository.remove_model("n")
    for each in (repository, await reload(journal)):
        assert [model.name for model in each.models()] == ["other"]
        assert [resource.name for resource in each.resources()] == ["other"]


def test_missing_fields_of_a_model_come_from_the_catalogue() -> None:
    known = CatalogueModel("gpt", "llm", 500, 50, ("tools",), Prices(3, 4))
    kind = ModelServiceKind("openai", "OpenAI", "openai", models=(known,))
    bare = apply_catalogue_defaults(Model("m", "p", "gpt"), kind, has_abilities=False)
    assert (bare.context_window, bare.max_output_tokens, bare.abilities) == (500, 50, ("tools",))
    assert bare.prices == Prices(3, 4)
    assert apply_catalogue_defaults(MODEL, kind, has_abilities=True) == MODEL


def test_cost_is_unknown_without_prices_and_zero_for_free_services() -> None:
    used = Usage(prompt_tokens=10)
    unknown = apply_catalogue_defaults(
        Model("m", "p", "other"), ModelServiceKind("openai", "OpenAI", "openai"), has_abilities=False
    )
    assert (unknown.prices, unknown.cost_micros(used)) == (None, None)
    assert Model.decode(unknown.encode()) == unknown
    own = apply_catalogue_defaults(
        Model("m", "p", "other"), ModelServiceKind("ollama", "Ollama", "openai", free=True), has_abilities=False
    )
    assert own.cost_micros(used) == 0


@pytest.mark.parametrize(
    ("selected", "taken"),
    [
        (None, True),
        ({"primary": "demo", "fallbacks": []}, True),
        ({"primary": None, "fallbacks": []}, True),
        ({"primary": "mine", "fallbacks": []}, False),
        ("mine", False),
    ],
)
async def test_first_real_model_fills_only_an_empty_selector(selected: Any, taken: bool) -> None:
    journal = MemoryJournal()
    agents = AgentRepository(journal, LoopClock())
    await agents.add(make_agent("a", runner_config={"model": selected, "prompt": "hi"}))
    await journal.commit(Unit("test", (Insert(META, {"name": DEFAULT_AGENT_META_KEY, "value": "a"}),)))
    offered = await DefaultModelAssigner(journal, agents).assignment_for(MODEL)
    config = {"model": {"primary": "m", "fallbacks": []}, "prompt": "hi"}
    assert (offered and offered[1].runner_config) == (config if taken else None)


@pytest.mark.parametrize("model", [Model("e", "p", "x", "embedding"), Model("d", "demo", "demo")])
async def test_model_that_cannot_answer_is_not_assigned(model: Model) -> None:
    journal = MemoryJournal()
    agents = AgentRepository(journal, LoopClock())
    await agents.add(make_agent("a"))
    await journal.commit(Unit("test", (Insert(META, {"name": DEFAULT_AGENT_META_KEY, "value": "a"}),)))
    assert await DefaultModelAssigner(journal, agents).assignment_for(model) is None
