"""Doubles of the outside world that memproxy's own tests, its demo and your tests can use."""

from memproxy.testing.upstream import Answer, Die, Request, ScriptedUpstream, Wait, completion, stream

__all__ = ["Answer", "Die", "Request", "ScriptedUpstream", "Wait", "completion", "stream"]
