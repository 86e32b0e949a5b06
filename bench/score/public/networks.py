"""Networks of public model collections: how each is built, and inputs of small sizes.

The collections are checkouts that the user names; only names, sizes and settings stand here.
"""

from __future__ import annotations

import importlib
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import mindspore
import numpy as np
from mindspore import Tensor, nn

Network = tuple[nn.Cell, list[Tensor]]

#: mindcv: module, constructor and size of the image
MINDCV: dict[str, tuple[str, int]] = {
    "bit": ("BiT_resnet50", 64),
    "cait": ("cait_xxs24_224", 224),
    "cmt": ("cmt_tiny", 160),
    "coat": ("coat_lite_tiny", 224),
    "convit": ("convit_tiny", 224),
    "convnext": ("convnextv2_atto", 224),
    "crossvit": ("crossvit_9", 240),
    "densenet": ("densenet121", 64),
    "dpn": ("dpn92", 64),
    "edgenext": ("edgenext_xx_small", 224),
    "efficientnet": ("efficientnet_b0", 64),
    "ghostnet": ("ghostnet_050", 64),
    "googlenet": ("googlenet", 64),
    "halonet": ("halonet_50t", 256),
    "hrnet": ("hrnet_w32", 64),
    "inceptionv3": ("inception_v3", 299),
    "inceptionv4": ("inception_v4", 128),
    "mae": ("mae_b_16_224_finetune", 224),
    "mixnet": ("mixnet_s", 64),
    "mlpmixer": ("mlp_mixer_s_p32", 224),
    "mnasnet": ("mnasnet_050", 64),
    "mobilenetv1": ("mobilenet_v1_025", 64),
    "mobilenetv2": ("mobilenet_v2_035_128", 64),
    "mobilenetv3": ("mobilenet_v3_small_075", 64),
    "mobilevit": ("mobilevit_xx_small", 64),
    "nasnet": ("nasnet_a_4x1056", 128),
    "pit": ("pit_ti", 224),
    "pnasnet": ("pnasnet", 128),
    "poolformer": ("poolformer_s12", 224),
    "pvt": ("pvt_tiny", 224),
    "pvtv2": ("pvt_v2_b0", 224),
    "regnet": ("regnet_y_200mf", 64),
    "repmlp": ("repmlp_t224", 224),
    "repvgg": ("repvgg_a0", 64),
    "res2net": ("res2net50", 64),
    "resnest": ("resnest14", 64),
    "resnet": ("resnet18", 64),
    "resnetv2": ("resnetv2_50", 64),
    "rexnet": ("rexnet_09", 64),
    "senet": ("seresnet18", 64),
    "shufflenetv1": ("shufflenet_v1_g3_05", 64),
    "shufflenetv2": ("shufflenet_v2_x0_5", 64),
    "sknet": ("skresnet18", 64),
    "squeezenet": ("squeezenet1_0", 64),
    "swintransformer": ("swin_tiny", 224),
    "swintransformerv2": ("swinv2_tiny_window8", 256),
    "vgg": ("vgg11", 224),
    "visformer": ("visformer_tiny", 224),
    "vit": ("vit_b_32_224", 224),
    "volo": ("volo_d1", 224),
    "xception": ("xception", 96),
    "xcit": ("xcit_tiny_12_p16_224", 224),
}


class Settings(dict[str, Any]):
    """Settings of a model, read as attributes."""

    __getattr__ = dict.__getitem__


def normal(*shape: int, seed: int = 1) -> Tensor:
    """Normally distributed numbers."""
    return Tensor(np.random.RandomState(seed).standard_normal(shape).astype(np.float32))


def uniform(*shape: int, seed: int = 1) -> Tensor:
    """Numbers between 0 and 1."""
    return Tensor(np.random.RandomState(seed).random_sample(shape).astype(np.float32))


def whole(*shape: int, below: int, seed: int = 1) -> Tensor:
    """Integers from 0 on."""
    return Tensor(np.random.RandomState(seed).randint(0, below, shape).astype(np.int32))


def ones(*shape: int, dtype: Any = np.int32) -> Tensor:
    """Ones."""
    return Tensor(np.ones(shape, dtype))


