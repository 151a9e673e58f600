"""The page people open: what a model says of a table, as one HTML file."""
