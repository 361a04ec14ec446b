"""The process that runs the user's code: `python -m lnorm_cli.check.worker`.

One JSON object a line comes in, one goes out, over the standard streams as they were at the start; what the
user's code prints goes nowhere, and what it does to itself stays here.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from json import dumps, loads
from pathlib import Path
from typing import IO, Any

from lnorm_cli.check import arrays
from lnorm_cli.check.signature import CallError
from lnorm_cli.check.target import Target, find, load_module

PROBES = (([1.0, 2.0, 4.0], (3,)), ([1.0, 2.0, 4.0, 3.0, 5.0, 9.0], (2, 3)))

ROOM = 8
"""How much more address space frameworks are given that map far more than they use."""

ROOMY = ("torch", "jax", "tensorflow", "numba", "cupy", "mlx")


class Session:
    """The loaded target and how it likes to be given its numbers."""

    def __init__(self, request: Mapping[str, Any]) -> None:
        self.file = Path(request["path"])
        module = load_module(self.file)
        value = find(module, request["name"], request["file"])
        self.target = Target(value, request["name"])
        self.candidates = _frameworks(self.target, module)
        self.framework = self.candidates[0]
        arrays.warm_up(self.framework)
        self.ranks: tuple[int, ...] = (1, 2, 3)

    def describe(self) -> dict[str, Any]:
        """Which of gamma, beta and eps can be given, and the likeliest framework."""
        return {"taken": sorted(self.target.taken()), "framework": self.framework, "ranks": self.ranks}

    def probe(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """Settle the framework, and for lists the ranks, by two small calls each.

        Arrays that give a result of the right shape are preferred to arrays that merely raise nothing.
        """
        best = 0
        for framework in self.candidates:
            scores = [self._score(framework, flat, shape) for flat, shape in PROBES]
            if max(scores) > best:
                best, self.framework = max(scores), framework
                self.ranks = (1, 2, 3)
                if framework == arrays.LISTS and min(scores) < best:
                    self.ranks = (1 + scores.index(best),)
        return {"framework": self.framework, "ranks": self.ranks, "narrow": _narrow(self.framework)}

    def settle(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """Take over what an earlier worker found out."""
        self.framework, self.ranks = request["framework"], tuple(request["ranks"])
        return {}

    def _score(self, framework: str, flat: list[float], shape: tuple[int, ...]) -> int:
        """0 raised, 1 returned something, 2 in the shape of x."""
        request = {
            "x": flat,
            "shape": shape,
            "dtype": "float64",
            "gamma": [1.5, 0.5, 2.0],
            "beta": [0.5, 1.0, -1.0],
        }
        try:
            given = _build(framework, request)
            function, _ = self.target.prepare({**given, "eps": 1e-5}, shape[-1])
            result = arrays.describe(function(given["x"]))
        except BaseException:
            return 0
        return 2 if result.get("shape") == list(shape) else 1

    def call(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """One call: the result described, and the arguments it changed with what became of them."""
        shape = request["shape"]
        given = _build(self.framework, request)
        before = {name: arrays.values_of(array) for name, array in given.items()}
        function, _ = self.target.prepare({**given, "eps": request["eps"]}, shape[-1])
        result = arrays.describe(self._by_rank(function, given["x"], shape))
        after = {name: arrays.values_of(array) for name, array in given.items()}
        return {
            "result": result,
            "changed": {name: after[name] for name in after if after[name] != before[name]},
        }

    def _by_rank(self, function: Callable[[Any], Any], x: Any, shape: Sequence[int]) -> Any:
        """Call; a function of lists that takes only rows or only matrices is called as often as needed."""
        rank = len(shape)
        if self.framework != arrays.LISTS or rank in self.ranks or not {1, 2} & set(self.ranks):
            return function(x)
        if 1 in self.ranks:
            return [self._by_rank(function, part, shape[1:]) for part in x]
        if rank == 1:
            result = function([x])
            return result[0] if isinstance(result, list | tuple) and len(result) == 1 else result
        return [function(part) for part in x]

    def gradient(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """The gradients of a weighted sum of the result, where the framework differentiates."""
        from lnorm_cli.check.gradients import gradients

        return gradients(self.target, self.framework, request)


def _narrow(framework: str) -> bool:
    """Whether the framework silently turns float64 into float32."""
    if framework != arrays.JAX:
        return False
    return not importlib.import_module("jax").config.jax_enable_x64


def _build(framework: str, request: Mapping[str, Any]) -> dict[str, Any]:
    """x, gamma and beta of a request as arrays of the framework."""
    shape, dtype = request["shape"], request["dtype"]
    given = {"x": arrays.build(framework, request["x"], shape, dtype)}
    return given | {name: arrays.build(framework, request[name], shape[-1:], dtype) for name in ("gamma", "beta")}


_ANNOTATIONS = (
    (arrays.TORCH, "tensor"),
    (arrays.JAX, "jax"),
    (arrays.NUMPY, "ndarray"),
    (arrays.LISTS, "list"),
)


def _frameworks(target: Target, module: Any) -> list[str]:
    """Candidates, the likeliest first: how x is annotated, what the file uses, lists, numpy."""
    annotation = target.caller.annotation.lower()
    found = [framework for framework, word in _ANNOTATIONS if word in annotation]
    homes = {
        str(getattr(value, "__module__", None) or getattr(value, "__name__", "")) for value in vars(module).values()
    }
    roots = {home.partition(".")[0] for home in homes} | _names_in(target.value)
    found += [framework for framework in (arrays.TORCH, arrays.JAX, arrays.NUMPY) if framework in roots]
    return list(dict.fromkeys([*found, arrays.LISTS, arrays.NUMPY]))


def _names_in(value: Any) -> set[str]:
    """Names that the functions themselves use: an import may stand inside."""
    functions = [value, *(vars(value).values() if isinstance(value, type) else ())]
    codes = [function.__code__ for function in functions if hasattr(function, "__code__")]
    return {name.partition(".")[0] for code in codes for name in code.co_names}


def failure(error: BaseException, file: Path) -> dict[str, Any]:
    """An exception in plain data, with the line of the user's file that it passed last."""
    frames = [f for f in traceback.extract_tb(error.__traceback__) if f.filename == str(file)]
    try:
        text = " ".join(str(error).split())
    except Exception:  # an exception may fail to say what it is
        text = ""
    reply: dict[str, Any] = {"raised": type(error).__name__, "text": text[:300]}
    if frames:
        reply |= {"line": frames[-1].lineno, "source": frames[-1].line or ""}
    return reply


