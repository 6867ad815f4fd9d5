"""HTTP in, HTTP out; assembly in one place."""
