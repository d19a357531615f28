"""Combines all sources of tools. It checks parameters, duration and result of every call.

Who may call a tool is decided by the gate; a result that is too large is stored as an artifact after it.
"""

import asyncio
import logging
from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Any

from parlour.core.model.providers import CallContext, ProviderFailed
from parlour_sdk.components.parameters import find_problems
from parlour_sdk.protocol.resources import ToolResource
from parlour_sdk.protocol.tools import ToolDetail, ToolOutcome
from parlour_sdk.values import dataclass

from .sanitize import sanitize_outcome
from .source import OfferedTool, ToolRegistrySource, error_outcome

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class ToolIndex:
    """The tools of all sources at one moment. A name that two sources claim belongs to neither."""

    seen: tuple[Sequence[OfferedTool], ...] = ()
    tools: Mapping[str, tuple[OfferedTool, ToolRegistrySource]] = field(default_factory=dict)
    conflicts: Mapping[str, str] = field(default_factory=dict)
    resources: tuple[ToolResource, ...] = ()


class ToolRegistry:
    """All tools of the Host."""

    def __init__(self, call_seconds: float) -> None:
        self._call_seconds = call_seconds
        self._sources: list[ToolRegistrySource] = []
        self._last = ToolIndex()

    def add(self, source: ToolRegistrySource) -> None:
        """Adds a source. The core is built on this registry, and some tools are built on the core."""
        self._sources.append(source)

    def resources(self) -> Sequence[ToolResource]:
        return self._catalogue().resources

    def read_only(self, tool_name: str) -> bool:
        entry = self._catalogue().tools.get(tool_name)
        return entry is not None and entry[0].read_only

    async def detail(self, tool_name: str) -> ToolDetail:
        return self._found(tool_name)[0].detail()

    async def call(self, context: CallContext, tool_name: str, parameters: dict[str, Any]) -> ToolOutcome:
        offer, source = self._found(tool_name)
        problems = _problems(parameters, offer)
        if problems:
            return error_outcome(f"the tool was not called: {'; '.join(problems)}")
        seconds = offer.call_seconds or self._call_seconds
        deadline = asyncio.timeout(seconds)
        try:
            async with deadline:
                return sanitize_outcome(await source.call(context, tool_name, parameters))
        except TimeoutError as error:
            if not deadline.expired():
                raise
            message = f"the tool '{tool_name}' did not answer within {seconds:g} s"
            raise ProviderFailed("deadline_exceeded", message, retryable=offer.read_only) from error

    def _found(self, tool_name: str) -> tuple[OfferedTool, ToolRegistrySource]:
        catalogue = self._catalogue()
        if tool_name in catalogue.conflicts:
            raise ProviderFailed("not_found", catalogue.conflicts[tool_name])
        if tool_name not in catalogue.tools:
            raise ProviderFailed("not_found", f"there is no tool '{tool_name[:200]}'")
        return catalogue.tools[tool_name]

    def _catalogue(self) -> ToolIndex:
        offers = tuple(source.tools() for source in self._sources)
        if len(offers) != len(self._last.seen) or any(a is not b for a, b in zip(offers, self._last.seen, strict=True)):
            self._last = self._gathered(offers)
        return self._last

    def _gathered(self, offers_by_source: tuple[Sequence[OfferedTool], ...]) -> ToolIndex:
        tools: dict[str, tuple[OfferedTool, ToolRegistrySource]] = {}
        rivals: dict[str, str] = {}
        for offers, source in zip(offers_by_source, self._sources, strict=True):
            for offer in offers:
                first = tools.setdefault(offer.tool_name, (offer, source))[0]
                if first is not offer:
                    rivals[offer.tool_name] = _collision(first, offer)
        for name, warning in rivals.items():
            del tools[name]
            logger.warning("%s", warning)
        return ToolIndex(offers_by_source, tools, rivals, tuple(offer.resource() for offer, _ in tools.values()))


def _collision(first: OfferedTool, second: OfferedTool) -> str:
    return (
        f"the tool name '{first.tool_name}' is claimed by {first.provider} and by {second.provider}; "
        "rename or remove one of them"
    )


def _problems(parameters: dict[str, Any], offer: OfferedTool) -> list[str]:
    try:
        return find_problems(parameters, dict(offer.parameters_schema))
    except RecursionError:
        return []  # an endlessly recursive schema can't be checked; the tool checks its parameters itself
