"""The version of the platform and of the plugins that come with it."""

__version__ = "0.2.0"
