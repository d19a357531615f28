"""The authorization snapshot of a run. A Grant is made here alone, before the run starts, and never changes."""

from dataclasses import dataclass
from typing import Any

from parlour.core.agents.agent import Binding
from parlour.core.agents.registry import Descriptor
from parlour.core.encoding import dumps
from parlour.core.events.envelope import RecordedEvent
from parlour.core.facts.state import Scopes, scope_key


@dataclass(frozen=True, slots=True)
class Grant:
    runner_id: str
    plugin_id: str
    apis: frozenset[str]
    scopes: Scopes

    def encode(self) -> str:
        """As the ledger keeps it."""
        return dumps({"apis": sorted(self.apis), "state_scopes": sorted(self.scopes)})


def compute(event: RecordedEvent, binding: Binding, descriptor: Descriptor) -> Grant:
    scopes = _state_scopes(event, binding, descriptor)
    apis = set()
    if scopes:
        apis.add("state")
    if descriptor.manifest.capabilities.steering:
        apis.add("steering_pull")
    return Grant(descriptor.runner_id, descriptor.plugin_id, frozenset(apis), scopes)


def available_apis(grant: Grant) -> dict[str, bool]:
    return dict.fromkeys(sorted(grant.apis), True)


def _state_scopes(event: RecordedEvent, binding: Binding, descriptor: Descriptor) -> Scopes:
    """A scope without the ids it needs does not exist for the run."""
    policy = binding.agent.state_policy
    envelope = event.envelope
    identity = (descriptor.runner_id, binding.binding_id, envelope.bot_id, envelope.workspace_id)
    own_ids: dict[str, tuple[Any, ...] | None] = {
        "conversation": (event.conversation_id, envelope.thread_id),
        "actor": (envelope.actor.type, envelope.actor.id) if envelope.actor.id else None,
        "subject": (envelope.subject.type, envelope.subject.id) if envelope.subject.id else None,
        "binding": (),
        "runner": (),
    }
    keys: dict[str, str] = {}
    for scope in policy.scopes if policy.enabled else ():
        ids = own_ids.get(scope)
        if ids is None:
            continue
        owner = (descriptor.runner_id, "", "", envelope.workspace_id) if scope == "runner" else identity
        keys[scope] = scope_key(scope, *owner, *ids)
    return Scopes(keys, event.conversation_id)
