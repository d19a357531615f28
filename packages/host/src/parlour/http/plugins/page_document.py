"""The document of a plugin's page: its headers, which leave it neither an origin nor a network, and its own script."""

import json
import re

from fastapi import Response

from ..principals import Principal

CONTENT_SECURITY_POLICY = "; ".join(
    (
        "sandbox allow-scripts allow-forms",
        "default-src 'none'",
        "script-src 'unsafe-inline'",
        "style-src 'unsafe-inline'",
        "img-src data: blob:",
        "media-src data: blob:",
        "font-src data:",
        "connect-src 'none'",
        "form-action 'none'",
        "base-uri 'none'",
        "frame-ancestors 'self'",
    )
)
"""Makes the origin of the page opaque wherever it is opened, and lets it load nothing."""
HEADERS = {
    "content-security-policy": CONTENT_SECURITY_POLICY,
    "x-content-type-options": "nosniff",
    "x-dns-prefetch-control": "off",
    "referrer-policy": "no-referrer",
    "cache-control": "no-store",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), microphone=(), geolocation=(), clipboard-read=(), display-capture=()",
}
_DOCTYPE = re.compile(r"\s*<!doctype[^>]*>", re.IGNORECASE)
_BRIDGE = """<script>(() => {
  for (const name of ["RTCPeerConnection", "webkitRTCPeerConnection", "WebTransport"]) delete window[name];
  const waiting = new Map();
  let last = 0;
  addEventListener("message", ({ source, data }) => {
    const call = source === parent && data?.parlour === "answer" && waiting.get(data.id);
    if (!call) return;
    waiting.delete(data.id);
    if (data.error) call.reject(Object.assign(new Error(data.error.message), { code: data.error.code }));
    else call.resolve(data.data);
  });
  const call = (action, data = null) => new Promise((resolve, reject) => {
    waiting.set(++last, { resolve, reject });
    parent.postMessage({ parlour: "call", id: last, action, data }, "*");
  });
  window.parlour = Object.freeze({ call, viewer: Object.freeze(VIEWER) });
})();</script>"""
"""The script that goes before a page: calls are messages to the web interface, which makes the requests. It takes away
WebRTC, which no directive of a policy stops; a page that wants to can get it back from a nested frame."""


def document_response(html: str, principal: Principal) -> Response:
    """Builds the response with a page and its script; the browser treats it as a page without an origin."""
    viewer = json.dumps({"role": principal.scope}).replace("<", "\\u003c")
    script = _BRIDGE.replace("VIEWER", viewer)
    doctype = _DOCTYPE.match(html)
    end = doctype.end() if doctype else 0
    content = f"{html[:end] or '<!doctype html>'}{script}{html[end:]}"
    return Response(content, headers=HEADERS, media_type="text/html")