class Folder:
    """A folder of the collection "models", from which modules are imported."""

    def __init__(self, checkouts: Path, name: str) -> None:
        self.path = checkouts / "models" / name
        os.chdir(self.path)
        sys.path.insert(0, str(self.path))
        sys.argv = ["train.py"]

    def __call__(self, module: str) -> Any:
        return importlib.import_module(module)


def unet(at: Path) -> Network:
    return Folder(at, "official/cv/Unet")("src.unet_medical.unet_model").UNetMedical(1, 2), [
        normal(1, 1, 572, 572)
    ]


def unet_nested(at: Path) -> Network:
    return Folder(at, "official/cv/Unet")("src.unet_nested.unet_model").NestedUNet(1, 2), [
        normal(1, 1, 32, 32)
    ]


def deeplab_v3(at: Path) -> Network:
    module = Folder(at, "official/cv/DeepLabv3")("src.nets.deeplab_v3.deeplab_v3")
    return module.DeepLabV3("train", 5, 16, False), [normal(2, 3, 65, 65)]


def deeplab_v3_plus(at: Path) -> Network:
    module = Folder(at, "official/cv/DeepLabV3P")("src.deeplab_v3plus")
    return module.DeepLabV3Plus("train", 5, 16, False), [normal(2, 3, 65, 65)]


def yolo_v5(at: Path) -> Network:
    folder = Folder(at, "official/cv/YOLOv5")
    shape = [3, 16, 32, 64, 128, 256, 1]
    backbone = folder("src.backbone").YOLOv5Backbone(shape=shape)
    return folder("src.yolo").YOLO(backbone=backbone, shape=shape), [normal(1, 12, 64, 64)]


def darknet53(at: Path) -> Network:
    module = Folder(at, "official/cv/YOLOv3")("src.darknet")
    widths = [32, 64, 128, 256, 512]
    network = module.DarkNet(
        module.ResidualBlock, [1, 2, 8, 8, 4], widths, [2 * w for w in widths], detect=True
    )
    return network, [normal(1, 3, 64, 64)]


def pointnet(at: Path) -> Network:
    return Folder(at, "official/cv/PointNet")("src.network").PointNetDenseCls(k=4), [normal(4, 3, 64)]


def pointnet2(at: Path) -> Network:
    return Folder(at, "official/cv/PointNet2")("src.pointnet2").PointNet2(10, False), [normal(2, 600, 3)]


def crnn(at: Path) -> Network:
    settings = Settings(batch_size=2, input_size=512, hidden_size=32, class_num=37)
    return Folder(at, "official/cv/CRNN")("src.crnn").CRNNV2(settings), [normal(2, 3, 32, 100)]


def edsr(at: Path) -> Network:
    return Folder(at, "official/cv/EDSR")("src.edsr").EDSR(2, 16, 3, 4), [normal(1, 3, 12, 12)]


def arcface(at: Path) -> Network:
    return Folder(at, "official/cv/Arcface")("src.iresnet").iresnet18(), [normal(2, 3, 112, 112)]


def sentiment_lstm(at: Path) -> Network:
    module = Folder(at, "official/nlp/LSTM")("src.lstm")
    return module.SentimentNet(50, 12, 16, 2, True, 2, normal(50, 12), 4), [whole(4, 500, below=50)]


def bert(at: Path) -> Network:
    folder = Folder(at, "official/nlp/Bert")
    settings = folder("src.bert_model").BertConfig(
        seq_length=16,
        vocab_size=60,
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=4,
        intermediate_size=64,
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
        max_position_embeddings=32,
    )
    network = folder("src.bert_for_pre_training").BertNetworkWithLoss(settings, True)
    words, kinds, following = whole(2, 16, below=60), whole(2, 16, below=2), whole(2, 1, below=2)
    masked = [whole(2, 4, below=16), whole(2, 4, below=60), ones(2, 4, dtype=np.float32)]
    return network, [words, ones(2, 16), kinds, following, *masked]


def transformer(at: Path) -> Network:
    folder = Folder(at, "official/nlp/Transformer")
    settings = folder("src.transformer_model").TransformerConfig(
        batch_size=2,
        seq_length=10,
        vocab_size=60,
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=4,
        intermediate_size=64,
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
        max_position_embeddings=16,
        compute_type=mindspore.float32,
    )
    network = folder("src.transformer_for_train").TransformerNetworkWithLoss(settings, True)
    sentences = [whole(2, 10, below=60, seed=seed) for seed in (1, 2, 3)]
    return network, [each for words in sentences for each in (words, ones(2, 10))]


