"""Doubles of the outside world that memproxy's own tests, its demo and your tests can use."""

from memproxy.embedders.hashing import HashEmbedder
from memproxy.testing.clock import FrozenClock
from memproxy.testing.prefix_cache import PrefixCache
from memproxy.testing.upstream import Answer, Die, Request, ScriptedUpstream, Wait, completion, stream

__all__ = [
    "Answer",
    "Die",
    "FrozenClock",
    "HashEmbedder",
    "PrefixCache",
    "Request",
    "ScriptedUpstream",
    "Wait",
    "completion",
    "stream",
]
