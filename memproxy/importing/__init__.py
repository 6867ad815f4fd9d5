"""Conversations and facts that were kept elsewhere, brought into the store with their own dates."""
