"""A Ray cluster as workers (`workers` are "ray"): that of `RAY_ADDRESS`, or a Ray of this machine.

Its machines need this package and share no disk. Each has a cache folder of its own
(`IRPLATFORM_HOME`), and fetches from ours what its workers ask for, once per machine. A task whose
worker dies is done again, elsewhere if need be.
"""

from __future__ import annotations

import os
import pickle
import socket
from collections import deque
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, TypeVar
from uuid import uuid4

from irplatform.errors import InputError, PlatformError
from irplatform.files import cache
from irplatform.files.digests import digests, fingerprint
from irplatform.files.writing import home
from irplatform.spelling import option
from irplatform.system import console
from irplatform.system.arithmetic import portable
from irplatform.system.packages import require
from irplatform.system.process import isolated
from irplatform.version import __version__
from irplatform.workers.cluster_connection import connected, first_line
from irplatform.workers.pool import Work, packed, result_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

Item = TypeVar("Item")
Result = TypeVar("Result")

_AHEAD = 2
"""Items that are sent per worker before the first result is back."""
_LISTENING = 0.5
"""Seconds between looks at the workers' notices and progress."""
_PATIENCE = 120
"""Seconds that a machine may take to start a process and answer."""
_TRIES = 3
"""Further tries of a task whose worker was killed."""
_CHUNK = 64 << 20
"""Bytes of a file that are sent at once."""
_SELECTION = "IRPLATFORM_PLUGINS"
_prepared: dict[str, bool] = {}
"""In a worker's process: the jobs that it is prepared for, and if another machine asks for them."""


@dataclass(frozen=True)
class _Machine:
    """A machine of the cluster, as a worker there sees it."""

    name: str
    version: str
    code: str
    portable: bool
    missing: tuple[str, ...]


@dataclass(frozen=True)
class _Job:
    """The machine (`node`) that asks for work, with its folders and plugins."""

    number: str
    desk: Any
    node: str
    home: str
    folder: str
    plugins: str | None


