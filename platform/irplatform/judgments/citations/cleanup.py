"""DeepSenSe's clean-up of citing sentences (Lo et al., Datasets).

"The sentences were first tokenized into words. Greek alphabets were converted into English words.
Stop words and punctuations were removed": what is left (`irplatform.text.content_words`) is counted
against these limits. The sentence itself stays as it was written, since every ranker has its own
way with words.
"""

from __future__ import annotations

FEWEST_WORDS = 5
MOST_WORDS = 50
FEWEST_WORDS_CITED = 50
