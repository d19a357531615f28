"""Checks a bot's configuration against its adapter's form, completes it and encrypts its secrets. Writes nothing."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from parlour.core.config import form_validation
from parlour.core.config.bots import Bot
from parlour.core.config.form_validation import FieldProblem
from parlour.core.secrets import SecretBox
from parlour_sdk.values import dataclass

from .manifest import AdapterManifest

SECRET_PLACEHOLDER = "held"
"""Placeholder for a stored secret that is not decrypted."""
ConfigCheck = Callable[[Mapping[str, Any]], list[FieldProblem]]


class InvalidBotConfig(Exception):
    """The configuration is not what the adapter asks for."""

    def __init__(self, problems: list[FieldProblem]) -> None:
        super().__init__(type(self).__doc__)
        self.problems = problems


@dataclass(frozen=True, slots=True)
class BotConfiguration:
    config: dict[str, Any]
    secrets: dict[str, str]


def build_configuration(
    manifest: AdapterManifest, given: Mapping[str, Any], before: BotConfiguration, box: SecretBox, check: ConfigCheck
) -> BotConfiguration:
    """Returns the configuration to store. Raises InvalidBotConfig.

    A secret that is not given stays as it is, unless an address changes to which it could be sent; one that is given
    empty is removed. `check` is the adapter's own check beyond the form; it gets only values that fit the form.
    """
    form, kept = manifest.config, before.secrets
    secret = {item.name for item in form if item.type == "secret"}
    held = {name: sealed for name, sealed in kept.items() if name in secret and name not in given}
    said = {name: value for name, value in given.items() if name not in secret or value not in ("", None)}
    whole = form_validation.with_defaults(form, said)
    complete = {**whole, **dict.fromkeys(held, SECRET_PLACEHOLDER)}
    wrong = form_validation.validate(form, complete, "adapter") or check(complete)
    wrong = wrong or _secrets_to_repeat(manifest.address_fields, before.config, whole, held)
    if wrong:
        raise InvalidBotConfig(wrong)
    sealed = {name: box.seal(whole.pop(name)) for name in sorted(secret & whole.keys())}
    return BotConfiguration(whole, {**held, **sealed})


def _secrets_to_repeat(
    address_fields: Iterable[str], before: Mapping[str, Any], after: Mapping[str, Any], held: Iterable[str]
) -> list[FieldProblem]:
    """Returns a problem for each stored secret that a new address would get without the operator having entered it."""
    moved = [name for name in address_fields if (before.get(name) or "") != (after.get(name) or "")]
    if not moved:
        return []
    sentence = f"'{moved[0]}' changed: enter this secret again for the new address, or send it empty to remove it"
    return [(name, sentence) for name in sorted(held)]


def decrypt_config(bot: Bot, box: SecretBox) -> dict[str, Any]:
    """Returns the configuration with decrypted secrets, as the adapter receives it. Raises SecretUnreadable."""
    return {**bot.config, **{name: box.open(sealed) for name, sealed in bot.secrets.items()}}
