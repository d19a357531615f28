"""Messages that plugins answer with, as messages of the Host."""

from typing import Any

from parlour.core.approvals.action_parser import chains_without_run
from parlour.core.errors import CallRejected
from parlour.core.model.delivery_policy import DEFAULT_DELIVERY_POLICY
from parlour.core.model.ids import BotId
from parlour.core.platforms import chain_text
from parlour.core.platforms.connections import PlatformBots
from parlour_sdk.protocol.chain import chain_text as readable_text
from parlour_sdk.protocol.components import CommandReply

MAX_HOOK_MESSAGES = 10
"""Messages that a plugin may send in answer to one event on the path."""
MAX_HOOK_CHARACTERS = 64 * 1024
"""Characters of one such message."""


def build_message(bots: PlatformBots, bot_id: BotId, reply: CommandReply) -> dict[str, Any]:
    """Builds the message of a reply outside a run. Raises CallRejected if its chain can't be sent."""
    if reply.chain is None:
        return {"role": "assistant", "content": reply.text or ""}
    chain = [each.model_dump(mode="json", exclude_none=True) for each in reply.chain]
    message: dict[str, Any] = {"role": "assistant", "content": readable_text(reply.chain)}
    manifest = bots.manifest(bot_id)
    if manifest is not None:
        [message["chain"]] = chains_without_run(manifest, DEFAULT_DELIVERY_POLICY)({"chain": chain})
    return message


def build_reply(reply: CommandReply) -> dict[str, Any]:
    """Builds the message of a run, whose elements pass the filters and the rendering like those of an agent."""
    if reply.chain is None:
        return {"role": "assistant", "content": reply.text or ""}
    if any(getattr(each, "artifact_id", None) or getattr(each, "path", None) for each in reply.chain):
        raise CallRejected("invalid_argument", "chain: files are named by url or base64")
    contents = chain_text.chain_to_input(reply.chain, "")
    return {"role": "assistant", "content": contents.get("contents") or contents.get("text", "")}


def require_bounds(replies: list[CommandReply]) -> None:
    """Raises CallRejected for too many or too long messages, and for one that says nothing."""
    if len(replies) > MAX_HOOK_MESSAGES:
        raise CallRejected("too_large", f"it answered with {len(replies)} messages; {MAX_HOOK_MESSAGES} are sent")
    for reply in replies:
        if not reply.text and not reply.chain:
            raise CallRejected("invalid_argument", "a message has neither a text nor a chain")
        text = reply.text if reply.chain is None else readable_text(reply.chain)
        if len(text or "") > MAX_HOOK_CHARACTERS:
            raise CallRejected("too_large", f"a message has more than {MAX_HOOK_CHARACTERS} characters")
