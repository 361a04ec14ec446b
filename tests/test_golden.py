"""How `lnorm compute` looks, kept whole: a change of rendering shows in review as a change of these files.

After a change that is meant: `python -m pytest tests/test_golden.py --snapshot-update`, then read the difference.
"""

from __future__ import annotations

import shlex
import sys

import pytest
from conftest import invoke
from syrupy.assertion import SnapshotAssertion

INPUTS = {
    "first": "2 4 4 6",
    "scaled": "3 5 2 6 --gamma 1/2,1,3/2,2 --beta 0.25 --eps 0",
    "overflow": "600 -600 0 0 --dtype float16",
    "backward": "2 4 1 3 --backward 1 0 0 0",
    "batch": '"[[1, 2, 4], [3, 5, 9], [0, 1, 2]]" --norm batch',
    "long": " ".join(str(k * k % 23) for k in range(20)) + " --norm rms --digits 4",
}
VIEWS = [
    *[(name, "80 columns", 80, "") for name in INPUTS],
    ("first", "40 columns", 40, ""), ("first", "ascii", 80, "--ascii"),
    ("batch", "markdown", 80, "-f markdown"), ("scaled", "latex", 80, "-f latex"), ("scaled", "csv", 80, "-f csv"),
    ("scaled", "json", 80, "--json"),
]  # fmt: skip


@pytest.mark.skipif(sys.platform == "win32", reason="line ends differ")
@pytest.mark.parametrize(("name", "view", "width", "options"), VIEWS, ids=[f"{v[0]}-{v[1]}" for v in VIEWS])
def test_golden(name: str, view: str, width: int, options: str, snapshot: SnapshotAssertion) -> None:
    done = invoke("compute", *shlex.split(f"{INPUTS[name]} {options}"), env={"COLUMNS": str(width)})
    assert (done.code, done.err) == (0, "")
    assert done.out == snapshot
