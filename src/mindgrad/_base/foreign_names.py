"""Names in PyTorch, JAX, and TensorFlow, and their replacements in mindgrad.

Users port programs from these frameworks line by line. If a program uses one of these names, mindgrad's error
suggests the replacement from these tables.
"""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from difflib import get_close_matches
from types import FunctionType
from typing import Any

from mindgrad.core.base.keywords import explain_with
from mindgrad.core.base.nearest import nearest

__all__ = [
    "CELLS", "KEYWORDS", "MODULES", "REMEDIES", "TENSORS", "Unavailable", "accepted_names", "advice",
    "keyword_hint", "refuse_attributes", "without_construct",
]  # fmt: skip

_GRADIENT = "ms.grad(fn)(x), or ms.value_and_grad(fn, None, weights)(x) for Parameters, returns the gradients"
_NO_TAPE = "omit it: mindgrad records nothing outside ms.grad. ops.stop_gradient(x) turns x into a constant"
_LOOP = "write a plain Python loop (for, while), which mindgrad compiles and differentiates"
_BRANCH = "write a plain Python 'if', which mindgrad compiles and differentiates"
_SCHEDULE = "give the learning rate as a schedule, nn.Adam(params, nn.CosineDecayLR(1e-5, 1e-3, 1000))"
_STEP = "optimizer(gradients) updates the Parameters; ms.value_and_grad returns the gradients"
_ZERO = "leave it out, because gradients are return values and are not accumulated"
_RANDOM = "ms.set_seed(0), then ops.standard_normal(shape), ops.uniform(...), without keys"
_TREE = "ms.tree_map(fn, tree, *trees), ms.tree_leaves(tree), and ms.ravel_pytree(tree) for one vector"
_FUNCTIONS = "ms.functional_call(net, params, args); ms.grad, ms.vmap and ms.jacrev take functions"
_HALF = "net.to_float(ms.float16), or ms.amp.auto_mixed_precision(net, 'O2'), before training"
_WAIT = "x.asnumpy() waits for the value"
_PARALLEL = "ms.set_auto_parallel_context(parallel_mode='data_parallel') after ms.communication.init()"
_NUMPY = "ms.pure_callback(fn, result, *args) calls a function on NumPy arrays; print shows values"
_CLIP = "ops.clip_by_global_norm(gradients, 1.0)"
_GROUPS = "create the optimizer with a list of dicts with 'params' and 'lr'"
_RULE = "@ops.custom_vjp and fn.defbwd(bprop), with bprop(x, out, dout); or a Cell with a method 'bprop'"
_DEVICE = "ms.set_device('GPU') chooses the device of all tensors: leave it out"
_FUNCTIONAL = "the functions are in ops, and with PyTorch's names in mint.nn.functional"
_POSITIONS = (
    "ms.grad(fn, grad_position)(x) selects the inputs to differentiate with respect to; Parameters have the "
    "attribute "
    "requires_grad"
)
_STATIC = "arguments that are not tensors (int, str, tuple) are compile-time constants: leave it out"
_CONSTANT = "ops.stop_gradient(x)"
_AT = "assign to elements: x[0] = value or x[0] += value, which mindgrad compiles and differentiates"

