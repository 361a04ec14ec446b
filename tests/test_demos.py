"""What the demos compute, against known values."""

from __future__ import annotations

import math

import pytest

from lnorm_cli.errors import InputError
from lnorm_cli.explain.content import Note, Pair, Table
from lnorm_cli.explain.demos import run
from lnorm_cli.explain.demos.arguments import Arguments, Options


def table(*words: str, options: Options | None = None, number: int = 0) -> Table:
    tables = [result for result in run(words, options) if isinstance(result, Table)]
    return tables[number]


def column(found: Table, head: str) -> list:
    place = found.head.index(head)
    return [row[place] for row in found.rows]


def row(found: Table, label: str) -> tuple:
    return next(row for row in found.rows if row[0] == label)


def note(*words: str) -> str:
    return next(result.text for result in run(words) if isinstance(result, Note))


def test_first_example() -> None:
    statistics, features = run(["steps", "2", "4", "4", "6", "eps=0"])
    assert [r[1] for r in statistics.rows] == ["4", "2", "sqrt(2)"]
    assert column(features, "x̂") == ["-sqrt(2)", "0", "0", "sqrt(2)"]


def test_variance_after_normalization_is_near_one_but_not_one() -> None:
    statistics = table("steps", "2", "4", "1", "3", "eps=1e-5")
    assert row(statistics, "variance of x̂")[1] == "125000/125001"
    features = table("steps", "2", "4", "1", "3", "eps=1e-5", number=1)
    assert column(features, "x̂") == pytest.approx([-0.4472, 1.3416, -1.3416, 0.4472], abs=5e-5)


def test_divisor() -> None:
    found = table("divisor", "1", "2", "3")
    assert column(found, "variance") == [Pair("2/3", 2 / 3), Pair("1", 1.0)]
    assert found.rows[0][2].exact == "-sqrt(6)/2"


def test_gain_of_each_feature() -> None:
    features = table("steps", "3", "5", "2", "6", "gamma=1/2 1 3/2 2", "eps=0")
    assert column(features, "output") == ["-sqrt(10)/10", "sqrt(10)/5", "-3*sqrt(10)/5", "4*sqrt(10)/5"]


def test_rounding_on_the_way_shows_in_the_last_digit() -> None:
    found = table("rounding", "3", "5", "2", "6", "gamma=1/2 1 3/2 2", "digits=3")
    assert found.rows[2][2:] == ("-1.898", "-1.897")
    assert [r[2] == r[3] for r in found.rows] == [True, True, False, True]


def test_large_epsilons() -> None:
    found = table("epsilons", "3", "5", "2", "6", "eps=0 1")
    assert found.rows[1][1:] == pytest.approx([-0.5345, 0.5345, -1.0690, 1.0690], abs=5e-5)
    quiet = table("epsilons", "0.01", "0.02", "0.03", "0.02", "eps=1")
    assert quiet.rows[0][1:] == pytest.approx([-0.01, 0, 0.01, 0], abs=1e-6)


def test_epsilon_vanishes_in_float16() -> None:
    found = table("constant", "3", "3", "eps=1e-5 1e-8")
    stored = {r[:2]: r[2:] for r in found.rows}
    assert stored["float16", "1e-8"][0] == 0
    assert math.isnan(stored["float16", "1e-8"][1])
    assert stored["float16", "1e-5"][1] == 0
    assert stored["bfloat16", "1e-8"][1] == 0


def test_libraries_disagree_on_a_quiet_row() -> None:
    outputs = column(table("libraries", "0.01", "0.02", "0.03", "0.02"), "first output")
    assert max(outputs) - min(outputs) > 1


@pytest.mark.parametrize(
    ("shape", "axis", "means", "gamma"),
    [("2,2,2,3", "-1", 8, 3), ("8,128,512", "-1", 1024, 512), ("2,2,2,3", "2,3", 4, 6), ("5", "0", 1, 5)],
)
def test_numbers_of_means_and_parameters(shape: str, axis: str, means: int, gamma: int) -> None:
    found = table("shapes", shape, f"axis={axis}")
    assert row(found, "means")[1] == row(found, "variances")[1] == means
    assert row(found, "gamma")[1] == row(found, "beta")[1] == gamma


