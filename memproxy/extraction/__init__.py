"""Turns to drafts to changes: what is worth asking a model, what it answered, and what that means for the store."""