#: maps an attribute of modules in other frameworks to the code that the error suggests instead
MODULES = {
    "DataLoader": "ms.dataset.GeneratorDataset(...).batch(n)",
    "DataParallel": _PARALLEL,
    "DistributedDataParallel": _PARALLEL,
    "GradScaler": "ms.amp.DynamicLossScaler(2**16, 2, 1000); bfloat16 and float32 need none",
    "GradientTape": _GRADIENT,
    "Linear": "nn.Dense(in_channels, out_channels), or mint.nn.Linear",
    "Module": "nn.Cell, with a method 'construct' instead of 'forward'",
    "ModuleDict": "nn.CellDict",
    "ModuleList": "nn.CellList",
    "PRNGKey": _RANDOM,
    "ParameterList": "ms.ParameterTuple",
    "Sequential": "nn.SequentialCell",
    "ShapeDtypeStruct": "any Tensor or array with this shape and dtype, such as ops.zeros((3,), ms.float32)",
    "TensorDataset": "ms.dataset.NumpySlicesDataset((x, y), ['x', 'y'])",
    "Variable": "ms.Tensor, or ms.Parameter",
    "associative_scan": _LOOP,
    "as_tensor": "ms.Tensor(data), or ms.from_numpy(array)",
    "autocast": _HALF,
    "autograd": _GRADIENT,
    "backward": _GRADIENT,
    "block_until_ready": _WAIT,
    "checkpoint": "ms.recompute(block, x), or cell.recompute()",
    "clip_grad_norm": _CLIP,
    "clip_grad_norm_": _CLIP,
    "compile": "ms.jit(fn)",
    "cond": _BRANCH,
    "config": "ms.set_context(...)",
    "cuda": _DEVICE,
    "constant": "ms.Tensor(data)",
    "custom_gradient": _RULE,
    "custom_jvp": _RULE,
    "custom_vjp": _RULE,
    "debug": "print(x) in the function shows values, even in a compiled function",
    "debug_callback": _NUMPY,
    "detach": _CONSTANT,
    "device": _DEVICE,
    "device_get": _WAIT,
    "device_put": _DEVICE,
    "devices": _DEVICE,
    "disable_jit": "ms.set_context(mode=ms.PYNATIVE_MODE)",
    "distributed": "ms.communication, ms.parallel",
    "enable_grad": _NO_TAPE,
    "eval_shape": "fn(ops.zeros((3,), ms.float32)).shape",
    "explainer": (
        "ms.grad(score)(x) is the saliency map of a class if score(x) returns the score of the class"
    ),
    "fft": "the transforms are functions: ops.fft, ops.ifft, ops.rfft, ops.irfft, ops.fft2, ops.fftn",
    "filter_grad": _GRADIENT,
    "filter_jit": "ms.jit(fn): arguments that are not tensors are compile-time constants",
    "flatten_util": _TREE,
    "fori_loop": _LOOP,
    "func": _FUNCTIONS,
    "function": "ms.jit(fn)",
    "functional": _FUNCTIONAL,
    "hub": "create the net from its class, then ms.load_checkpoint(file, net); mindgrad downloads nothing",
    "index_update": _AT,
    "inference_mode": _NO_TAPE,
    "init": "mindgrad.common.initializer",
    "io_callback": _NUMPY,
    "jet": "ms.jet",
    "jnp": "ms.numpy",
    "key": _RANDOM,
    "lax": _LOOP,
    "linalg": "ms.mint.linalg or ms.scipy.linalg; ops.inverse, ops.svd, ops.norm",
    "linear_transpose": "ms.vjp(fn, x)[1] of a linear function fn",
    "local_devices": _DEVICE,
    "lr_scheduler": _SCHEDULE,
    "make_functional": _FUNCTIONS,
    "make_jaxpr": "ms.explain(fn)(x)",
    "map": "ms.vmap(fn)(xs), or a Python loop",
    "no_grad": _NO_TAPE,
    "onnx": (
        "ms.save_checkpoint(net, 'net.ckpt') saves the Parameters; mindgrad cannot export to other runtimes"
    ),
    "optim": "the optimizers are in nn: nn.Adam(net.trainable_params(), learning_rate=1e-3)",
    "pjit": "ms.jit(fn)",
    "pmap": "ms.vmap(fn): a program runs on one device",
    "pmean": "ops.AllReduce('avg')(x)",
    "psum": "ops.AllReduce()(x)",
    "random": _RANDOM,
    "remat": "ms.recompute(block, x), or cell.recompute()",
    "rewrite": "assign to the net, net.head = nn.Dense(8, 2), or write a subclass with another 'construct'",
    "save": "ms.save_checkpoint(net, 'net.ckpt')",
    "scan": _LOOP,
    "set_default_device": _DEVICE,
    "set_default_dtype": "Tensor(data, ms.float64) and net.to_float(ms.float64); Python floats are float32",
    "set_grad_enabled": _NO_TAPE,
    "set_printoptions": "np.set_printoptions(...), and print(x.asnumpy())",
    "stack_module_state": _FUNCTIONS,
    "switch": _BRANCH,
    "tree": _TREE,
    "tree_flatten": _TREE,
    "tree_reduce": "functools.reduce(fn, ms.tree_leaves(tree))",
    "tree_unflatten": _TREE,
    "tree_util": _TREE,
    "utils": "ms.dataset for data, ms.recompute for gradient checkpointing, ops.clip_by_global_norm for "
    "gradients",
    "while_loop": _LOOP,
}
#: maps an attribute of tensors in other frameworks to the code that the error suggests instead
TENSORS = {
    "addressable_shards": _DEVICE,
    "at": _AT,
    "aval": "x.shape and x.dtype",
    "backward": _GRADIENT,
    "block_until_ready": _WAIT,
    "copy_to_host_async": _WAIT,
    "cpu": "x.asnumpy(); ms.set_device('CPU') chooses the device",
    "cuda": _DEVICE,
    "detach": _CONSTANT,
    "detach_": _CONSTANT,
    "devices": _DEVICE,
    "grad": _GRADIENT,
    "grad_fn": _GRADIENT,
    "is_cuda": _DEVICE,
    "is_leaf": _GRADIENT,
    "pin_memory": _DEVICE,
    "requires_grad": _POSITIONS,
    "requires_grad_": _POSITIONS,
    "retain_grad": "make it an input of the function that is differentiated: ms.grad(fn)(x)",
    "sharding": "ms.shard(fn, in_strategy) and ms.parallel",
    "share_memory_": "ms.communication for several processes",
}
#: maps an attribute of layers or optimizers in other frameworks to the code that the error suggests instead
CELLS = {
    "add_module": "net.insert_child_to_cell(name, cell)",
    "add_param_group": _GROUPS,
    "backward": _GRADIENT,
    "bind": "net(x), or ms.functional_call(net, params, x) with other Parameters",
    "children": "net.cells()",
    "cpu": _DEVICE,
    "cuda": _DEVICE,
    "device": _DEVICE,
    "double": "net.to_float(ms.float64)",
    "eval": "net.set_train(False)",
    "evaluate": "ms.Model(net, loss_fn, metrics={'accuracy'}).eval(dataset)",
    "fit": "ms.Model(net, loss_fn, optimizer).train(epochs, dataset)",
    "float": "net.to_float(ms.float32)",
    "forward": "'construct'",
    "get_submodule": "an attribute of the net, or dict(net.cells_and_names())[name]",
    "half": "net.to_float(ms.float16)",
    "init": "the net creates its Parameters: net.trainable_params()",
    "lr": "optimizer.learning_rate",
    "modules": "net.cells_and_names()",
    "named_children": "net.name_cells()",
    "named_modules": "net.cells_and_names()",
    "named_parameters": "net.parameters_and_names()",
    "param_groups": "optimizer.group_params; for a changing learning rate, use a schedule",
    "parameters": "net.trainable_params()",
    "params": "net.trainable_params(), and ms.functional_call(net, params, x)",
    "predict": "net(x), or ms.Model(net).predict(x)",
    "register_full_backward_hook": "net.register_backward_hook(hook)",
    "register_parameter": "net.insert_param_to_cell(name, parameter)",
    "requires_grad_": "p.requires_grad = False for each Parameter",
    "state": "optimizer.parameters_dict()",
    "step": _STEP,
    "summary": "print(net), and ms.explain(net)(x)",
    "tabulate": "print(net), and ms.explain(net)(x)",
    "to": "net.to_float(ms.float16) for the dtype; ms.set_device('GPU') for the device",
    "train": "net.set_train(True)",
    "update": _STEP,
    "zero_grad": _ZERO,
}
#: maps the name of an argument in other frameworks to mindgrad's names for this argument. An error suggests
#: the first of these names that the called function accepts. Two names separated by a space mean that two
#: arguments replace one
KEYWORDS: dict[str, tuple[str, ...]] = {
    "A": ("input", "x"),
    "UPLO": ("lower",),
    "a": ("input", "x", "input_x", "A"),
    "argnum": ("grad_position",),
    "argnums": ("grad_position",),
    "arr": ("input", "x"),
    "arrays": ("tensors", "inputs"),
    "ary": ("input", "x"),
    "axes": ("axis", "dim", "dims"),
    "axis": ("dim", "axes", "dims"),
    "b": ("other", "vec2", "y"),
    "betas": ("beta1 beta2",),
    "bias": ("has_bias",),
    "constant_values": ("value",),
    "correction": ("ddof",),
    "ddof": ("correction",),
    "dim": ("axis", "axes", "dims"),
    "dims": ("axis", "axes", "dim"),
    "in_dim": ("in_axes",),
    "in_dims": ("in_axes",),
    "in_features": ("in_channels",),
    "input": ("x", "input_x", "inputs"),
    "k": ("diagonal", "offset"),
    "keepdim": ("keep_dims", "keepdims"),
    "keepdims": ("keep_dims", "keepdim"),
    "lr": ("learning_rate",),
    "newshape": ("shape",),
    "num": ("steps",),
    "num_classes": ("depth",),
    "num_embeddings": ("vocab_size",),
    "embedding_dim": ("embedding_size",),
    "out_dims": ("out_axes",),
    "out_features": ("out_channels",),
    "pad": ("padding",),
    "pad_width": ("padding",),
    "params": ("params", "parameters", "weights"),
    "reps": ("dims",),
    "shape": ("size",),
    "size": ("shape",),
    "stop": ("end",),
    "tangents": ("v",),
    "primals": ("inputs",),
    "cotangents": ("v",),
    "tup": ("tensors",),
    "x": ("input", "input_x"),
    "x1": ("input", "x"),
    "x2": ("other", "y"),
}
#: Boolean arguments, each with the argument that means the opposite: ``lower=True`` is ``upper=False``
_OPPOSITES = {"lower": "upper", "upper": "lower"}
#: maps the name of each argument without a counterpart in mindgrad to the advice in the error message
REMEDIES = {
    "device": _DEVICE,
    "requires_grad": _POSITIONS,
    "create_graph": "higher derivatives need no flag: ms.grad(ms.grad(fn))",
    "retain_graph": "nothing is freed: leave it out",
    "amsgrad": "use_amsgrad",
    "inplace": "the result is a new tensor: leave it out",
    "key": _RANDOM,
    "out": "the result is a new tensor: leave it out",
    "where": "ops.where(condition, x, 0) replaces the other elements before the call",
    "donate_argnums": "memory of unused arguments is reused automatically: leave it out",
    "static_argnames": _STATIC,
    "static_argnum": _STATIC,
    "static_argnums": _STATIC,
}


