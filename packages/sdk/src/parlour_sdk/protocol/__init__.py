"""The contract between Host and plugins: entities only, one module per noun."""
