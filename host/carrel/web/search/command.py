"""Implements `carrel web search`."""

from __future__ import annotations

from typing import Any

import click

from carrel.cli.command import AS_JSON, EXCHANGE, command
from carrel.cli.output import stdout_is_terminal, write_json_text, write_text
from carrel.cli.progress import Progress
from carrel.cli.report import OK, complain
from carrel.cli.session import Session
from carrel.errors import ConfigError
from carrel.text.printable import printable

from .schema import MAX_RESULTS, SAFE, TIME_RANGES


@command(
    "search",
    example="web search walled desks for libraries --lens academic",
    options=(AS_JSON, *EXCHANGE),
)
@click.argument("words", metavar="QUERY", nargs=-1, required=True)
@click.option(
    "--number",
    "num_results",
    metavar="N",
    type=click.IntRange(1, MAX_RESULTS),
    default=MAX_RESULTS,
    help=f"At most so many results; {MAX_RESULTS} by default.",
)
@click.option("--time-range", type=click.Choice(TIME_RANGES), help="No older than this.")
@click.option("--safe", type=click.Choice(SAFE), help="Leave offensive pages out; medium.")
@click.option("--language", metavar="CODE", help="Such as de.")
@click.option("--country", metavar="CODE", help="Such as AT.")
@click.option("--site", metavar="HOST", help="Only this host and those below it.")
@click.option("--lens", metavar="NAME", help="Only the hosts of a list, such as academic.")
@click.option("--exact-terms", metavar="PHRASE", help="A phrase that results have.")
@click.option("--exclude-terms", metavar="WORDS", help="Words that results do not have.")
@click.option("--provider", metavar="NAME", help="Ask only this one, such as brave.")
@click.option("--claim", metavar="TEXT", help="Show the sentence closest to this claim.")
def search_command(session: Session, words: tuple[str, ...], as_json: bool, **options: Any) -> int:
    """Search the web with the providers of the setting web.search.

    Shows a list of results; the host of each is in the form in which to judge it. JSON output: the
    result of the tool web_search.
    """
    provided = {name: value for name, value in options.items() if value is not None}
    config = session.config()
    if not config.web.search:
        raise ConfigError(
            ['web.search is not set; set it to providers, such as ["searxng", "duckduckgo"]']
        )
    with session.open(config) as host, Progress("search") as progress:
        arguments = {"query": " ".join(words), **provided}
        result = host.call("web_search", arguments, on_progress=progress.update)
    if as_json:
        write_json_text(result.text)
        return OK
    _show(result.data)
    facts = result.meta or {}
    age = f", {facts['age_seconds']} s ago" if facts.get("cached") else ""
    complain(f"carrel: asked {facts.get('provider_used', 'nobody')}{age}")
    for name in facts.get("filters_not_applied", ()):
        complain(f"carrel: {facts['provider_used']} could not apply {printable(str(name), 40)}")
    return OK


def _show(result: dict[str, Any]) -> None:
    """Writes the results as a list: title, address, snippet."""
    if not result["results"]:
        _explain(result)
        return
    if stdout_is_terminal():
        _show_styled(result)
        return
    lines = []
    for number, hit in enumerate(result["results"], start=1):
        lines += [f"{number}. {hit['title']}", f"   {hit['url']}"]
        lines += [f"   {text}" for text in _texts(hit)]
    write_text("\n".join(lines) + "\n")


def _show_styled(result: dict[str, Any]) -> None:
    from carrel.cli.render import console, text

    out = console()
    for number, hit in enumerate(result["results"], start=1):
        out.print(text(f"{number}. {hit['title']}", "bold"))
        out.print(text(f"   {hit['display_link']}  {hit['url']}", "dim"))
        for line in _texts(hit):
            out.print(text(line))
        out.print()


def _texts(hit: dict[str, Any]) -> list[str]:
    date = f"{hit['published']}: " if "published" in hit else ""
    shown = hit.get("claim_signal") or hit["snippet"]
    lines = [f"{date}{shown}"] if date or shown else []
    reputation = hit.get("source_reputation")
    if reputation is not None and reputation["tier"] != "high":
        lines.append(f"[{reputation['tier']}] {reputation['basis']}")
    return lines


def _explain(result: dict[str, Any]) -> None:
    hints = result["hints"]
    complain("carrel: nothing found")
    for action in hints["suggested_actions"]:
        if action["action"] == "remove_filter":
            complain(f"  leave out --{action['filter'].replace('_', '-')}")
        elif action["action"] == "try_different_provider":
            complain(f"  ask another provider: --provider {' or '.join(action['providers'])}")
        else:
            complain("  use fewer or more general words")
