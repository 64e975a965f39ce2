"""The plugin contract, with a file for each kind: `rerankers`, `retrievers`, `features`, `judges`.

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

from irplatform.plugin.hooks import hookimpl as hookimpl
from irplatform.system.packages import on_demand

if TYPE_CHECKING:
    from pydantic import Field as Field

    from irplatform.data import Collection as Collection
    from irplatform.data import Corpus as Corpus
    from irplatform.data import Document as Document
    from irplatform.data import Documents as Documents
    from irplatform.data import LabelledTopic as LabelledTopic
    from irplatform.data import TextPair as TextPair
    from irplatform.data import Topic as Topic
    from irplatform.data import TrainingData as TrainingData
    from irplatform.errors import InputError as InputError
    from irplatform.options import Options as Options
    from irplatform.plugin.declarations import KnowledgeBases as KnowledgeBases
    from irplatform.plugin.declarations import NamedSystem as NamedSystem
    from irplatform.plugin.declarations import PairsFile as PairsFile
    from irplatform.plugin.declarations import Reads as Reads
    from irplatform.plugin.declarations import Traits as Traits
    from irplatform.plugin.features import FeatureGroup as FeatureGroup
    from irplatform.plugin.features import TrainableFeatureGroup as TrainableFeatureGroup
    from irplatform.plugin.hooks import RegisterCollection as RegisterCollection
    from irplatform.plugin.hooks import RegisterFeatures as RegisterFeatures
    from irplatform.plugin.hooks import RegisterFile as RegisterFile
    from irplatform.plugin.hooks import RegisterKnowledge as RegisterKnowledge
    from irplatform.plugin.hooks import RegisterMeasure as RegisterMeasure
    from irplatform.plugin.hooks import RegisterReranker as RegisterReranker
    from irplatform.plugin.hooks import RegisterRetriever as RegisterRetriever
    from irplatform.plugin.hooks import RunEvent as RunEvent
    from irplatform.plugin.judges import Judge as Judge
    from irplatform.plugin.rerankers import Reranker as Reranker
    from irplatform.plugin.rerankers import TrainableReranker as TrainableReranker
    from irplatform.plugin.resources import Resources as Resources
    from irplatform.plugin.retrievers import Retriever as Retriever
    from irplatform.runs.run import Ranking as Ranking
    from irplatform.runs.run import Run as Run

# Imported at first use: every command imports this module, and few need these names.
__getattr__, __dir__, __all__ = on_demand(__name__)
