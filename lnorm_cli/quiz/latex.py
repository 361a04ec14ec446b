"""A worksheet as a LaTeX document of the article class."""

from __future__ import annotations

import io
import re
from collections.abc import Sequence

from lnorm_cli.quiz.questions import Choice, Formula, Numbers, Order, Question, Recall, letter
from lnorm_cli.quiz.steps import answer_text, reason, write_work, wrong_ways
from lnorm_cli.render.markup import LatexWriter
from lnorm_cli.render.notation import LATEX, NO_BREAK
from lnorm_cli.render.terminal import spelled

_HEAD = r"""\documentclass[11pt]{article}
\IfFileExists{lmodern.sty}
  {\usepackage[T1]{fontenc}\usepackage{lmodern}}
  {\def\textquotedbl{''}}
\usepackage[utf8]{inputenc}
\usepackage{amsmath}
\usepackage[margin=25mm]{geometry}
\setlength{\parindent}{0pt}
\setlength{\parskip}{4pt}
\makeatletter\@beginparpenalty=10000 \makeatother
\begin{document}
"""
_TOGETHER = r"\begin{minipage}{\linewidth}\setlength{\parskip}{4pt}"
"""A question on a sheet is not torn apart by a new page."""

_SPECIAL = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#", "_": r"\_", "%": r"\%",
    "^": r"\textasciicircum{}", "~": r"\textasciitilde{}", "<": r"\textless{}", ">": r"\textgreater{}",
    "|": r"\textbar{}", '"': r"\textquotedbl{}", "'": r"\textquotesingle{}", "`": r"\textasciigrave{}",
    "-": "{-}", "*": "{*}",
}  # fmt: skip


def latex_sheet(seed: int, questions: Sequence[Question], *, key: bool) -> str:
    """The document: every question, and in a key its answer with worked steps."""
    out = [_HEAD, rf"\section*{{Layer normalization: {'key' if key else 'worksheet'} {seed}}}" + "\n"]
    if not key:
        out.append("Name:\n\nGive answers exactly (fractions, roots) or as decimals with the places asked for.\n")
    for number, question in enumerate(questions, start=1):
        if not key:
            out.append(_TOGETHER)
        out += [
            rf"\subsection*{{{number}.\quad \texttt{{{escaped(question.id)}}}}}" + "\n",
            escaped(question.prompt) + "\n",
        ]
        out += _given(question)
        out += _lettered(question)
        if key:
            out += _key(question)
        else:
            out.append(rf"\emph{{Wanted: {escaped(question.rule)}.}}" + "\n\nAnswer:\n")
            out.append(r"\end{minipage}\par\vspace{16mm}" + "\n")
    return "\n".join([*out, r"\end{document}", ""])


def _given(question: Question) -> list[str]:
    if not question.given:
        return []
    rows = [rf"{escaped(name)} & {_value(value)} \\" for name, value in question.given]
    return [r"\begin{tabular}{@{\quad}ll}", *rows, r"\end{tabular}" + "\n"]


def _value(text: str) -> str:
    """Data below a prompt; numbers as mathematics, so that a minus is one."""
    parts = text.split(", ")
    if not all(re.fullmatch(r"-?[0-9]+(\.[0-9]+|/[0-9]+)?", part) for part in parts):
        return escaped(text)
    return ", ".join(f"${part}$" for part in parts)


def _lettered(question: Question) -> list[str]:
    answer = question.answer
    if isinstance(answer, Choice):
        texts = [escaped(option.text) for option in answer.options]
    elif isinstance(answer, Order):
        texts = [rf"\texttt{{{escaped(line)}}}" for line in answer.lines]
    else:
        return []
    return [
        r"\begin{description}",
        *(rf"\item[{letter(i)})] {text}" for i, text in enumerate(texts)),
        r"\end{description}" + "\n",
    ]


def _key(question: Question) -> list[str]:
    stream = io.StringIO()
    write_work(question.work, LatexWriter(stream), lambda text: stream.write(f"\n{escaped(text)}\n\n"))
    right = answer_text(question, LATEX)
    if not isinstance(question.answer, (Numbers, Formula)):
        right = escaped(right)
    out = [rf"\textbf{{Answer:}} {right}" + "\n", escaped(reason(question)) + "\n", stream.getvalue()]
    if isinstance(question.answer, Recall):
        out += _bullets("To be mentioned", [escaped(point) for point in question.answer.points])
    else:
        wrong = [f"{shown}{_after(shown)} {escaped(said)}" for shown, said in wrong_ways(question, LATEX)]
        out += _bullets("Wrong ways", wrong)
    return [part.replace(NO_BREAK, " ") for part in out if part.strip()]


def _after(shown: str) -> str:
    return ":" if shown.endswith("$") else ""


def _bullets(heading: str, texts: Sequence[str]) -> list[str]:
    if not texts:
        return []
    return [f"{heading}:", r"\begin{itemize}", *(rf"\item {text}" for text in texts), r"\end{itemize}" + "\n"]


def escaped(text: str) -> str:
    """Plain text for LaTeX: no character has a meaning, symbols are spelled, other scripts stay as they are."""
    ascii_text = "".join(
        c if c.isascii() or (c.isalpha() and ord(c) > 0x3FF) or "\u00c0" <= c <= "\u024f" else spelled(c) for c in text
    )
    return "".join(_SPECIAL.get(c, c if c.isprintable() else " ") for c in ascii_text)
