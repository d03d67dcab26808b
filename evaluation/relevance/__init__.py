"""Relevance: runs of retrieval systems scored against labels, as the ANTIQUE paper does."""
