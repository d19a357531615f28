"""Failures of an agent service: reasons, codes, and the sentences that a person can act on."""

from collections.abc import Collection, Mapping
from typing import Final, Literal

FailureReason = Literal[
    "config",
    "auth",
    "not_found",
    "session_unknown",
    "rate_limited",
    "unavailable",
    "timeout",
    "deadline",
    "protocol",
    "stream_ended",
    "upstream",
    "input",
    "no_output",
]
"""The part of a failure's code after the name of the service."""
RETRYABLE: Final = frozenset({"rate_limited", "unavailable", "timeout", "stream_ended"})
"""Reasons for which the same request may succeed later, as long as none of its answer was shown."""
CODES: Final = {"deadline": "runner.timeout", "session_unknown": "{service}.not_found"}
"""Codes of the reasons whose code is another word."""
MAX_DETAIL_CHARACTERS = 500

SENTENCES: Final[Mapping[str, tuple[str, str]]] = {
    "config": (
        "{service} is not configured correctly. Check the agent's configuration.",
        "{service} 的配置不正确，请检查智能体的配置。",
    ),
    "auth": (
        "{service} rejected the credentials. Check the key in the agent's configuration, and its rights.",
        "{service} 拒绝了凭据，请检查智能体配置中的密钥及其权限。",
    ),
    "not_found": (
        "{service} has nothing at this address. Check the address and the app in the agent's configuration.",
        "{service} 在该地址找不到内容，请检查智能体配置中的地址与应用。",
    ),
    "session_unknown": (
        "{service} no longer knows this conversation. Send the message again to start a new one.",
        "{service} 已不再保留此会话，请重新发送消息以开始新的会话。",
    ),
    "rate_limited": (
        "{service} receives too many requests. Try again{wait}.",
        "{service} 请求过多，请{wait}重试。",
    ),
    "unavailable": (
        "{service} can't be reached or is out of order. Try again later.",
        "{service} 无法访问或出现故障，请稍后重试。",
    ),
    "timeout": (
        "{service} did not answer in time. Try again, or raise the time limits in the agent's configuration.",
        "{service} 未能及时响应，请重试，或在智能体配置中调高超时时间。",
    ),
    "deadline": (
        "{service} was not done within the time of the run. Try again, or raise the agent's time limit.",
        "{service} 未能在运行时限内完成，请重试，或调高智能体的时限。",
    ),
    "protocol": (
        "{service} sent an answer that can't be read. Check that the address belongs to this kind of service.",
        "{service} 返回了无法识别的内容，请确认该地址属于此类服务。",
    ),
    "stream_ended": (
        "{service} broke off its answer. Try again.",
        "{service} 的回答中途中断，请重试。",
    ),
    "upstream": (
        "{service} reported an error.",
        "{service} 报告了错误。",
    ),
    "input": (
        "{service} can't take this message.",
        "{service} 无法处理这条消息。",
    ),
    "no_output": (
        "{service} ended without an answer. Check that the app produces an output.",
        "{service} 没有返回任何内容，请检查该应用是否有输出。",
    ),
}
"""English and Chinese sentence of each reason."""


class ServiceFailure(Exception):
    """Raised when the service, the configuration or the input makes an answer impossible.

    `detail` is added to the sentence of the reason, such as the message of the service; it must not contain a secret
    that is not part of the configuration.
    """

    def __init__(self, reason: FailureReason, detail: str = "", *, retry_after: float | None = None) -> None:
        super().__init__(f"{reason}: {detail}" if detail else reason)
        self.reason = reason
        self.detail = detail
        self.retry_after = retry_after

    def code(self, service: str) -> str:
        """Returns the code of the failed run."""
        return CODES[self.reason].format(service=service) if self.reason in CODES else f"{service}.{self.reason}"

    def sentence(self, label: str, locale: str | None, secrets: Collection[str] = ()) -> str:
        """Returns the sentence for users, with the configuration's secrets masked in the detail."""
        english, chinese = SENTENCES[self.reason]
        is_chinese = bool(locale) and str(locale).lower().startswith("zh")
        text = (chinese if is_chinese else english).format(service=label, wait=self._wait(is_chinese))
        detail = bounded(mask(self.detail, secrets))
        if not detail:
            return text
        return f"{text}（{detail}）" if is_chinese else f"{text} ({detail})"

    def _wait(self, is_chinese: bool) -> str:
        if self.retry_after is None:
            return "稍后" if is_chinese else " later"
        seconds = max(1, round(self.retry_after))
        return f"在 {seconds} 秒后" if is_chinese else f" in {seconds} s"


def failure_for_status(status: int, detail: str, retry_after: str | None = None) -> ServiceFailure:
    """Returns the failure that an HTTP status stands for."""
    text = f"HTTP {status}: {detail}" if detail else f"HTTP {status}"
    if status in (401, 403):
        return ServiceFailure("auth", text)
    if status in (404, 410):
        return ServiceFailure("not_found", text)
    if status == 408:
        return ServiceFailure("timeout", text)
    if status == 429:
        return ServiceFailure("rate_limited", text, retry_after=_seconds(retry_after))
    if status in (413, 415):
        return ServiceFailure("input", text)
    if status >= 500:
        return ServiceFailure("unavailable", text)
    if 300 <= status < 400:
        return ServiceFailure("config", f"{text}; the address redirects, enter the one that it leads to")
    return ServiceFailure("upstream", text)


def mask(text: str, secrets: Collection[str]) -> str:
    """Replaces each secret in the text."""
    for secret in sorted(secrets, key=len, reverse=True):
        if secret:
            text = text.replace(secret, "***")
    return text


def bounded(text: str) -> str:
    """Returns the text on one line, cut to what a message may quote."""
    line = " ".join(text.split())
    return line if len(line) <= MAX_DETAIL_CHARACTERS else f"{line[:MAX_DETAIL_CHARACTERS]}…"


def _seconds(retry_after: str | None) -> float | None:
    """Reads `Retry-After` in seconds; a date is left out, since the clocks may differ."""
    try:
        seconds = float(retry_after or "")
    except ValueError:
        return None
    return seconds if 0 <= seconds <= 24 * 3600 else None
