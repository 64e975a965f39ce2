"""Builds collections and judgments: pools, PubMed articles, clicks, citations."""
