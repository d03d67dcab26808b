"""Charts of numbers: drawn on the server as SVG, each with its numbers beside it."""
