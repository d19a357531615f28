"""Models behind HTTP services, and the demo model. What is loaded for a call is loaded with the first one."""
