"""The commands, by what they are about: a few lines each. `memproxy.cli` puts them together."""
