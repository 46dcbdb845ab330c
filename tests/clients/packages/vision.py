"""Networks of GluonCV: classifiers with their gradients; detection, segmentation, poses and videos."""

import mxnet as mx
from gluoncv import model_zoo
from kit import answer, draw, gradients, set_parameters

CLASSIFIERS = "cifar_resnet20_v1 resnet18_v1b se_resnet18_v1 mobilenetv3_small"
OTHERS = {
    "yolo3_mobilenet1.0_voc": (1, 3, 320, 320),
    "ssd_300_vgg16_atrous_voc": (1, 3, 320, 320),
    "center_net_resnet18_v1b_voc": (1, 3, 320, 320),
    "hrnet_w18_small_v1_s": (1, 3, 480, 480),
    "simple_pose_resnet18_v1b": (1, 3, 256, 192),
    "i3d_inceptionv1_kinetics400": (1, 3, 32, 112, 112),
}


def without_dropout(block):
    """Draws differ."""
    if isinstance(block, mx.gluon.nn.Dropout):
        block._rate = 0.0


def made(name, shape):
    try:
        net = model_zoo.get_model(name, pretrained=False, pretrained_base=False)
    except TypeError:  # it is no base, and has none
        net = model_zoo.get_model(name, pretrained=False)
    net.initialize(mx.init.Xavier())
    net.apply(without_dropout)
    x = mx.nd.array(draw(1, *shape) * 0.5)
    net(x)
    set_parameters(net)
    return net, x


def run():
    found = {}
    for name in CLASSIFIERS.split():
        net, x = made(name, (2, 3, 32, 32) if "cifar" in name else (2, 3, 224, 224))
        found[name] = gradients(net, lambda net=net, x=x: net(x))
    for name, shape in OTHERS.items():
        net, x = made(name, shape)
        found[name] = answer(net(x))
        if hasattr(net, "set_nms"):  # forgets the graph
            net.hybridize()
            net(x)
            net.set_nms(0.3, 50)
            found[f"{name}, other limits"] = answer(net(x))
    return found