def deepfm(at: Path) -> Network:
    settings = Settings(
        batch_size=8,
        data_field_size=6,
        data_vocab_size=40,
        data_emb_dim=4,
        deep_layer_args=[[16, 16, 16, 16], "relu"],
        emb_init="normal",
        init_args=[-0.01, 0.01],
        weight_bias_init=["normal", "normal"],
        keep_prob=1.0,
        convert_dtype=False,
    )
    module = Folder(at, "official/recommend/DeepFM")("src.deepfm")
    network = module.NetWithLossClass(module.DeepFMModel(settings))
    return network, [whole(8, 6, below=40), normal(8, 6), whole(8, 1, below=2).astype(mindspore.float32)]


def wide_and_deep(at: Path) -> Network:
    settings = Settings(
        batch_size=8,
        host_device_mix=0,
        parameter_server=0,
        is_auto_parallel=False,
        field_size=6,
        emb_dim=4,
        vocab_size=40,
        dropout_flag=False,
        keep_prob=1.0,
        deep_layer_dim=[16] * 5,
        deep_layer_act="relu",
        emb_init="normal",
        init_args=[-0.01, 0.01],
        weight_bias_init=["normal", "normal"],
        l2_coef=1e-4,
        vocab_cache_size=0,
        sparse=False,
        field_slice=False,
        manual_shape=None,
        full_batch=False,
        dataset_type="tfrecord",
    )
    module = Folder(at, "official/recommend/Wide_and_Deep")("src.wide_and_deep")
    network = module.NetWithLossClass(module.WideDeepModel(settings), settings)
    return network, [whole(8, 6, below=40), normal(8, 6), whole(8, 1, below=2).astype(mindspore.float32)]


def gcn(at: Path) -> Network:
    module = Folder(at, "official/gnn/GCN")("src.gcn")
    return module.GCN(Settings(hidden1=8, dropout=0.0), 12, 4), [normal(10, 10), normal(10, 12)]


def melgan_generator(at: Path) -> Network:
    return Folder(at, "official/audio/MELGAN")("src.model").Generator(0.2), [normal(1, 80, 6)]


def melgan_discriminator(at: Path) -> Network:
    return Folder(at, "official/audio/MELGAN")("src.model").MultiDiscriminator(), [normal(1, 1, 4096)]


def lenet(at: Path) -> Network:
    return Folder(at, "research/cv/lenet")("src.lenet").LeNet5(10), [normal(2, 1, 32, 32)]


def srcnn(at: Path) -> Network:
    return Folder(at, "research/cv/srcnn")("src.srcnn").SRCNN(), [normal(1, 1, 24, 24)]


def textcnn(at: Path) -> Network:
    return Folder(at, "research/nlp/textcnn")("src.textcnn").TextCNN(50, 12, 2, 30), [whole(2, 12, below=50)]


def squeezenet_research(at: Path) -> Network:
    return Folder(at, "research/cv/squeezenet")("src.squeezenet").SqueezeNet(10), [normal(1, 3, 64, 64)]


def googlenet_research(at: Path) -> Network:
    return Folder(at, "research/cv/googlenet")("src.googlenet").GoogleNet(10), [normal(1, 3, 64, 64)]


def unet3d(at: Path) -> Network:
    return Folder(at, "research/cv/Unet3d")("src.unet3d_model").UNet3d_(), [normal(1, 1, 32, 32, 32)]


def vnet(at: Path) -> Network:
    return Folder(at, "research/cv/vnet")("src.vnet").VNet(), [normal(1, 1, 32, 32, 32)]


def gat(at: Path) -> Network:
    network = Folder(at, "research/gnn/gat")("src.gat").GAT(
        8, 4, num_nodes=10, hidden_units=[4], num_heads=[2, 1], attn_drop=0.0, ftr_drop=0.0
    )
    return network, [normal(1, 10, 8), normal(1, 10, 10)]


