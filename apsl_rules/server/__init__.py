"""Learning for programs and assistants: tools over the Model Context Protocol that answer with evidence as JSON.

``protocol`` speaks with the client and starts a process for each call; ``__main__`` is that process.
"""

from apsl_rules.server.limits import ENDINGS, Limits

__all__ = ["ENDINGS", "Limits"]
