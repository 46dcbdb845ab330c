"""mx.gluon.model_zoo: names and shapes of all parameters of every network, their outputs, gradients, files."""

from __future__ import annotations

import hashlib
import os
import zlib

import numpy as np
from _case import case

from gluon_cases._parts import signature

SIZES = {"alexnet": 67, "densenet": 224, "inception": 299, "mobilenet": 64, "resnet": 64, "squeezenet": 224, "vgg": 32}
MODELS = """
    alexnet densenet121 densenet161 densenet169 densenet201 inceptionv3 mobilenet0.25 mobilenet0.5 mobilenet0.75
    mobilenet1.0 mobilenetv2_0.25 mobilenetv2_0.5 mobilenetv2_0.75 mobilenetv2_1.0 resnet101_v1 resnet101_v2
    resnet152_v1 resnet152_v2 resnet18_v1 resnet18_v2 resnet34_v1 resnet34_v2 resnet50_v1 resnet50_v2 squeezenet1.0
    squeezenet1.1 vgg11 vgg11_bn vgg13 vgg13_bn vgg16 vgg16_bn vgg19 vgg19_bn
""".split()
#: One of each kind and version; the others have more of the same layers.
SMALLEST = """
    densenet121 inceptionv3 mobilenet0.25 mobilenetv2_0.25 resnet18_v1 resnet18_v2 resnet50_v1 resnet50_v2
    squeezenet1.0 squeezenet1.1 vgg11 vgg11_bn alexnet
""".split()
PUBLIC = """
    AlexNet BasicBlockV1 BasicBlockV2 BottleneckV1 BottleneckV2 DenseNet Inception3 MobileNet MobileNetV2 ResNetV1
    ResNetV2 SqueezeNet VGG
""".split()

#: Numbers between -1 and 1; parameters repeat them from some place on, which is faster than drawing 40 million.
_NUMBERS = np.random.RandomState(3).uniform(-1, 1, 100_003).astype("float32")


def _values(name, shape):
    """Numbers for a parameter, which depend on its name; weights keep the variance of what they multiply."""
    count = int(np.prod(shape))
    numbers = np.resize(np.roll(_NUMBERS, zlib.crc32(name.encode()) % 99_991), count).reshape(shape)
    if name.endswith(("gamma", "running_var")):
        return 1 + 0.3 * numbers
    if name.endswith("weight"):
        return numbers * np.sqrt(6 / np.prod(shape[1:]))
    return 0.1 * numbers


def _filled(mx, net, size, batch=1):
    """The network with given numbers as parameters, and images."""
    x = mx.nd.array(_values("image", (batch, 3, size, size)))
    net.initialize()
    net(x).wait_to_read()
    for name, param in net._collect_params_with_prefix().items():
        param.set_data(mx.nd.array(_values(name, param.shape)))
    return x


def _digest(lines):
    lines = list(lines)
    return [len(lines), hashlib.sha1("\n".join(lines).encode()).hexdigest()]


@case(model=MODELS)
def parameters(mx, model):
    net = mx.gluon.model_zoo.vision.get_model(model)
    params = net.collect_params().items()
    return {
        "name": type(net).__name__,
        "structure": _digest(repr(net).splitlines()),
        "names": _digest(name for name, _ in params),
        "shapes": _digest(str(param.shape) for _, param in params),
        "kinds": _digest(f"{param.init} {param.grad_req}" for _, param in params if isinstance(param.init, str)),
        "in files": _digest(net._collect_params_with_prefix()),
    }


@case(model=MODELS, rtol=1e-4, atol=1e-4, whole=lambda model: model not in SMALLEST)
def outputs(mx, model):
    net = mx.gluon.model_zoo.vision.get_model(model, classes=7)
    x = _filled(mx, net, next(size for name, size in SIZES.items() if model.startswith(name)))
    shapes = [str(param.shape) for param in net.collect_params().values()]
    scores = net(x)
    return [_digest(shapes), scores / scores.abs().max()]


@case(model=["resnet18_v1", "resnet18_v2", "mobilenet0.25", "mobilenetv2_0.25"], rtol=5e-3, atol=1e-3)
def gradients(mx, model):
    net = mx.gluon.model_zoo.vision.get_model(model, classes=3)
    x = _filled(mx, net, 64, batch=4)
    net.hybridize()
    with mx.autograd.record():
        out = net(x)
        loss = (out * out).mean()
    loss.backward()
    grads = [param.grad() for param in net.collect_params().values() if param.grad_req != "null"]
    norms = [float(grad.norm().asscalar()) / max(1.0, float(grads[-1].norm().asscalar())) for grad in grads]
    return [out, norms[-6:]]


