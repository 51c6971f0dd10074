"""All errors that apsl_rules raises, each also the closest builtin error."""

from __future__ import annotations

from typing import Any

from apsl_rules.masking import masked
from apsl_rules.notes import Sentence, named


class ApslError(Exception):
    """The root of all errors that a user can cause; its text is one sentence that says what to do, without secrets.

    An error about an argument has it as data: the ``argument``, the ``value`` that was given, and ``advice``. Its text
    is made from these. ``sentence`` is the text with its arguments apart, so that each surface can spell them.
    """

    def __init__(self, *said: object, argument: str | None = None, value: object = None, advice: str = "") -> None:
        if advice:
            from apsl_rules.names import spelt

            what = argument or "argument"
            said = (f"{named(what) if what.isidentifier() else what} is {spelt(value)}; {advice}",)
        super().__init__(*(Sentence(one).changed(masked) if isinstance(one, str) else one for one in said))
        self.argument = argument
        self.value = value
        self.advice = Sentence(advice).changed(masked)

    @property
    def sentence(self) -> Sentence:
        """The text of the error, with its arguments apart."""
        said = self.args[0] if self.args else ""
        return said if isinstance(said, Sentence) else Sentence(str(said))


class InvalidArgumentError(ApslError, ValueError):
    """An argument has a value that is not allowed."""


class UnknownNodeError(ApslError, LookupError):
    """A name is not one of the known nodes."""


class UnknownNameError(ApslError, LookupError):
    """No learner, oracle, finder, rulebook or network has this name."""


class RuleError(ApslError, ValueError):
    """A rule cannot be used: an unbound variable, an unknown relation, a wrong number of nodes."""


class GraphError(ApslError, ValueError):
    """A graph is not what it must be: cyclic, empty, or naming nodes that do not exist."""


class SpecError(ApslError, ValueError):
    """A learner spec misses a setting, has an unknown one, or combines settings that exclude each other."""


class KnowledgeError(ApslError, ValueError):
    """Background knowledge contradicts itself, cannot be read, or meets a learner that does not honour it."""


class NetworkFileError(ApslError, ValueError):
    """A network file cannot be read; the message carries line and column."""


class PartFileError(ApslError, ValueError):
    """A saved part cannot be read back."""


class GraphFormatError(ApslError, ValueError):
    """A graph written by another tool cannot be read; the message says where and why."""


class MissingPackageError(ApslError, ImportError):
    """Another package is needed for this and is not installed; the message says how to get it."""


class DataError(ApslError, ValueError):
    """A table cannot be used as it is; the message says which columns and what to do."""


class TooManyCombinationsError(DataError):
    """The values of some columns have more combinations than can be held."""


class CacheFileError(ApslError, ValueError):
    """A file given as verdict cache cannot be used as one; it is left as it was."""


class KernelError(ApslError, RuntimeError):
    """The compiled kernels cannot be built or loaded; the message says what to do."""


class PluginError(ApslError, RuntimeError):
    """A plugin broke its contract; the message names plugin, hook and query."""


class LimitReachedError(Exception):
    """The run met the limit on tests or seconds that the caller set; learners turn it into an incomplete part."""


class Interrupted(KeyboardInterrupt):
    """A run was interrupted, by Ctrl-C or a signal; what was learned by then comes with it.

    ``part`` is the part so far, marked incomplete, or None if the source was not yet open. ``result`` is what a call of
    several runs had done: what ``learn_many``, ``learn_graph``, ``stability`` or ``compare`` would return, or None. An
    interrupt that comes after the last run brings the whole ``result``.
    """

    def __init__(self, message: str = "interrupted", *, part: Any = None, result: Any = None) -> None:
        super().__init__(message)
        self.part = part
        self.result = result
