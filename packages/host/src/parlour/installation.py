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


def open_installation(settings: Settings, directory: DataDirectory, clock: Clock) -> Installation:
    plugins = settings.plugins
    folder = PluginFolder(directory.plugins)
    earlier.take_up(directory.plugins, folder, clock.now())
    rules = EnvironmentRules(plugins.uv, plugins.environment_seconds, plugins.allow_building)
    environments = Environments(directory.folder("environments"), rules)
    builds = Builds(environments)
    sizes = SizeLimits(plugins.package_files, plugins.package_bytes)
    installer = Installer(folder, builds, PackageRules(sizes, plugins.fetch_seconds), clock)
    return Installation(folder, environments, builds, installer)
