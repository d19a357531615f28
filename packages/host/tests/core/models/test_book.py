"""Models and providers are written through and read back; the default agent takes the first real model."""

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


async def reloaded(journal: MemoryJournal) -> ModelRepository:
    book = ModelRepository(journal, LoopClock())
    await book.load()
    return book


async def test_a_model_and_its_provider_are_read_back_as_they_were_written() -> None:
    journal = MemoryJournal()
    book = await reloaded(journal)
    await book.put_provider(PROVIDER)
    await book.put_model(MODEL)
    for each in (book, await reloaded(journal)):
        assert (each.provider("p"), each.model("m")) == (PROVIDER, MODEL)
        [resource] = each.resources()
        assert (resource.model_id, resource.provider, resource.context_window) == ("m", "Mine", 100)
        assert resource.abilities == ["vision"]


async def test_a_changed_or_removed_model_stays_so_after_a_restart() -> None:
    journal = MemoryJournal()
    book = await reloaded(journal)
    await book.put_provider(PROVIDER)
    await book.put_model(MODEL)
    await book.put_model(Model("m", "p", "other"))
    await book.put_model(Model("n", "p", "gone"))
    await book.remove_model("n")
    for each in (book, await reloaded(journal)):
        assert [model.name for model in each.models()] == ["other"]
        assert [resource.name for resource in each.resources()] == ["other"]


def test_what_is_not_said_of_a_model_is_taken_from_the_catalogue() -> None:
    known = CatalogueModel("gpt", "llm", 500, 50, ("tools",), Prices(3, 4))
    kind = ModelServiceKind("openai", "OpenAI", "openai", models=(known,))
    bare = apply_catalogue_defaults(Model("m", "p", "gpt"), kind, abilities_said=False)
    assert (bare.context_window, bare.max_output_tokens, bare.abilities) == (500, 50, ("tools",))
    assert bare.prices == Prices(3, 4)
    assert apply_catalogue_defaults(MODEL, kind, abilities_said=True) == MODEL


def test_what_a_model_costs_is_unknown_unless_somebody_knows_it() -> None:
    used = Usage(prompt_tokens=10)
    unknown = apply_catalogue_defaults(
        Model("m", "p", "other"), ModelServiceKind("openai", "OpenAI", "openai"), abilities_said=False
    )
    assert (unknown.prices, unknown.cost_micros(used)) == (None, None)
    assert Model.decode(unknown.encode()) == unknown
    own = apply_catalogue_defaults(
        Model("m", "p", "other"), ModelServiceKind("ollama", "Ollama", "openai", free=True), abilities_said=False
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
async def test_the_first_real_model_fills_an_empty_selector_and_never_another(selected: Any, taken: bool) -> None:
    journal = MemoryJournal()
    agents = AgentRepository(journal, LoopClock())
    await agents.add(make_agent("a", runner_config={"model": selected, "prompt": "hi"}))
    await journal.commit(Unit("test", (Insert(META, {"name": DEFAULT_AGENT_META_KEY, "value": "a"}),)))
    offered = await DefaultModelAssigner(journal, agents).assignment_for(MODEL)
    config = {"model": {"primary": "m", "fallbacks": []}, "prompt": "hi"}
    assert (offered and offered[1].runner_config) == (config if taken else None)


@pytest.mark.parametrize("model", [Model("e", "p", "x", "embedding"), Model("d", "demo", "demo")])
async def test_a_model_that_can_not_answer_is_not_taken(model: Model) -> None:
    journal = MemoryJournal()
    agents = AgentRepository(journal, LoopClock())
    await agents.add(make_agent("a"))
    await journal.commit(Unit("test", (Insert(META, {"name": DEFAULT_AGENT_META_KEY, "value": "a"}),)))
    assert await DefaultModelAssigner(journal, agents).assignment_for(model) is None
