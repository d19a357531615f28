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
    manifest: AdapterManifest,
    submitted: Mapping[str, Any],
    current: BotConfiguration,
    secret_box: SecretBox,
    check: ConfigCheck,
) -> BotConfiguration:
    """Returns the configuration to store. Raises InvalidBotConfig.

    A secret that is not given stays as it is, unless an address changes to which it could be sent; one that is given
    empty is removed. `check` is the adapter's own check beyond the form; it gets only values that fit the form.
    """
    form, stored_secrets = manifest.config, current.secrets
    secret = {item.name for item in form if item.type == "secret"}
    stored = {name: sealed for name, sealed in stored_secrets.items() if name in secret and name not in submitted}
    values = {name: value for name, value in submitted.items() if name not in secret or value not in ("", None)}
    config = form_validation.with_defaults(form, values)
    complete = {**config, **dict.fromkeys(stored, SECRET_PLACEHOLDER)}
    problems = form_validation.validate(form, complete, "adapter") or check(complete)
    problems = problems or _secrets_to_repeat(manifest.address_fields, current.config, config, stored)
    if problems:
        raise InvalidBotConfig(problems)
    sealed = {name: secret_box.seal(config.pop(name)) for name in sorted(secret & config.keys())}
    return BotConfiguration(config, {**stored, **sealed})


def _secrets_to_repeat(
    address_fields: Iterable[str], old: Mapping[str, Any], new: Mapping[str, Any], secret_names: Iterable[str]
) -> list[FieldProblem]:
    """Returns a problem for each stored secret that a new address would get without the operator having entered it."""
    changed_addresses = [name for name in address_fields if (old.get(name) or "") != (new.get(name) or "")]
    if not changed_addresses:
        return []
    message = (
        f"'{changed_addresses[0]}' changed: enter this secret again for the new address, or send it empty to remove it"
    )
    return [(name, message) for name in sorted(secret_names)]


def decrypt_config(bot: Bot, secret_box: SecretBox) -> dict[str, Any]:
    """Returns the configuration with decrypted secrets, as the adapter receives it. Raises SecretUnreadable."""
    return {**bot.config, **{name: secret_box.open(sealed) for name, sealed in bot.secrets.items()}}
