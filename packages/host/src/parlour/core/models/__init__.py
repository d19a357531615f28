"""Models and the services that answer for them, as the operator configured them. Calling them is a provider's part."""
