"""Argument lists: none may crash, hang, warn, or end with an exit code that its command does not have.

    python tests/long/fuzz_arguments.py [--count 100000] [--seed 1] [--start 0] [--seconds 2] [--workers 1]

Most are for `lnorm compute`, the others for `diagnose`, `explain` and `quiz worksheet`. How an input is run and
judged, and how one is run again, stands in harness.py. What fails is printed at once with the arguments that show it;
the exit code is 1 then.
"""

from __future__ import annotations

import random
import sys
from pathlib import Path

from harness import Case, main

NUMBERS = [
    "0", "1", "2", "4", "6", "-1", "-3", "0.1", "-.5", "5.", "1e-5", "1E3", "-1e-3", "1/3", "-1/3", "sqrt(2)",
    "-sqrt(2)", "2sqrt(3)", "√2", "-√5", "pi", "-pi/4", "3(1+2)", "(1+2)*3", "2^10", "2**-3", "\u22122", "1e99",
    "1e-99", "1e400", "-1e-400", "7/3", "1000000007", "0.3333333333333333", "sqrt(1/2)", "2^(1/3)", "abs(-3)", "1²",
    "40000", "65504", "1e30",
]  # fmt: skip
ODD = [
    "", " ", "-", "--", "---", "-e", "-i", "-n", "-s", "-p", "-inf", "nan", "inf", "-nan", "1e", "1e99999", "-1E99999",
    "9^9^9^9", "10.0**10.0**10.0", "2**(1/10**50)", "1/0", "0/0", "sqrt(-1)", "sqrt(", "((", "))", "[", "]", "[1",
    "1]", "[[1,2],[3]]", "[[1,2],[3,4]]", "[[[1]]]", "1,,2", ",", "1,2,", "0,5", "1;2", "x", "gamma", "E", "I",
    "lambda:1", "__import__('os')", "().__class__", "%s%n", "{0}", "[red]", "[/]", "[/red]bold", "\x1b[31m", "\x00",
    "\t", "\n", "é", "日本", "\U0001f600", "\u202e1", "½", "٣", "１", "\udcff", "1\u0302", "a" * 300, "1" * 400,
    "(" * 50 + "1" + ")" * 50, "[" * 20 + "1" + "]" * 20, "--1", "-1-", "-srt(2)", "-sqrt", "-2^0.5", "-(1", "1..2",
    "1e1e1", "0x10", "1_000", "$(ls)", "`ls`", "; ls", "../../x", "con", "@", "@@", "@missing.json", "1:2", "*", "?",
    "~", "\\", "'", '"',
]  # fmt: skip
COMPUTE: dict[str, list[str]] = {
    "--gamma": ["1", "2", "1,2", "1 2", "[1,2,3,4]", "0.5,1,1.5,2", "-1", "@GAMMA", "@X", "0"],
    "--beta": ["0", "1", "-1,2", "1/3", "@GAMMA", "[0,0]"],
    "--eps": ["0", "1e-5", "1", "-1", "nan", "inf", "1/3", "sqrt(2)", "1e-400", "1e-12", "x", ""],
    "--norm": ["layer", "rms", "batch", "Layer", "group", ""],
    "--axis": ["-1", "0", "1", "0,1", "-2", "2", "x", "", "0,0", "-1,-2", "99999999999"],
    "--row": ["all", "0", "-1", "0:2", "5", "x", "1:", "0,0", "9999999999999", "-1:1"],
    "--dtype": ["float64", "float32", "float16", "bfloat16", "float8", ""],
    "--accumulate": ["float64", "float32", "float16", "bfloat16", "int"],
    "--digits": ["1", "6", "17", "0", "18", "x", "-1", "1e3", "99999999999999999999"],
    "--backward": ["1", "1 0 0 0", "1,0", "@X", "-1,1", "x"],
    "-f": ["text", "json", "markdown", "latex", "csv", "yaml", ""],
    "--format": ["text", "json", "markdown", "latex", "csv"],
    "-i": ["X", "MATRIX", "CSV", "NPY", "BAD", "-", "missing.csv", ""],
    "--input": ["X", "CSV", "-", "."],
}
DIAGNOSE = {name: COMPUTE[name] for name in ("--gamma", "--beta", "--eps", "--norm", "--axis", "-f", "-i")} | {
    "--given": [
        "-1.2247 0 0 1.2247", "0", "-1.414,0,0,1.414", "[1,2,3,4]", "@X", "@GAMMA", "CSV", "NPY", "nan", "-inf,1", "x",
        "2", "1/3 sqrt(2)", "1 2 3", "-1 1", "0,0,0", "",
    ],
    "--residual": ["1 2 3", "2 4 6 12", "0", "@X", "-1,1", "x", ""],
    "--order": ["post", "pre", "final", "no", ""],
    "--dtype": ["float64", "float32", "float16", "bfloat16", "int"],
}  # fmt: skip
EXPLAIN = {
    "--x": ["1 2 4", "3 5 2 6", "[[1,2],[3,4]]", "0", "1,1", "1e400 1", "x", ""],
    "--sublayer": ["2*z", "z^2", "sqrt(z)", "z", "1", "1/z", "z^z^z", "2z + 1", "x", "", "z^(1/3)"],
    "--shape": ["2,2,2,3", "2 3", "4", "0", "-1", "1000000,1000000", "x", "", "2,3,"],
    "--axis": ["-1", "0", "1,2", "x", "9", ""],
    "--depth": ["1", "2", "3", "0", "-1", "x", "1.5", ""],
    "--width": ["1", "2", "8", "0", "-1", "x", ""],
    "--seed": ["0", "7", "-1", "x", "99999999999999999999", ""],
    "--save": ["x.txt", ".", "", "no/such/place.svg"],
    "-f": ["text", "json", "markdown", "latex", ""],
}
TOPICS = [
    "layernorm", "axes", "batchnorm", "epsilon", "affine", "parameters", "residual", "gradients", "postnorm", "prenorm",
    "placement", "finalnorm", "porting", "rmsnorm", "precision", "backward", "block", "variants", "implement", "pre-ln",
    "Layer Norm", "pre_norm", "epsilom", "warmup", "", "x", "[/]",
]  # fmt: skip
WORKSHEET = {
    "--count": ["1", "2", "3", "0", "-1", "501", "x", ""],
    "--seed": ["0", "7", "123456", "-1", "x", "99999999999999999999999", ""],
    "--topic": TOPICS,
    "-f": ["markdown", "latex", "json", "text", ""],
    "--key": ["key.md", ".", "", "no/such/place.md", "\x00", "a" * 300],
    "--pack": ["X", "GAMMA", "missing.toml", "", "."],
}
FLAGS = ["--no-exact", "--json", "--ascii", "-h", "--help", "--debug", "--version"]
TYPOS = [
    "--gama", "--epss", "--nrom", "--digit", "--js", "--e", "--", "-x", "-q", "--gamma=", "--eps=", "--axis=0",
    "--row=0", "-fjson", "-ijson", "--giv", "--topi", "--sed",
]  # fmt: skip
FILES = {
    "X": ("x.json", '{"x": [1, 2, 4], "gamma": [1, "1/2", 2], "eps": 0}'),
    "MATRIX": ("m.json", "[[1, 2, 4], [3, 5, 9]]"),
    "CSV": ("x.csv", "a,b\n1,2\n3,4\n"),
    "GAMMA": ("g.txt", "1 2\n"),
    "BAD": ("bad.json", '{"x": [1, NaN]}'),
}
NAMES = {name: file for name, (file, _) in FILES.items()} | {"NPY": "x.npy"}


