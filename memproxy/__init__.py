"""memproxy: a streaming reverse proxy that gives any app that talks to a language model a long-term memory."""

__version__ = "0.1.0"
