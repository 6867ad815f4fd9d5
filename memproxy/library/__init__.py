"""Memory inside a program: the same store, rules and recall as behind the proxy, without a server.

`Memory.open` gives a memory to work with; `wrap` gives one to an `openai` or `anthropic` client.
"""

from memproxy.library.memory import Found, Memory
from memproxy.library.wrapping import wrap

__all__ = ["Found", "Memory", "wrap"]
