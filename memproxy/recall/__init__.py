"""Finding what bears on a message: terms, passages, the query, and ranking. Pure."""
