"""The card of a published agent. It is read by clients of the versions 1.0 and 0.3."""

from typing import Any

from parlour.core.model.agent import Agent
from parlour.version import VERSION

MODES = ["text/plain", "image/*", "audio/*", "application/octet-stream"]


def agent_card(agent: Agent, address: str) -> dict[str, Any]:
    """`address`: where clients reach the Host."""
    url = f"{address}/a2a/{agent.agent_id}/rpc"
    description = agent.description or agent.name
    skill = {"id": "answer", "name": agent.name, "description": description, "tags": ["chat"]}
    return {
        "name": agent.name,
        "description": description,
        "version": VERSION,
        "supportedInterfaces": [
            {"url": url, "protocolBinding": "JSONRPC", "protocolVersion": "1.0"},
            {"url": url, "protocolBinding": "JSONRPC", "protocolVersion": "0.3"},
        ],
        "capabilities": {"streaming": True, "pushNotifications": False},
        "defaultInputModes": MODES,
        "defaultOutputModes": MODES,
        "skills": [skill],
        "securitySchemes": {"bearer": {"httpAuthSecurityScheme": {"scheme": "Bearer"}}},
        "securityRequirements": [{"schemes": {"bearer": {"list": []}}}],
        "protocolVersion": "0.3.0",
        "url": url,
        "preferredTransport": "JSONRPC",
    }
