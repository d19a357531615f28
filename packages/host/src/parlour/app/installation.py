"""Builds the services for installing plugins from the settings, for the command line and for a Host alike."""

from parlour.core.model.ports import Clock
from parlour.plugin_runtime import legacy_import
from parlour.plugin_runtime.environments.build_tracker import BuildTracker
from parlour.plugin_runtime.environments.environment import EnvironmentRules, Environments
from parlour.plugin_runtime.installer import Installer
from parlour.plugin_runtime.packages.archive import SizeLimits
from parlour.plugin_runtime.packages.sources import PackageRules
from parlour.plugin_runtime.store import PluginStore
from parlour_sdk.values import dataclass

from .data_directory import DataDirectory
from .settings import HostSettings


@dataclass(frozen=True, slots=True)
class InstallServices:
    """The services for installing plugins."""

    folder: PluginStore
    environments: Environments
    builds: BuildTracker
    installer: Installer


def environment_rules(settings: HostSettings) -> EnvironmentRules:
    plugins = settings.plugins
    return EnvironmentRules(
        uv=plugins.uv,
        seconds=plugins.environment_seconds,
        allow_building=plugins.allow_building,
        sandbox=plugins.sandbox,
        bubblewrap=plugins.bubblewrap,
        hidden=(DataDirectory(settings.data).path,),
        index_hosts=tuple(plugins.index_hosts),
    )


def open_install_services(settings: HostSettings, directory: DataDirectory, clock: Clock) -> InstallServices:
    plugins = settings.plugins
    folder = PluginStore(directory.plugins)
    legacy_import.import_v01_plugins(directory.plugins, folder, clock.now())
    environments = Environments(directory.folder("environments"), environment_rules(settings))
    builds = BuildTracker(environments)
    sizes = SizeLimits(plugins.package_files, plugins.package_bytes)
    installer = Installer(folder, builds, PackageRules(sizes, plugins.fetch_seconds), clock)
    return InstallServices(folder, environments, builds, installer)
