"""The helpers of plugins: texts, training, features, search, knowledge and files.

A plugin imports the contract, `irplatform.plugin`, and this module; everything else may move.
docs/kit.md says what each name is for. Names are imported at first use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from irplatform.system.on_demand import on_demand

if TYPE_CHECKING:
    from irplatform.chat.client import Chat as Chat
    from irplatform.chat.client import check_url as check_url
    from irplatform.chat.client import read_key as read_key
    from irplatform.chat.client import tally as tally
    from irplatform.chat.stated_rankings import permutation as permutation
    from irplatform.concepts import ConceptOptions as ConceptOptions
    from irplatform.concepts.build import graph_identity as graph_identity
    from irplatform.concepts.graph import ConceptGraph as ConceptGraph
    from irplatform.errors import PlatformError as PlatformError
    from irplatform.errors import counted as counted
    from irplatform.errors import listing as listing
    from irplatform.errors import quoted as quoted
    from irplatform.errors import raise_refusal as raise_refusal
    from irplatform.expansion.expression import as_json as as_json
    from irplatform.expansion.gene_notation import codon as codon
    from irplatform.expansion.gene_notation import spellings as spellings
    from irplatform.expansion.plan import QueryPlan as QueryPlan
    from irplatform.expansion.plan import chosen_on as chosen_on
    from irplatform.expansion.plan import query_dependencies as query_dependencies
    from irplatform.expansion.query import Expander as Expander
    from irplatform.expansion.topic_parts import TopicParts as TopicParts
    from irplatform.expansion.topic_parts import check_fields as check_fields
    from irplatform.features.calculator import Calculator as Calculator
    from irplatform.features.calculator import load_groups as load_groups
    from irplatform.features.calculator import save_groups as save_groups
    from irplatform.features.cross_fitting import Folding as Folding
    from irplatform.features.cross_fitting import cross_fitted as cross_fitted
    from irplatform.features.groups import Features as Features
    from irplatform.features.groups import Group as Group
    from irplatform.features.groups import applying as applying
    from irplatform.features.groups import open_groups as open_groups
    from irplatform.features.groups import weigh_first_stage as weigh_first_stage
    from irplatform.features.side_features import SideFeatures as SideFeatures
    from irplatform.features.side_features import contributions as contributions
    from irplatform.files.digests import digest as digest
    from irplatform.files.digests import digests as digests
    from irplatform.files.digests import file_digest as file_digest
    from irplatform.files.digests import fingerprint as fingerprint
    from irplatform.files.digests import folder_digests as folder_digests
    from irplatform.files.formats import read_json as read_json
    from irplatform.files.formats import read_own_json as read_own_json
    from irplatform.knowledge.formats.reading import Format as Format
    from irplatform.knowledge.formats.reading import Head as Head
    from irplatform.knowledge.installation import all_installed as all_installed
    from irplatform.knowledge.installation import open_knowledge as open_knowledge
    from irplatform.knowledge.model import Concept as Concept
    from irplatform.knowledge.model import Name as Name
    from irplatform.knowledge.model import Relation as Relation
    from irplatform.knowledge.union import Knowledge as Knowledge
    from irplatform.lucene.dates import YEAR as YEAR
    from irplatform.lucene.dates import date_limits as date_limits
    from irplatform.lucene.dates import year_of as year_of
    from irplatform.lucene.feedback import ADDABLE as ADDABLE
    from irplatform.lucene.index import DocumentQueries as DocumentQueries
    from irplatform.lucene.index import best_scores as best_scores
    from irplatform.lucene.index import heading_queries as heading_queries
    from irplatform.lucene.index import relative as relative
    from irplatform.lucene.index import scores_of as scores_of
    from irplatform.lucene.index import words_query as words_query
    from irplatform.lucene.java import java_class as java_class
    from irplatform.lucene.queries import BM25 as BM25
    from irplatform.lucene.queries import QLD as QLD
    from irplatform.lucene.queries import RM3 as RM3
    from irplatform.lucene.queries import Similarity as Similarity
    from irplatform.registry.code_digests import source_digest as source_digest
    from irplatform.registry.loading import registry as registry
    from irplatform.registry.plugin_calls import plugin_call as plugin_call
    from irplatform.runs.bioasq import MOST_DOCUMENTS as MOST_DOCUMENTS
    from irplatform.runs.bioasq import Snippet as Snippet
    from irplatform.runs.bioasq import read_questions as read_questions
    from irplatform.runs.bioasq import read_snippets as read_snippets
    from irplatform.runs.run import id_text as id_text
    from irplatform.system.arithmetic import VARIABLE as VARIABLE
    from irplatform.system.arithmetic import choose_device as choose_device
    from irplatform.system.arithmetic import exact_roots as exact_roots
    from irplatform.system.arithmetic import portable as portable
    from irplatform.system.arithmetic import square_root as square_root
    from irplatform.system.console import notice as notice
    from irplatform.system.console import steps as steps
    from irplatform.system.packages import require as require
    from irplatform.text.arrays import Float32 as Float32
    from irplatform.text.arrays import Float64 as Float64
    from irplatform.text.arrays import Int32 as Int32
    from irplatform.text.arrays import Int64 as Int64
    from irplatform.text.arrays import new_matrix as new_matrix
    from irplatform.text.arrays import ragged as ragged
    from irplatform.text.arrays import without as without
    from irplatform.text.device_documents import Batch as Batch
    from irplatform.text.device_documents import Candidates as Candidates
    from irplatform.text.device_documents import DeviceDocuments as DeviceDocuments
    from irplatform.text.device_documents import Reading as Reading
    from irplatform.text.device_documents import StoredVectors as StoredVectors
    from irplatform.text.device_documents import on_device as on_device
    from irplatform.text.forward_index import FIELDS as FIELDS
    from irplatform.text.forward_index import FORWARD_INDEX_FORMAT as FORWARD_INDEX_FORMAT
    from irplatform.text.forward_index import ForwardIndex as ForwardIndex
    from irplatform.text.forward_index import TextField as TextField
    from irplatform.text.forward_index import distinct_per_document as distinct_per_document
    from irplatform.text.forward_index import distinct_words as distinct_words
    from irplatform.text.forward_index import (
        inverse_document_frequency as inverse_document_frequency,
    )
    from irplatform.text.given_texts import PADDING as PADDING
    from irplatform.text.given_texts import distinct_of as distinct_of
    from irplatform.text.given_texts import given_texts as given_texts
    from irplatform.text.given_texts import refuse_texts as refuse_texts
    from irplatform.text.lexical import ALL18 as ALL18
    from irplatform.text.lexical import LEX3 as LEX3
    from irplatform.text.lexical import FieldMatch as FieldMatch
    from irplatform.text.lexical import LexicalNames as LexicalNames
    from irplatform.text.lexical import lexical_features as lexical_features
    from irplatform.text.tokenizer import STOP_WORDS as STOP_WORDS
    from irplatform.text.tokenizer import content_words as content_words
    from irplatform.text.tokenizer import normalize as normalize
    from irplatform.text.tokenizer import pieces as pieces
    from irplatform.text.tokenizer import tokenize as tokenize
    from irplatform.text.vector_training import VectorOptions as VectorOptions
    from irplatform.text.vector_training import sentences as sentences
    from irplatform.text.vectors import WordVectors as WordVectors
    from irplatform.text.vectors import unit_rows as unit_rows
    from irplatform.text.vectors import unit_vectors as unit_vectors
    from irplatform.training.checkpoints import Checkpoint as Checkpoint
    from irplatform.training.checkpoints import member_folder as member_folder
    from irplatform.training.linear import centered as centered
    from irplatform.training.linear import learn_standardization as learn_standardization
    from irplatform.training.linear import pairwise_weights as pairwise_weights
    from irplatform.training.list_samplers import Groups as Groups
    from irplatform.training.list_samplers import GroupSampler as GroupSampler
    from irplatform.training.list_samplers import GroupSettings as GroupSettings
    from irplatform.training.list_samplers import Lists as Lists
    from irplatform.training.list_samplers import ListSampler as ListSampler
    from irplatform.training.list_samplers import ListSettings as ListSettings
    from irplatform.training.loop import AdadeltaSettings as AdadeltaSettings
    from irplatform.training.loop import LoopSettings as LoopSettings
    from irplatform.training.loop import StepSettings as StepSettings
    from irplatform.training.loop import run_loop as run_loop
    from irplatform.training.loop import run_shown as run_shown
    from irplatform.training.losses import listwise_logistic as listwise_logistic
    from irplatform.training.losses import pairwise_hinge as pairwise_hinge
    from irplatform.training.losses import pairwise_logistic as pairwise_logistic
    from irplatform.training.losses import weighted_cross_entropy as weighted_cross_entropy
    from irplatform.training.neural import NeuralReranker as NeuralReranker
    from irplatform.training.neural import stored_documents as stored_documents
    from irplatform.training.neural import vectors_digest as vectors_digest
    from irplatform.training.neural import weights_digest as weights_digest
    from irplatform.training.samplers import Pairs as Pairs
    from irplatform.training.samplers import PairSampler as PairSampler
    from irplatform.training.samplers import PairSettings as PairSettings
    from irplatform.training.samplers import Points as Points
    from irplatform.training.samplers import PointSampler as PointSampler
    from irplatform.training.samplers import PointSettings as PointSettings
    from irplatform.training.samplers import Pool as Pool
    from irplatform.training.samplers import draw_some as draw_some
    from irplatform.training.samplers import pool_offsets as pool_offsets
    from irplatform.training.samplers import pool_starts as pool_starts
    from irplatform.training.text_pairs import PairsOfTopics as PairsOfTopics
    from irplatform.training.text_pairs import check_text_pairs as check_text_pairs
    from irplatform.training.text_pairs import read_text_pairs as read_text_pairs
    from irplatform.training.topic_identity import query_mark as query_mark
    from irplatform.training.topic_identity import source_mark as source_mark
    from irplatform.training.topic_identity import topic_marks as topic_marks
    from irplatform.training.validation import Validator as Validator
    from irplatform.training.weights import check_weights as check_weights
    from irplatform.training.weights import load_into as load_into
    from irplatform.training.weights import load_weights as load_weights
    from irplatform.training.weights import save_weights as save_weights
    from irplatform.workers.distribution import ordered_map as ordered_map
    from irplatform.workers.distribution import several_workers as several_workers
    from irplatform.workers.distribution import takes_gpu as takes_gpu

_NAMES = {
    "irplatform.chat.client": "Chat check_url read_key tally",
    "irplatform.chat.stated_rankings": "permutation",
    "irplatform.concepts": "ConceptOptions",
    "irplatform.concepts.build": "graph_identity",
    "irplatform.concepts.graph": "ConceptGraph",
    "irplatform.errors": "PlatformError counted listing quoted raise_refusal",
    "irplatform.expansion.expression": "as_json",
    "irplatform.expansion.gene_notation": "codon spellings",
    "irplatform.expansion.plan": "QueryPlan chosen_on query_dependencies",
    "irplatform.expansion.query": "Expander",
    "irplatform.expansion.topic_parts": "TopicParts check_fields",
    "irplatform.features.calculator": "Calculator load_groups save_groups",
    "irplatform.features.cross_fitting": "Folding cross_fitted",
    "irplatform.features.groups": "Features Group applying open_groups weigh_first_stage",
    "irplatform.features.side_features": "SideFeatures contributions",
    "irplatform.files.digests": "digest digests file_digest fingerprint folder_digests",
    "irplatform.files.formats": "read_json read_own_json",
    "irplatform.knowledge.formats.reading": "Format Head",
    "irplatform.knowledge.installation": "all_installed open_knowledge",
    "irplatform.knowledge.model": "Concept Name Relation",
    "irplatform.knowledge.union": "Knowledge",
    "irplatform.lucene.dates": "YEAR date_limits year_of",
    "irplatform.lucene.feedback": "ADDABLE",
    "irplatform.lucene.index": "DocumentQueries best_scores heading_queries relative scores_of "
    "words_query",
    "irplatform.lucene.java": "java_class",
    "irplatform.lucene.queries": "BM25 QLD RM3 Similarity",
    "irplatform.registry.code_digests": "source_digest",
    "irplatform.registry.loading": "registry",
    "irplatform.registry.plugin_calls": "plugin_call",
    "irplatform.runs.bioasq": "MOST_DOCUMENTS Snippet read_questions read_snippets",
    "irplatform.runs.run": "id_text",
    "irplatform.system.arithmetic": "VARIABLE choose_device exact_roots portable square_root",
    "irplatform.system.console": "notice steps",
    "irplatform.system.packages": "require",
    "irplatform.text.arrays": "Float32 Float64 Int32 Int64 new_matrix ragged without",
    "irplatform.text.device_documents": "Batch Candidates DeviceDocuments Reading StoredVectors "
    "on_device",
    "irplatform.text.forward_index": "FIELDS FORWARD_INDEX_FORMAT ForwardIndex TextField "
    "distinct_per_document distinct_words inverse_document_frequency",
    "irplatform.text.given_texts": "PADDING distinct_of given_texts refuse_texts",
    "irplatform.text.lexical": "ALL18 FieldMatch LEX3 LexicalNames lexical_features",
    "irplatform.text.tokenizer": "STOP_WORDS content_words normalize pieces tokenize",
    "irplatform.text.vector_training": "VectorOptions sentences",
    "irplatform.text.vectors": "WordVectors unit_rows unit_vectors",
    "irplatform.training.checkpoints": "Checkpoint member_folder",
    "irplatform.training.linear": "centered learn_standardization pairwise_weights",
    "irplatform.training.list_samplers": "GroupSampler GroupSettings Groups ListSampler "
    "ListSettings Lists",
    "irplatform.training.loop": "AdadeltaSettings LoopSettings StepSettings run_loop run_shown",
    "irplatform.training.losses": "listwise_logistic pairwise_hinge pairwise_logistic "
    "weighted_cross_entropy",
    "irplatform.training.neural": "NeuralReranker stored_documents vectors_digest weights_digest",
    "irplatform.training.samplers": "PairSampler PairSettings Pairs PointSampler PointSettings "
    "Points Pool draw_some pool_offsets pool_starts",
    "irplatform.training.text_pairs": "PairsOfTopics check_text_pairs read_text_pairs",
    "irplatform.training.topic_identity": "query_mark source_mark topic_marks",
    "irplatform.training.validation": "Validator",
    "irplatform.training.weights": "check_weights load_into load_weights save_weights",
    "irplatform.workers.distribution": "ordered_map several_workers takes_gpu",
}
_MODULES = {name: module for module, names in _NAMES.items() for name in names.split()}
__getattr__, __dir__ = on_demand(__name__, _MODULES)
