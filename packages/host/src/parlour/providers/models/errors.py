"""Translates a service's error response into one sentence that the operator can act on."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from parlour.core.encoding import loads

MAX_QUOTED_CHARACTERS = 300
MAX_SEARCHED_BYTES = 4096
CONTEXT_TOO_LONG = "context_too_long"
"""Code of a request that exceeds the model's context window: the agent can shorten it."""
_TOO_LONG = re.compile(
    "context_length_exceeded|context[ _](?:length|window|size)|maximum (?:prompt|input|context)|"
    "(?:prompt|input|request) is too long|too many (?:input )?tokens|"
    "exceeds? the (?:available|maximum|model'?s) |token count.{0,40}exceeds|"
    "input tokens? (?:exceed|limit)|reduce the length|range of input length",
    re.IGNORECASE,
)
"""What services say about prompts that are too long: OpenAI, Anthropic, Gemini, vLLM, llama.cpp, Ollama and others."""


@dataclass(eq=False)
class ModelCallFailure(Exception):
    """Raised when one attempt of a model call failed."""

    code: str
    sentence: str
    """The message without its subject, which is the provider."""
    retryable: bool = False
    """True if the same request may succeed when it is repeated."""
    key_pause_seconds: float = 0
    """Seconds for which this key should not be used, because another key may succeed now; 0 if the key is not the
    problem.
    """
    retry_after: float | None = None
    """Seconds for which the service asks not to be called again."""


def failure_from_response(
    status: int, headers: Mapping[str, str], body: bytes, model: str, rests: tuple[float, float]
) -> ModelCallFailure:
    """Translates an error response.

    `rests` are the seconds for which a refused key and a rate-limited key are not used.
    """
    service_message = _service_message(headers, body)
    if status in (400, 413, 422) and _TOO_LONG.search(body[:MAX_SEARCHED_BYTES].decode(errors="replace")):
        return ModelCallFailure(CONTEXT_TOO_LONG, f"finds the prompt too long ({status}): {service_message}")
    detail = f": {service_message}" if service_message else ""
    wait = _retry_after(headers)
    match status:
        case 401 | 403:
            return ModelCallFailure(
                "key_refused", f"does not accept the API key ({status}){detail}", key_pause_seconds=rests[0]
            )
        case 402:
            return ModelCallFailure(
                "no_credit", f"wants to be paid first ({status}){detail}", key_pause_seconds=rests[0]
            )
        case 404:
            remedy = f"check the model's name '{model}' and the provider's base_url"
            return ModelCallFailure("model_unknown", f"knows nothing at this address (404); {remedy}{detail}")
        case 408 | 504:
            return ModelCallFailure(
                "provider_timeout", f"took too long to answer ({status}){detail}", retryable=True, retry_after=wait
            )
        case 413:
            return ModelCallFailure("payload_too_large", f"finds the request too large (413){detail}")
        case 429:
            retry_after = rests[1] if wait is None else wait
            return ModelCallFailure(
                "rate_limited",
                f"gets too many requests (429){detail}",
                retryable=True,
                key_pause_seconds=retry_after or 1,
                retry_after=wait,
            )
        case _ if 300 <= status < 400:
            location = headers.get("Location", "elsewhere")[:MAX_QUOTED_CHARACTERS]
            return ModelCallFailure(
                "provider_failed", f"points to {location} ({status}); if that is right, make it the base_url"
            )
        case _ if status >= 500:
            return ModelCallFailure("provider_failed", f"failed ({status}){detail}", retryable=True, retry_after=wait)
        case _:
            return ModelCallFailure("invalid_argument", f"refused the request ({status}){detail}")


def not_json_failure(headers: Mapping[str, str]) -> ModelCallFailure:
    """Returns the failure of a successful response that is not JSON."""
    if "html" in headers.get("Content-Type", ""):
        message = "answered with a web page instead of a model's answer; check its base_url, which often ends with /v1"
        return ModelCallFailure("answer_malformed", message)
    return ModelCallFailure(
        "answer_malformed", "answered with something that is not JSON; check its base_url", retryable=True
    )


def _service_message(headers: Mapping[str, str], body: bytes) -> str:
    """Returns the service's own message on one line. The text of a web page is not repeated."""
    if "html" in headers.get("Content-Type", "") or body.lstrip()[:1] == b"<":
        return "it answered with a web page, so base_url may lead elsewhere"
    try:
        message = _message(loads(body.decode()))
    except ValueError:
        message = body.decode(errors="replace")
    message = " ".join(message.split())
    return message if len(message) <= MAX_QUOTED_CHARACTERS else f"{message[:MAX_QUOTED_CHARACTERS]} ..."


def _message(answer: Any) -> str:
    match answer:
        case {"error": {"message": str(message)}} | {"error": str(message)}:
            return message
        case {"message": str(message)} | {"detail": str(message)} | {"msg": str(message)}:
            return message
        case [first, *_]:
            return _message(first)
        case _:
            return ""


def _retry_after(headers: Mapping[str, str]) -> float | None:
    """Returns the delay in seconds; a date is ignored, as no model service sends one."""
    try:
        return max(0.0, float(headers["Retry-After"]))
    except (KeyError, ValueError):
        return None
