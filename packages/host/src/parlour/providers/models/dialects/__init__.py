"""Wire formats of model services: pure request builders and response parsers, one module per dialect."""