class Cluster:
    """A connection to a Ray cluster; see `workers.use_workers`."""

    def __enter__(self) -> Self:
        require("Work on a Ray cluster", "ray")
        with ExitStack() as stack, console.waiting("starting Ray"):
            stack.enter_context(isolated())  # Ray prints to stdout when a worker dies
            stack.enter_context(connected())
            import ray
            from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

            node = ray.get_runtime_context().get_node_id()
            affinity = NodeAffinitySchedulingStrategy(node, soft=False)
            desk = ray.remote(num_cpus=0, max_concurrency=8, scheduling_strategy=affinity)(Desk)
            self._desk = desk.remote(str(home()))
            stack.callback(ray.kill, self._desk)
            folders = str(home()), str(Path.cwd())
            plugins = os.environ.get(_SELECTION)
            self._job = _Job(uuid4().hex, self._desk, node, *folders, plugins)
            self._check()
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *error: object) -> None:
        self._stack.__exit__(None, None, None)

    @property
    def gpus(self) -> int:
        """The number of GPUs of all machines."""
        import ray

        return int(ray.cluster_resources().get("GPU", 0))

    def map(
        self,
        function: Callable[[Item], Result],
        items: Iterable[Item],
        *,
        threads: int = 1,
        on_gpu: bool = False,
    ) -> Iterator[Result]:
        """Apply a function to a stream of items; see `workers.ordered_map`."""
        import ray

        if on_gpu and not self.gpus:
            raise InputError(
                f"no machine of the Ray cluster has a GPU; leave out {option('device', 'cuda')}."
            )
        largest = max(int(node["Resources"].get("CPU", 1)) for node in ray.nodes() if node["Alive"])
        threads = min(threads, largest)  # else no machine would ever take a task
        needs = {"num_gpus": 1, "num_cpus": 1} if on_gpu else {"num_cpus": threads}
        policy = {"max_retries": _TRIES, "max_calls": 0, "scheduling_strategy": "SPREAD"}
        task: Any = ray.remote(**needs, **policy)(_work)
        cores = int(ray.cluster_resources().get("CPU", 1))
        most = _AHEAD * max(1, self.gpus if on_gpu else cores // threads)
        function_sent = ray.put(packed(function))
        waiting: deque[Any] = deque()
        try:
            for item in items:
                content = pickle.dumps(item, pickle.HIGHEST_PROTOCOL)
                # Ray fetches an argument for every item, but nothing inside a list.
                waiting.append(task.remote(self._job, [function_sent], content))
                if len(waiting) >= most:
                    yield self._result(waiting[0])
                    waiting.popleft()
            while waiting:
                yield self._result(waiting[0])
                waiting.popleft()
        finally:
            for reference in waiting:  # of an error or an interruption
                ray.cancel(reference, force=True)

    def _result(self, waited_for: Any) -> Any:
        import ray
        from ray.exceptions import RayError

        try:
            while not ray.wait([waited_for], timeout=_LISTENING)[0]:
                self._listen()
            answer = ray.get(waited_for)
            self._listen()
        except RayError as error:
            raise PlatformError(
                f"a worker of the Ray cluster ended without an answer ({first_line(error)}). What "
                "was finished is kept; the same command goes on from there."
            ) from error
        return result_of(*pickle.loads(answer))

    def _listen(self) -> None:
        """Show the workers' notices and progress."""
        import ray

        for report in ray.get(self._desk.reports.remote(), timeout=_PATIENCE):
            console.take_report(*report)

    def require_files(self, name: str, paths: Sequence[Path]) -> None:
        """Check that every machine has the files that `name` reads, at the same paths.

        InputError names the first machine and file that it lacks.
        """
        for machine in self._machines(paths) if paths else ():
            if machine.missing:
                raise InputError(
                    f"{name} reads a file that {machine.name} does not have. Put it on a disk that "
                    "all machines of the Ray cluster share, or at the same place on each.",
                    path=Path(machine.missing[0]),
                )

    def _check(self) -> None:
        """Refuse machines with other code or arithmetic than this one's."""
        base = describe([])
        for machine in self._machines():
            if (machine.version, machine.code) != (base.version, base.code):
                raise InputError(
                    f"{machine.name} has irplatform {machine.version} with other code than "
                    f"{base.name}, which has {base.version}. Install the same on all machines of "
                    "the Ray cluster."
                )
            if machine.portable != base.portable:
                raise InputError(
                    f"{machine.name} would round numbers in another way than {base.name}: set "
                    "IRPLATFORM_ARITHMETIC to the same on all machines of the Ray cluster, or "
                    "leave it out."
                )

    def _machines(self, paths: Sequence[Path] = ()) -> list[_Machine]:
        import ray
        from ray.exceptions import RayError
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        alive = [node for node in ray.nodes() if node["Alive"] and node["Resources"].get("CPU")]
        if not alive:
            raise InputError("the Ray cluster has no machine with a CPU to work on.")
        task: Any = ray.remote(num_cpus=0)(describe)
        places = [str(path.absolute()) for path in paths]
        answers = []
        for node in alive:
            on_node = NodeAffinitySchedulingStrategy(node["NodeID"], soft=False)
            answers.append(task.options(scheduling_strategy=on_node).remote(places))
        machines = []
        for node, answer in zip(alive, answers, strict=True):
            try:
                machines.append(ray.get(answer, timeout=_PATIENCE))
            except RayError as error:
                raise InputError(
                    f"{node['NodeManagerHostname']} cannot work here: {first_line(error)}. Every "
                    "machine of the Ray cluster needs irplatform, in the environment that Ray was "
                    "started in."
                ) from error
        return machines


class Desk:
    """An actor on the machine that asks: it hands out its cache, and collects reports."""

    def __init__(self, home: str) -> None:
        os.environ["IRPLATFORM_HOME"] = home
        self._reports: list[tuple[str, str, Any]] = []

    def report(self, worker: str, kind: str, content: Any) -> None:
        """Take a worker's notice or progress."""
        self._reports.append((worker, kind, content))

    def reports(self) -> list[tuple[str, str, Any]]:
        """Give all reports since the last call."""
        reports, self._reports = self._reports, []
        return reports

    def files(self, place: str) -> tuple[str, dict[str, int]] | None:
        """Return where a finished folder of the cache, or a file, lies, and the sizes of files."""
        if (file := home() / place).is_file():
            return str(Path(place).parent), {file.name: file.stat().st_size}
        if (folder := cache.finished(place)) is None:
            return None
        files = {str(f.relative_to(folder)): f.stat().st_size for f in cache.files_of(folder)}
        return str(folder.relative_to(home())), files

    def read(self, file: str, start: int) -> bytes:
        """Return the bytes of a file of the cache from a place on."""
        with (home() / file).open("rb") as stream:
            stream.seek(start)
            return stream.read(_CHUNK)


def describe(paths: Sequence[str]) -> _Machine:
    """Describe this machine, with the paths that it lacks."""
    package = Path(__file__).parent.parent
    code = fingerprint({"code": digests(sorted(package.rglob("*.py")))})
    missing = tuple(path for path in paths if not Path(path).exists())
    return _Machine(socket.gethostname(), __version__, code, portable(), missing)


def _work(job: _Job, function: list[Any], item: bytes) -> bytes:
    """Do a task in a worker, whose process later tasks use, too."""
    _prepare(job)
    answer = _function_of(function[0]).answer(item)
    job.desk.report.remote(_worker_id(), "progress", None)
    return answer


@lru_cache(maxsize=4)
def _function_of(reference: Any) -> Work:
    import ray

    return Work(ray.get(reference))


def _worker_id() -> str:
    return f"{socket.gethostname()}-{os.getpid()}"


def on_another_machine() -> bool:
    """Tell if this is a worker for another machine, whose files it does not see."""
    return any(_prepared.values())


def _prepare(job: _Job) -> None:
    """Prepare a worker's process: its cache folder, plugins, and where its reports go."""
    import ray

    if job.number in _prepared:
        return
    elsewhere = ray.get_runtime_context().get_node_id() != job.node
    _prepared[job.number] = elsewhere
    with suppress(OSError):  # paths may be relative to it
        os.chdir(job.folder)
    if job.plugins is not None:
        os.environ[_SELECTION] = job.plugins
    if not elsewhere:
        os.environ["IRPLATFORM_HOME"] = job.home
    worker = _worker_id()
    console.report_to(lambda *report: job.desk.report.remote(worker, *report))

    def fetch(place: str) -> Callable[[Path], None] | None:
        if (reply := ray.get(job.desk.files.remote(place))) is None:
            return None
        source, files = reply

        def fill(folder: Path) -> None:
            with console.progress(f"fetching {place}", sum(files.values()), "bytes") as advance:
                for name, size in files.items():
                    (folder / name).parent.mkdir(parents=True, exist_ok=True)
                    with (folder / name).open("wb") as file:
                        while file.tell() < size:
                            part = ray.get(job.desk.read.remote(f"{source}/{name}", file.tell()))
                            file.write(part)
                            advance(len(part))

        return fill

    cache.fetch_with(fetch)
