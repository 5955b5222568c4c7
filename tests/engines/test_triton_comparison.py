"""Pairs compared in one pass against the same in steps; without a device, as Triton interprets the kernel."""

import pytest

from ifair.core.euclidean_pairs import compare_tile

from devices import import_torch, interpret_triton

torch = import_torch()


@pytest.fixture(autouse=True)
def module():
    interpret_triton()
    from ifair.engines import triton_comparison

    triton_comparison.choose_comparison.cache_clear()
    yield triton_comparison
    triton_comparison.choose_comparison.cache_clear()


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("counted", [True, False])
@pytest.mark.parametrize(
    ("shape", "own_inputs", "weighted"),
    [
        ((33, 33), True, True),
        ((33, 33), True, False),
        ((2, 5, 130), True, True),
        ((2, 5, 130), True, False),
        ((3, 17, 40), False, False),  # without weights of attributes all fits have the same inputs
    ],
)
def test_one_pass_gives_what_steps_give(module, dtype, counted, shape, own_inputs, weighted):
    draw = torch.Generator().manual_seed(0)
    *_, rows, columns = shape

    def uniform(*size):
        return torch.rand(*size, generator=draw, dtype=torch.float64)

    squared = (uniform(*shape) - 0.1).to(dtype)  # products may fall below 0
    inputs = (uniform(*(shape if own_inputs else shape[1:])) - 0.1).to(dtype)
    floors = [(0.1 * uniform(*shape[:-2], columns) + 1e-3).to(dtype) for _ in range(2)]
    options = {
        "weighted": weighted,
        "same": rows == columns,
        "weights": (uniform(rows), uniform(columns)) if counted else None,
    }
    kernels = module.compare_in_one, compare_tile
    found, expected = (compare(squared.clone(), inputs.clone(), *floors, **options) for compare in kernels)
    assert (found[2] is None) == (expected[2] is None) == (not weighted)
    tolerance = 1e-5 if dtype == torch.float32 else 1e-12
    for ours, steps in zip(found, expected):
        if steps is not None:
            torch.testing.assert_close(ours.double(), steps.double(), rtol=tolerance, atol=tolerance)


def test_a_comparison_that_is_wrong_or_cannot_be_made_is_left_with_a_warning(module, monkeypatch):
    device = torch.device("cpu")
    assert module.choose_comparison(device, torch.float64) is module.compare_in_one
    monkeypatch.setattr(module, "TRIAL_TOLERANCE", -1.0)
    with pytest.warns(RuntimeWarning, match="differs by .* from the same in steps"):
        assert module.choose_comparison(device, torch.float32) is compare_tile
    module.choose_comparison.cache_clear()
    monkeypatch.setattr(module, "compare_in_one", lambda *_, **__: 1 / 0)
    with pytest.warns(RuntimeWarning, match="ZeroDivisionError"):
        assert module.choose_comparison(device, torch.float32) is compare_tile
