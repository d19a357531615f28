"""What installing a plugin stands on, put together from the settings; the same for the command line and a Host."""

from parlour_sdk.values import dataclass

from .config import Settings
from .core.ports import Clock
from .data_directory import DataDirectory
from .runtime.environments.builds import Builds
from .runtime.environments.environment import EnvironmentRules, Environments
from .runtime.installed import earlier
from .runtime.installed.folder import PluginFolder
from .runtime.installed.installing import Installer
from .runtime.packages.archive import SizeLimits
from .runtime.packages.sources import PackageRules


@dataclass(frozen=True, slots=True)
class Installation:
    folder: PluginFolder
    environments: Environments
    builds: Builds
    installer: Installer


def environment_rules(settings: Settings) -> EnvironmentRules:
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


def open_installation(settings: Settings, directory: DataDirectory, clock: Clock) -> Installation:
    plugins = settings.plugins
    folder = PluginFolder(directory.plugins)
    earlier.take_up(directory.plugins, folder, clock.now())
    environments = Environments(directory.folder("environments"), environment_rules(settings))
    builds = Builds(environments)
    sizes = SizeLimits(plugins.package_files, plugins.package_bytes)
    installer = Installer(folder, builds, PackageRules(sizes, plugins.fetch_seconds), clock)
    return Installation(folder, environments, builds, installer)
