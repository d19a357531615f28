"""Builds the routers of plugins: installation, pages, programs and configuration."""

from pathlib import Path

from fastapi import APIRouter

from parlour.app.host import Host
from parlour.app.settings import HostSettings
from parlour.http.object_limits import ObjectLimit
from parlour.http.plugins import config_endpoints, endpoints, page_endpoints, program_endpoints
from parlour.http.plugins.audit import PluginAudit
from parlour.http.plugins.config_endpoints import PluginConfigForms
from parlour.http.plugins.pages import PluginPages
from parlour.plugin_runtime.packages.bundled import bundled_plugins


def plugin_routers(host: Host, settings: HostSettings, uploads: Path) -> list[APIRouter]:
    core = host.core
    limit = ObjectLimit("plugins", settings.limits.plugins, lambda: len(host.plugins.all()))
    pages = PluginPages(host.plugins, host.knowledge.components, host.runtime, core.audit_log, host.clock)
    forms = PluginConfigForms(host.plugins, core.plugin_configs, host.secrets, host.clock)
    changes = PluginAudit(core.audit_log, host.clock)
    return [
        endpoints.router(host.plugins, bundled_plugins, uploads, limit, changes, host.cursors),
        page_endpoints.router(pages),
        program_endpoints.router(host.plugins, host.programs),
        config_endpoints.router(forms),
    ]
