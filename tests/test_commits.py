"""The hook that reads the subjects of commits: `make` tells git to call it."""

import subprocess
from pathlib import Path

import pytest

HOOK = Path(__file__).resolve().parent.parent / ".githooks" / "commit-msg"


def _commit(subject, tmp_path):
    message = tmp_path / "message"
    message.write_text(f"{subject}\n\nThe reason; in several words.\n# a comment\n")
    return subprocess.run([HOOK, message], capture_output=True, text=True, check=False)


@pytest.mark.parametrize("subject", ["Add a reader of CLEF's topics", "x" * 72, "Merge branch 'a'"])
def test_an_imperative_subject_is_taken(subject, tmp_path):
    assert _commit(subject.replace("x", "X", 1), tmp_path).returncode == 0


@pytest.mark.parametrize(
    ("subject", "reason"),
    [
        ("X" * 73, "has 73 characters; the limit is 72"),
        ("Add a reader; remove the old one", "holds several changes"),
        ("Added a reader", "is no instruction"),
        ("The reader takes tabs", "is no instruction"),
        ("add a reader", "begins with a small letter"),
        ("Add a reader.", "ends with a full stop"),
    ],
)
def test_another_subject_is_refused_with_the_reason(subject, reason, tmp_path):
    refused = _commit(subject, tmp_path)
    assert refused.returncode == 1
    assert refused.stderr.startswith("commit refused: the subject ")
    assert reason in refused.stderr
