"""What all operations share: tokens, limits, problems, pages of results, and one effect per request."""
