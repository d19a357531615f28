"""Models of HTTP services, and the demo model. Modules that only a call needs are imported with the first call."""
