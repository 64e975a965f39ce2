"""Words that tell nothing of a text's subject: the English stop words of NLTK.

DeepSenSe (Lo et al., Datasets) drops them from its sentences and DRMM (Guo et al., CIKM 2016) from
its queries. As in NLTK, parts of contractions ("don", "t", "ll") are among them.
"""

from __future__ import annotations

from irplatform.text.tokenizer import tokenize

STOP_WORDS = frozenset(
    """
    i me my myself we our ours ourselves you your yours yourself yourselves he him his himself
    she her hers herself it its itself they them their theirs themselves what which who whom
    this that these those am is are was were be been being have has had having do does did
    doing a an the and but if or because as until while of at by for with about against
    between into through during before after above below to from up down in out on off over
    under again further then once here there when where why how all any both each few more
    most other some such no nor not only own same so than too very s t can will just don
    should now d ll m o re ve y ain aren couldn didn doesn hadn hasn haven isn ma mightn mustn
    needn shan shouldn wasn weren won wouldn
    """.split()  # noqa: SIM905 - a list would take a page
)


def content_words(text: str) -> list[str]:
    """The words of a text that are not stop words, in order; Greek letters are spelled out."""
    return [word for word in tokenize(text) if word not in STOP_WORDS]
