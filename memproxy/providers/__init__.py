"""Models behind HTTP APIs."""
