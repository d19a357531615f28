"""The settings of the n8n runner, and the headers of its kinds of authentication."""

import base64
import hashlib
import hmac
import json
import time
from typing import Any, Literal

from pydantic import Field, SecretStr, model_validator

from parlour_sdk.agents import http_agent as http

TOKEN_SECONDS = 300
TEST_PATH = "/webhook-test/"


class N8nConfig(http.HttpAgentConfig):
    base_url: http.ServiceAddress = Field(alias="webhook_url")
    first_event_timeout: http.Seconds = 300
    idle_timeout: http.Seconds = 120
    auth: Literal["none", "basic", "header", "jwt"] = "none"
    username: str = ""
    password: SecretStr = SecretStr("")
    header_name: str = "X-API-Key"
    header_value: SecretStr = SecretStr("")
    jwt_secret: SecretStr = SecretStr("")
    jwt_algorithm: Literal["HS256", "HS384", "HS512"] = "HS256"
    output_key: str = ""
    files_as: Literal["json", "multipart"] = "json"
    extra: dict[str, Any] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _has_credentials(self) -> "N8nConfig":
        needed = {"basic": "username", "header": "header_value", "jwt": "jwt_secret"}.get(self.auth)
        value = getattr(self, needed) if needed else "given"
        if not (value.get_secret_value() if isinstance(value, SecretStr) else value):
            raise ValueError(f"{needed}: a value is required for this kind of authentication")
        return self

    def authorization(self) -> dict[str, str]:
        """Returns the header that the node expects."""
        if self.auth == "jwt":
            return http.authorization("bearer", self._token())
        secret = self.password if self.auth == "basic" else self.header_value
        return http.authorization(self.auth, secret.get_secret_value(), self.header_name, self.username)

    def _token(self) -> str:
        now = int(time.time())
        parts = ({"alg": self.jwt_algorithm, "typ": "JWT"}, {"sub": "parlour", "iat": now, "exp": now + TOKEN_SECONDS})
        signed = ".".join(_encoded(json.dumps(part, separators=(",", ":")).encode()) for part in parts)
        digest = getattr(hashlib, f"sha{self.jwt_algorithm.removeprefix('HS')}")
        signature = hmac.new(self.jwt_secret.get_secret_value().encode(), signed.encode(), digest).digest()
        return f"{signed}.{_encoded(signature)}"


def _encoded(content: bytes) -> str:
    return base64.urlsafe_b64encode(content).rstrip(b"=").decode()
