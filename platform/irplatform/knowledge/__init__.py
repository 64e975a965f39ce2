"""Knowledge bases: diseases, genes, drugs and variants, their names, and how they are related.

A knowledge base is added once from its maker's file and lies in the cache as a read-only SQLite
file. `open_knowledge` reads several of them as one.
"""

from irplatform.knowledge.formats.reading import Format, Head
from irplatform.knowledge.installation import add, all_installed, installed, open_knowledge, remove
from irplatform.knowledge.model import Concept, ConceptKind, Name, NameKind, Relation
from irplatform.knowledge.store import KnowledgeBase
from irplatform.knowledge.union import Knowledge

__all__ = [
    "Concept",
    "ConceptKind",
    "Format",
    "Head",
    "Knowledge",
    "KnowledgeBase",
    "Name",
    "NameKind",
    "Relation",
    "add",
    "all_installed",
    "installed",
    "open_knowledge",
    "remove",
]
