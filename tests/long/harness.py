"""What the fuzzing scripts share: one input run in this process and judged, workers, counts, and what is printed.

A script names how an input is drawn, and calls `main`. Every input has a generator of its own, from the seed and
the input's number, so that one is drawn again with `--start NUMBER --count 1`. Inputs run in forked workers with
their streams captured, under a limit of processor time (which a busy machine does not use up) and of memory.
"""

from __future__ import annotations

import argparse
import contextlib
import faulthandler
import functools
import gc
import io
import json
import multiprocessing
import os
import random
import re
import resource
import signal
import sys
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any

ADDRESS_SPACE = 2 * 2**30
"""Bytes that a worker may map; a file that claims more must be refused, not believed."""

GROWTH = 300 * 2**10
"""KiB that the peak of a worker's memory may grow by during one input."""

SHARE = 250


class TooSlow(BaseException):
    """The time limit of one input is over. No handler of `Exception` may take it for an error of the input."""


@dataclass(frozen=True)
class Case:
    """One input: a command line, what stands on standard input, the exit codes that are right for it."""

    arguments: list[str]
    codes: tuple[int, ...] = (0, 2)
    stdin: bytes = b"1 2 3\n"
    kind: str = ""
    shown: str = ""
    """What is printed beside the arguments when something is wrong, such as the bytes of a file."""
    says: str = ""
    """What the output must hold."""
    read: Callable[[], object] | None = None
    """A reader called by itself, without a command around it: much quicker."""

    @property
    def wants_json(self) -> bool:
        return "--json" in self.arguments and not {"-h", "--help", "--version"} & set(self.arguments)


@dataclass
class Ended:
    """What one run came to; `fault` is "" where nothing is wrong with it."""

    fault: str
    code: int
    seconds: float
    out: str = ""
    err: str = ""


@dataclass
class Share:
    """What a share of the inputs came to."""

    tally: Counter[tuple[str, int]] = field(default_factory=Counter)
    faults: list[tuple[int, str, str]] = field(default_factory=list)
    slowest: tuple[float, int] = (0.0, 0)

    def __iadd__(self, other: Share) -> Share:
        self.tally += other.tally
        self.faults += other.faults
        self.slowest = max(self.slowest, other.slowest)
        return self


def judged(case: Case, seconds: float) -> Ended:
    """Run one input and judge it."""
    from lnorm_cli.cli.edge import run

    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8", newline="") for _ in range(2))
    kept = sys.stdin
    sys.stdin = io.TextIOWrapper(io.BytesIO(case.stdin))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    began = time.process_time()
    code, fault = -1, ""
    signal.setitimer(signal.ITIMER_PROF, seconds)
    signal.setitimer(signal.ITIMER_REAL, 30 * seconds)  # for what waits and does not work
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = run(case.arguments) if case.read is None else read(case.read)
    except TooSlow:
        fault = f"more than {seconds} s"
    except BaseException as error:
        fault = f"raised {type(error).__name__}: {error}"
    finally:
        for timer in (signal.ITIMER_PROF, signal.ITIMER_REAL):
            signal.setitimer(timer, 0)
        sys.stdin = kept
    took = time.process_time() - began
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - peak
    for stream in (out, err):
        stream.flush()
    printed, said = (stream.buffer.getvalue().decode("utf-8", "replace") for stream in (out, err))
    if not fault and grown > GROWTH:
        fault = f"{grown >> 10} MiB of memory"
    return Ended(fault or told(case, code, printed, said), code, took, printed, said)


def read(reader: Callable[[], object]) -> int:
    """Call a reader as a command does; what it says is printed as a command would, in short."""
    from lnorm_cli.errors import InputError

    try:
        reader()
    except InputError as error:
        print(f"error: {error.what}" if error.what.strip() else "", file=sys.stderr)
        return 2
    print("read")
    return 0


def told(case: Case, code: int, out: str, err: str) -> str:
    """What is wrong with the exit code and the two streams."""
    debug = "--debug" in case.arguments
    if found := re.search(r"internal error.*", err):
        return found.group()
    if "Traceback" in out + err and not debug:
        return "traceback"
    if code not in case.codes:
        return f"exit {code}: {err[:200]}"
    if warned := re.search(r"\w*Warning: .*", err):
        return warned.group()
    if "not enough memory" in err:
        return "not enough memory"
    if case.says not in out:
        return f"{case.says!r} is not in the output"
    if "np.float" in out or "Fraction(" in out:
        return "a type name in the output"
    if code != 2:
        return "nothing printed" if not out else wrong_json(out, case.wants_json)
    if case.arguments[:1] == ["diagnose"] and out and "error" not in err:
        return wrong_json(out, case.wants_json)  # what was given is no answer: a verdict, not a refusal
    if debug:
        return ""
    return "refused, but with output" if out else wrong_refusal(err, case.wants_json)


def wrong_json(out: str, wanted: bool) -> str:
    """What is wrong with output that is, or should be, one JSON document without nan and infinity."""
    if not wanted and not out.startswith("{"):
        return ""

    def refuse(name: str) -> None:
        raise ValueError(f"{name} is no JSON")

    try:
        document = json.loads(out, parse_constant=refuse)
    except ValueError as error:
        return f"output that is not JSON: {error}" if wanted or "no JSON" in str(error) else ""
    return "" if isinstance(document, (dict, list)) else "JSON that is no document"


