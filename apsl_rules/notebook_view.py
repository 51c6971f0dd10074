"""What makes a result show itself in a notebook: the one method that notebooks call, for classes of every room."""

from __future__ import annotations


class NotebookView:
    """A result that notebooks show as HTML; the room ``views`` has the views and is loaded when one is wanted."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        from apsl_rules.views.notebook import html_of

        return html_of(self)
