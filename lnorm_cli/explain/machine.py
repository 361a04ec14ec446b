"""A page as Markdown and as JSON."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

from lnorm_cli.explain.cells import decimal, written
from lnorm_cli.explain.content import (
    Bars,
    Cell,
    Fence,
    Heading,
    Items,
    Pair,
    Paragraph,
    Result,
    Table,
    Verdict,
)
from lnorm_cli.explain.page import Page, Part, Ran
from lnorm_cli.explain.topics import Topic

SCHEMA = "lnorm/explain/1"


def list_markdown(topics: Sequence[Topic]) -> str:
    """The list of topics as a numbered Markdown list."""
    return "\n".join(f"{topic.order}. `{topic.name}`: {topic.line}" for topic in topics)


def list_json(topics: Sequence[Topic]) -> str:
    """The list of topics as one JSON document."""
    entries = [{"name": t.name, "title": t.title, "line": t.line, "order": t.order} for t in topics]
    return json.dumps({"schema": SCHEMA, "topics": entries})


def page_markdown(page: Page) -> str:
    """A page as Markdown, every demo block replaced by what it gave."""
    lines = [f"# {page.topic.title}", ""]
    for part in page.parts:
        lines += [*_markdown(part), ""]
    lines += ["## Sources", ""]
    lines += [f"- [{source.id}] {source.brief}" for source in page.sources]
    return "\n".join(lines)


def _markdown(part: Part) -> Iterator[str]:
    if isinstance(part, Heading):
        yield f"## {part.text}"
    elif isinstance(part, Paragraph):
        yield part.text
    elif isinstance(part, Items):
        yield from (f"- {item}" for item in part.items)
    elif isinstance(part, Fence):
        yield from ("```", *part.lines, "```")
    elif isinstance(part, Ran):
        for number, result in enumerate(part.results):
            yield from ([""] if number else [])
            yield from _result_markdown(result)


def _result_markdown(result: Result) -> Iterator[str]:
    if isinstance(result, Table):
        yield from _table_markdown(result.caption, result.head, result.rows)
    elif isinstance(result, Bars):
        rows = [(group, bar.label, decimal(bar.value)) for group, bars in result.groups for bar in bars]
        yield from _table_markdown(result.caption, result.head, rows)
    elif isinstance(result, Verdict):
        yield f"- {result.claim} [{result.source}]"
        yield f"  - measured: {result.measured}"
        yield f"  - **{'reproduced' if result.reproduced else 'not reproduced'}**"
        if result.note:
            yield f"  - {result.note}"
    else:
        yield result.text


def _table_markdown(caption: str, head: Sequence[str], rows: Sequence[Sequence[Cell]]) -> Iterator[str]:
    if caption:
        yield from (caption, "")
    yield _row(head)
    yield _row(["---"] * len(head))
    yield from (_row([written(cell) for cell in row]) for row in rows)


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def page_json(page: Page) -> str:
    """A page as one JSON document."""
    topic = page.topic
    document = {
        "schema": SCHEMA,
        "topic": topic.name,
        "title": topic.title,
        "line": topic.line,
        "order": topic.order,
        "blocks": [_block(part) for part in page.parts],
        "sources": [
            {"id": s.id, "title": s.title, "authors": s.authors, "year": s.year, "where": s.where} for s in page.sources
        ],
    }
    return json.dumps(document)


def _block(part: Part) -> dict[str, Any]:
    if isinstance(part, Heading):
        return {"kind": "heading", "text": part.text}
    if isinstance(part, Paragraph):
        return {"kind": "paragraph", "text": part.text}
    if isinstance(part, Items):
        return {"kind": "list", "items": list(part.items)}
    if isinstance(part, Fence):
        return {"kind": "preformatted", "lines": list(part.lines)}
    assert isinstance(part, Ran)
    return {"kind": "demo", "command": part.command, "results": [_result(result) for result in part.results]}


def _result(result: Result) -> dict[str, Any]:
    if isinstance(result, Table):
        rows = [[_cell(cell) for cell in row] for row in result.rows]
        return {"kind": "table", "caption": result.caption, "head": list(result.head), "rows": rows}
    if isinstance(result, Bars):
        groups = [
            {"group": group, "bars": [{"label": bar.label, "value": _cell(bar.value)} for bar in bars]}
            for group, bars in result.groups
        ]
        return {"kind": "bars", "caption": result.caption, "groups": groups}
    if isinstance(result, Verdict):
        return {"kind": "claim", **asdict(result)}
    return {"kind": "note", "text": result.text}


def _cell(cell: Cell) -> Any:
    if isinstance(cell, Pair):
        return {"exact": cell.exact, "float": _cell(cell.value)}
    if isinstance(cell, tuple):
        return [_cell(value) for value in cell]
    if isinstance(cell, float):
        return cell + 0.0 if math.isfinite(cell) else str(cell)
    return cell
