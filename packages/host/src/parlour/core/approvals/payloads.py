"""Builds the messages in an action's payload: a text in the platform's markup, or a chain that a run may send."""

from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import ValidationError

from parlour.core.delivery.chat_target import parsed
from parlour.core.delivery.rendering.media import is_web_address
from parlour.core.delivery.rendering.mentions import defused
from parlour.core.delivery.rendering.parts import render
from parlour.core.errors import Refused
from parlour.core.model.delivery_policy import DeliveryPolicy
from parlour.core.model.providers import ProviderFailed
from parlour.core.platforms.actions import Chains
from parlour.core.platforms.connections import RunningBots
from parlour.core.platforms.manifest import AdapterManifest
from parlour.core.runs.attachments import place_of
from parlour.core.runs.session import RunSession
from parlour.core.store.artifact_service import Artifacts
from parlour.core.store.known_messages import KnownMessages

Chain = list[dict[str, Any]]


class Payloads:
    """Builds and checks the message chains of a run's actions."""

    def __init__(self, bots: RunningBots, artifacts: Artifacts, messages: KnownMessages) -> None:
        self._bots = bots
        self._artifacts = artifacts
        self._messages = messages

    async def chains(self, session: RunSession, bot_id: str, payload: Mapping[str, Any]) -> Chains:
        """Returns a function that yields the chains of the payload. They are checked here, if the payload has a
        message; if it has none, calling the function is refused.
        """
        manifest = self._bots.manifest(bot_id)
        policy = DeliveryPolicy.decode(session.binding.agent.delivery_policy)
        if manifest is None or not payload.keys() & {"text", "chain"}:
            return _none
        made = _made(payload, manifest, policy)
        for component in _components([part for chain in made for part in chain]):
            await self._check(session, component, policy, manifest)
        return lambda payload: made

    async def _check(
        self, session: RunSession, component: dict[str, Any], policy: DeliveryPolicy, manifest: AdapterManifest
    ) -> None:
        _check_harmless(component, policy)
        for message_id in _by_id(component) if manifest.message_ids == "account" else ():
            if not await self._messages.of(session.event, message_id):
                raise Refused("denied", f"chain: message {message_id[:64]} is not known in this chat")
        if component.get("artifact_id"):
            try:
                await self._artifacts.visible(str(component["artifact_id"]), place_of(session))
            except ProviderFailed as failure:
                raise Refused(failure.code, f"payload.chain: {failure.message}") from failure


def outside_a_run(manifest: AdapterManifest, policy: DeliveryPolicy) -> Chains:
    """Returns the chain builder for callers without a run, which therefore have no artifacts."""

    def chains(payload: Mapping[str, Any]) -> list[Chain]:
        made = _made(payload, manifest, policy)
        for component in _components([part for chain in made for part in chain]):
            _check_harmless(component, policy)
            if component.get("artifact_id"):
                raise Refused("invalid_argument", "chain: artifact_id names a run's file; send a url or base64")
            if manifest.message_ids == "account" and _by_id(component):
                raise Refused(
                    "denied", "chain: a message that is named by its id could be another chat's; send its words"
                )
        return made

    return chains


def _check_harmless(component: dict[str, Any], policy: DeliveryPolicy) -> None:
    if component["type"] == "AtAll" and not policy.mention_everyone:
        raise Refused(
            "denied", "chain: AtAll: everybody is called only by an agent whose delivery_policy has mention_everyone"
        )
    if component.get("path"):
        raise Refused("invalid_argument", "chain: path: files are named by artifact_id, url or base64")
    if component.get("url") and not is_web_address(component["url"]):
        raise Refused("invalid_argument", "chain: url: an address begins with http:// or https://")


def _by_id(component: dict[str, Any]) -> list[str]:
    """Returns the ids of other messages that the component would show by reference."""
    if component["type"] == "Quote":
        return [str(component["id"])] if component.get("id") else []
    return [str(each["message_id"]) for each in component.get("nodes") or () if each.get("message_id")]


def _made(payload: Mapping[str, Any], manifest: AdapterManifest, policy: DeliveryPolicy) -> list[Chain]:
    text = payload.get("text")
    if isinstance(text, str) and text.strip():
        return [part.chain for part in render({"content": text}, manifest, policy)]
    try:
        components = parsed(payload.get("chain") or [])
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        raise Refused("invalid_argument", f"payload.chain: {_field(first)}: {first['msg']}") from error
    if not components:
        raise Refused("invalid_argument", "payload: a message needs text or a chain that is not empty")
    everyone = "" if policy.mention_everyone else manifest.mentions_everyone
    return [[_harmless(each.model_dump(mode="json", exclude_none=True), everyone) for each in components]]


def _harmless(component: dict[str, Any], everyone: str) -> dict[str, Any]:
    if component["type"] != "Plain":
        return component
    return {**component, "text": defused(component["text"], everyone)}


def _components(chain: Chain) -> Iterator[dict[str, Any]]:
    for component in chain:
        yield component
        yield from _components(component.get("origin") or [])
        for node in component.get("nodes") or []:
            yield from _components(node.get("chain") or [])


def _none(payload: Mapping[str, Any]) -> list[Chain]:
    raise Refused("invalid_argument", "payload: a message needs text or chain")


def _field(error: Any) -> str:
    return ".".join(str(part) for part in error["loc"])
