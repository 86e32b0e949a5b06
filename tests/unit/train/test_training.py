"""Training steps, the Model with its callbacks and metrics, and what a run prints."""

import gc
import io
import os
import sys
import weakref

import numpy as np
import pytest

import mindgrad as ms
from mindgrad import boost, nn, ops, train
from tests.tolerances import assert_close

X = np.random.default_rng(0).normal(size=(8, 3)).astype(np.float32)
SLOPES = np.float32([[1.0], [-2.0], [0.5]])
Y = X @ SLOPES
BATCHES = [(X[:4], Y[:4]), (X[4:], Y[4:])]


class Linear(nn.Cell):
    def __init__(self):
        super().__init__()
        self.weight = ms.Parameter(np.zeros((3, 1), np.float32), name="weight")
        self.bias = ms.Parameter(np.zeros(1, np.float32), name="bias")

    def construct(self, x):
        return ops.matmul(x, self.weight) + self.bias


def squared(prediction, label):
    return ops.square(prediction - label).mean()


@pytest.fixture(params=["pynative", "graph"])
def mode(request):
    ms.set_context(mode=ms.GRAPH_MODE if request.param == "graph" else ms.PYNATIVE_MODE)
    yield request.param
    ms.set_context(mode=ms.PYNATIVE_MODE)


def descended(steps, lr=0.1):
    """The oracle: losses and Parameters of gradient descent, in float64."""
    w, b, losses = np.zeros((3, 1)), np.zeros(1), []
    for k in range(steps):
        x, y = (each.astype(np.float64) for each in BATCHES[k % 2])
        error = x @ w + b - y
        losses.append(np.mean(error**2))
        w, b = w - lr * 2 * x.T @ error / error.size, b - lr * 2 * error.mean(0)
    return losses, w, b


# --- training steps ------------------------------------------------------------------------------------


def test_a_training_step_descends(mode):
    net = Linear()
    step = nn.TrainOneStepCell(nn.WithLossCell(net, squared), nn.SGD(net.trainable_params(), 0.1))
    step.set_train()
    losses = [float(step(*map(ms.Tensor, BATCHES[k % 2]))) for k in range(4)]
    wanted, w, b = descended(4)
    assert_close(losses, wanted, kind="program", each=True, dtype=np.float32)
    assert_close(net.weight, w, kind="long program")
    assert_close(net.bias, b, kind="long program")
    if mode == "graph":
        assert step._compiled.cache_info().misses == 1


def test_sens_scales_gradients_but_not_the_loss():
    net, plain = Linear(), Linear()
    batch = tuple(map(ms.Tensor, BATCHES[0]))
    scaled = nn.TrainOneStepCell(
        nn.WithLossCell(net, squared), nn.SGD(net.trainable_params(), 0.1), sens=8.0, return_grad=True
    )
    loss, gradients = scaled(*batch)
    loss_of_plain, by_weights = ms.value_and_grad(
        nn.WithLossCell(plain, squared), None, plain.trainable_params()
    )(*batch)
    assert float(loss) == float(loss_of_plain)
    assert list(gradients) == ["_backbone.weight", "_backbone.bias"] or list(gradients) == ["weight", "bias"]
    assert_close(next(iter(gradients.values())), 8 * by_weights[0].asnumpy(), kind="program")


def test_a_derived_training_step_uses_the_attributes_of_mindspore(mode):
    class Clipped(nn.TrainOneStepCell):
        def construct(self, x, label):
            weights = self.weights
            loss = self.network(x, label)
            sens = ops.fill(loss.dtype, loss.shape, self.sens)
            grads = self.grad(self.network, weights)(x, label, sens)
            grads = ops.clip_by_global_norm(grads, 0.5)
            if self.reducer_flag:
                grads = self.grad_reducer(grads)
            return ops.depend(loss, self.optimizer(grads))

    net = Linear()
    step = Clipped(nn.WithLossCell(net, squared), nn.SGD(net.trainable_params(), 1.0), 1.0)
    step(*map(ms.Tensor, BATCHES[0]))
    moved = np.sqrt(np.sum(net.weight.asnumpy() ** 2) + np.sum(net.bias.asnumpy() ** 2))
    assert_close(moved, 0.5, kind="program")


