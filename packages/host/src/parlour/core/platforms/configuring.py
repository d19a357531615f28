"""A bot's configuration against its adapter's form: checked, completed, its secrets sealed. Decides; writes nothing."""

from collections.abc import Callable, Mapping
from typing import Any

from parlour.core.agents import forms
from parlour.core.agents.forms import Problem
from parlour.core.secrets import SecretBox
from parlour_sdk.protocol.form import FormItem
from parlour_sdk.values import dataclass

from .book import Bot

HELD = "held"
"""Stands for a secret that is known and not looked at."""
Check = Callable[[Mapping[str, Any]], list[Problem]]


class ConfigurationRefused(Exception):
    """The configuration is not what the adapter asks for."""

    def __init__(self, problems: list[Problem]) -> None:
        super().__init__(type(self).__doc__)
        self.problems = problems


@dataclass(frozen=True, slots=True)
class Configuration:
    config: dict[str, Any]
    secrets: dict[str, str]


def configured(
    form: list[FormItem], given: Mapping[str, Any], kept: Mapping[str, str], box: SecretBox, check: Check
) -> Configuration:
    """A secret that is not given stays as it is; one that is given empty is taken away.

    `check` is the adapter's own, of what no form can say; it sees what fits the form.
    """
    secret = {item.name for item in form if item.type == "secret"}
    held = {name: sealed for name, sealed in kept.items() if name in secret and name not in given}
    said = {name: value for name, value in given.items() if name not in secret or value not in ("", None)}
    whole = forms.prefilled(form, said)
    complete = {**whole, **dict.fromkeys(held, HELD)}
    wrong = forms.problems(form, complete, "adapter") or check(complete)
    if wrong:
        raise ConfigurationRefused(wrong)
    sealed = {name: box.seal(whole.pop(name)) for name in sorted(secret & whole.keys())}
    return Configuration(whole, {**held, **sealed})


def opened(bot: Bot, box: SecretBox) -> dict[str, Any]:
    """As its adapter gets it. Raises SecretUnreadable."""
    return {**bot.config, **{name: box.open(sealed) for name, sealed in bot.secrets.items()}}