def wrong_refusal(err: str, as_json: bool) -> str:
    """What is wrong with the message of a refusal: one that says something, as an object where JSON is wanted."""
    if not as_json and re.search(r"^error: .", err, re.MULTILINE):
        return ""
    try:
        return "" if json.loads(err.splitlines()[-1])["error"] else "refused with an empty error"
    except (ValueError, LookupError, TypeError):
        return "refused, and not as JSON" if as_json else "refused without a word"


def shown_bytes(data: bytes, most: int = 3000) -> str:
    return repr(data) if len(data) <= most else f"{len(data)} bytes, beginning {data[:100]!r}"


def alarm(signum: int, frame: FrameType | None) -> None:
    raise TooSlow


_SCRIPT: dict[str, Any] = {}
"""How inputs are drawn, for the workers: set before they are forked."""


def start_worker(folder: str) -> None:
    """A worker's own directory, limits and signals."""
    faulthandler.enable()
    own = Path(folder) / str(os.getpid())
    own.mkdir()
    os.chdir(own)
    os.environ["LNORM_DATA_DIR"] = str(own / "data")
    os.environ.setdefault("COLUMNS", "80")
    resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_SPACE, ADDRESS_SPACE))
    for name in (signal.SIGALRM, signal.SIGPROF):
        signal.signal(name, alarm)
    for category in (UserWarning, RuntimeWarning, SyntaxWarning):  # each time, not once a place
        warnings.simplefilter("always", category)
    _SCRIPT["prepare"](own)
    gc.set_threshold(50_000)  # as the command itself does
    gc.freeze()


def work(seed: int, start: int, count: int, seconds: float) -> Share:
    """Run one share of the inputs."""
    share = Share()
    for number in range(start, start + count):
        case = _SCRIPT["draw"](random.Random(f"{seed}/{number}"))
        ended = judged(case, seconds)
        share.tally[case.kind, ended.code] += 1
        share.slowest = max(share.slowest, (ended.seconds, number))
        if ended.fault:
            share.faults.append((number, ended.fault, f"{case.arguments!r}\n  {case.shown}".rstrip()))
    return share


def build_once() -> None:
    """Build each command line, and read the project's own items, once: they would be half of the time.

    What the commands need is loaded here too, before the workers are forked.
    """
    import lnorm_cli.cli.app
    import lnorm_cli.compute
    import lnorm_cli.faults
    import lnorm_cli.quiz.bank
    import lnorm_cli.quiz.loop
    import lnorm_cli.reading

    app: Any = lnorm_cli.cli.app
    bank: Any = lnorm_cli.quiz.bank
    build, names = app.build, {name for group in app.GROUPS.values() for name in group}
    built = functools.cache(lambda name: build((name,) if name else ()))
    app.build = lambda given=(): built(given[0] if given and given[0] in names else "")
    bank.own_items = functools.cache(bank.own_items)


def main(
    about: str,
    noun: str,
    count: int,
    draw: Callable[[random.Random], Case],
    prepare: Callable[[Path], object] = lambda folder: None,
    seconds: float = 2.0,
) -> int:
    """Run a script: `draw` makes an input from its generator, `prepare` fills a worker's directory."""
    parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, default in {"count": count, "start": 0, "seed": 1, "seconds": seconds, "workers": 1}.items():
        parser.add_argument(f"--{name}", type=type(default), default=default)
    asked = parser.parse_args()
    _SCRIPT.update(draw=draw, prepare=prepare)
    build_once()
    whole, began, end = Share(), time.perf_counter(), asked.start + asked.count
    with tempfile.TemporaryDirectory() as folder:
        workers = ProcessPoolExecutor(
            asked.workers, multiprocessing.get_context("fork"), initializer=start_worker, initargs=(folder,)
        )
        with workers as pool:
            shares = {
                pool.submit(work, asked.seed, first, min(SHARE, end - first), asked.seconds): first
                for first in range(asked.start, end, SHARE)
            }
            for done, future in enumerate(as_completed(shares), start=1):
                try:
                    found = future.result()
                except BrokenProcessPool:
                    whole.faults.append((shares[future], "the worker died", f"one of {SHARE} inputs from here on"))
                    print(f"FAULT the worker died in the share that starts at {shares[future]}, or beside it")
                    break
                whole += found
                for number, fault, case in found.faults:
                    print(f"FAULT {fault}\n  number {number}: {case}", flush=True)
                if done % 100 == 0:
                    print(f"{whole.tally.total()} {noun} in {time.perf_counter() - began:.0f} s", flush=True)
    report(whole, noun, time.perf_counter() - began)
    return 1 if whole.faults else 0


def report(whole: Share, noun: str, took: float) -> None:
    """Print what all inputs came to."""
    longest, number = whole.slowest
    print(f"{whole.tally.total()} {noun} in {took:.0f} s, slowest {longest:.2f} s of processor time (number {number})")
    codes: Counter[int] = Counter()
    kinds: dict[str, Counter[int]] = {}
    for (kind, code), times in sorted(whole.tally.items()):
        codes[code] += times
        kinds.setdefault(kind, Counter())[code] += times
    for kind, counted in [*(kinds.items() if len(kinds) > 1 else ()), ("in all", codes)]:
        print(f"{kind}: " + ", ".join(f"exit {code} {times} times" for code, times in sorted(counted.items())))
    print(f"{len(whole.faults)} faults")
