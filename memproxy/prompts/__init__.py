"""One module a prompt: its text, typed inputs, output schema and parser."""
