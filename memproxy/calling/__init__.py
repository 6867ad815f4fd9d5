"""Calls to model servers, for every kind of model: where they go, as whom, and over which connections."""