def dcgan_generator(at: Path) -> Network:
    return Folder(at, "research/cv/dcgan")("src.generator").Generator(), [normal(1, 100, 1, 1)]


#: "models": a function for each
MODELS: list[Callable[[Path], Network]] = [
    arcface,
    bert,
    crnn,
    darknet53,
    dcgan_generator,
    deepfm,
    deeplab_v3,
    deeplab_v3_plus,
    edsr,
    gat,
    gcn,
    googlenet_research,
    lenet,
    melgan_discriminator,
    melgan_generator,
    pointnet,
    pointnet2,
    sentiment_lstm,
    squeezenet_research,
    srcnn,
    textcnn,
    transformer,
    unet,
    unet3d,
    unet_nested,
    vnet,
    wide_and_deep,
    yolo_v5,
]


def _mindcv(at: Path, name: str) -> Network:
    module, (constructor, size) = f"mindcv.models.{name}", MINDCV[name]
    sys.path.insert(0, str(at / "mindcv"))
    network = getattr(importlib.import_module(module), constructor)(num_classes=10)
    return network, [normal(2, 3, size, size)]


def fill(network: nn.Cell) -> None:
    """Gives Parameters values that depend on their position, shape and role only."""
    for number, parameter in enumerate(network.get_parameters()):
        if "float" not in str(parameter.dtype).lower():
            continue
        shape, generator = tuple(parameter.shape), np.random.RandomState(number)
        role = parameter.name.rpartition(".")[2]
        if len(shape) >= 2:
            values = generator.standard_normal(shape) / np.sqrt(max(1, int(np.prod(shape[1:]))))
        elif "var" in role:
            values = 1 + 0.2 * generator.random_sample(shape)
        elif "gamma" in role or ("norm" in parameter.name and "weight" in role):
            values = 1 + 0.1 * generator.standard_normal(shape)
        else:
            values = 0.1 * np.asarray(generator.standard_normal(shape))
        parameter.set_data(Tensor(values.astype(np.float32)).astype(parameter.dtype))


def tensors(output: Any) -> list[Tensor]:
    """The tensors of an output (written so that MindSpore compiles it)."""
    if isinstance(output, dict):
        output = list(output.values())
    if isinstance(output, (tuple, list)):
        results = []
        for value in output:
            results += tensors(value)
        return results
    return [output] if isinstance(output, Tensor) else []


def mean_square(outputs: list[Tensor]) -> Any:
    """The sum of the mean squares of the outputs that are floating-point numbers."""
    total = None
    for output in outputs:
        if output.dtype in (mindspore.float32, mindspore.float16):
            value = (output.astype(mindspore.float32) ** 2).mean()
            total = value if total is None else total + value
    return total


DROPPED = ("Dropout", "Dropout2d", "DropPath", "DropConnect")


def run(checkouts: Path, name: str, mode: int) -> dict[str, Any]:
    """A step of training of a network: its loss is the mean square of its outputs.

    Returns:
        ``losses``: of the step, ``norms``: of each gradient, ``weights``: the sum of magnitudes of each
        Parameter behind the step, ``times``: of the step in seconds.
    """
    functions = {function.__name__: function for function in MODELS}
    network, inputs = functions[name](checkouts) if name in functions else _mindcv(checkouts, name)
    fill(network)
    network.set_train(True)
    for _, cell in network.cells_and_names():
        if type(cell).__name__ in DROPPED:
            cell.set_train(False)
    weights = network.trainable_params()

    def loss(*values: Tensor) -> Any:
        return mean_square(tensors(network(*values)))

    step = mindspore.value_and_grad(loss, None, weights)
    optimizer = nn.SGD(weights, 1e-3)
    started = time.perf_counter()
    value, gradients = step(*inputs)
    optimizer(gradients)
    result: dict[str, Any] = {"losses": [float(value.asnumpy())]}
    result["norms"] = [float(np.linalg.norm(each.asnumpy().astype(np.float64))) for each in gradients]
    result["weights"] = [float(np.abs(each.asnumpy()).sum(dtype=np.float64)) for each in weights]
    result["times"] = [round(time.perf_counter() - started, 2)]
    return result


def names() -> list[str]:
    """All networks."""
    return [*MINDCV, *(function.__name__ for function in MODELS)]
