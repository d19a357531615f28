"""Where platforms call the Host."""
