"""Counting kernels and what is computed from counts.

``oracle`` gives verdicts, ``tester`` carries out tests and searches by column number, and ``memory`` gives tables of
counts, as any ``source`` of counts does. All else are kernels: ``testing``, ``search`` and ``interleaving`` are called
from Python, and they call the ways of counting (``rows``, ``bitmaps``, ``sharing``, ``sorting``), the sums over
strata (``strata``) and the decision (``judging``, ``tail``). Numba is loaded when a table is opened, not before.
"""
