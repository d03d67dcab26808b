"""Natural Questions: predictions scored as the official evaluation scores them."""
