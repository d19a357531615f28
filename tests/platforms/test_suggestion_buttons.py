"""Each platform with buttons shows as many suggestions, with labels as long, as its manifest says."""

from importlib import import_module
from typing import Any

import pytest

from parlour.core.delivery.rendering.suggestions import suggestions_of
from parlour.core.model.ids import RunId
from parlour.testing.adapter_suite import AdapterBench, PlatformDriver
from parlour_sdk.protocol.chain import MessageChain, Plain, Platform
from tests.platforms.drivers import PLATFORMS

WITH_BUTTONS = [name for name, known in PLATFORMS.items() if known.driver.manifest.buttons]
RUN = RunId("0199a3f0-0000-7000-8000-000000000000")


def suggestion_chain(driver: PlatformDriver) -> MessageChain:
    """Returns a text with suggestions that use the platform's limits."""
    limits = driver.manifest.limits
    labels = [f"{number}{'x' * (limits.button_label - 1)}" for number in range(min(limits.buttons, 8))]
    [component] = suggestions_of({"metadata": {"suggestions": labels}}).as_buttons(driver.manifest, RUN)
    return [Plain(text="Which one?"), Platform.model_validate(component)]


@pytest.mark.parametrize("platform", WITH_BUTTONS)
async def test_a_platform_takes_as_many_suggestions_as_its_manifest_says(
    platform: str, request: pytest.FixtureRequest
) -> None:
    known = PLATFORMS[platform]
    make: Any = known.driver
    driver = make(request.getfixturevalue(known.server_fixture)) if known.server_fixture else make()
    async with AdapterBench.running(driver) as bench:
        chat = await driver.chat_for_components()
        await bench.adapter.api().send_message(chat.kind, chat.id, suggestion_chain(driver))
        assert driver.read(chat)[-1].startswith("Which one?")


@pytest.mark.parametrize("platform", WITH_BUTTONS)
def test_no_label_within_the_limit_of_the_manifest_is_cut(platform: str) -> None:
    encode = import_module(f"parlour.platforms.{platform}.encode")
    limit = PLATFORMS[platform].driver.manifest.limits.button_label
    assert getattr(encode, "MAX_LABEL_CHARACTERS", limit) >= limit
