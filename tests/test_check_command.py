"""`lnorm check` as a command: exit codes, streams, JSON, --new, --watch, Ctrl-C."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import environment

FUNCTIONS = Path(__file__).parent / "functions"

RIGHT = """
import numpy as np

def layer_norm(x, gamma, beta, eps):
    {0}
    return gamma * (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + eps) + beta
"""


def written(folder: Path, text: str) -> Path:
    path = folder / "mine.py"
    path.write_text(text, encoding="utf-8")
    return path


def lnorm(*arguments: str, cwd: Path | None = None, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "lnorm_cli", "check", *arguments],
        capture_output=True,
        encoding="utf-8",
        cwd=cwd,
        env={**os.environ, "COLUMNS": "80", **environment},
        timeout=60,
        check=False,
    )


def test_the_command_says_that_it_runs_the_file_and_gives_the_verdict_first() -> None:
    done = lnorm("right/numpy_two_pass.py:layer_norm", cwd=FUNCTIONS)
    assert done.returncode == 0
    assert done.stderr.startswith("running right/numpy_two_pass.py in a process of its own")
    assert done.stdout.startswith("conforms: right/numpy_two_pass.py:layer_norm\n")
    assert "float16-overflow" in done.stdout


def test_a_failure_names_the_fault_and_shows_expected_beside_got() -> None:
    done = lnorm("wrong/unbiased_variance_ddof.py:layer_norm", cwd=FUNCTIONS)
    assert done.returncode == 1
    lines = done.stdout.splitlines()
    assert lines[0] == "fails: wrong/unbiased_variance_ddof.py:layer_norm"
    assert "unbiased-variance" in lines
    assert "mend: " in done.stdout
    assert any(line.split() == ["x", "gamma", "beta", "expected", "got"] for line in lines)


def test_prints_of_the_users_code_do_not_reach_json() -> None:
    done = lnorm("right/prints_a_lot.py:layer_norm", "--json", cwd=FUNCTIONS)
    document = json.loads(done.stdout)
    assert (document["target"], document["verdict"]) == ("right/prints_a_lot.py:layer_norm", "conforms")
    assert done.stderr == ""
    assert done.stdout.isascii()


def test_json_of_a_failure() -> None:
    done = lnorm("wrong/epsilon_outside_root.py:layer_norm", "--json", "--case", "small-variance", cwd=FUNCTIONS)
    assert done.returncode == 1
    document = json.loads(done.stdout)
    assert document["faults"] == ["epsilon-outside-root"]
    [case] = document["cases"]
    assert (case["id"], case["outcome"], case["faults"]) == (
        "small-variance",
        "fail",
        ["epsilon-outside-root"],
    )
    assert len(case["expected"]) == len(case["got"]) == len(case["input"]["x"])


def test_exit_code_two_and_no_traceback_for_what_cannot_be_loaded(tmp_path: Path) -> None:
    (tmp_path / "broken.py").write_text("def layer_norm(x:\n    return x\n")
    (tmp_path / "raises.py").write_text("def helper():\n    raise ValueError('[/] no')\n\nhelper()\n")
    for target, said in {
        "broken.py:layer_norm": "broken.py, line 1: '(' was never closed\n  def layer_norm(x:\n",
        "raises.py:f": "raises.py, line 2: ValueError: [/] no\n  raise ValueError('[/] no')",
        "nowhere.py:f": "there is no file nowhere.py",
        "raises.py": "which function or class is it?\nhint: one of: raises.py:helper",
    }.items():
        done = lnorm(target, cwd=tmp_path)
        assert done.returncode == 2
        assert said in done.stderr
        assert "Traceback" not in done.stderr
        assert done.stdout == ""
        error = json.loads(lnorm(target, "--json", cwd=tmp_path).stderr)
        assert set(error) == {"error", "hint", "text", "position"}


def test_the_report_fits_forty_columns_in_ascii() -> None:
    done = lnorm("wrong/rms_for_layer.py:layer_norm", "--ascii", cwd=FUNCTIONS, COLUMNS="40")
    assert done.stdout.isascii()
    assert max(len(line) for line in done.stdout.splitlines()[1:]) <= 40


def test_control_characters_and_markup_of_the_user_stay_text(tmp_path: Path) -> None:
    path = tmp_path / "[bold]x.py"
    path.write_text("def layer_norm(x, gamma, beta, eps):\n    raise ValueError('[red]\\x1b[31m boom [/]')\n")
    done = lnorm("[bold]x.py:layer_norm", cwd=tmp_path)
    assert done.returncode == 1
    assert done.stdout.startswith("fails: [bold]x.py:layer_norm\n")
    assert r"[red]\x1b[31m boom [/]" in " ".join(done.stdout.split())
    assert "\x1b" not in done.stdout


def test_new_writes_a_starter_once(tmp_path: Path) -> None:
    for norm, name in (("layer", "layer_norm"), ("rms", "rms_norm")):
        file = f"{norm}.py"
        done = lnorm("--new", file, "--norm", norm, cwd=tmp_path)
        assert done.returncode == 0
        assert f"lnorm check {file}:{name}" in done.stdout
        unfilled = lnorm(f"{file}:{name}", "--norm", norm, cwd=tmp_path)
        assert unfilled.returncode == 1
        assert "NotImplementedError: fill me in" in " ".join(unfilled.stdout.split())
        again = lnorm("--new", file, "--norm", norm, cwd=tmp_path)
        assert (again.returncode, "exists already" in again.stderr) == (2, True)


def test_half_precision_decides_when_it_is_asked_for() -> None:
    target = "right/numpy_two_pass.py:layer_norm"
    assert lnorm(target, "--dtype", "float16", "--case", "float16-overflow", cwd=FUNCTIONS).returncode == 1
    target = "right/float32_statistics.py:layer_norm"
    assert lnorm(target, "--dtype", "float16", cwd=FUNCTIONS).returncode == 0


def test_timeout_is_the_users(tmp_path: Path) -> None:
    path = written(tmp_path, RIGHT.format("import time; time.sleep(0.4)"))
    assert lnorm(f"{path}:layer_norm", "--case", "one-row", "--timeout", "0.2").returncode == 1
    assert lnorm(f"{path}:layer_norm", "--case", "one-row", "--timeout", "5").returncode == 0


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_watch_runs_again_on_save_and_leaves_with_130(tmp_path: Path) -> None:
    path = written(tmp_path, RIGHT.format("return None"))
    with subprocess.Popen(
        [sys.executable, "-m", "lnorm_cli", "check", f"{path}:layer_norm", "--watch", "--case", "one-row"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        env=environment(),
    ) as watching:
        assert watching.stdout is not None
        limit = threading.Timer(60, watching.kill)  # reading would wait for ever where nothing comes
        limit.start()
        try:
            assert watching.stdout.readline().startswith("fails")
            written(tmp_path, RIGHT.format("pass"))
            assert any(line.startswith("conforms") for line in iter(watching.stdout.readline, ""))
            watching.send_signal(signal.SIGINT)
            assert watching.wait(timeout=10) == 130
            assert "Traceback" not in (watching.communicate()[1] or "")
        finally:
            limit.cancel()
            watching.kill()


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
@pytest.mark.parametrize(("sent", "code"), [(signal.SIGINT, 130), (signal.SIGKILL, -signal.SIGKILL)])
@pytest.mark.parametrize("doing", ["pass", "time.sleep(60)"])
def test_no_process_is_left_behind(tmp_path: Path, sent: signal.Signals, code: int, doing: str) -> None:
    pid = tmp_path / "pid"
    path = written(
        tmp_path,
        f"""
import os, pathlib, time
def layer_norm(x, gamma, beta, eps):
    pathlib.Path({str(pid)!r}).write_text(str(os.getpid()))
    while True:
        {doing}
""",
    )
    with subprocess.Popen(
        [sys.executable, "-m", "lnorm_cli", "check", f"{path}:layer_norm", "--timeout", "60"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    ) as running:
        try:
            assert wait_for(lambda: pid.exists() and bool(pid.read_text()))
            running.send_signal(sent)
            assert running.wait(timeout=30) == code
            assert "Traceback" not in running.communicate()[1]
            assert wait_for(lambda: not _alive(int(pid.read_text())))
        finally:
            running.kill()  # or what failed here would go on beside the tests that follow


def wait_for(condition: Callable[[], bool], seconds: float = 60.0) -> bool:
    """Whether it comes true before the limit, which is for a hang and wide enough for a busy machine."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True


def _alive(pid: int) -> bool:
    """Whether the process runs; one that is dead and only waits to be reaped does not."""
    try:
        os.kill(pid, 0)
        return not Path("/proc").is_dir() or Path(f"/proc/{pid}/stat").read_text().split()[2] != "Z"
    except OSError:
        return False
