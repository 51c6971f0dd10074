"""The page in the browser: a local server, what a person says on it, and what they take away.

``serving`` has all that the server needs. It is loaded while the worker loads what that one needs.
"""

from __future__ import annotations

from apsl_rules.app.workers import Worker

__all__ = ["Worker"]
