"""Builds bots from request bodies; raises a Problem that names an invalid field."""

from dataclasses import replace
from functools import partial
from typing import Any

from parlour.core.config.bots import Bot
from parlour.core.config.form_validation import SECRET_MASK
from parlour.core.model.ids import BotId
from parlour.core.platforms.bot_config import BotConfiguration, InvalidBotConfig, build_configuration
from parlour.core.platforms.login import LoginStep
from parlour.core.platforms.manifest import AdapterManifest
from parlour.core.platforms.port import AdapterCatalogue
from parlour.core.secrets import SecretBox

from ..errors import Problem
from .schemas import BotBody


class BotMapper:
    def __init__(self, catalogue: AdapterCatalogue, secrets: SecretBox) -> None:
        self._catalogue = catalogue
        self.secrets = secrets

    def to_bot(self, bot_id: BotId, body: BotBody, before: Bot | None = None) -> Bot:
        if before is not None and before.adapter != body.adapter:
            raise invalid_field(
                "adapter", f"a bot stays with its adapter, '{before.adapter}'; make another bot for this one"
            )
        stored = BotConfiguration(before.config, before.secrets) if before is not None else BotConfiguration({}, {})
        configuration = self._build_configuration(self._manifest(body.adapter), body.adapter_config, stored)
        return Bot(
            bot_id,
            body.name,
            body.adapter,
            configuration.config,
            configuration.secrets,
            body.enabled,
            body.keeps_heard_messages,
        )

    def with_login(self, bot: Bot, step: LoginStep) -> Bot:
        """Returns the bot with what a confirmed login fills in."""
        sealed = {name: self.secrets.seal(value) for name, value in step.secrets.items()}
        return replace(bot, config={**bot.config, **step.config}, secrets={**bot.secrets, **sealed})

    def _manifest(self, adapter: str) -> AdapterManifest:
        manifests = self._catalogue.manifests()
        if adapter not in manifests:
            raise invalid_field("adapter", f"there is no adapter '{adapter}'; there are {', '.join(manifests)}")
        return manifests[adapter]

    def _build_configuration(
        self, manifest: AdapterManifest, submitted: dict[str, Any], stored: BotConfiguration
    ) -> BotConfiguration:
        try:
            check = partial(self._catalogue.config_problems, manifest.name)
            return build_configuration(manifest, submitted, stored, self.secrets, check)
        except InvalidBotConfig as refusal:
            raise invalid_fields([(f"adapter_config.{name}", text) for name, text in refusal.problems]) from refusal


def audit_view(bot: Bot | None) -> dict[str, Any] | None:
    """Returns the bot for the audit, with masked secrets."""
    if bot is None:
        return None
    config = {**bot.config, **dict.fromkeys(bot.secrets, SECRET_MASK)}
    return {
        "name": bot.name,
        "adapter": bot.adapter,
        "adapter_config": config,
        "enabled": bot.enabled,
        "keeps_heard_messages": bot.keeps_heard_messages,
    }


def version_fields(bot: Bot) -> dict[str, Any]:
    """Returns the fields from which the bot's ETag is computed."""
    config = [bot.config, bot.secrets]
    return {
        "name": bot.name,
        "adapter": bot.adapter,
        "adapter_config": config,
        "enabled": bot.enabled,
        "keeps_heard_messages": bot.keeps_heard_messages,
    }


def invalid_field(field: str, message: str) -> Problem:
    return invalid_fields([(field, message)])


def invalid_fields(problems: list[tuple[str, str]]) -> Problem:
    fields = [{"field": name, "message": message} for name, message in problems]
    first = fields[0]
    return Problem(422, "invalid_argument", f"{first['field']}: {first['message']}", {"fields": fields})