def test_gradients_and_evaluation_of_a_net():
    net = Linear()
    batch = tuple(map(ms.Tensor, BATCHES[0]))
    gradients = nn.WithGradCell(net, squared)(*batch)
    assert_close(gradients[0], -2 * X[:4].T @ Y[:4] / 4, kind="program")
    half = nn.WithGradCell(net, squared, sens=0.5)(*batch)
    assert_close(half[0].asnumpy() * 2, gradients[0])
    loss, output, label = nn.WithEvalCell(net, squared)(*batch)
    assert output.shape == (4, 1)
    assert label is batch[1] or np.array_equal(label.asnumpy(), Y[:4])
    assert_close(loss, np.mean(Y[:4] ** 2))


# --- a run and its gradient ----------------------------------------------------------------------------


class Noisy(nn.Cell):
    """Counts its runs; its gradient is the noise that its value shows."""

    def __init__(self):
        super().__init__()
        self.w = ms.Parameter(np.float32([2.0]), name="w")
        self.count = ms.Parameter(np.zeros(1, np.float32), name="count", requires_grad=False)

    def construct(self, x):
        ops.assign_add(self.count, ops.mean(x).reshape((1,)))
        return (self.w * ops.standard_normal((1,))).sum()


def test_a_run_and_the_gradient_of_it_are_one_run(mode):
    class Own(nn.TrainOneStepCell):
        def construct(self, x):
            loss = self.network(x)
            gradients = self.grad(self.network, self.weights)(x, ops.ones_like(loss))
            return loss, gradients[0]

    net = Noisy()
    step = Own(net, nn.SGD([net.w], 0.1))
    ones = ms.Tensor(np.ones(3, np.float32))
    drawn_before = None
    for k in range(1, 4):
        loss, gradient = step(ones)
        assert_close(loss, 2 * gradient.asnumpy().item())
        assert float(loss) != drawn_before
        drawn_before = float(loss)
        assert net.count.asnumpy().tolist() == [k]


def test_an_eager_step_leaves_no_cycles_of_arrays():
    seen = []

    class Watched(Noisy):
        def construct(self, x):
            hidden = x * self.w
            seen.append(weakref.ref(hidden._array))
            ops.assign_add(self.count, ops.mean(hidden).reshape((1,)))
            return hidden.sum()

    net = Watched()
    step = nn.TrainOneStepCell(net, nn.SGD([net.w], 0.1))
    gc.disable()
    try:
        step(ms.Tensor(np.ones(3, np.float32)))
        assert seen[0]() is None
    finally:
        gc.enable()


def test_other_runs_are_not_taken_back():
    net = Noisy()
    net.set_grad()
    one, two = ms.Tensor(np.ones(3, np.float32)), ms.Tensor(np.full(3, 10, np.float32))
    gradient = ms.grad(net, None, [net.w])
    net(one)
    gradient(two)  # of another argument
    assert net.count.asnumpy().tolist() == [11]
    net(one)
    net.count.set_data(ms.Tensor(np.float32([100])))  # changed since
    gradient(one)
    assert net.count.asnumpy().tolist() == [101]
    gradient(one)  # the run was one of the gradient's own
    assert net.count.asnumpy().tolist() == [102]
    net(one)
    gradient(one)
    assert net.count.asnumpy().tolist() == [103]
    net.set_grad(False)
    net(one)
    gradient(one)  # nobody said that it is to be differentiated
    assert net.count.asnumpy().tolist() == [105]


# --- loss scale ----------------------------------------------------------------------------------------


def test_a_step_whose_gradients_overflow_is_left_out(mode):
    net = Linear()
    optimizer = nn.Adam(net.trainable_params(), 0.1)
    manager = nn.DynamicLossScaleUpdateCell(64.0, 2, 3)
    step = nn.TrainOneStepWithLossScaleCell(nn.WithLossCell(net, squared), optimizer, manager)
    x, y = map(ms.Tensor, BATCHES[0])
    bad = ms.Tensor(np.where(np.arange(12).reshape(4, 3) == 5, np.nan, X[:4]).astype(np.float32))
    seen = []
    for data in (x, bad, x, x, x, x, bad):
        before = net.weight.asnumpy()
        loss, overflow, scale = step(data, y)
        seen.append((bool(overflow), float(scale)))
        assert np.isnan(float(loss)) == bool(overflow)
        assert np.array_equal(before, net.weight.asnumpy()) == bool(overflow)
    # 64 halves in step 2; three good steps after that it doubles
    assert seen == [(False, 64), (True, 64), (False, 32), (False, 32), (False, 32), (False, 64), (True, 64)]
    assert float(step.scale_sense.value()) == 32.0
    assert optimizer.global_step.asnumpy().tolist() == [5]
    if mode == "graph":
        assert step._compiled.cache_info().misses == 1


