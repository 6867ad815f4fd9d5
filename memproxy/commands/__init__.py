"""The commands, by what they are about: a few lines each. `tree` puts them together."""
