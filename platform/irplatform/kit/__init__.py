"""The helpers of plugins: texts, training, features, search, knowledge and files.

A plugin imports the contract, `irplatform.plugin`, and this module; everything else may move.
docs/kit.md says what each name is for. Names are imported at first use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from irplatform.system.packages import on_demand

if TYPE_CHECKING:
    from irplatform.chat.client import Chat as Chat
    from irplatform.concepts import ConceptOptions as ConceptOptions
    from irplatform.concepts.graph import ConceptGraph as ConceptGraph
    from irplatform.errors import PlatformError as PlatformError
    from irplatform.errors import quoted as quoted
    from irplatform.expansion.plan import QueryPlan as QueryPlan
    from irplatform.expansion.query import Expander as Expander
    from irplatform.features.calculator import Calculator as Calculator
    from irplatform.features.side_features import SideFeatures as SideFeatures
    from irplatform.files.digests import digests as digests
    from irplatform.files.digests import fingerprint as fingerprint
    from irplatform.files.formats import read_json as read_json
    from irplatform.files.reading import open_bytes as open_bytes
    from irplatform.knowledge.formats.reading import Format as Format
    from irplatform.knowledge.formats.reading import Head as Head
    from irplatform.knowledge.installation import open_knowledge as open_knowledge
    from irplatform.knowledge.model import Concept as Concept
    from irplatform.knowledge.model import Name as Name
    from irplatform.knowledge.model import Relation as Relation
    from irplatform.knowledge.union import Knowledge as Knowledge
    from irplatform.lucene.queries import BM25 as BM25
    from irplatform.lucene.queries import QLD as QLD
    from irplatform.lucene.queries import RM3 as RM3
    from irplatform.lucene.queries import krovetz_stems as krovetz_stems
    from irplatform.postings.sparse_index import SparseIndex as SparseIndex
    from irplatform.runs.bioasq import Snippet as Snippet
    from irplatform.runs.bioasq import read_questions as read_questions
    from irplatform.system.arithmetic import portable as portable
    from irplatform.system.arithmetic import square_root as square_root
    from irplatform.system.packages import require as require
    from irplatform.text.arrays import Float32 as Float32
    from irplatform.text.arrays import Int64 as Int64
    from irplatform.text.arrays import new_matrix as new_matrix
    from irplatform.text.device_documents import DeviceCandidates as DeviceCandidates
    from irplatform.text.device_documents import Reading as Reading
    from irplatform.text.device_documents import StoredVectors as StoredVectors
    from irplatform.text.device_documents import on_device as on_device
    from irplatform.text.forward_index import ForwardIndex as ForwardIndex
    from irplatform.text.lexical import ALL18 as ALL18
    from irplatform.text.lexical import FieldMatch as FieldMatch
    from irplatform.text.lexical import LexicalNames as LexicalNames
    from irplatform.text.lexical import lexical_features as lexical_features
    from irplatform.text.tokenizer import content_words as content_words
    from irplatform.text.tokenizer import tokenize as tokenize
    from irplatform.text.vector_training import VectorOptions as VectorOptions
    from irplatform.text.vector_training import sentences as sentences
    from irplatform.text.vectors import WordVectors as WordVectors
    from irplatform.training.checkpoints import Checkpoint as Checkpoint
    from irplatform.training.linear import centered as centered
    from irplatform.training.linear import pairwise_weights as pairwise_weights
    from irplatform.training.list_samplers import GroupSampler as GroupSampler
    from irplatform.training.list_samplers import ListSampler as ListSampler
    from irplatform.training.loop import LoopSettings as LoopSettings
    from irplatform.training.loop import StepSettings as StepSettings
    from irplatform.training.loop import run_loop as run_loop
    from irplatform.training.losses import pairwise_hinge as pairwise_hinge
    from irplatform.training.losses import pairwise_logistic as pairwise_logistic
    from irplatform.training.neural import NeuralReranker as NeuralReranker
    from irplatform.training.neural import stored_documents as stored_documents
    from irplatform.training.samplers import PairSampler as PairSampler
    from irplatform.training.samplers import PointSampler as PointSampler
    from irplatform.training.samplers import Pool as Pool
    from irplatform.training.text_pairs import TextPairs as TextPairs
    from irplatform.training.validation import Validator as Validator
    from irplatform.training.weights import WeightFile as WeightFile
    from irplatform.workers.distribution import map_documents as map_documents

__getattr__, __dir__, __all__ = on_demand(__name__)
