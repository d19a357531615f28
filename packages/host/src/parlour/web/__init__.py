"""The HTTP door of a Host, wired. Loaded while the plugins start, since it takes its time."""
