"""NumPy's and Python's global generators belong to the program: nothing but an initializer draws from them."""

import subprocess
import sys
import textwrap

#: prints the names of the steps after which a generator was not as before
PROGRAM = textwrap.dedent(
    """
    import os, random, tempfile, threading
    import numpy as np

    np.random.seed(0), random.seed(0)
    np.random.randn()  # the second number of the pair is part of the state

    def state():
        name, words, *rest = np.random.get_state()
        return name, words.tolist(), rest, random.getstate()

    before, generator = state(), np.random.get_bit_generator()

    def step(name):
        global before
        after = state()
        if after != before or np.random.get_bit_generator() is not generator:
            print(name)
        before = after

    import mindgrad as ms
    from mindgrad import Tensor, ops, nn, dataset
    step("import")
    x = Tensor([1.0, 2.0])
    ms.grad(lambda x: ops.tanh(x).sum())(x)
    step("eager gradient")
    os.environ["MINDGRAD_CACHE_DIR"] = folder = tempfile.mkdtemp()

    @ms.jit
    def f(x):
        return (x * x).sum()

    threads = [threading.Thread(target=f, args=(x,)) for _ in range(3)]
    [t.start() for t in threads], [t.join() for t in threads]
    step("first compilation")
    ms.set_context(mode=ms.GRAPH_MODE)
    ms.grad(f)(x)
    step("first gradient in graph mode")
    net = nn.Dense(2, 2, weight_init="zeros", bias_init="zeros")
    net(Tensor(np.ones((2, 2), np.float32)))
    step("layer")
    for ending in ("ckpt", "safetensors"):
        ms.save_checkpoint(net, os.path.join(folder, "a." + ending), crc_check=True)
        ms.load_checkpoint(os.path.join(folder, "a." + ending), net, crc_check=True)
    step("files")
    ops.dropout(x, 0.5, True), ops.rand(3), ms.Generator().seed(), nn.Dropout(p=0.5).set_train()(x)
    step("random operators")
    rows = dataset.NumpySlicesDataset({"a": list(range(9))}, shuffle=True).shuffle(4).batch(2)
    list(rows), list(rows)
    step("data set")
    ms.jacobian(lambda x: x * x, sparse=True)(x)
    ms.common.initializer.initializer("ones", [2, 2], ms.float32).init_data()
    step("sparse matrices and a constant initializer")
    """
)


def test_nothing_of_a_program_draws_from_the_global_generators():
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, timeout=100)
    assert (done.stdout, done.returncode) == ("", 0), done.stderr