def advice(names: dict[str, str], name: str) -> str:
    """Return the replacement of ``name`` as the end of an error message, or ``""``.

    >>> from mindgrad._base.foreign_names import MODULES, advice
    >>> advice(MODULES, "Sequential")
    '. In mindgrad: nn.SequentialCell'
    """
    return f". In mindgrad: {names[name]}" if name in names else ""


class Unavailable:
    """A descriptor for an attribute that only other frameworks have.

    Reading the attribute raises ``AttributeError`` with a replacement. Therefore, ``hasattr`` returns
    ``False``.
    """

    def __init__(self, owner: str, name: str, remedy: str) -> None:
        self.text = f"'{owner}' object has no attribute {name!r}. In mindgrad: {remedy}."
        self.name = name

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        own = getattr(instance, "__dict__", {})
        if self.name in own:  # the user has set this attribute, for example on a Parameter
            return own[self.name]
        raise AttributeError(self.text, name=self.name, obj=owner if instance is None else instance)

    def __set__(self, instance: Any, value: Any) -> None:
        if not hasattr(instance, "__dict__"):
            raise AttributeError(self.text, name=self.name, obj=instance)
        instance.__dict__[self.name] = value


def refuse_attributes(cls: type, names: dict[str, str]) -> None:
    """Add :class:`Unavailable` attributes for names that a class does not have.

    ``dir`` does not list these attributes, so editors do not suggest them.

    Args:
        cls: the class.
        names: maps each name to its replacement.
    """
    for name, remedy in names.items():
        if not hasattr(cls, name):
            setattr(cls, name, Unavailable(cls.__name__, name, remedy))
    listed: Any = cls.__dir__

    def available(self: Any) -> list[str]:
        own = getattr(self, "__dict__", ())
        return [x for x in listed(self) if x in own or not _is_unavailable(type(self), x)]

    cls.__dir__ = available  # type: ignore[method-assign,assignment]


