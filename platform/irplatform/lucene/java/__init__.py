"""Lucene's Java: the runtime, the jar with its classes, their archive, and the virtual machine."""

from irplatform.lucene.java.jar import INSTALL, is_here, lucene_jar, lucene_version
from irplatform.lucene.java.machine import (
    DEFAULT_HEAP,
    HEAP_VARIABLE,
    anserini_program,
    check_heap,
    heap_error,
    java_cast,
    java_class,
    java_list,
    java_map,
    java_text,
    lacks_heap,
    making,
    refuse_fork,
    start,
)
from irplatform.lucene.java.runtime import MINIMUM_VERSION, find_runtime, runtime_version

__all__ = [
    "DEFAULT_HEAP",
    "HEAP_VARIABLE",
    "INSTALL",
    "MINIMUM_VERSION",
    "anserini_program",
    "check_heap",
    "find_runtime",
    "heap_error",
    "is_here",
    "java_cast",
    "java_class",
    "java_list",
    "java_map",
    "java_text",
    "lacks_heap",
    "lucene_jar",
    "lucene_version",
    "making",
    "refuse_fork",
    "runtime_version",
    "start",
]
