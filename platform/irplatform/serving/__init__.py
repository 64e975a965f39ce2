"""Servers: a retriever and a reranker that stay loaded, over REST and MCP."""