def _is_unavailable(cls: type, name: str) -> bool:
    return isinstance(inspect.getattr_static(cls, name, None), Unavailable)


def without_construct(owner: type) -> str:
    """Return the error message for a Cell class without ``construct``."""
    own = [name for name in vars(owner) if name != "construct"]
    hint = nearest("construct", own) or "; define construct(self, ...) in your subclass"
    if hasattr(owner, "forward"):
        hint = ": rename its 'forward' to 'construct'"
    return f"For 'Cell', the method 'construct' of {owner.__name__} is not defined{hint}."


def keyword_hint(name: str, names: Sequence[str]) -> str:
    """Return the end of an error message: the parameter to use instead of ``name``.

    ``names`` are the parameters of the called function.
    """
    for other in KEYWORDS.get(name, ()):
        if set(other.split()) <= set(names):
            return f". In mindgrad: {' and '.join(f'{each}=...' for each in other.split())}"
    if _OPPOSITES.get(name) in names:
        return f". In mindgrad: {_OPPOSITES[name]}=..., which means the opposite"
    if name in REMEDIES and not get_close_matches(name, names, cutoff=0.9):
        return f". In mindgrad: {REMEDIES[name]}"
    return nearest(name, names) or f"; there are {', '.join(names)}"


def accepted_names(function: Any) -> tuple[str, ...] | None:
    """Return the parameter names of a function, or ``None`` if it accepts any keyword."""
    if type(function) is not FunctionType or function.__code__.co_flags & inspect.CO_VARKEYWORDS:
        return None
    code = function.__code__
    return code.co_varnames[code.co_posonlyargcount : code.co_argcount + code.co_kwonlyargcount]


explain_with(keyword_hint)
