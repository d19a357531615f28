"""The form fields for a bot's proxy, and the settings that result from them."""

from collections.abc import Mapping
from typing import Any

from parlour.core.platforms.manifest import AdapterManifest
from parlour.core.platforms.port import AdapterStopped
from parlour.network.proxies import InvalidProxy, ProxySettings, address_problem
from parlour_sdk.protocol.form import FormItem

ADDRESS_FIELD = "proxy"
PASSWORD_FIELD = "proxy_password"


def with_proxy_fields(manifest: AdapterManifest) -> AdapterManifest:
    """Returns the manifest with the fields for a proxy, if its bots connect to their platform."""
    if not manifest.connects_out:
        return manifest
    always = set(manifest.connects_out) == set(manifest.modes)
    condition = {} if always else {"mode": manifest.connects_out[0]}
    address = FormItem(
        name=ADDRESS_FIELD,
        label={"en_US": "Proxy", "zh_Hans": "代理"},
        description={
            "en_US": "As http://host:8080 or socks5://user@host:1080 (also https, socks5h). Empty for the proxies of "
            "the Host's environment such as HTTPS_PROXY, direct for none.",
            "zh_Hans": "形如 http://host:8080 或 socks5://user@host:1080（也支持 https 和 socks5h）。"
            "留空使用主机环境中的 HTTPS_PROXY 等变量，填 direct 表示不使用代理。",
        },
        type="string",
        show_if=condition or None,
    )
    password = FormItem(
        name=PASSWORD_FIELD,
        label={"en_US": "Password of the proxy", "zh_Hans": "代理密码"},
        type="secret",
        show_if={**condition, ADDRESS_FIELD: True},
    )
    return manifest.model_copy(
        update={
            "config": [*manifest.config, address, password],
            "address_fields": [*manifest.address_fields, ADDRESS_FIELD],
        }
    )


def proxy_problems(config: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Returns the problem of the proxy's address, if it has one."""
    problem = address_problem(str(config.get(ADDRESS_FIELD) or "").strip())
    return [(ADDRESS_FIELD, problem)] if problem else []


def configured_proxies(config: Mapping[str, Any]) -> ProxySettings:
    """Returns the proxies of a bot. Raises AdapterStopped if its configuration can't be used."""
    address, password = (str(config.get(name) or "") for name in (ADDRESS_FIELD, PASSWORD_FIELD))
    try:
        return ProxySettings.from_fields(address, password)
    except InvalidProxy as error:
        raise AdapterStopped(str(error)) from None
