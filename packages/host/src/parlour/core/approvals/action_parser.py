"""Parses the actions that runs request, and checks the messages in their payloads: a text in the platform's markup, or
a chain that a run may send.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from pydantic import ValidationError

from parlour.core.delivery.rendering.components import is_web_address
from parlour.core.delivery.rendering.parts import render
from parlour.core.delivery.rendering.text_formatter import defuse_mentions
from parlour.core.delivery.targets import parse_chain
from parlour.core.errors import CallRejected
from parlour.core.model.delivery_policy import DeliveryPolicy
from parlour.core.model.ids import ArtifactId, BotId
from parlour.core.model.providers import ProviderFailed
from parlour.core.platforms import actions
from parlour.core.platforms.actions import ChainBuilder, PlatformAction
from parlour.core.platforms.connections import PlatformBots
from parlour.core.platforms.manifest import AdapterManifest
from parlour.core.runs.attachments import readable_scope
from parlour.core.runs.session import RunSession
from parlour.core.store.artifact_service import ArtifactService
from parlour.core.store.known_messages import KnownMessages

Chain = list[dict[str, Any]]


class ActionParser:
    """Parses the actions of runs, with the message chains in their payloads."""

    def __init__(self, bots: PlatformBots, artifacts: ArtifactService, messages: KnownMessages) -> None:
        self._bots = bots
        self._artifacts = artifacts
        self._messages = messages

    async def parse(
        self, session: RunSession, action: str, target: Mapping[str, Any], payload: Mapping[str, Any]
    ) -> PlatformAction:
        """Parses an action. Raises CallRejected if it is invalid, or the bot or its platform does not support it."""
        bot_id = BotId(str(target.get("bot_id") or session.event.envelope.bot_id))
        chains = await self._chains(session, bot_id, payload)
        parsed = actions.parse_action(session.event, action, target, payload, chains)
        manifest = self._bots.manifest(parsed.bot_id)
        if manifest is None:
            raise CallRejected("not_found", f"there is no bot '{parsed.bot_id[:64]}'")
        actions.check_declared(parsed.calls, manifest)
        return replace(parsed, elsewhere=parsed.elsewhere or await self._targets_other_chat(session, parsed, manifest))

    async def _targets_other_chat(self, session: RunSession, parsed: PlatformAction, manifest: AdapterManifest) -> bool:
        """Returns whether an action reaches another chat without naming it: by a parameter, or by a message from
        elsewhere.
        """
        if actions.targets_other_place(session.event, parsed.calls, manifest):
            return True
        if manifest.message_ids == "chat":
            return False
        return not all([await self._messages.contains(session.event, each) for each in parsed.message_ids])

    async def _chains(self, session: RunSession, bot_id: BotId, payload: Mapping[str, Any]) -> ChainBuilder:
        """Returns a function that yields the chains of the payload. They are checked here, if the payload has a
        message; if it has none, calling the function is refused.
        """
        manifest = self._bots.manifest(bot_id)
        policy = DeliveryPolicy.decode(session.binding.agent.delivery_policy)
        if manifest is None or not payload.keys() & {"text", "chain"}:
            return _refuse_missing_message
        built_chains = _build_chains(payload, manifest, policy)
        for component in _components([part for chain in built_chains for part in chain]):
            await self._check(session, component, policy, manifest)
        return lambda payload: built_chains

    async def _check(
        self, session: RunSession, component: dict[str, Any], policy: DeliveryPolicy, manifest: AdapterManifest
    ) -> None:
        _check_component(component, policy)
        for message_id in _referenced_message_ids(component) if manifest.message_ids == "account" else ():
            if not await self._messages.contains(session.event, message_id):
                raise CallRejected("denied", f"chain: message {message_id[:64]} is not known in this chat")
        if component.get("artifact_id"):
            try:
                await self._artifacts.get_visible(ArtifactId(str(component["artifact_id"])), readable_scope(session))
            except ProviderFailed as failure:
                raise CallRejected(failure.code, f"payload.chain: {failure.message}") from failure


def chains_without_run(manifest: AdapterManifest, policy: DeliveryPolicy) -> ChainBuilder:
    """Returns the chain builder for callers without a run, which therefore have no artifacts."""

    def chains(payload: Mapping[str, Any]) -> list[Chain]:
        built_chains = _build_chains(payload, manifest, policy)
        for component in _components([part for chain in built_chains for part in chain]):
            _check_component(component, policy)
            if component.get("artifact_id"):
                raise CallRejected("invalid_argument", "chain: artifact_id names a run's file; send a url or base64")
            if manifest.message_ids == "account" and _referenced_message_ids(component):
                raise CallRejected(
                    "denied", "chain: a message that is named by its id could be another chat's; send its words"
                )
        return built_chains

    return chains


def _check_component(component: dict[str, Any], policy: DeliveryPolicy) -> None:
    if component["type"] == "AtAll" and not policy.mention_everyone:
        raise CallRejected(
            "denied", "chain: AtAll: everybody is called only by an agent whose delivery_policy has mention_everyone"
        )
    if component.get("path"):
        raise CallRejected("invalid_argument", "chain: path: files are named by artifact_id, url or base64")
    if component.get("url") and not is_web_address(component["url"]):
        raise CallRejected("invalid_argument", "chain: url: an address begins with http:// or https://")


def _referenced_message_ids(component: dict[str, Any]) -> list[str]:
    """Returns the ids of other messages that the component would show by reference."""
    if component["type"] == "Quote":
        return [str(component["id"])] if component.get("id") else []
    return [str(each["message_id"]) for each in component.get("nodes") or () if each.get("message_id")]


def _build_chains(payload: Mapping[str, Any], manifest: AdapterManifest, policy: DeliveryPolicy) -> list[Chain]:
    text = payload.get("text")
    if isinstance(text, str) and text.strip():
        return [part.chain for part in render({"content": text}, manifest, policy)]
    try:
        components = parse_chain(payload.get("chain") or [])
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        raise CallRejected("invalid_argument", f"payload.chain: {_field(first)}: {first['msg']}") from error
    if not components:
        raise CallRejected("invalid_argument", "payload: a message needs text or a chain that is not empty")
    everyone_pattern = "" if policy.mention_everyone else manifest.mentions_everyone
    return [
        [_defuse_component(each.model_dump(mode="json", exclude_none=True), everyone_pattern) for each in components]
    ]


def _defuse_component(component: dict[str, Any], everyone_pattern: str) -> dict[str, Any]:
    if component["type"] != "Plain":
        return component
    return {**component, "text": defuse_mentions(component["text"], everyone_pattern)}


def _components(chain: Chain) -> Iterator[dict[str, Any]]:
    for component in chain:
        yield component
        yield from _components(component.get("origin") or [])
        for node in component.get("nodes") or []:
            yield from _components(node.get("chain") or [])


def _refuse_missing_message(payload: Mapping[str, Any]) -> list[Chain]:
    raise CallRejected("invalid_argument", "payload: a message needs text or chain")


def _field(error: Any) -> str:
    return ".".join(str(part) for part in error["loc"])
