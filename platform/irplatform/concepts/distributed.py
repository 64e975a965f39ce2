"""The same work on a Ray cluster, where the user has one.

Batches go to whichever machine is free; results come back in order, and no more batches are under
way than the cluster has use for. The machines need this package and a common file system for
`$IRPLATFORM_HOME`.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any, TypeVar

from irplatform.errors import InputError, unstopped
from irplatform.packages import require

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

Item = TypeVar("Item")
Result = TypeVar("Result")

_PER_CORE = 2


def ray_map(function: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
    """Apply a function to every item of a stream, on the cluster that `RAY_ADDRESS` names.

    Without an address, or with one that is running here, this machine is the cluster.

    Yields:
        The results in the order of the items.

    Raises:
        InputError: Ray is not installed or does not work, or the cluster cannot be reached.
    """
    require("--workers ray", "ray")
    import ray
    from ray.exceptions import RayTaskError

    mine = not ray.is_initialized()
    if mine:
        try:
            ray.init(include_dashboard=False, log_to_driver=False, configure_logging=False)
        except (ConnectionError, RuntimeError) as error:
            raise InputError(f"the Ray cluster cannot be reached: {error}") from error
    try:
        remote: Any = ray.remote(num_cpus=1)(function)
        most = _PER_CORE * max(1, int(ray.cluster_resources().get("CPU", 1)))
        waiting: deque[Any] = deque()
        for item in items:
            waiting.append(remote.remote(item))
            if len(waiting) > most:
                yield ray.get(waiting.popleft())
        while waiting:
            yield ray.get(waiting.popleft())
    except RayTaskError as error:
        raise error.cause from None
    except ImportError as error:  # Ray imports pyarrow, which may not fit the NumPy that is here
        raise InputError(
            f"Ray does not work with what is installed here: {unstopped(error)}."
        ) from error
    finally:
        if mine:
            ray.shutdown()