def test_shapes_of_the_reader() -> None:
    options = Options(shape="4,5", axis="\u22121")
    assert row(table("shapes", "2,2", "axis=0", options=options), "means")[1] == 4
    assert options.used == {"shape", "axis"}
    with pytest.raises(InputError, match="--shape"):
        run(["shapes", "2,2"], Options(shape="4,x"))
    with pytest.raises(InputError, match="--shape"):
        run(["shapes", "2,2"], Options(shape="4,0"))


@pytest.mark.parametrize(("wrong", "what"), [("0,1", "batch"), ("1", "future")])
def test_leak(wrong: str, what: str) -> None:
    right, kept, leaked, changed = run(["leak", "right=-1", f"wrong={wrong}", f"what={what}"])
    assert all(a == b for _, a, b in right.rows)
    assert "no leak" in kept.text
    assert any(abs(a - b) > 0.1 for _, a, b in leaked.rows)
    assert "leaked" in changed.text


def test_batch_of_one_loses_everything_under_batchnorm() -> None:
    found = table("company", "row=1 2 3", "others=3 2 7; 9 8 2")
    assert found.rows[0][2] == (0, 0, 0)
    assert len({r[1] for r in found.rows}) == 1
    assert len({r[2] for r in found.rows}) == 3


def test_layernorm_is_transposed_batchnorm() -> None:
    assert "exactly" in note("batch", "rows=1 2 3; 3 2 7; 5 8 2")


def test_running_averages() -> None:
    outputs, running = run(["modes", "rows=1 2 3; 3 2 7; 5 8 2", "momentum=0.1"])
    assert all(a != b for _, a, b in outputs.rows)
    assert running.rows[0][1] == pytest.approx((0.3, 0.4, 0.4))
    assert running.rows[1][1] == pytest.approx((0.9 + 0.4, 0.9 + 1.2, 0.9 + 0.7))


def test_parameters() -> None:
    assert row(table("parameters", "width=512"), "together")[1] == 1024
    assert row(table("parameters", "width=512", "norm=rms"), "together")[1] == 512
    words = ["parameters", "width=512", "depth=6", "stack=encoder-decoder"]
    assert row(table(*words), "together") == ("together", 30, 30720)
    assert row(table(*words, "final=yes"), "together") == ("together", 32, 32768)
    assert row(table(*words, options=Options(width=10, depth=1)), "together") == ("together", 5, 100)


def test_residual_keeps_its_input_within_reach() -> None:
    found = table("residual", "1", "2", "3", "6", "sublayer=z/2 - 1")
    assert column(found, "minus F(x)") == column(found, "x") == ["1", "2", "3", "6"]


def test_chain() -> None:
    found = table("chain", "slopes=1/2 -1/10", "depth=12")
    assert found.rows[0][1:] == pytest.approx([0.5**12, 1.5**12])
    assert found.rows[1][1:] == pytest.approx([1e-12, 0.9**12])


POST = [-1.0690447979600605363, -0.53452239898003026816, 0, 1.6035671969400908045]
PRE = [-1.1380868808917469504, 0.93095655955412652484, 3.0, 9.2071303213376204254]
FINAL = [-1.0690446109042020136, -0.53452230545210100679, 0]


def test_both_orders_on_four_numbers() -> None:
    """x = 1 2 3 6, f(z) = 2z (annotated-transformer#92: the text has one order, the code the other)."""
    found = table("placement", "1", "2", "3", "6", "sublayer=2*z")
    assert column(found, "post-norm")[:4] == pytest.approx(POST, abs=1e-12)
    assert column(found, "pre-norm")[:4] == pytest.approx(PRE, abs=1e-12)
    assert row(found, "mean")[2:] == (0, 3)