def drawn(draw: random.Random) -> Case:
    """One command line: mostly near a sensible one, sometimes pure junk."""
    kind = draw.random()
    if kind < 0.78:
        made = with_options(draw, numbers(draw), COMPUTE)
        command = ["compute"]
    elif kind < 0.86:
        start = numbers(draw)
        if draw.random() < 0.25:
            size = draw.choice((1, 2, 3, 4))
            start = [*draw.choices(NUMBERS, k=size), "--given", *draw.choices(NUMBERS, k=size)]
        elif draw.random() < 0.8:
            start += ["--given", *draw.choice([draw.choice(DIAGNOSE["--given"]).split(" "), numbers(draw)])]
        made = with_options(draw, start, DIAGNOSE)
        command = ["diagnose"]
    elif kind < 0.94:
        made = with_options(draw, [draw.choice(TOPICS)] if draw.random() < 0.9 else [], EXPLAIN)
        command = ["explain"]
    else:
        start = ["--count", draw.choice("123")] if draw.random() < 0.9 else []
        made = with_options(draw, start, WORKSHEET)
        command = ["quiz", "worksheet"]
    if made and draw.random() < 0.1:
        victim = draw.randrange(len(made))
        made[victim] = mutated(draw, made[victim])
    if draw.random() < 0.02:
        return Case(made, kind="no command")
    codes = (0, 1, 2) if command == ["diagnose"] else (0, 2)
    return Case([*command, *made], codes, kind=" ".join(command))


def numbers(draw: random.Random) -> list[str]:
    """The values of a vector: mostly good ones."""
    kind = draw.random()
    pool = NUMBERS if kind < 0.55 else NUMBERS + ODD if kind < 0.9 else ODD
    made = [draw.choice(pool) for _ in range(draw.choice((0, 1, 2, 3, 4, 4, 5, 8)))]
    return [",".join(made)] if draw.random() < 0.05 else made


def with_options(draw: random.Random, made: list[str], options: dict[str, list[str]]) -> list[str]:
    """The arguments with a few of a command's options, flags and typing errors put in anywhere."""
    for _ in range(draw.choice((0, 0, 1, 1, 2, 3))):
        if draw.random() < 0.75:
            name = draw.choice(list(options))
            value = draw.choice(options[name]) if draw.random() < 0.85 else draw.choice(NUMBERS + ODD)
            mark = "@" if value.startswith("@") else ""
            value = mark + NAMES.get(value.removeprefix("@"), value.removeprefix("@"))
            part = [f"{name}={value}"] if draw.random() < 0.3 else [name, *value.split(" ")]
        else:
            part = [draw.choice(FLAGS + TYPOS)]
        place = draw.randint(0, len(made))
        made[place:place] = part
    return made


def mutated(draw: random.Random, text: str) -> str:
    """The text with a few characters changed, added or taken out."""
    for _ in range(draw.randint(1, 3)):
        place = draw.randint(0, len(text))
        new = draw.choice(["", draw.choice("0123456789.-+*/^()[],e √π=@ "), chr(draw.randrange(32, 0x2FFF))])
        text = text[:place] + new + text[place + draw.randint(0, 1) :]
    return text


def write_files(folder: Path) -> None:
    import numpy as np

    for file, text in FILES.values():
        (folder / file).write_text(text, encoding="utf-8")
    np.save(folder / "x.npy", np.arange(6.0).reshape(2, 3))


if __name__ == "__main__":
    sys.exit(main(__doc__, "argument lists", 100_000, drawn, write_files))
