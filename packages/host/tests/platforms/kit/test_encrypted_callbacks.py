"""Encrypted callbacks are read and written as WeCom, WeChat, DingTalk and Lark do it."""

import base64
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parlour.core.platforms.port import AdapterStopped
from parlour.platforms._kit.encrypted_callbacks import (
    CallbackCipher,
    decrypt_with_secret,
    encrypt_with_secret,
    read_xml,
    write_xml,
)
from parlour.platforms._kit.webhooks import WebhookRejected

KEY = "jWmYm7qr5nMoAUwZRjGtBxmz3KA1tkAj3ykkR6q2B2C"
LARK_EXAMPLE = "P37w+VZImNgPEO1RBhJ6RtKl7n6zymIbEG1pReEzghk="
"""`hello world` under the key `test key`, from Lark's documentation."""


def cipher(receiver: str = "wx5823bf96d3bd56c7") -> CallbackCipher:
    return CallbackCipher("QDG6eK", KEY, receiver)


def signed(encrypted: str) -> dict[str, str]:
    signature = cipher().signature("1409659813", "1372623149", encrypted)
    return {"msg_signature": signature, "timestamp": "1409659813", "nonce": "1372623149"}


@given(st.binary(max_size=200), st.text(max_size=20))
def test_a_message_survives_encryption(content: bytes, receiver: str) -> None:
    encrypted = cipher(receiver).encrypt(content)
    assert cipher(receiver).decrypt(signed(encrypted), encrypted) == content


def test_a_plus_that_arrived_unquoted_in_an_address_is_restored() -> None:
    encrypted = next(each for each in (cipher().encrypt(b"hello") for _ in range(1000)) if "+" in each)
    assert cipher().decrypt(signed(encrypted), encrypted.replace("+", " ")) == b"hello"


@given(st.binary(max_size=200))
def test_a_message_survives_the_encryption_of_lark(content: bytes) -> None:
    assert decrypt_with_secret("secret", encrypt_with_secret("secret", content)) == content


def test_the_published_example_of_lark() -> None:
    assert decrypt_with_secret("test key", LARK_EXAMPLE) == b"hello world"


def test_a_wrong_signature_receiver_or_key_is_rejected() -> None:
    encrypted = cipher().encrypt(b"hello")
    wrong = {**signed(encrypted), "msg_signature": "0" * 40}
    other_key = CallbackCipher("QDG6eK", KEY.replace("j", "k", 1), "wx5823bf96d3bd56c7")
    for reader, query in (
        (cipher(), wrong),
        (cipher(), {}),
        (cipher("other"), signed(encrypted)),
        (other_key, signed(encrypted)),
    ):
        with pytest.raises(WebhookRejected):
            reader.decrypt(query, encrypted)


@given(st.binary(max_size=100))
def test_bytes_that_were_not_encrypted_are_rejected(data: bytes) -> None:
    encrypted = base64.b64encode(data).decode()
    with pytest.raises(WebhookRejected):
        cipher().decrypt(signed(encrypted), encrypted)


@pytest.mark.parametrize("key", ["", "short", KEY + "x", "ü" * 43, "!" * 43])
def test_a_key_of_the_wrong_form_stops_the_bot(key: str) -> None:
    with pytest.raises(AdapterStopped, match="43"):
        CallbackCipher("token", key, "")


def test_a_reply_can_be_read_by_the_platform() -> None:
    fields = read_xml(write_xml(cipher().encrypted_reply(b"<xml/>", "1409659813", "1372623149")).encode())
    query = {"msg_signature": fields["MsgSignature"], "timestamp": fields["TimeStamp"], "nonce": fields["Nonce"]}
    assert cipher().decrypt(query, fields["Encrypt"]) == b"<xml/>"


@given(st.dictionaries(st.from_regex(r"\A[A-Z][a-zA-Z]{0,8}\Z"), st.from_regex(r"\A[ -~一-龥]{0,20}\Z")))
def test_fields_survive_xml(fields: dict[str, str]) -> None:
    assert read_xml(write_xml(fields).encode()) == fields


@pytest.mark.parametrize(
    "body",
    [b"", b"<xml>", b"text", b'<!DOCTYPE x [<!ENTITY a "b">]><xml>&a;</xml>', b"<xml>" + b"<a/>" * 300 + b"</xml>"],
)
def test_xml_that_is_broken_or_dangerous_is_rejected(body: bytes) -> None:
    with pytest.raises(WebhookRejected):
        read_xml(body)


def test_the_library_is_loaded_on_first_use() -> None:
    code = (
        "import sys, parlour.platforms._kit.encrypted_callbacks as kit\n"
        "loaded = [name for name in ('cryptography', 'nacl', 'xml.etree.ElementTree') if name in sys.modules]\n"
        "kit.encrypt_with_secret('key', b'x')\n"
        "print(loaded, 'cryptography' in sys.modules)"
    )
    output = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert output.strip() == "[] True"
