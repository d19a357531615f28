"""Value types and ports that several packages of the core share. Imports no other package of the core."""
