"""What a run leaves behind: run files with metadata, scores, and the table.

A run file appears together with its metadata as soon as it is ranked and before it is scored, so
that a later failure loses nothing that was finished.
"""

from irplatform.recording.folder import alone_in
from irplatform.recording.recorder import Recorder

__all__ = ["Recorder", "alone_in"]
