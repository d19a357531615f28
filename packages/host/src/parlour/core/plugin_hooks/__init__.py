"""Plugin components besides runners: event listeners, prompt hooks and chat commands."""
