"""Builds bots from request bodies; raises a Problem that names an invalid field."""

from functools import partial
from typing import Any

from parlour.core.config.bots import Bot
from parlour.core.config.form_validation import MASKED
from parlour.core.platforms.bot_config import Configuration, ConfigurationRefused, configured
from parlour.core.platforms.manifest import AdapterManifest
from parlour.core.platforms.port import Catalogue
from parlour.core.secrets import SecretBox

from ..errors import Problem
from .schemas import BotBody


class BotForm:
    def __init__(self, catalogue: Catalogue, secrets: SecretBox) -> None:
        self._catalogue = catalogue
        self._secrets = secrets

    def bot(self, bot_id: str, body: BotBody, before: Bot | None = None) -> Bot:
        if before is not None and before.adapter != body.adapter:
            raise refused("adapter", f"a bot stays with its adapter, '{before.adapter}'; make another bot for this one")
        stored = Configuration(before.config, before.secrets) if before is not None else Configuration({}, {})
        made = self._configured(self._manifest(body.adapter), body.adapter_config, stored)
        return Bot(bot_id, body.name, body.adapter, made.config, made.secrets, body.enabled)

    def _manifest(self, adapter: str) -> AdapterManifest:
        manifests = self._catalogue.manifests()
        if adapter not in manifests:
            raise refused("adapter", f"there is no adapter '{adapter}'; there are {', '.join(manifests)}")
        return manifests[adapter]

    def _configured(self, manifest: AdapterManifest, given: dict[str, Any], stored: Configuration) -> Configuration:
        try:
            check = partial(self._catalogue.problems, manifest.name)
            return configured(manifest, given, stored, self._secrets, check)
        except ConfigurationRefused as refusal:
            raise refused_fields([(f"adapter_config.{name}", text) for name, text in refusal.problems]) from refusal


def audited(bot: Bot | None) -> dict[str, Any] | None:
    """Returns the bot for the audit, with masked secrets."""
    if bot is None:
        return None
    config = {**bot.config, **dict.fromkeys(bot.secrets, MASKED)}
    return {"name": bot.name, "adapter": bot.adapter, "adapter_config": config, "enabled": bot.enabled}


def parts(bot: Bot) -> dict[str, Any]:
    """Returns the fields from which the bot's ETag is computed."""
    config = [bot.config, bot.secrets]
    return {"name": bot.name, "adapter": bot.adapter, "adapter_config": config, "enabled": bot.enabled}


def refused(field: str, message: str) -> Problem:
    return refused_fields([(field, message)])


def refused_fields(problems: list[tuple[str, str]]) -> Problem:
    fields = [{"field": name, "message": message} for name, message in problems]
    first = fields[0]
    return Problem(422, "invalid_argument", f"{first['field']}: {first['message']}", {"fields": fields})