def test_a_scaled_step_is_the_plain_one():
    plain, scaled = Linear(), Linear()
    one = nn.TrainOneStepCell(
        nn.WithLossCell(plain, squared), nn.Momentum(plain.trainable_params(), 0.1, 0.9)
    )
    two = nn.TrainOneStepWithLossScaleCell(
        nn.WithLossCell(scaled, squared), nn.Momentum(scaled.trainable_params(), 0.1, 0.9), ms.Tensor(1024.0)
    )
    for batch in BATCHES:
        loss = one(*map(ms.Tensor, batch))
        assert_close(two(*map(ms.Tensor, batch))[0], loss, kind="program")
    assert_close(scaled.weight, plain.weight, kind="program")
    two.set_sense_scale(ms.Tensor(16.0))
    assert float(two(*map(ms.Tensor, BATCHES[0]))[2]) == 16.0


def test_a_derived_scaled_step_with_a_branch_of_its_own(mode):
    class Own(nn.TrainOneStepWithLossScaleCell):
        def construct(self, x, label):
            weights = self.weights
            loss = self.network(x, label)
            scaling_sens = self.scale_sense
            status, scaling_sens = self.start_overflow_check(loss, scaling_sens)
            sens = ops.ones_like(loss) * ops.cast(scaling_sens, loss.dtype)
            grads = self.grad(self.network, weights)(x, label, sens)
            grads = self.hyper_map(ops.partial(unscaled, scaling_sens), grads)
            cond = self.get_overflow_status(status, grads)
            overflow = self.process_loss_scale(cond)
            if not overflow:
                loss = ops.depend(loss, self.optimizer(grads))
            return loss, cond, scaling_sens

    def unscaled(scale, gradient):
        return gradient * ops.reciprocal(scale)

    net = Linear()
    step = Own(
        nn.WithLossCell(net, squared),
        nn.SGD(net.trainable_params(), 0.1),
        nn.DynamicLossScaleUpdateCell(64.0, 2, 100),
    )
    step(*map(ms.Tensor, BATCHES[0]))
    step(ms.Tensor(X[4:] * np.float32(np.inf)), ms.Tensor(Y[4:]))
    step(*map(ms.Tensor, BATCHES[1]))
    _, w, _ = descended(2)
    assert_close(net.weight, w, kind="long program")
    assert float(step.scale_sense.value()) == 32.0


# --- the Model -----------------------------------------------------------------------------------------


def model(lr=0.1, **options) -> tuple[ms.Model, Linear]:
    net = Linear()
    return ms.Model(net, squared, nn.SGD(net.trainable_params(), lr), **options), net


def test_training_over_a_list_prints_losses(mode, capsys):
    trained, net = model()
    trained.train(2, BATCHES, callbacks=[train.LossMonitor()], dataset_sink_mode=True)
    losses, w, _ = descended(4)
    lines = capsys.readouterr().out.splitlines()
    assert [line.partition(", loss is ")[0] for line in lines] == [
        f"epoch: {e} step: {s}" for e in (1, 2) for s in (1, 2)
    ]
    found = [float(line.partition(", loss is ")[2]) for line in lines]
    assert_close(found, losses, kind="program", each=True, dtype=np.float32)
    assert_close(net.weight, w, kind="long program")


@pytest.mark.parametrize("form", ["tuples", "dicts", "tensors", "generator", "class", "dataset"])
def test_datasets_of_all_kinds(form):
    class Again:
        def __iter__(self):
            return iter(BATCHES)

    given = {
        "tuples": BATCHES,
        "dicts": [dict(data=x, label=y) for x, y in BATCHES],
        "tensors": [[ms.Tensor(x), ms.Tensor(y)] for x, y in BATCHES],
        "generator": (each for each in BATCHES),
        "class": Again(),
    }
    if form == "dataset":
        dataset = pytest.importorskip("mindgrad.dataset")
        given["dataset"] = dataset.NumpySlicesDataset((X, Y), ["data", "label"], shuffle=False).batch(4)
    trained, net = model()
    trained.train(1, given[form])
    assert_close(net.weight, descended(2)[1], kind="long program")