@case(version=[1, 2], layers=[18, 50])
def thumbnails(mx, version, layers):
    net = mx.gluon.model_zoo.vision.get_resnet(version, layers, thumbnail=True, classes=3)
    x = _filled(mx, net, 16)
    return [list(net.collect_params()), net(x)]


@case(dropout=[0, 0.5], bn_size=[2, 4])
def own_densenet(mx, dropout, bn_size):
    net = mx.gluon.model_zoo.vision.DenseNet(8, 4, [2, 1], bn_size=bn_size, dropout=dropout, classes=3, prefix="d_")
    x = _filled(mx, net, 64)
    return [repr(net).splitlines()[-3:], list(net.collect_params()), net(x)]


@case(multiplier=[0.3, 0.333, 1.3])
def own_mobilenets(mx, multiplier):
    vision = mx.gluon.model_zoo.vision
    nets = [vision.get_mobilenet(multiplier, classes=2), vision.get_mobilenet_v2(multiplier, classes=2)]
    return [[str(param.shape) for param in net.collect_params().values()] for net in nets]


@case
def own_resnets(mx):
    vision = mx.gluon.model_zoo.vision
    nets = [
        vision.ResNetV1(vision.BasicBlockV1, [1, 1], [4, 4, 8], classes=2, prefix="a_"),
        vision.ResNetV2(vision.BottleneckV2, [1, 2], [4, 8, 16], classes=2, prefix="b_"),
    ]
    return [[repr(net), list(net.collect_params()), net(_filled(mx, net, 32))] for net in nets]


@case
def own_vgg(mx):
    net = mx.gluon.model_zoo.vision.VGG([1, 2], [4, 6], classes=2, batch_norm=True)
    return [repr(net), net(_filled(mx, net, 8))]


@case(model=["resnet18_v1", "mobilenetv2_0.25", "squeezenet1.1"])
def files(mx, folder, model):
    """Saved by one network, loaded by another, under both kinds of names."""
    results, path = [], os.path.join(folder, "net.params")
    for save, load in (("save_parameters", "load_parameters"), ("save_params", "load_parameters")):
        net = mx.gluon.model_zoo.vision.get_model(model, classes=2, prefix="net_")
        x = _filled(mx, net, 224 if model.startswith("squeezenet") else 64)
        getattr(net, save)(path)
        other = mx.gluon.model_zoo.vision.get_model(model, classes=2, prefix="net_")
        getattr(other, load)(path)
        results.append([os.path.getsize(path), float((other(x) - net(x)).abs().max().asscalar())])
    return results


@case(name=["Dense", "RESNET18_V1", "MobileNet1.0", "vgg12", "resnet18", "squeezenet1_0", ""])
def get_model(mx, name):
    return type(mx.gluon.model_zoo.vision.get_model(name)).__name__


@case
def unknown_kinds(mx):
    vision = mx.gluon.model_zoo.vision
    answers = []
    for make, args in (
        (vision.SqueezeNet, ("2.0",)),
        (vision.get_resnet, (1, 19)),
        (vision.get_resnet, (3, 18)),
        (vision.get_vgg, (12,)),
        (vision.ResNetV1, (vision.BasicBlockV1, [1, 1], [4, 4])),
        (vision.VGG, ([1, 1], [4])),
        (vision.mobilenet0_5, (2,)),
    ):
        try:
            answers.append(type(make(*args)).__name__)
        except Exception as error:
            answers.append("AssertionError" if isinstance(error, AssertionError) else type(error).__name__)
    return answers


@case(name=PUBLIC)
def signature_of_class(mx, name):
    return signature(getattr(mx.gluon.model_zoo.vision, name))


@case
def public_names(mx):
    return [name for name in dir(mx.gluon.model_zoo.vision) if name[0] != "_"]


@case(name=["resnet18_v1", "mobilenetv2_0.5", "nope"])
def short_hash(mx, name):
    return mx.gluon.model_zoo.model_store.short_hash(name)


@case
def purge(mx, folder):
    for name in ("a.params", "b.txt", "c.params"):
        with open(os.path.join(folder, name), "w") as file:
            file.write(name)
    mx.gluon.model_zoo.model_store.purge(folder)
    return sorted(os.listdir(folder))
