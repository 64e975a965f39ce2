"""Expanded queries: from topics and knowledge bases to Lucene's queries.

`topic_parts` takes a topic apart and gives its parts further names (`names`, `lookup`), which are
checked against the index (`evidence`). A `plan` weighs the parts. The weighted sum (`query`) is an
`expression`, which can be printed and compiled (`lucene_query`).
"""