def limit(memory: int | None, seconds: float | None) -> None:
    """Bound the address space (beyond what is mapped now) and the processor time (from now on)."""
    try:
        import resource
    except ImportError:  # Windows
        return
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if memory is not None:
        with contextlib.suppress(ValueError, OSError):
            mapped = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
            resource.setrlimit(resource.RLIMIT_AS, (mapped + memory, resource.getrlimit(resource.RLIMIT_AS)[1]))
    if seconds is not None:
        used = resource.getrusage(resource.RUSAGE_SELF)
        allowed = int(used.ru_utime + used.ru_stime + (seconds + 5) * (os.cpu_count() or 1))
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_CPU, (allowed, resource.getrlimit(resource.RLIMIT_CPU)[1]))


def answer(session: Session | None, request: Mapping[str, Any]) -> tuple[Session | None, dict[str, Any]]:
    """Do one request; whatever the user's code raises becomes data."""
    limit(None, request.get("seconds"))
    try:
        if request["do"] == "load":
            session = Session(request)
            reply = session.describe()
            limit(request["memory"] * (ROOM if any(name in sys.modules for name in ROOMY) else 1), None)
        else:
            assert session is not None
            reply = getattr(session, request["do"])(request)
    except CallError as error:
        return session, {"cannot": error.what, "hint": error.hint}
    except BaseException as error:
        return session, failure(error, session.file if session else Path(request["path"]))
    return session, reply


def _private_streams() -> tuple[IO[str], IO[str]]:
    """The pipe to lnorm on descriptors of its own; 0, 1 and 2 lead nowhere from here on."""
    incoming = os.fdopen(os.dup(0), "r", encoding="utf-8")
    outgoing = os.fdopen(os.dup(1), "w", encoding="utf-8")
    nowhere = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(nowhere, descriptor)
    return incoming, outgoing


def _leave_with_parent() -> None:
    """End this process and what it started once lnorm is gone, however busy the user's code is."""
    parent = os.getppid()
    while os.getppid() == parent:
        time.sleep(1)
    os.killpg(os.getpgrp(), signal.SIGKILL)


def main() -> None:
    """Answer requests until the pipe closes."""
    incoming, outgoing = _private_streams()
    if hasattr(os, "killpg"):
        threading.Thread(target=_leave_with_parent, daemon=True).start()
    sys.dont_write_bytecode = True
    session: Session | None = None
    for line in incoming:
        session, reply = answer(session, loads(line))
        try:
            text = dumps(reply)
        except (TypeError, ValueError, MemoryError):
            text = dumps({"result": {"what": "something that cannot be read"}, "changed": {}})
        outgoing.write(text + "\n")
        outgoing.flush()


if __name__ == "__main__":
    main()
