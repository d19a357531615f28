"""Calls of platforms are verified by signature, token and time, and repeated ones are recognized."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parlour.platforms._kit import webhooks
from parlour.platforms._kit.webhooks import Digest, ReplayGuard, SignatureEncoding, WebhookRejected

QQ_SECRET = "DG5g3B4j9X2KOErG"
QQ_SIGNATURE = (
    "87befc99c42c651b3aac0278e71ada338433ae26fcb24307bdc5ad38c1adc2d0"
    "1bcfcadc0842edac85e85205028a1132afe09280305f13aa6909ffc2d652c706"
)


@pytest.mark.parametrize("digest", ["sha1", "sha256"])
@pytest.mark.parametrize("encoding", ["hex", "base64"])
@given(key=st.binary(min_size=1), content=st.binary(), other=st.binary())
def test_only_the_signature_of_this_content_is_accepted(
    digest: Digest, encoding: SignatureEncoding, key: bytes, content: bytes, other: bytes
) -> None:
    signature = webhooks.sign(key, content, digest, encoding)
    webhooks.verify_signature(signature, key, content, digest, encoding)
    if other != content:
        with pytest.raises(WebhookRejected):
            webhooks.verify_signature(signature, key, other, digest, encoding)


def test_known_signatures() -> None:
    # RFC 4231, case 2, and RFC 2202, case 2
    content = b"what do ya want for nothing?"
    assert webhooks.sign("Jefe", content).startswith("5bdcc146bf60754e6a042426089575c7")
    assert webhooks.sign("Jefe", content, "sha1") == "effcdf6ae5eb2fa2d27416d5f184df9c259a7c79"


def test_a_prefix_is_required_and_hexadecimal_letters_may_be_large() -> None:
    signature = webhooks.sign("key", b"body")
    webhooks.verify_signature(f"v0={signature.upper()}", "key", b"body", prefix="v0=")
    for wrong in (signature, f"v1={signature}", "", "v0=", "v0=ü"):
        with pytest.raises(WebhookRejected):
            webhooks.verify_signature(wrong, "key", b"body", prefix="v0=")


def test_an_empty_token_is_never_right() -> None:
    webhooks.verify_token("abc", "abc")
    for given_token, expected in (("", ""), ("abd", "abc"), ("", "abc"), ("ü", "abc")):
        with pytest.raises(WebhookRejected):
            webhooks.verify_token(given_token, expected)


def test_the_signature_over_sorted_parts() -> None:
    signature = webhooks.sorted_digest("token", "1409659589", "nonce")
    webhooks.verify_sorted_digest(signature, "nonce", "token", "1409659589")
    with pytest.raises(WebhookRejected):
        webhooks.verify_sorted_digest(signature, "nonce", "token", "1409659590")


def test_ed25519_matches_the_published_example_of_qq() -> None:
    seed = webhooks.ed25519_seed(QQ_SECRET)
    assert webhooks.ed25519_sign(seed, b"1725442341Arq0D5A61EgUu4OxUvOp") == QQ_SIGNATURE


@given(content=st.binary(), other=st.binary())
def test_only_the_ed25519_signature_of_this_content_is_accepted(content: bytes, other: bytes) -> None:
    seed = webhooks.ed25519_seed("secret")
    key = webhooks.ed25519_public_key(seed)
    signature = webhooks.ed25519_sign(seed, content)
    webhooks.verify_ed25519(signature, key, content)
    for wrong_signature, wrong_content in ((signature, other + b"x" + content), ("00" * 64, content), ("zz", content)):
        with pytest.raises(WebhookRejected):
            webhooks.verify_ed25519(wrong_signature, key, wrong_content)


def test_a_call_outside_the_window_is_rejected() -> None:
    guard = ReplayGuard(300, lambda: 10_000.0)
    for timestamp in ("9700", "10300", 10_000.0):
        guard.check_time(timestamp)
    guard.check_time("9900000", per_second=1000)
    for wrong in ("9699", "10301", "", "now", "nan", "inf", "1e999"):
        with pytest.raises(WebhookRejected):
            guard.check_time(wrong)


def test_a_repeated_call_is_recognized_within_the_window_and_memory_is_bounded() -> None:
    now = [0.0]
    guard = ReplayGuard(300, lambda: now[0], max_calls=3)
    assert [guard.is_repeated(each) for each in ("a", "b", "a")] == [False, False, True]
    now[0] = 601
    assert not guard.is_repeated("a")
    assert [guard.is_repeated(each) for each in ("c", "d", "e")] == [False, False, False]
    assert not guard.is_repeated("a"), "the oldest call is forgotten"
