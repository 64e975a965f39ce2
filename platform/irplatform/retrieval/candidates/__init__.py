"""Where the documents come from that rerankers rank: the protocol of an experiment.

`Retrieved`: what the retrievers find, the usual way. `Judged`: exactly the judged documents of each
topic, as many papers do; scores are then much higher, and only comparable among themselves.
`FromRun`: somebody's run file, which takes the place of the first stage.
"""

from __future__ import annotations

from pathlib import Path

from irplatform.errors import InputError, did_you_mean
from irplatform.retrieval.candidates.from_run import FromRun
from irplatform.retrieval.candidates.judged import JUDGED, Judged
from irplatform.retrieval.candidates.retrieved import RETRIEVED, Retrieved
from irplatform.retrieval.candidates.source import CandidateSource, Provenance, Request

__all__ = [
    "JUDGED",
    "RETRIEVED",
    "CandidateSource",
    "FromRun",
    "Judged",
    "Provenance",
    "Request",
    "Retrieved",
    "source_of",
]


def source_of(text: str) -> CandidateSource:
    """What `--candidates` names.

    Raises:
        InputError: neither a protocol nor a run file.
    """
    if text == RETRIEVED:
        return Retrieved()
    if text == JUDGED:
        return Judged()
    path = Path(text)
    if not path.exists() or path.is_dir():  # a pipe will do
        guess = did_you_mean(text, (RETRIEVED, JUDGED))
        raise InputError(
            f"there is no such run file. {guess}{' ' if guess else ''}--candidates takes "
            f"{RETRIEVED}, {JUDGED}, or a run file.",
            path=path,
        )
    return FromRun(path)
