"""Finds plugins and resolves names to what they registered."""

from irplatform.registry.loading import load, registry
from irplatform.registry.lookup import GROUP, Registry
from irplatform.registry.registration import Plugin, Registration, source_digest

__all__ = ["GROUP", "Plugin", "Registration", "Registry", "load", "registry", "source_digest"]
