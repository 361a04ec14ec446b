"""Sound files of every kind that lnorm reads: what the damage starts from."""

from __future__ import annotations

import io
import sqlite3
from datetime import UTC, datetime
from pathlib import Path

JSON = [
    b"[2, 4, 4, 6]",
    b'[1.5, -2e-3, "1/3", "sqrt(2)"]',
    b"[[1, 2, 4], [3, 5, 9]]",
    b"[[[1, 2], [3, 4]], [[5, 6], [7, 9]]]",
    b'{"x": [1, 2, 4], "gamma": [1, "1/2", 2], "beta": 0.5, "eps": 1e-5}',
    b'{"eps": "1/3", "x": [[1, 2], [4, 8]], "beta": [0, -1]}',
    b"[9007199254740993, 0.1, 1e-30, 1e30]",
]
TABLES = [
    b"a,b,c\n1,2,4\n3,5,9\n",
    b"1;2;4\n3;5;9\n",
    b"1\t2\t4\r\n3\t5\t9\r\n",
    b"# a comment\n2 4 4 6\n",
    b"\xef\xbb\xbf1,2,4\n",
    '"1","2/3","sqrt(2)"\n"−1","0.5","1e-3"\n'.encode(),
    "1 2 4\n".encode("utf-16"),
    b"2\n4\n4\n6\n",
]
PARAMETERS = [b"1 2 4\n", b"[1, 2, 4]", b"1,1/2,2\n", b'{"x": [0, 1, -1]}', b"2\n"]
GIVEN = [b"-1.2247 0 0 1.2247\n", b"[-1.414, 0, 0, 1.414]", b"-1.414,0,0,1.414\n", b"0 0 nan 1\n", b"[1, 2, 3, 4]"]
PACK = [
    b"""[[item]]
id = "course-eps-place"
kind = "choice"
topic = "mine"
prompt = "Why does eps stand inside the root? [a] [red]"
hints = ["With which number does eps compete there?", "Think of the units of x."]
explain = "epsilon"
choices = [
  {text = "It is added to the variance", right = true, feedback = "The same unit."},
  {text = "So that it can be learned", feedback = "Eps is a constant."},
]
""",
    b"""[[item]]
id = "course-steps"
kind = "order"
topic = "mine"
prompt = "Put the steps of LayerNorm in order."
lines = ["take the mean", "subtract it", "average the squares", "divide by the root"]
why = "The variance needs the deviations, and these need the mean."
""",
    b"""[[item]]
id = "course-why"
kind = "recall"
topic = "mine"
prompt = "Why does a language model prefer LayerNorm to BatchNorm?"
model = "It uses one token's own features, so any batch and any length give the same."
points = ["no other token takes part", "training and generation agree"]
""",
    b"""[[item]]
id = "course-formula"
kind = "formula"
topic = "mine"
prompt = "z is a normalized entry. Write the output with z, gamma and beta."
names = ["z"]
answer = "gamma*z + beta"
wrong = [{answer = "gamma*(z + beta)", feedback = "Scale first, shift second."}]
""",
    b"""[[item]]
id = "course-mean"
kind = "number"
topic = "mine"
prompt = "A row holds 3 5 2 6. What is its mean?"
precision = "exact"
answer = "4"
wrong = [{answer = "16", feedback = "That is the sum; divide it by 4."}]
""",
    b"""[[item]]
id = "course-row"
kind = "vector"
topic = "mine"
prompt = "Normalize 3 5 2 6 (eps = 0), then scale by 1/2, 1, 3/2 and 2."
precision = "3 decimals"
compute = {x = "3 5 2 6", gamma = "1/2 1 3/2 2", step = "output"}
""",
    b"""[[item]]
id = "course-entry"
kind = "number"
topic = "mine"
prompt = "Which is the second normalized entry of 1 2 4 with eps = 1?"
precision = "within 0.01"
compute = {x = "1 2 4", eps = "1", step = "normalized", index = 1}
""",
    b"""[[item]]
id = "course-spot"
kind = "spot"
topic = "mine"
prompt = "Something went wrong here. What was it?"
x = "1 2 3"
gamma = "1 2 1"
fault = "unbiased-variance"
others = ["sum-not-mean", "variance-not-root"]
digits = 3
norm = "layer"
""",
]
ANSWERS_CSV = [
    b'student,item,answer\nAda,variance:7,2\nBen,variance:7,8/3\nCy,layernorm-order-forward:12,"a b c d"\n',
    b"student;item;answer\nAda;normalized-vector:3;1 0 0 -1\nBen;normalized-vector:3;0,5\n",
    b"student,item,answer\nAda,course-mean,4\nAda,warmup-mask-how:3,b\nBen,course-formula,gamma*z\nBen,course-why,so\n",
    b'item,answer,student\nmean:1,3,Ada\nmean:1,"1/3",Ada\nmean:2,sqrt(2),\n',
]
ANSWERS_JSON = [
    b'[{"student": "Ada", "item": "variance:7", "answer": 2}, {"student": "B", "item": "variance:7", "answer": "8/3"}]',
    b'{"answers": [{"student": "Ada", "item": "mean:1", "answer": [1, 2.5, "1/3"]}]}',
    b'[{"student": 1, "item": "mean:2", "answer": null}, {"student": "\\u00e9", "item": "mean:2", "answer": "nan"}]',
]


def arrays() -> list[bytes]:
    """One .npy file of each dtype and order that is read."""
    import ml_dtypes
    import numpy as np

    x = np.array([[1, 2, 4], [3, 5, 9]])
    kinds = [x.astype(name) for name in ("<f8", ">f8", "<f4", ">f4", "<f2", ">f2", "<i4", ">i8", "u1", "i1")]
    kinds += [x.astype(ml_dtypes.bfloat16), np.asfortranarray(x.astype("f4")), x[0].astype(float), x.reshape(3, 1, 2)]
    files = []
    for array in kinds:
        file = io.BytesIO()
        np.save(file, array)
        files.append(file.getvalue())
    return files


def archives() -> tuple[list[bytes], dict[str, bytes]]:
    """Sound .npz files, and the members of one."""
    import numpy as np

    values = {"x": np.array([[1.0, 2, 4], [3, 5, 9]]), "gamma": np.array([1.0, 2, 3]), "eps": np.array(1e-5)}
    files = []
    for save, held in ((np.savez, values), (np.savez_compressed, values), (np.savez, {"arr_0": values["x"]})):
        file = io.BytesIO()
        save(file, **held)
        files.append(file.getvalue())
    members = {}
    for name, array in values.items():
        file = io.BytesIO()
        np.save(file, array)
        members[f"{name}.npy"] = file.getvalue()
    return files, members


def progress(folder: Path) -> tuple[bytes, dict[str, bytes]]:
    """A progress file after some answers, and one that is still open, with the journal beside it."""
    from lnorm_cli.progress import Answered, Store

    store = Store(folder / "progress.db")
    for number, key in enumerate(("mean", "variance", "normalized-vector", "axes-means-formula")):
        for rating in ("again", "good"):
            answered = Answered(key, f"{key}:{number}", "warmup", "number", "1/3", "wrong", 1, number, ("x",), rating)
            store.record(answered, datetime(2024, 5, 1 + number, tzinfo=UTC))
    opened = {name: (folder / name).read_bytes() for name in ("progress.db", "progress.db-wal")}
    store.close()
    connection = sqlite3.connect(folder / "progress.db")
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()
    whole = (folder / "progress.db").read_bytes()
    return whole, opened
