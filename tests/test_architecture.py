"""Rules of the code: imports run one way, heavy packages load late, nothing evaluates text, files stay short."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import environment

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "lnorm_cli"
MODULES = sorted(PACKAGE.rglob("*.py"))
LAYERS = [
    ("errors", "exact"),
    ("reading",),
    ("arithmetic", "layout"),
    ("norm",),
    ("backward", "compare"),
    ("request", "remarks", "compute"),
    ("faults", "render", "lab"),
    ("explain", "quiz", "check", "progress"),
    ("cli", "__main__"),
]
"""Each may import its own row and those above. A parser of lists may ask `arithmetic` for arrays, inside a function."""
LEVEL = {name: level for level, names in enumerate(LAYERS) for name in names}
LATE = ("numpy", "sympy", "ml_dtypes", "fsrs", "matplotlib", "torch")


def room(path: Path) -> str:
    """The part of the package that a file belongs to: norm/run.py is in norm."""
    return path.relative_to(PACKAGE).with_suffix("").parts[0]


def imported(path: Path, *, late: bool) -> Iterator[tuple[str, int]]:
    """(module, line) of each import at module level, with `late` also of those inside functions."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    pending: list[ast.AST] = list(tree.body)
    while pending:
        node = pending.pop()
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            pending += node.orelse
            continue
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}:{node.lineno}: relative import"
            yield str(node.module), node.lineno
            if str(node.module).startswith("lnorm_cli"):
                yield from ((f"{node.module}.{alias.name}", node.lineno) for alias in node.names)
        if late or not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            pending += list(ast.iter_child_nodes(node))


@pytest.mark.parametrize("path", MODULES, ids=[str(p.relative_to(PACKAGE)) for p in MODULES])
def test_imports_run_one_way(path: Path) -> None:
    here = room(path)
    if here == "__init__":
        return
    assert here in LEVEL, f"{here} has no layer: give it one"
    for module, line in imported(path, late=False):
        name, _, rest = module.partition(".")
        if name == "lnorm_cli" and rest:
            other = rest.split(".")[0]
            assert LEVEL.get(other, -1) <= LEVEL[here], f"{path}:{line}: {here} imports {other}"


def test_no_two_files_need_each_other() -> None:
    """Imports inside functions count: a circle hidden in one is a circle. A package's own name is its door, no file."""
    needs: dict[str, set[str]] = {}
    for path in MODULES:
        name = ".".join(path.relative_to(ROOT).with_suffix("").parts)
        doors = {name.rpartition(".")[0], "lnorm_cli"}
        needs[name.removesuffix(".__init__")] = {module for module, _ in imported(path, late=True)} - doors
    while free := [name for name, needed in needs.items() if not needed & needs.keys()]:
        for name in free:
            del needs[name]
    assert not needs


@pytest.mark.parametrize("path", MODULES, ids=[str(p.relative_to(PACKAGE)) for p in MODULES])
def test_who_may_import_what(path: Path) -> None:
    here = room(path)
    for module, line in imported(path, late=False):
        assert module.split(".")[0] not in LATE, f"{path}:{line}: {module} must be imported inside the function"
    for module, line in imported(path, late=True):
        name = module.split(".")[0]
        assert name not in ("typer", "click") or here == "cli", f"{path}:{line}: only cli imports typer"
        if module != "rich.cells":  # which only measures
            assert name != "rich" or here in ("cli", "render", "quiz"), f"{path}:{line}: rich"
        if name in ("pickle", "marshal", "shelve", "socket", "urllib", "http", "requests", "ssl", "asyncio"):
            pytest.fail(f"{path}:{line}: {module}")


EVALUATES = {
    "eval",
    "exec",
    "compile",
    "__import__",
    "sympify",
    "parse_expr",
    "nsimplify",
    "simplify",
    "pretty",
    "lambdify",
}
ALLOWED = {("check", "exec"), ("check", "compile"), ("quiz", "sympify"), ("quiz", "simplify")}
"""Only `check` runs user code, in a process of its own; the quiz compares formulas, never text."""


@pytest.mark.parametrize("path", MODULES, ids=[str(p.relative_to(PACKAGE)) for p in MODULES])
def test_text_is_never_evaluated(path: Path) -> None:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call):
            function = node.func
            name = function.id if isinstance(function, ast.Name) else getattr(function, "attr", "")
            module = ast.unparse(function.value) if isinstance(function, ast.Attribute) else ""
            if name in EVALUATES and module != "re" and (room(path), name) not in ALLOWED:
                pytest.fail(f"{path}:{node.lineno}: calls {name}")
            if name in ("load", "open_memmap") and module == "np":
                refused = [k for k in node.keywords if k.arg == "allow_pickle" and ast.unparse(k.value) == "False"]
                assert refused, f"{path}:{node.lineno}: np.load without allow_pickle=False"


def test_files_read_in_one_sitting() -> None:
    for path in MODULES:
        lines = path.read_text(encoding="utf-8").count("\n")
        assert lines <= 320, f"{path} has {lines} lines"


WITHOUT = [
    (["--help"], ["numpy", "sympy", "rich"]), (["--version"], ["numpy", "sympy", "rich"]), ([], ["numpy", "sympy"]),
    (["explain"], ["numpy", "sympy"]), (["compute", "--help"], ["numpy", "sympy", "rich"]),
    (["compute", "2", "4", "4", "6"], ["ml_dtypes", "fsrs", "sqlite3", "matplotlib", "pydantic"]),
    (["compute", "2", "4", "4", "6", "--no-exact", "--json"], ["ml_dtypes", "rich"]),
    (["quiz", "--help"], ["numpy", "sympy", "fsrs"]), (["diagnose", "--help"], ["numpy", "sympy"]),
    (["check", "--help"], ["numpy", "sympy"]),
]  # fmt: skip


@pytest.mark.parametrize(("arguments", "absent"), WITHOUT, ids=[" ".join(a) or "lnorm" for a, _ in WITHOUT])
def test_what_a_command_does_not_load(arguments: list[str], absent: list[str]) -> None:
    script = (
        "import sys\nfrom lnorm_cli.cli.edge import run\n"
        f"code = run({arguments!r})\nsys.stderr.write(' '.join(sys.modules))\nsys.exit(code)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, env=environment(), timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr[-500:]
    assert done.stdout
    assert not set(absent) & set(done.stderr.split())


def tracked() -> list[Path]:
    try:
        listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("not a clone")
    return [ROOT / name for name in listed.decode().split("\0") if name and (ROOT / name).is_file()]


FORBIDDEN = re.compile(
    "|".join(
        ("pypi" + r"\.org", "files.python" + "hosted", r"(?<![\w.-])/" + r"(?:work|root|home/\w+)/", "/tmp/" + r"\w")
    )
)


def test_no_registry_and_no_path_of_a_machine() -> None:
    for path in tracked():
        if path.suffix in (".png", ".svg", ".npy", ".npz", ".pdf"):
            continue
        found = FORBIDDEN.search(path.read_text(encoding="utf-8"))
        assert not found, f"{path}: {found[0]!r}"


def test_what_is_tracked_belongs_here() -> None:
    names = {path.relative_to(ROOT).parts[0] for path in tracked()}
    assert names <= {
        ".ci", ".gitignore", "CHANGELOG.md", "LICENSE", "README.md", "docs", "lnorm_cli", "pyproject.toml", "tests",
    }  # fmt: skip
