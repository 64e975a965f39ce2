"""The options of the cross-encoders: which model, how texts are fed to it, how it is fine-tuned."""

from __future__ import annotations

from typing import Literal

from irplatform.plugin import Field, Options
from irplatform.training import ListSettings
from irplatform_encoders.pretrained import PretrainedOptions


class ReadingOptions(PretrainedOptions):
    """How pairs of query and document are read."""

    max_length: int = Field(
        512, gt=8, description="tokens of query and document together; documents are cut to fit"
    )
    query_tokens: int = Field(
        256, gt=0, description="tokens of a query at most, and no more than half of what fits"
    )
    batch_size: int = Field(32, gt=0, description="documents that are scored at once")
    precision: Literal["float32", "bfloat16"] = Field(
        "float32",
        description="in which most is computed; bfloat16 is faster on GPUs, and on some processors "
        "with native arithmetic (portable arithmetic on the CPU has none)",
    )


class CrossEncoderOptions(ReadingOptions):
    """Options of the cross-encoder: a sequence-classification model."""

    query_prompt: str | None = Field(
        None, description="put before a query; the model's own by default, if it has one"
    )
    output: Literal["logit", "probability"] = Field(
        "logit",
        description="of models with two labels: the difference of the logits of the second label "
        "and the first, or the second's probability; of models with one label: its logit, or the "
        "sigmoid of it",
    )


class FineTuning(Options):
    """The steps of fine-tuning: AdamW, with rates that rise at first and then fall to 0."""

    learning_rate: float = Field(2e-5, gt=0, description="largest step size of the transformer")
    head_learning_rate: float = Field(
        1e-3, gt=0, description="the same of what begins at random: the layer on top, if it is new"
    )
    warmup: float = Field(0.1, ge=0, lt=1, description="share of all steps in which rates rise")
    weight_decay: float = Field(0.01, ge=0, description="of AdamW; biases and norms have none")
    longest_gradient: float = Field(1.0, gt=0, description="longer ones are cut to this norm")
    batch_size: int = Field(
        48, gt=0, description="documents of a step, at least one list of them; all are in memory"
    )
    epochs: int = Field(5, gt=0, description="most epochs; rates reach 0 at the end of the last")
    patience: int = Field(
        5, gt=0, description="stop after this many epochs without a better validation measure"
    )


class Pretraining(Options):
    """What is other in pre-training (`--pretrain`), where topics are many."""

    learning_rate: float = Field(4e-5, gt=0, description="largest step size of the transformer")
    epochs: int = Field(1, gt=0, description="most epochs")
    relevant_per_topic: int = Field(
        1, gt=0, description="most relevant documents of a topic in an epoch"
    )
    max_length: int = Field(
        256, gt=8, description="tokens of query and document together, if fine-tuning has no fewer"
    )


class VanillaBertOptions(ReadingOptions):
    """Options of the fine-tuned cross-encoder: a language model or a classifier to begin with."""

    max_length: int = Field(
        256, gt=8, description="tokens of query and document together; documents are cut to fit"
    )
    lists: ListSettings = Field(
        ListSettings(), description="which lists of documents are learned from"
    )
    loop: FineTuning = Field(FineTuning(), description="steps and stopping")
    pretraining: Pretraining = Field(Pretraining(), description="steps of pre-training")
    validation_topics: int = Field(300, gt=0, description="most topics that epochs are judged on")
    validation_depth: int = Field(
        100, gt=0, description="candidates of each that are ranked, the first stage's best"
    )


def for_pretraining(options: VanillaBertOptions) -> VanillaBertOptions:
    """The options of pre-training, which has steps and lists of its own."""
    own = options.pretraining
    steps = {"learning_rate": own.learning_rate, "epochs": own.epochs}
    return options.model_copy(
        update={
            "max_length": min(options.max_length, own.max_length),
            "loop": options.loop.model_copy(update=steps),
            "lists": options.lists.model_copy(
                update={"relevant_per_topic": own.relevant_per_topic}
            ),
            "pretraining": Pretraining(),
        }
    )
