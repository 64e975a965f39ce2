"""Small cross-encoders, and the scores of their own library."""

import json

import torch
from pretrained_models import LONGEST, config, tokenizer
from small import SmallResources

from irplatform.plugin import Topic
from irplatform_encoders.crossencoder_reranker import CrossEncoder
from irplatform_encoders.options import CrossEncoderOptions

QUERY = Topic("t", "w3 w4 w5")


def save_cross_encoder(folder, labels=1):
    from transformers import BertForSequenceClassification

    torch.manual_seed(labels)
    BertForSequenceClassification(config(num_labels=labels)).save_pretrained(folder)
    tokenizer().save_pretrained(folder)
    return folder


def open_cross_encoder(folder, **options):
    reranker = CrossEncoder(CrossEncoderOptions(model=str(folder), **options))
    reranker.prepare(SmallResources())
    return reranker


def plain_logits(folder, query, read):
    """The logits of one document after the other, as the model's own library computes them."""
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    reader = AutoTokenizer.from_pretrained(folder)
    model = AutoModelForSequenceClassification.from_pretrained(folder).eval()
    rows = []
    for document in read:
        inputs = reader(
            query, document.text, truncation="only_second", max_length=LONGEST, return_tensors="pt"
        )
        with torch.inference_mode():
            rows.append(model(**inputs).logits[0])
    return torch.stack(rows).numpy()


def rewrite(folder, name, **changed):
    path = folder / name
    path.write_text(json.dumps({**json.loads(path.read_text()), **changed}))
