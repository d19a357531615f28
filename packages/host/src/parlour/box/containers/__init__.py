"""Sessions in containers of podman or docker, which share everything but the words of their engines."""