def test_one_order_and_the_readers_own_values() -> None:
    assert table("placement", "1", "2", "order=post").head == ("", "x", "post-norm")
    options = Options(x="2 4 4 6", sublayer="z^2 + 1")
    found = table("placement", "1", "2", "sublayer=2*z", options=options)
    assert column(found, "x")[:4] == [2, 4, 4, 6]
    assert options.used == {"x", "sublayer"}
    assert column(found, "pre-norm")[:2] == pytest.approx([2 + 2 / 1.000005 + 1, 5], abs=1e-4)


@pytest.mark.parametrize("sublayer", ["1/z", "sqrt(z)", "2*", "w"])
def test_a_sublayer_that_cannot_be_taken_is_refused(sublayer: str) -> None:
    with pytest.raises(InputError, match="--sublayer"):
        run(["placement", "1", "2", "2", "3"], Options(sublayer=sublayer))


def test_final_norm_after_a_pre_norm_block() -> None:
    found = table("final-norm", "1", "2", "3", "6", "sublayer=2*z", "layers=1")
    assert column(found, "1 block")[:4] == pytest.approx(PRE, abs=1e-12)
    assert column(found, "final norm")[:3] == pytest.approx(FINAL, abs=1e-12)
    assert row(found, "mean")[1:] == (3, 3, 0)


def test_rms_and_layer_norm_agree_on_centred_input_only() -> None:
    assert "exactly equal" in note("layer-rms", "-2", "0", "0", "2", "eps=0")
    assert "differ" in note("layer-rms", "2", "4", "4", "6", "eps=0")


def test_invariances_are_those_of_table_1() -> None:
    found = table("invariances")
    assert column(found, "output") == ["the same", "the same", "changes", "the same", "changes", "the same"]


def test_float16_overflows_at_the_square_and_float32_statistics_mend_it() -> None:
    words = ["0", "0", "0", "2000", "dtype=float16"]
    found = table("precision", *words)
    assert [r[0] for r in found.rows if r[0].endswith("*")] == ["its square *"]
    assert row(found, "x̂")[1:] == (pytest.approx(3**0.5, abs=1e-6), 0)
    assert "overflow" in note("precision", *words)
    mended = table("remedy", *words, "accumulate=float32")
    assert not any(r[0].endswith("*") for r in mended.rows)
    assert row(mended, "x̂")[2] == pytest.approx(3**0.5, rel=1e-3)


def test_one_pass_cancels() -> None:
    found = table("one-pass", "10000.1", "10000.2", "10000.3", "10000.4", "dtypes=float64 float32")
    assert row(found, "float32")[1] == pytest.approx(0.0125, rel=0.01)
    assert row(found, "float32")[2] < 0


@pytest.mark.parametrize("eps", ["0", "1e-5", "1"])
def test_jacobian(eps: str) -> None:
    assert note("jacobian", "2", "4", "1", "3", f"eps={eps}") == (
        "Exactly: J · 1 is zero, and J · x̂ equals eps x̂ / s^3."
    )


def test_jacobian_of_the_readers_vector() -> None:
    options = Options(x="3 5 2 6")
    assert column(table("jacobian", "2", "4", "eps=1", options=options), "x") == ["3", "5", "2", "6"]
    with pytest.raises(InputError, match="--x"):
        run(["jacobian", "2", "4", "eps=1"], Options(x="[[1, 2], [3, 4]]"))


def test_detached_statistics_filter_nothing() -> None:
    found = table("detached", "2", "4", "1", "3", "dy=1 0 0 0", "eps=1e-5")
    assert row(found, "sum")[1] == 0
    assert row(found, "sum")[2] != 0


def test_deepnorm_constants() -> None:
    found = table("deepnorm", "depths=6")
    assert found.rows[0][1:] == pytest.approx((12**0.25, 48**-0.25))


def test_unknown_demo_is_refused() -> None:
    with pytest.raises(InputError, match="no demo"):
        run(["nonsense"])


def test_integers_out_of_range_are_refused() -> None:
    with pytest.raises(InputError, match="--depth"):
        Arguments([], Options(depth=0)).integer("depth", 6)
