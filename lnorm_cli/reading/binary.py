"""Numpy's own files, npy and npz: pickles refused, nothing believed that a header promises."""

from __future__ import annotations

import contextlib
import math
import warnings
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lnorm_cli.errors import InputError
from lnorm_cli.reading.lists import MAX_RANK

if TYPE_CHECKING:
    from numpy.typing import NDArray

NAMES = ("x", "gamma", "beta", "eps")
"""What a file may hold."""


def load_npy(file: Path | BytesIO) -> NDArray[Any]:
    """A numpy array with pickles refused; from a path it is mapped, not read."""
    import numpy as np

    try:
        with _silently():
            _check_header(file)
            if isinstance(file, Path):
                try:
                    return np.load(file, mmap_mode="r", allow_pickle=False)  # type: ignore[no-any-return]
                except ValueError:
                    return np.load(file, allow_pickle=False)  # type: ignore[no-any-return]
            return np.load(file, allow_pickle=False)  # type: ignore[no-any-return]
    except InputError:
        raise
    except Exception as error:  # np.load raises many kinds on damaged files
        if "Object array" in str(error):
            what = "object arrays and pickles are not read: they can run code"
            raise InputError(what, hint="save plain numbers: np.save(file, x.astype(float))") from None
        raise InputError("is not a readable .npy file", hint="write it with np.save(file, x)") from None


def _check_header(file: Path | BytesIO) -> None:
    """Refuse a header that promises more than follows, and one whose elements have no size: mapping it is a crash."""
    from numpy.lib import format

    headers = {(1, 0): format.read_array_header_1_0, (2, 0): format.read_array_header_2_0}
    with file.open("rb") if isinstance(file, Path) else contextlib.nullcontext(file) as stream:
        shape, _, dtype = headers[format.read_magic(stream)](stream)  # version 3 is only for names of fields
        here = stream.tell()
        follow = stream.seek(0, 2) - here
        stream.seek(0)
    promised = math.prod(shape) * dtype.itemsize
    if dtype.itemsize == 0:
        raise ValueError("elements without a size")
    if promised > follow and not dtype.hasobject:
        what = f"is cut short: shape {shape} of {dtype} is {promised} bytes, and {follow} follow"
        raise InputError(what, hint="write it again with np.save(file, x)")


@contextlib.contextmanager
def _silently() -> Iterator[None]:
    """No warnings: what numpy has to say about a damaged or very old header would name its own source."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def load_npz(data: bytes, finite: bool) -> dict[str, NDArray[Any]]:
    """The arrays of an archive that have a name of ours, checked; of one alone, that one is x."""
    import numpy as np

    try:
        with _silently(), np.load(BytesIO(data), allow_pickle=False) as archive:
            found = {}
            for name in archive.files:
                if name in NAMES or len(archive.files) == 1:
                    found[name] = archive[name]
                    if not isinstance(found[name], np.ndarray):
                        raise ValueError(f"{name} is not a .npy file")
            names = list(archive.files)
    except Exception as error:  # as above
        if "Object array" in str(error):
            what = "object arrays and pickles are not read: they can run code"
            raise InputError(what, hint="save plain numbers: np.savez(file, x=x)") from None
        raise InputError("is not a readable .npz file", hint="write it with np.savez(file, x=x)") from None
    if "x" not in found and len(names) == 1:
        found = {"x": found[names[0]]}
    if "x" not in found:
        listed = ", ".join(names) or "nothing"
        raise InputError(f"holds {listed}, no array x", hint="write it with np.savez(file, x=x, gamma=...)")
    if "eps" in found:
        if found["eps"].size != 1:
            raise InputError("eps must be one number", hint="np.savez(file, x=x, eps=1e-5)")
        found["eps"] = found["eps"].reshape(1)
    return {name: checked(array, name, finite or name == "eps") for name, array in found.items()}


def checked(array: NDArray[Any], name: str, finite: bool) -> NDArray[Any]:
    """A real numeric array of at least one axis and element; bfloat16 saved as raw bytes is recognized."""
    import numpy as np

    if array.dtype.kind == "V" and array.dtype.itemsize == 2 and array.dtype.names is None:
        import ml_dtypes

        array = array.view(ml_dtypes.bfloat16)
    elif array.dtype.kind not in "iuf" and array.dtype.name != "bfloat16":
        raise InputError(f"{name} has dtype {array.dtype}, not real numbers", hint="convert it: x.astype(float)")
    if array.size == 0:
        raise InputError(f"{name} is empty (shape {array.shape})", hint="give at least one number")
    if array.ndim == 0:
        array = array.reshape(1)
    if array.ndim > MAX_RANK:
        raise InputError(f"{name} has {array.ndim} axes", hint=f"lnorm takes up to {MAX_RANK}")
    if finite and array.dtype.kind not in "iu":
        for start in range(0, len(array), max(1, 2**22 // max(1, array[0].size))):
            part = array[start : start + max(1, 2**22 // max(1, array[0].size))]
            with np.errstate(invalid="ignore"):  # a signalling nan of bfloat16 sets the flag
                bad = ~np.isfinite(part)
            if bad.any():
                index = np.unravel_index(int(np.argmax(bad)), bad.shape)
                place = "".join(f"[{int(i) + (start if k == 0 else 0)}]" for k, i in enumerate(index))
                raise InputError(f"{name}{place} is {float(part[index])}", hint="every value must be a finite number")
    return array
