"""What the diagnosis infers with: lines through points, round numbers, sums in any order, epsilons in use."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from lnorm_cli.faults import diagnose
from lnorm_cli.faults.answer import make_answer
from lnorm_cli.faults.candidates import epsilon_detail, library_epsilons, pieces, short
from lnorm_cli.faults.infer import Points, fit, points, right_line, roundest
from lnorm_cli.faults.precision import ORDERS, Ordered
from lnorm_cli.faults.problem import make_problem
from lnorm_cli.norm import BATCH, LAYER, RMS, Spec

F = Fraction
USUAL = F(1, 10**5)

BETWEEN = [
    (0.9, 1.1, "1"), (2.0, 2.5, "2"), (1.5, 2.0, "2"), (-0.5, 0.5, "0"), (0.0, 0.3, "0"), (-0.3, 0.0, "0"),
    (-3.2, -2.9, "-3"), (95.0, 105.0, "100"), (1.401, 1.419, "1.41"), (1.19e-4, 1.29e-4, "0.00012"),
    (0.99e-5, 1.01e-5, "1e-5"), (2.5, 2.5, "2.5"), (3.13, 3.22, "3.2"), (0.31, 0.69, "0.5"), (19.0, 31.0, "20"),
    (11.0, 12.9, "12"), (-12.9, -11.0, "-12"), (1e-9, 3.1e-9, "2e-9"), (1234567.0, 1234567.0, "1234567"),
    (0.015625, 0.015625, "0.015625"), (0.1, 0.1, None), (2.0, 1.0, None), (math.nan, 1.0, None),
]  # fmt: skip


@pytest.mark.parametrize(("low", "high", "value"), BETWEEN, ids=[f"{low} {high}" for low, high, _ in BETWEEN])
def test_the_roundest_number_between_two(low: float, high: float, value: str | None) -> None:
    assert roundest(low, high) == (None if value is None else F(value))


def line_of(x: list[float], z: list[float], room: float | list[float]) -> Any:
    rooms = np.broadcast_to(np.array(room, float), len(x)).copy()
    center = (min(x) + max(x)) / 2
    return fit(Points(0, center, np.array(x) - center, np.array(z), rooms, np.arange(len(x))))


@pytest.mark.parametrize("x", [[0.0, 0.25, 1.0], [1.0, 2.0, 4.0, 9.0], [5.0, 6.0], [-1.0, 0.5, 0.75, 3.0]])
@pytest.mark.parametrize(("mean", "divisor"), [(0.5, 2.0), (3.0, 0.25), (0.0, -1.0)])
def test_points_on_a_line_give_the_mean_and_the_divisor(x: list[float], mean: float, divisor: float) -> None:
    line = line_of(x, [(v - mean) / divisor for v in x], 1e-6)
    assert line.fits
    assert line.mean == pytest.approx(mean, abs=1e-12)
    assert line.divisor == pytest.approx(divisor, rel=1e-12)
    assert 0 < line.mean_room < 1e-4
    assert 0 < line.divisor_room < 1e-4


def test_a_point_off_the_line_shows_unless_its_room_is_wide() -> None:
    x, z = [1.0, 2.0, 4.0, 9.0], [-1.0, -0.5, 0.5, 3.0]
    assert line_of(x, z, 1e-3).fits
    off = [*z[:2], z[2] + 0.01, z[3]]
    assert not line_of(x, off, 1e-3).fits
    wide = line_of(x, off, [1e-3, 1e-3, 0.02, 1e-3])
    assert wide.fits
    assert wide.divisor == pytest.approx(2, abs=0.01)


@pytest.mark.parametrize("odd", [0, 3, 9])
def test_a_line_is_found_where_all_points_but_one_lie_to_one_side(odd: int) -> None:
    """Least squares would miss the odd point: the smallest largest misfit counts."""
    x, room = [float(v) for v in range(10)], 0.005
    z = [(v - 3) / 2 + (-0.9 if i == odd else 0.9) * room for i, v in enumerate(x)]
    assert line_of(x, z, room).fits
    z[odd] -= 0.3 * room
    assert line_of(x, z, room).fits == (odd in (0, 9))  # a tilted line still reaches a point at the end
    z[odd] -= 4 * room
    assert not line_of(x, z, room).fits


def test_the_room_of_mean_and_divisor_holds_every_line_that_fits() -> None:
    """The steepest and the flattest line within half a unit of each point, to first order."""
    x, room = [1.0, 2.0, 4.0, 9.0], 0.005
    line = line_of(x, [(v - 3) / 2 for v in x], room)
    for sign in (1, -1):
        slope = 0.5 + sign * 2 * room / 8
        offset = (1 - 3) / 2 - sign * room - slope * 1
        assert abs(1 / slope - line.divisor) <= 1.01 * line.divisor_room
        assert abs(-offset / slope - line.mean) <= 1.01 * line.mean_room


def test_points_that_make_no_line() -> None:
    assert line_of([2.0], [1.0], 0.1) is None
    assert line_of([2.0, 2.0], [1.0, 1.0], 0.1) is None
    assert line_of([1.0, 2.0], [3.0, 3.0], 0.1) is None


def test_points_leave_out_what_gamma_hides_and_what_is_no_number() -> None:
    answer = make_answer("1.5 2 nan 3.25 -1", None)
    problem = make_problem(
        [1, 2, 4, 9, 3], answer, ["2", "0", "1", "0.5", "-1"], ["1", "2", "0", "0.25", "1"], F(1), LAYER
    )
    t = problem.run(LAYER)
    found = points(problem, t, 0)
    assert found.index.tolist() == [0, 3, 4]
    assert (found.x + found.center).tolist() == [1, 9, 3]
    assert found.z == pytest.approx([0.25, 6.0, 2.0])
    assert found.room == pytest.approx([0.025, 0.01, 0.05], rel=1e-6)
    first = points(problem, problem.run(Spec(affine="shift-scale")), 0)
    assert first.z == pytest.approx([0.75 - 1, 6.5 - 0.25, 1 - 1])


def test_what_a_row_is_normalized_with() -> None:
    problem = make_problem([[1, 2, 6], [0, 0, 3]], make_answer("[[1, 2, 3], [4, 5, 6]]", None), 1, 0, F(0), LAYER)
    assert right_line(problem.run(LAYER), 1) == pytest.approx((1, math.sqrt(2)))
    assert right_line(problem.run(RMS), 0) == pytest.approx((0, math.sqrt(41 / 3)))
    assert right_line(problem.run(Spec(numerator="raw")), 1) == pytest.approx((0, math.sqrt(2)))


# ---- sums in any order


def by_hand(values: list[Any], order: str) -> float:
    """The sum in float32, one addition after another."""
    if order == "right to left":
        return by_hand(values[::-1], "left to right")
    if order == "rounded once":
        return float(np.float32(math.fsum(float(v) for v in values)))
    if order.startswith("in "):
        lanes = int(order.split()[1])
        parts = [by_hand(values[lane::lanes], "left to right") for lane in range(lanes)]
        return by_hand([np.float32(v) for v in parts], "left to right")
    total = np.float32(0)
    for value in values:
        total = np.float32(total + value)
    return float(total)


@pytest.mark.parametrize("order", [order for order in ORDERS if order != "as numpy"])
@pytest.mark.parametrize("n", [3, 8, 37, 64, 100])
def test_a_sum_in_each_order_is_that_of_a_loop(order: str, n: int) -> None:
    values = np.random.default_rng(n).normal(0, 1, (3, n)) * 10.0 ** np.arange(-2, 4).repeat(n)[: 3 * n].reshape(3, n)
    rows = values.astype(np.float32)
    total = Ordered("float32", "float32", order).sum(rows)
    assert total.shape == (3, 1)
    assert total.dtype == np.float32
    assert total[:, 0].tolist() == [by_hand(list(row), order) for row in rows]


def test_statistics_of_a_short_type_run_in_the_same_order() -> None:
    own = Ordered("float32", "float16", "left to right").statistics
    assert (own.name, own.accumulate, own.order) == ("float16", "float16", "left to right")
    assert own.statistics is own


# ---- epsilons and other candidates


def test_an_epsilon_in_short() -> None:
    for text in ("1e-5", "1e-3", "1e-2", "1e-12", "2e-5", "0.0003", "0.1", "1", "1.5e-6", "0.0015", "0.011", "0.0101"):
        assert short(F(text)) == text


def test_epsilons_in_use_come_largest_first_with_their_users() -> None:
    known = dict(library_epsilons())
    values = list(known)
    assert values == sorted(values, reverse=True)
    assert {F(1, 10**k) for k in (2, 3, 4, 5, 6, 7, 8, 12)} <= set(values)
    assert "Keras" in epsilon_detail(F(1, 1000))
    assert epsilon_detail(F(3, 7)) == "epsilon 0.4286"


def tried(spec: Spec, shape: tuple[int, ...], eps: Any = USUAL) -> dict[str, list[dict[str, Any]]]:
    found: dict[str, list[dict[str, Any]]] = {}
    for piece in (part for group in pieces(spec, shape, eps) for part in group):
        found.setdefault(piece.id, []).append(dict(piece.changes))
    return found


def test_axes_that_are_tried() -> None:
    def axes(spec: Spec, shape: tuple[int, ...], name: str) -> list[tuple[int, ...]]:
        return sorted(change["axes"] for change in tried(spec, shape).get(name, []))

    assert axes(LAYER, (5,), "wrong-axis") == []
    assert axes(LAYER, (2, 3), "wrong-axis") == [(0,)]
    assert axes(LAYER, (2, 3), "all-axes") == [(0, 1)]
    assert axes(BATCH, (2, 3), "wrong-axis") == [(1,)]
    assert axes(LAYER, (2, 3, 4), "wrong-axis") == [(0,), (0, 1), (0, 2), (1,)]
    assert axes(LAYER, (2, 3, 4), "all-axes") == [(0, 1, 2), (1, 2)]
    assert axes(Spec(axes=(1, 2)), (2, 3, 4), "wrong-axis") == [(0,), (0, 1), (0, 2), (1,), (2,)]
    assert axes(Spec(axes=(1, 2)), (2, 1, 4), "wrong-axis") == [(0,)]  # axis 2 alone is the same
    assert axes(LAYER, (1, 3, 4), "wrong-axis") == [(1,)]
    assert axes(LAYER, (2, 1, 4), "all-axes") == [(0, 1, 2)]
    assert axes(LAYER, (2, 1, 4), "wrong-axis") == [(0,)]
    assert axes(LAYER, (2, 2, 2, 2, 2), "all-axes")
    assert not axes(LAYER, (2, 2, 2, 2, 2, 2), "all-axes")


def test_elements_that_are_counted_or_dropped() -> None:
    def counts(shape: tuple[int, ...], pool: str) -> list[int]:
        return sorted(c["padding"] for group in tried(LAYER, shape).values() for c in group if c.get("pool") == pool)

    assert [counts((1, n), "truncated") for n in (2, 3, 4, 5, 9)] == [[], [1], [1, 2], [1, 2, 3], [1, 2, 3]]
    assert [counts((2, n), "neighbours") for n in (1, 2, 5)] == [[1], [1, 2], [1, 2]]
    assert counts((1, 5), "neighbours") == counts((5,), "neighbours") == []
    assert counts((5,), "padded") == counts((5,), "padded-variance") == [1, 2, 3, 4, 11]
    assert counts((8,), "padded") == [1, 2, 3, 4, 8, 24]
    assert counts((100,), "padded") == [1, 2, 3, 4, 12, 28, 156]
    assert not any(c.get("pool") == "padded-variance" for g in tried(RMS, (5,)).values() for c in g)


def test_what_cannot_show_is_not_tried() -> None:
    assert "unbiased-variance" not in tried(LAYER, (3, 1))
    assert "unbiased-variance" in tried(LAYER, (1, 2))
    assert "epsilon-omitted" not in tried(LAYER, (4,), F(0))
    assert "epsilon-omitted" in tried(LAYER, (4,), F(1, 100))
    assert "missing-keepdims" in tried(LAYER, (3, 3))
    assert "missing-keepdims" in tried(LAYER, (2, 2, 4))
    assert not any("missing-keepdims" in tried(LAYER, shape) for shape in ((3,), (2, 3), (1,)))
    asked = [change["eps"] for change in tried(LAYER, (4,), F(1, 1000))["epsilon-value"]]
    assert F(1, 1000) not in asked
    assert F(1, 100_000) in asked


# ---- in a whole diagnosis


def test_a_mean_that_cannot_be_told_from_0_is_shown_as_0() -> None:
    result = diagnose([-2, -1, 0, 3], "-0.926 -0.463 0 1.389")
    assert result.faults == ("unbiased-variance",)
    assert result.implied is not None
    assert result.implied["mean"] == 0.0
