"""The `demo` collection: small, synthetic, and there without a network.

Articles that answer a topic often name its disease and gene by synonyms; articles that repeat its
words are often about cells, mice, assays or excluded patients. So there is something to learn.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from irplatform.plugin import hookimpl

if TYPE_CHECKING:
    from irplatform.plugin import Collection, RegisterCollection


@hookimpl
def register_collections(register: RegisterCollection) -> None:
    """Register `demo`, and `demo-train`, which trains rerankers for it."""
    register("demo", _demo, title="Synthetic articles and topics of precision medicine (20 topics)")
    register("demo-train", _demo_train, title="The 40 topics that train rerankers for demo")


def _demo() -> Collection:
    from irplatform_demo.collection import demo

    return demo()


def _demo_train() -> Collection:
    from irplatform_demo.collection import demo_train

    return demo_train()
