"""The profile of fused tiles, as far as it goes without a device: nothing is timed here."""

from types import SimpleNamespace

import numpy as np
import pytest

from devices import import_torch, interpret_triton

torch = import_torch()
pytest.importorskip("triton")
gpu = pytest.importorskip("gpu", reason="the benchmarks are not part of what is installed")


def test_without_a_device_there_is_nothing_to_profile(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(SystemExit, match="no CUDA device"):
        gpu.main(["--only", "profile"])


@pytest.mark.parametrize("weighted", [True, False])
def test_a_launch_is_replayed_by_kernels_with_other_products(rng, weighted):
    interpret_triton()
    from ifair.core.mapping import Mapping, Parameters
    from ifair.engines import triton_pairs

    profile, launches = gpu.gpu_profile, gpu.gpu_profile.Launches()
    X, at = torch.from_numpy(rng.normal(size=(70, 6))), Parameters(torch.eye(3, 6).double(), torch.ones(6).double())
    kernel = triton_pairs.FusedPairs(torch.arange(5), 3, weighted, np.float32, largest=abs(X[:, :5]).amax(0))
    side = kernel.side(X, Mapping().memberships(X, at), at)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(triton_pairs, "_tile", launches)
        kernel.tile(side, side, same=True)
        assert launches.pairs == 70 * 70 / 2
        kernel.tile(side[:40], side[40:])
        kernel.tile(side, side, same=True)
    assert launches.pairs == 40 * 30

    whole, losses = launches.arguments["loss_out"].sum().item(), {}
    for name, make in profile.variants().items():
        launches.arguments["loss_out"].fill_(np.nan)
        launches.replay(make())
        losses[name] = launches.arguments["loss_out"].sum().item()
    assert losses["whole"] == whole
    assert losses["one product for three"] == pytest.approx(whole, rel=1e-2)
    assert np.isfinite(list(losses.values())).all()
    assert len(set(losses.values())) == len(losses)


def test_what_is_scarce_limits_the_blocks_on_a_multiprocessor():
    hopper = SimpleNamespace(
        regs_per_multiprocessor=65_536, max_threads_per_multi_processor=2048, shared_memory_per_multiprocessor=233_472
    )

    def find(registers, shared, warps):
        metadata = SimpleNamespace(num_warps=warps, shared=shared)
        compiled = SimpleNamespace(n_regs=registers, n_spills=0, metadata=metadata)
        row = gpu.gpu_profile.residency(compiled, hopper)
        return row["blocks"], row["warps held"], row["limited by"]

    assert find(255, 60_000, 4) == (2, 8, "registers")
    assert find(128, 114_744, 4) == (2, 8, "shared memory")
    assert find(255, 213_024, 8) == (1, 8, "registers and shared memory")
    assert find(32, 1024, 8) == (8, 64, "registers and warps")


def test_a_part_that_fails_says_why_and_the_others_go_on(capsys):
    with gpu.gpu_profile.or_say_why("kernels"):
        raise RuntimeError("the profiler saw no kernel")
    assert "kernels: not measured (RuntimeError: the profiler saw no kernel)" in capsys.readouterr().out
    part = {"kernel": "products alone", "of the whole": 0.4}
    assert "products alone 40%, between the products 60%" in gpu.gpu_profile.sum_up("plain", [], [], [part])
    assert gpu.gpu_profile.sum_up("plain", [], [], []) == "plain distance: nothing measured"
