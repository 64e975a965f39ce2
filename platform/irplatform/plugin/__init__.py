"""The plugin contract, with a file for each kind: `rerankers`, `retrievers` and `features`.

They share `declarations`, receive `resources`, and are registered with `hooks`. A plugin is a
Python package with an entry point in the group `irplatform` that names a module with hooks:

    from irplatform.plugin import Documents, Reranker, Topic, hookimpl

    class DocumentLength(Reranker):
        '''Ranks longer documents first.'''

        def score(self, topic: Topic, documents: Documents) -> list[float]:
            return [len(document.text) for document in documents]

    @hookimpl
    def register_rerankers(register):
        register("document-length", DocumentLength)

and in its pyproject.toml:

    [project.entry-points.irplatform]
    document-length = "my_package"

Once it is installed, `platform run` knows the reranker. Helpers are in `irplatform.kit`; a plugin
imports no other module of the platform. Import heavy modules (torch, spacy) inside the functions
that need them: every command loads every plugin.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from irplatform.plugin.hooks import (
    RegisterCollection,
    RegisterFeatures,
    RegisterKnowledge,
    RegisterMeasure,
    RegisterReranker,
    RegisterResults,
    RegisterRetriever,
    RegisterTasks,
    RunEvent,
    hookimpl,
)
from irplatform.system.on_demand import on_demand

if TYPE_CHECKING:
    from pydantic import Field

    from irplatform.data import (
        Collection,
        Corpus,
        Document,
        Documents,
        FieldValue,
        LabelledTopic,
        TextPair,
        Topic,
        TrainingData,
    )
    from irplatform.errors import InputError
    from irplatform.options import Options
    from irplatform.plugin.declarations import (
        KnowledgeBases,
        NamedSystem,
        PairsFile,
        Reads,
        Traits,
    )
    from irplatform.plugin.features import FeatureGroup, TrainableFeatureGroup
    from irplatform.plugin.rerankers import Reranker, TrainableReranker
    from irplatform.plugin.resources import Resources
    from irplatform.plugin.retrievers import Retriever
    from irplatform.runs.run import Ranking, Run

__all__ = [
    "Collection",
    "Corpus",
    "Document",
    "Documents",
    "FeatureGroup",
    "Field",
    "FieldValue",
    "InputError",
    "KnowledgeBases",
    "LabelledTopic",
    "NamedSystem",
    "Options",
    "PairsFile",
    "Ranking",
    "Reads",
    "RegisterCollection",
    "RegisterFeatures",
    "RegisterKnowledge",
    "RegisterMeasure",
    "RegisterReranker",
    "RegisterResults",
    "RegisterRetriever",
    "RegisterTasks",
    "Reranker",
    "Resources",
    "Retriever",
    "Run",
    "RunEvent",
    "TextPair",
    "Topic",
    "TrainableFeatureGroup",
    "TrainableReranker",
    "TrainingData",
    "Traits",
    "hookimpl",
]

# Imported at first use: every command imports this module, and few need these names.
_NAMES = {
    "pydantic": "Field",
    "irplatform.data": "Collection Corpus Document Documents FieldValue LabelledTopic "
    "TextPair Topic TrainingData",
    "irplatform.errors": "InputError",
    "irplatform.options": "Options",
    "irplatform.plugin.declarations": "KnowledgeBases NamedSystem PairsFile Reads Traits",
    "irplatform.plugin.features": "FeatureGroup TrainableFeatureGroup",
    "irplatform.plugin.rerankers": "Reranker TrainableReranker",
    "irplatform.plugin.resources": "Resources",
    "irplatform.plugin.retrievers": "Retriever",
    "irplatform.runs.run": "Ranking Run",
}
_MODULES = {name: module for module, names in _NAMES.items() for name in names.split()}
__getattr__, __dir__ = on_demand(__name__, _MODULES)
