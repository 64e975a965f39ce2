"""Finds plugins and resolves names to what they registered."""

from irplatform.registry.loading import load, registry
from irplatform.registry.lookup import Registry
from irplatform.registry.registration import Plugin, Registration
from irplatform.registry.sources import GROUP, is_strange, module_of, our_digest, source_digest

__all__ = [
    "GROUP",
    "Plugin",
    "Registration",
    "Registry",
    "is_strange",
    "load",
    "module_of",
    "our_digest",
    "registry",
    "source_digest",
]
