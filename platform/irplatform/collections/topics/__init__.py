"""Topics from files: one reader a format, and one template that makes the first-stage query."""

from irplatform.collections.topics.formats import FORMATS, read_topics
from irplatform.collections.topics.template import QueryTemplate

__all__ = ["FORMATS", "QueryTemplate", "read_topics"]
