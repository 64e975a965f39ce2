"""How a process behaves with a Java virtual machine in it."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from irplatform.errors import InputError, PlatformError
from irplatform.lucene import LuceneIndex
from irplatform.lucene.java import machine as java


def run_python(program, **environment):
    return subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_importing_the_packages_starts_no_java():
    result = run_python(
        "import sys, irplatform.lucene, irplatform_lexical\n"
        "print([m for m in ('jnius', 'jnius_config', 'pyserini', 'torch') if m in sys.modules])"
    )
    assert result.stdout == "[]\n", result.stderr


@pytest.mark.java
def test_java_gets_the_heap_that_was_asked_for_and_prints_nothing(tmp_path):
    result = run_python(
        "from irplatform.lucene.java import java_class\n"
        "indexer = java_class('io.anserini.index.SimpleIndexer')\n"
        f"indexer({str(tmp_path)!r}).close()\n"
        "runtime = java_class('java.lang.Runtime').getRuntime()\n"
        "assert runtime.maxMemory() <= 200 << 20, runtime.maxMemory()\n"
        "import pyserini.pyclass\n",  # which must accept the JVM that runs
        IRPLATFORM_JAVA_HEAP="200m",
    )
    assert (result.returncode, result.stdout, result.stderr) == (0, "", "")


@pytest.mark.parametrize("heap", ["much", "", "1", "1.5g", "-1g", "3k", "10m", "999999g"])
def test_a_heap_that_java_would_die_of_is_refused(heap):
    with pytest.raises(InputError, match=f"the Java heap '{heap}' is not a size from 64m to"):
        java.check_heap(heap)


@pytest.mark.parametrize("heap", ["64m", "100M", "100000k"])
def test_a_heap_of_a_sensible_size_is_accepted(heap):
    java.check_heap(heap)


@pytest.mark.java
def test_options_of_others_that_java_does_not_take_are_named():
    result = run_python(
        "from irplatform.errors import PlatformError\n"
        "from irplatform.lucene.java import start\n"
        "try:\n"
        "    start()\n"
        "except PlatformError as error:\n"
        "    print(error)\n",
        JAVA_TOOL_OPTIONS="-XX:+Nonsense",
    )
    assert "did not start" in result.stdout
    assert "Unset JAVA_TOOL_OPTIONS and _JAVA_OPTIONS" in result.stdout


@pytest.mark.java
@pytest.mark.skipif(sys.platform == "win32", reason="sends a POSIX signal")
def test_ctrl_c_interrupts_python_while_java_works():
    program = (
        "import sys\n"
        "from irplatform.lucene.java import java_map, java_class\n"
        "sleep = java_class('java.lang.Thread').sleep\n"
        "def work(item):\n"
        "    print('working', flush=True)\n"
        "    sleep(50)\n"
        "try:\n"
        "    java_map(work, range(1000), 2)\n"
        "except KeyboardInterrupt:\n"
        "    sys.exit('interrupted')\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout.readline() == "working\n"
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=30)
    assert said == "interrupted\n"
    assert process.returncode == 1


@pytest.mark.java
def test_java_starts_without_log4j_s_configuration_but_for_programs_that_change_it():
    program = (
        "from irplatform.lucene.java import anserini_program, java_class\n"
        "manager, texts = map(java_class, ['org.apache.logging.log4j.LogManager',"
        " 'java.util.Objects'])\n"
        "print(texts.toString(manager.getFactory()))\n"
        "anserini_program('io.anserini.index.IndexCollection')\n"
        "print(texts.toString(manager.getFactory()))"
    )
    result = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    first, then = result.stdout.splitlines()
    assert "simple.SimpleLoggerContextFactory" in first
    assert "core.impl.Log4jContextFactory" in then
    assert result.stderr == ""


@pytest.mark.java
def test_threads_return_results_in_order_and_draw_lazily():
    java.start()
    drawn, results = [], []

    def items():
        for number in range(20):
            drawn.append(number)
            yield number

    assert java.java_map(lambda n: n * n, items(), 3, results.append) == [n * n for n in range(20)]

    at_work, beside_the_first = set(), []

    def work(n):
        at_work.add(n)
        if n == 0:
            time.sleep(0.05)
            beside_the_first.extend(at_work - {0})
        at_work.discard(n)

    java.java_map(work, range(20), 3)
    assert beside_the_first == []
    assert sorted(results) == [n * n for n in range(20)]
    with pytest.raises(ValueError, match="five"):
        java.java_map(_fail_at_five, (n for n in range(10**9)), 3)


def _fail_at_five(number):
    if number == 5:
        raise ValueError("five")


@pytest.mark.java
def test_a_process_that_was_forked_from_java_s_is_told_so():
    result = run_python(
        "import multiprocessing, os\n"
        "from irplatform.lucene import java\n"
        "def length(text):\n"
        "    return java.java_class('java.lang.String')(text).length()\n"
        "print(length('melanoma'), os.environ.get('JAVA_HOME'))\n"
        "with multiprocessing.get_context('fork').Pool(1) as pool:\n"
        "    try:\n"
        "        pool.map(length, ['glioma'])\n"
        "    except Exception as error:\n"
        "        print(error)\n",
    )
    assert result.stdout.splitlines() == [
        f"8 {os.environ.get('JAVA_HOME')}",
        "Java was started before this process was forked, and does not work in the copy. Use the "
        'spawn context: multiprocessing.get_context("spawn").',
    ]


@pytest.mark.parametrize(
    "use",
    [
        java.start,
        lambda: java.java_class("java.lang.String"),
        lambda: java.java_map(str, [1], 1),
        lambda: LuceneIndex(Path(), SimpleNamespace(get_analyzer=str), None).count,
    ],
    ids=["start", "class", "threads", "index"],
)
def test_no_way_to_java_is_open_after_a_fork(monkeypatch, use):
    monkeypatch.setattr(java, "_started_in", os.getpid() - 1)
    with pytest.raises(PlatformError, match="before this process was forked"):
        use()


@pytest.mark.parametrize(
    ("cores", "variable", "options"),
    [
        (2, "", ["-XX:+UseSerialGC"]),
        (16, "", []),
        (2, "-XX:+UseZGC", []),
    ],
)
def test_few_cores_collect_garbage_serially_unless_another_way_was_chosen(
    monkeypatch, cores, variable, options
):
    monkeypatch.setattr(java, "available_cores", lambda: cores)
    monkeypatch.setenv("JAVA_TOOL_OPTIONS", variable)
    assert java._collector() == options
