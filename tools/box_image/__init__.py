"""Makes the container image that the tests of the Box use, from packages of this Debian, without a registry."""
