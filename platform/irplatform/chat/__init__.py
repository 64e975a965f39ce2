"""Chat models: asked, and their answers read."""
