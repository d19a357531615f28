"""The adapter for servers of the Satori protocol, such as Koishi and Chronocat."""
