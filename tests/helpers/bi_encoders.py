"""A bi-encoder, its topics and its documents."""

import torch
from pretrained_models import LONGEST

from irplatform.plugin import Topic
from irplatform_encoders.biencoder import BiEncoder
from irplatform_encoders.options import BiEncoderOptions

QUERY = Topic("t", "w3 w4 w5")
OTHER = Topic("u", "w9 w30 w41 w7")


def open_bi_encoder(folder, resources, **options):
    reranker = BiEncoder(BiEncoderOptions(model=str(folder), **options))
    reranker.prepare(resources)
    return reranker


def read_documents(resources, count=None):
    return resources.documents(list(resources.texts)[:count])


def hidden_vectors(bare, text):
    """The last layer's vectors of a text's words, and the model's own library's."""
    from transformers import AutoModel, AutoTokenizer

    inputs = AutoTokenizer.from_pretrained(bare)(
        text, truncation=True, max_length=LONGEST, return_tensors="pt"
    )
    with torch.inference_mode():
        return AutoModel.from_pretrained(bare).eval()(**inputs).last_hidden_state[0].numpy()