def test_a_net_that_returns_its_loss_takes_batches_as_they_are():
    class Distance(nn.Cell):
        def __init__(self):
            super().__init__()
            self.w = ms.Parameter(np.zeros(2, np.float32), name="w")

        def construct(self, a, b, c):
            return ops.square(self.w - a - b * c).sum()

    net = Distance()
    ones = np.ones(2, np.float32)
    ms.Model(net, optimizer=nn.SGD(net.trainable_params(), 0.5)).train(1, [(ones, 2 * ones, 3 * ones)])
    assert net.w.asnumpy().tolist() == [7.0, 7.0]


def test_callbacks_of_both_generations_are_called_in_order():
    events = []

    class Old(train.Callback):
        def begin(self, run_context):
            events.append("begin")

        def epoch_begin(self, run_context):
            events.append("epoch_begin")

        def step_end(self, run_context):
            state = run_context.original_args()
            events.append((state.cur_epoch_num, state.cur_step_num, state.batch_num, state["mode"]))
            assert state.train_network.training
            assert state.something_else is None

        def end(self, run_context):
            events.append("end")

    class New(train.Callback):
        def on_train_epoch_end(self, run_context):
            events.append("on_train_epoch_end")
            run_context.request_stop()

    trained, _ = model()
    trained.train(5, BATCHES, [Old(), New()], initial_epoch=2)
    assert events == [
        "begin", "epoch_begin", (3, 1, 2, "train"), (3, 2, 2, "train"), "on_train_epoch_end", "end"
    ]  # fmt: skip


def test_evaluation_leaves_everything_as_it_was():
    trained, net = model(metrics={"loss", "mse"})
    trained.train_network.set_train(True)
    before = net.weight.asnumpy()
    found = trained.eval(BATCHES)
    assert_close(found["loss"], np.mean(Y**2), kind="program")
    assert_close(found["mse"], np.mean(Y**2), kind="program")
    assert np.array_equal(net.weight.asnumpy(), before)
    assert net.training
    assert trained.predict(ms.Tensor(X)).shape == (8, 1)


def test_fit_evaluates_and_tells_callbacks(capsys):
    history = train.History()
    trained, _ = model(metrics={"mse": nn.MSE()})
    trained.fit(4, BATCHES, BATCHES, valid_frequency=2, callbacks=[history, train.LossMonitor(0)])
    assert history.epoch == {"epoch": [1, 2, 3, 4]}
    assert len(history.history["net_output"]) == 4
    assert len(history.history["mse"]) == len(history.history["eval_loss"]) == 2
    assert history.history["mse"][1] < history.history["mse"][0]
    lines = capsys.readouterr().out.splitlines()
    assert [line.partition(", metrics")[0] for line in lines] == [
        "Eval result: epoch 2",
        "Eval result: epoch 4",
    ]


def test_sink_size_is_the_length_of_an_epoch():
    steps = []
    callback = train.LambdaCallback(
        on_train_step_end=lambda c: steps.append(
            (c.original_args().cur_epoch_num, c.original_args().cur_step_num)
        )
    )
    trained, net = model()
    trained.train(2, BATCHES, callback, dataset_sink_mode=True, sink_size=3)
    assert steps == [(1, 1), (1, 2), (1, 3), (2, 4), (2, 5), (2, 6)]
    assert_close(net.weight, descended(6)[1], kind="long program")


@pytest.mark.parametrize("compiled", [False, True])
def test_a_data_sink_takes_its_batches_itself(compiled):
    net = Linear()
    optimizer = nn.SGD(net.trainable_params(), 0.1)
    gradient = ms.value_and_grad(lambda x, y: squared(net(x), y), None, optimizer.parameters)

    def step(x, y):
        loss, gradients = gradient(x, y)
        return ops.depend(loss, optimizer(gradients))

    sink = ms.data_sink(step, BATCHES, sink_size=3, jit_config=object() if compiled else None)
    losses, w, _ = descended(6)
    assert_close([float(sink()), float(sink())], [losses[2], losses[5]], kind="program", dtype=np.float32)
    assert_close(net.weight, w, kind="long program")
    with pytest.raises(ValueError, match="yields its batches only once"):
        ms.data_sink(step, iter(BATCHES))


