"""Saying what was found, in few tokens: budget, sections, and the block itself. Pure."""
