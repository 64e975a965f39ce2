"""Text as models see it: tokens, word vectors, the forward index, lexical features."""