def test_early_stopping_restores_the_best():
    trained, _ = model(lr=2.0)  # diverges
    stopping = train.EarlyStopping("eval_loss", patience=2, restore_best_weights=True)
    trained._metrics = nn.get_metrics({"loss"})
    history = train.History()
    trained.fit(10, BATCHES, BATCHES, callbacks=[stopping, history])
    assert stopping.stopped_epoch == 3
    assert history.epoch["epoch"] == [1, 2, 3]
    assert_close(trained.eval(BATCHES)["loss"], history.history["eval_loss"][0], kind="program")


def test_learning_rates_that_callbacks_change():
    trained, _ = model(lr=0.1)
    rate = trained.train_network.optimizer.learning_rate
    trained.train(1, BATCHES, train.LearningRateScheduler(lambda lr, step: lr / (1 + step)))
    assert_close(rate.value(), 0.1 / 2 / 3)
    trained, _ = model(lr=2.0, metrics={"loss"})
    trained.fit(3, BATCHES, BATCHES, callbacks=train.ReduceLROnPlateau(patience=1, factor=0.25, cooldown=5))
    assert_close(trained.train_network.optimizer.learning_rate.value(), 0.5, kind="program")


def test_checkpoints_are_written_and_the_oldest_removed(tmp_path):
    config = train.CheckpointConfig(save_checkpoint_steps=2, keep_checkpoint_max=2, append_info=["epoch_num"])
    trained, net = model()
    checkpoint = train.ModelCheckpoint("net", str(tmp_path / "made"), config)
    three = [*BATCHES, BATCHES[0]]
    trained.train(3, three, checkpoint)
    # after steps 2, 4, 6, 8 and at the end
    assert sorted(os.listdir(tmp_path / "made")) == ["net-3_2.ckpt", "net-3_3.ckpt"]
    assert checkpoint.latest_ckpt_file_name.endswith("net-3_3.ckpt")
    loaded = ms.load_checkpoint(checkpoint.latest_ckpt_file_name)
    np.testing.assert_array_equal(loaded[net.weight.name].asnumpy(), net.weight.asnumpy())
    assert "learning_rate" in loaded
    trained.train(1, three, train.ModelCheckpoint("net", str(tmp_path / "made"), config))
    assert "net_1-1_3.ckpt" in os.listdir(tmp_path / "made")


def test_a_loss_that_is_nan_stops_training():
    trained, _ = model()
    with pytest.raises(ValueError, match=r"epoch: 1 step: 1\. The loss is nan"):
        trained.train(1, [(X * np.float32(np.nan), Y)], train.LossMonitor())


