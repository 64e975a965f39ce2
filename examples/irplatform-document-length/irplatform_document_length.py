"""Ranks longer documents first."""

from irplatform.plugin import Documents, RegisterReranker, Reranker, Topic, hookimpl


class DocumentLength(Reranker):
    """Ranks longer documents first."""

    def score(self, topic: Topic, documents: Documents) -> list[float]:  # noqa: ARG002
        """Score a document by the number of its characters."""
        return [float(len(document.text)) for document in documents]


@hookimpl
def register_rerankers(register: RegisterReranker) -> None:
    """Register the reranker."""
    register("document-length", DocumentLength)
