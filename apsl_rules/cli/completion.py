"""``apsl completion``: print the script that lets a shell complete commands, options and names."""

from __future__ import annotations

from collections.abc import Mapping

import click
from click.shell_completion import CompletionItem, get_completion_class

from apsl_rules.learning import AUTO
from apsl_rules.plugins import Plugins, installed

_ADVICE = """\b
Put it where your shell looks for it:
  bash   apsl completion bash > ~/.local/share/bash-completion/completions/apsl
  zsh    apsl completion zsh > a file _apsl in a folder of $fpath
  fish   apsl completion fish > ~/.config/fish/completions/apsl.fish
"""


@click.command(epilog=_ADVICE, short_help="Print the script with which a shell completes words.")
@click.argument("shell", metavar="SHELL", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def completion(context: click.Context, *, shell: str) -> None:
    """Print the completion script for a SHELL: bash, zsh or fish."""
    kind = get_completion_class(shell)
    if kind is None:  # pragma: no cover - click has all three
        context.fail(f"there is no completion for {shell}")
    root = context.find_root()
    click.echo(kind(root.command, {}, "apsl", "_APSL_COMPLETE").source())


def complete_networks(_context: click.Context, _parameter: click.Parameter, begun: str) -> list[CompletionItem]:
    """Complete the name of a network, or leave it to the shell to complete a file."""
    from apsl_rules.graphs.networks import network_names

    names = [name for name in network_names() if name.startswith(begun)]
    return [CompletionItem(name) for name in names] or [CompletionItem(begun, type="file")]


def complete_learners(context: click.Context, _parameter: click.Parameter, begun: str) -> list[CompletionItem]:
    """Complete the name of a learner; auto is the choice by the source."""
    chosen = [CompletionItem(AUTO, help="the source decides")] if AUTO.startswith(begun) else []
    return [*chosen, *_matching(_plugins(context).learners, begun)]


def complete_oracles(context: click.Context, _parameter: click.Parameter, begun: str) -> list[CompletionItem]:
    """Complete the name of an oracle."""
    return _matching(_plugins(context).oracles, begun)


def complete_finders(context: click.Context, _parameter: click.Parameter, begun: str) -> list[CompletionItem]:
    """Complete the name of a finder."""
    return _matching(_plugins(context).finders, begun)


def complete_formats(context: click.Context, _parameter: click.Parameter, begun: str) -> list[CompletionItem]:
    """Complete the name of a format."""
    return _matching(_plugins(context).exporters, begun)


def _plugins(context: click.Context) -> Plugins:
    """Return the plugins; during completion no command has loaded them."""
    return context.obj if isinstance(context.obj, Plugins) else installed()


def _matching(offers: Mapping[str, object], begun: str) -> list[CompletionItem]:
    found = [(name, getattr(offer, "summary", "")) for name, offer in offers.items() if name.startswith(begun)]
    return [CompletionItem(name, help=summary) for name, summary in found]
