"""inFairness's GraphLaplacianIF beside ``smooth(penalty="squared")``: the same problem on the same graph.

    python benchmarks/graph_laplacian.py [--quick] [--json FILE]

Made-up people x 20, and a graph of inFairness: weights that fall with the distance, of pairs closer than a threshold
at which everybody has about ten neighbours. GraphLaplacianIF (its method "exact") makes M x M matrices and solves a
dense system; ours gets the same weights as a sparse matrix, or searches the ten nearest itself ("with search").
"largest difference" is between the two solutions. Processor seconds; MB is what one M x M matrix in single precision
takes.
Needs ``pip install 'ifair[rivals]'``.
"""

import time
from importlib.util import find_spec

import numpy as np
from scipy import sparse

import common
from ifair.graph import neighbour_graph, smooth

STRENGTH = 0.2


def measure(n: int) -> dict[str, object]:
    import torch
    from inFairness.distances import EuclideanDistance
    from inFairness.postprocessing import GraphLaplacianIF
    from inFairness.utils.postprocessing import build_graph_from_dists

    X = common.made_up(n, 20)
    rng = np.random.default_rng(0)
    p = rng.random(n)
    torch.set_num_threads(1)
    begun = time.process_time()
    rival = GraphLaplacianIF(EuclideanDistance(), is_output_probas=False)
    rival.add_datapoints(torch.from_numpy(X).float(), torch.from_numpy(p[:, None]).float())
    # It compares the roots of its distances with the threshold.
    threshold = float(np.quantile(np.sqrt(rival.distance_matrix[:400].numpy()), 10 / n))
    options = {"scale": 1.0, "threshold": threshold, "normalize": False}
    theirs = rival.postprocess(method="exact", lambda_param=4 * STRENGTH, **options).y_solution.numpy()[:, 0]
    dense = time.process_time() - begun
    W, rows = build_graph_from_dists(rival.distance_matrix, **options)
    assert len(rows) == n, "everybody is near themselves"
    graph = sparse.csr_array(W.numpy().astype(float))
    graph = graph - sparse.diags_array(graph.diagonal())
    graph = (graph + graph.T).tocsr() / 2
    begun = time.process_time()
    ours = smooth(p, graph, STRENGTH, "squared", tol=1e-10)
    took = time.process_time() - begun
    begun = time.process_time()
    smooth(p, neighbour_graph(X), STRENGTH, "squared", tol=1e-10)
    searched = time.process_time() - begun
    return {
        "people": n,
        "inFairness s": dense,
        "ours s": took,
        "ours with search s": searched,
        "ratio": dense / searched,
        "inFairness MB": 4e-6 * n**2,
        "largest difference": float(np.abs(ours - theirs).max()),
        "moved": float(np.abs(ours - p).max()),
    }


def main(arguments: list[str] | None = None) -> common.Rows:
    options = common.options(__doc__).parse_args(arguments)
    machine = common.Machine()
    if find_spec("inFairness") is None:
        print("inFairness is not installed: pip install 'ifair[rivals]'")
        return []
    rows = [measure(n) for n in ((300,) if options.quick else (500, 1000, 2000, 4000))]
    return common.report("GraphLaplacianIF and smooth", rows, machine, options.json)


if __name__ == "__main__":
    main()