# --- the progress bar ----------------------------------------------------------------------------------


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_a_bar_moves_on_a_terminal(monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setitem(sys.modules, "rich.progress", None)
    text = Terminal()
    bar = train.ProgressBar(text)
    bar._PAUSE = 0.0
    trained, _ = model()
    trained.train(2, BATCHES, bar)
    drawn = text.getvalue()
    assert drawn.count("\n") == 2
    frames = drawn.replace("\n", "").split("\r\x1b[K")[1:]
    assert [frame.partition(", loss")[0] for frame in frames] == [
        f"epoch {epoch}/2 {progress}" for epoch in (1, 2) for progress in ("1/2 … 0 s", "2/2 … 0 s", "2/2 in 0 s")
    ]  # fmt: skip


def test_elsewhere_it_is_a_line_for_each_epoch(capsys):
    trained, _ = model()
    trained.train(2, BATCHES, train.ProgressBar())
    lines = capsys.readouterr().err.splitlines()
    assert [line.partition(", loss")[0] for line in lines] == ["epoch 1/2: 2 steps", "epoch 2/2: 2 steps"]
    assert not any("\r" in line for line in lines)


def test_the_bar_ends_with_the_metrics_of_the_epoch(capsys):
    trained, _ = model(metrics={"mse", "loss"})
    trained.fit(1, BATCHES, BATCHES, callbacks=train.ProgressBar())
    (text,) = capsys.readouterr().err.splitlines()
    assert [part.rpartition(" ")[0] for part in text.split(", ")[1:]] == ["loss", "eval loss", "eval mse"]


def test_a_model_shows_a_bar_by_itself_on_a_terminal_only(monkeypatch, capsys):
    trained, _ = model()
    trained.train(1, BATCHES)
    captured = capsys.readouterr()
    assert captured.out == captured.err == ""
    text = Terminal()
    monkeypatch.setattr("sys.stderr", text)
    monkeypatch.setenv("TERM", "xterm")
    trained.train(1, BATCHES)
    assert "epoch 1/1" in text.getvalue()
    monkeypatch.setattr("sys.stderr", text := Terminal())
    trained.train(1, BATCHES, train.LossMonitor())
    assert text.getvalue() == ""


# --- metrics -------------------------------------------------------------------------------------------


def test_metrics_of_classification_over_batches():
    generator = np.random.default_rng(1)
    scores = generator.normal(size=(30, 4))
    chosen = scores.argmax(1)
    labels = np.where(generator.random(30) < 0.5, chosen, generator.integers(0, 4, 30))
    for metric in (nn.Accuracy(), nn.Precision(), nn.Recall(), nn.F1(), nn.Fbeta(2.0)):
        metric.clear()
        metric.update(ms.Tensor(scores[:10]), ms.Tensor(labels[:10]))
        metric.update(scores[10:], np.eye(4)[labels[10:]])  # one-hot labels
        precision = np.array([np.mean(labels[chosen == k] == k) for k in range(4)])
        recall = np.array([np.mean(chosen[labels == k] == k) for k in range(4)])
        expected = {
            "Accuracy": np.mean(chosen == labels), "Precision": precision, "Recall": recall,
            "F1": 2 * precision * recall / (precision + recall),
            "Fbeta": 5 * precision * recall / (4 * precision + recall),
        }[type(metric).__name__]  # fmt: skip
        assert_close(metric.eval(), expected, kind="program")
    top = nn.TopKCategoricalAccuracy(2)
    assert top(scores, labels) == np.mean([labels[k] in np.argsort(-scores[k])[:2] for k in range(30)])


def test_multilabel_metrics():
    predicted = np.array([[1, 0, 1], [0, 1, 1]])
    true = np.array([[1, 0, 1], [0, 1, 0]])
    assert nn.Accuracy("multilabel")(predicted, true) == 0.5
    assert_close(nn.Precision("multilabel")(predicted, true), [1, 1, 0.5], kind="program")
    assert_close(nn.Recall("multilabel")(predicted, true), [1, 1, 1], kind="program")


# --- errors --------------------------------------------------------------------------------------------


def line() -> ms.Model:
    return model()[0]


@pytest.mark.parametrize(
    ("run", "error", "text"),
    [
        (lambda: ms.Model(3), TypeError, "'network' must be a Cell, but got int"),
        (lambda: ms.Model(Linear(), metrics={"acuracy"}), KeyError, "Did you mean 'accuracy'"),
        (lambda: ms.Model(Linear(), squared).train(1, BATCHES), ValueError, "no optimizer"),
        (lambda: line().train(0, BATCHES), ValueError, "'epoch' must be at least 1"),
        (lambda: line().train(1, 3), TypeError, "must be a dataset or an iterable of batches, but got int"),
        (lambda: line().train(1, []), ValueError, "has no batches"),
        (lambda: line().train(2, (b for b in BATCHES)), ValueError, "yields its batches only once"),
        (lambda: line().train(1, [(X,)]), ValueError, r"must be \(data, label\) if .* it has 1 column\."),
        (lambda: line().train(1, BATCHES, callbacks=[print]), TypeError, "must be Callbacks"),
        (lambda: line().eval(BATCHES), ValueError, "no metrics"),
        (lambda: ms.Model(Linear(), metrics={"loss"}).eval(BATCHES), ValueError, "'loss_fn' or an 'eval_network'"),
        (lambda: ms.Model(Linear(), squared, amp_level="O9", optimizer=nn.SGD(Linear().trainable_params())), ValueError, "'level' must be one of"),
        (lambda: line().train(1, BATCHES, train.EarlyStopping("eval_loss")), ValueError, "there is no 'eval_loss' to monitor"),
        (lambda: nn.TrainOneStepCell(Linear(), 3), TypeError, "'optimizer' must be an Optimizer, but got int"),
        (lambda: nn.TrainOneStepCell(3, 3), TypeError, "'network' must be a Cell, but got int"),
        (lambda: nn.TrainOneStepWithLossScaleCell(Linear(), nn.SGD(Linear().trainable_params()), 3.0), TypeError, "'scale_sense' must be a Cell or Tensor"),
        (lambda: nn.DynamicLossScaleUpdateCell(0.0, 2, 3), ValueError, "'loss_scale_value' must be greater than 0"),
        (lambda: train.callback.SummaryLandscape("here"), NotImplementedError, "MindInsight"),
        (lambda: train.CheckpointConfig(0, 0), ValueError, "nothing is saved"),
        (lambda: train.LambdaCallback(on_step=print), TypeError, "unknown method 'on_step'"),
        (lambda: nn.Accuracy()(X, Y), ValueError, "predictions of shape"),
        (lambda: nn.Loss().eval(), RuntimeError, "before the first update"),
    ],
)  # fmt: skip
def test_errors_name_what_is_wrong(run, error, text):
    with pytest.raises(error, match=text):
        run()


def test_one_process_takes_the_names_of_several():
    from mindgrad import communication, context

    communication.init()
    assert (communication.get_rank(), communication.get_group_size()) == (0, 1)
    context.set_auto_parallel_context(parallel_mode=context.ParallelMode.DATA_PARALLEL, gradients_mean=True)
    try:
        assert ms.get_auto_parallel_context("gradients_mean") is True
        with pytest.raises(ValueError, match=r"'device_num' is 8: .* but JAX finds 1"):
            context.set_auto_parallel_context(device_num=8)
        with pytest.raises(ValueError, match="Did you mean 'parallel_mode'"):
            context.set_auto_parallel_context(paralel_mode="data_parallel")
    finally:
        context.reset_auto_parallel_context()
    assert ms.get_auto_parallel_context("parallel_mode") == "stand_alone"
    reducer = nn.wrap.grad_reducer.DistributedGradReducer([], True, 1)
    assert reducer((ms.Tensor([1.0]),))[0].asnumpy().tolist() == [1.0]


def test_several_processes_are_refused(monkeypatch):
    from mindgrad import communication

    monkeypatch.setenv("RANK_SIZE", "8")
    with pytest.raises(RuntimeError, match="RANK_SIZE=8 requests several processes"):
        communication.init()


@pytest.mark.parametrize("mode", [ms.GRAPH_MODE, ms.PYNATIVE_MODE], ids=["graph", "pynative"])
def test_accumulated_gradients_are_one_step_with_their_mean(mode):
    ms.set_context(mode=mode)
    try:
        net = nn.Dense(2, 1, weight_init="ones", has_bias=False)
        accumulate = boost.GradientAccumulation(2, nn.SGD(net.trainable_params(), 0.5))
        weights = []
        for gradient in (1.0, 3.0, 2.0, 6.0):
            loss = accumulate(ms.Tensor(7.0), (ms.Tensor([[gradient, 0.0]]),))
            assert float(loss) == 7.0
            weights.append(net.weight.asnumpy().tolist())
        assert weights == [[[1.0, 1.0]], [[0.0, 1.0]], [[0.0, 1.0]], [[-2.0, 1.0]]]
    finally:
        ms.set_context(mode=ms.PYNATIVE_MODE)
    with pytest.raises(ValueError, match="max_accumulation_step"):
        boost.GradientAccumulation(0, nn.SGD(net.trainable_params(), 0.5))


def test_the_parts_of_gradient_accumulation_are_functions_on_parameters():
    total = ms.Parameter(ms.Tensor([1.0, 2.0]), name="total")
    boost.gradient_accumulation_op(4, total, ms.Tensor([4.0, 8.0]))
    assert total.asnumpy().tolist() == [2.0, 4.0]
    boost.gradient_clear_op(total)
    assert total.asnumpy().tolist() == [0.0, 0.0]
