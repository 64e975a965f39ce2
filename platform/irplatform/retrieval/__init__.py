"""The first stage: asking retrievers, candidates, fusion."""
