"""What stands behind the core's ports: models, tools and knowledge."""
