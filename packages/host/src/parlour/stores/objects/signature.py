"""Signs requests to S3-compatible storage (AWS signature, version 4). Pure: time and secrets are parameters."""

import hashlib
import hmac
from collections.abc import Mapping
from dataclasses import field
from datetime import datetime
from urllib.parse import quote

from parlour_sdk.values import dataclass

EMPTY_DIGEST = hashlib.sha256(b"").hexdigest()
_ALGORITHM = "AWS4-HMAC-SHA256"


@dataclass(frozen=True, slots=True)
class S3Account:
    """Bucket and credentials of an object store."""

    endpoint: str
    """`https://s3.example.org`: the bucket follows in the path."""
    bucket: str
    access_key: str
    secret_key: str = field(repr=False)
    region: str = "us-east-1"
    prefix: str = ""
    """Prefix of all names, so that a bucket can be shared."""


def path(*parts: str) -> str:
    return "/" + quote("/".join(parts), safe="/-_.~")


def query(parameters: Mapping[str, str]) -> str:
    pairs = [(quote(name, safe="-_.~"), quote(value, safe="-_.~")) for name, value in parameters.items()]
    return "&".join(f"{name}={value}" for name, value in sorted(pairs))


def signed_headers(
    account: S3Account,
    method: str,
    host: str,
    target: str,
    parameters: str,
    headers: Mapping[str, str],
    digest: str,
    now: datetime,
) -> dict[str, str]:
    """Returns all headers of the request; `digest` is the SHA-256 of its body."""
    stamp = now.strftime("%Y%m%dT%H%M%SZ")
    normalized = {name.lower(): value.strip() for name, value in headers.items()}
    normalized |= {"host": host, "x-amz-content-sha256": digest, "x-amz-date": stamp}
    names = ";".join(sorted(normalized))
    lines = "".join(f"{name}:{normalized[name]}\n" for name in sorted(normalized))
    request = "\n".join((method, target, parameters, lines, names, digest))
    scope = f"{stamp[:8]}/{account.region}/s3/aws4_request"
    to_sign = "\n".join((_ALGORITHM, stamp, scope, hashlib.sha256(request.encode()).hexdigest()))
    signature = hmac.new(_key(account, stamp[:8]), to_sign.encode(), hashlib.sha256).hexdigest()
    credential = f"{_ALGORITHM} Credential={account.access_key}/{scope}"
    return {**normalized, "authorization": f"{credential}, SignedHeaders={names}, Signature={signature}"}


def _key(account: S3Account, day: str) -> bytes:
    key = f"AWS4{account.secret_key}".encode()
    for part in (day, account.region, "s3", "aws4_request"):
        key = hmac.new(key, part.encode(), hashlib.sha256).digest()
    return key
