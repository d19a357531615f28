"""The page in a real browser: what stands around it is here in Python, the tests themselves are in TypeScript."""
