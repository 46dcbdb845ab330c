"""As Faster R-CNN does: a CustomOp in NumPy that matches proposals with boxes, samples them, and makes targets."""

import mxnet as mx
import numpy as np

CLASSES, ROIS, FOREGROUND = 4, 8, 0.5


def overlaps_of(boxes, query):
    left = np.maximum(boxes[:, None, :2], query[None, :, :2])
    right = np.minimum(boxes[:, None, 2:4], query[None, :, 2:4])
    both = np.prod(np.maximum(right - left + 1, 0), axis=2)
    area = [np.prod(each[:, 2:4] - each[:, :2] + 1, axis=1) for each in (boxes, query)]
    return both / (area[0][:, None] + area[1][None, :] - both)


def transform(rois, boxes, stds):
    width, height = (rois[:, 2 + i] - rois[:, i] + 1.0 for i in (0, 1))
    wide, high = (boxes[:, 2 + i] - boxes[:, i] + 1.0 for i in (0, 1))
    x, y = (rois[:, i] + 0.5 * (size - 1) for i, size in ((0, width), (1, height)))
    to_x, to_y = (boxes[:, i] + 0.5 * (size - 1) for i, size in ((0, wide), (1, high)))
    found = [(to_x - x) / (width + 1e-14), (to_y - y) / (height + 1e-14), np.log(wide / width), np.log(high / height)]
    return np.stack(found, axis=1) / np.array(stds)


class ProposalTarget(mx.operator.CustomOp):
    def forward(self, is_train, req, in_data, out_data, aux):
        rois, boxes = (each.asnumpy() for each in in_data)
        rois = np.vstack((rois, np.hstack((np.zeros((len(boxes), 1), rois.dtype), boxes[:, :-1]))))
        overlaps = overlaps_of(rois[:, 1:], boxes)
        nearest, most = overlaps.argmax(axis=1), overlaps.max(axis=1)
        order = np.argsort(-most, kind="stable")
        inside = [i for i in order if most[i] >= 0.5][: int(FOREGROUND * ROIS)]
        outside = [i for i in order if most[i] < 0.5][: ROIS - len(inside)]
        keep = np.array(inside + outside)
        labels = boxes[nearest[keep], 4]
        labels[len(inside) :] = 0
        deltas = transform(rois[keep, 1:], boxes[nearest[keep], :4], (0.1, 0.1, 0.2, 0.2))
        targets, weights = np.zeros((ROIS, 4 * CLASSES), "float32"), np.zeros((ROIS, 4 * CLASSES), "float32")
        for i in np.where(labels > 0)[0]:
            start = int(4 * labels[i])
            targets[i, start : start + 4], weights[i, start : start + 4] = deltas[i], 1
        for at, value in enumerate([rois[keep], labels, targets, weights]):
            self.assign(out_data[at], req[at], mx.nd.array(value))

    def backward(self, req, out_grad, in_data, out_data, in_grad, aux):
        for at in range(2):
            self.assign(in_grad[at], req[at], 0)


@mx.operator.register("proposal_target_of_packages")
class ProposalTargetProp(mx.operator.CustomOpProp):
    def __init__(self):
        super().__init__(need_top_grad=False)

    def list_arguments(self):
        return ["rois", "gt_boxes"]

    def list_outputs(self):
        return ["rois_output", "label", "bbox_target", "bbox_weight"]

    def infer_shape(self, in_shape):
        return in_shape, [(ROIS, 5), (ROIS,), (ROIS, 4 * CLASSES), (ROIS, 4 * CLASSES)], []

    def create_operator(self, ctx, shapes, dtypes):
        return ProposalTarget()

    def declare_backward_dependency(self, out_grad, in_data, out_data):
        return []


random = np.random.RandomState(5)
corners = random.uniform(0, 40, (20, 2))
rois = np.hstack([np.zeros((20, 1)), corners, corners + random.uniform(8, 24, (20, 2))]).astype("float32")
boxes = np.array([[5, 5, 25, 25, 1], [20, 10, 45, 40, 3], [2, 30, 20, 50, 2]], "float32")
boxes[:, :4] = np.where(boxes[:, :4] > 40, boxes[:, :4], rois[[2, 7, 11], 1:] + 1)
features = random.normal(0, 1, (1, 3, 16, 16)).astype("float32")
group = mx.sym.Custom(
    mx.sym.Variable("rois"), mx.sym.Variable("gt_boxes"), op_type="proposal_target_of_packages", name="rcnn"
)
pooled = mx.sym.ROIPooling(mx.sym.Variable("features"), group[0], pooled_size=(3, 3), spatial_scale=0.25, name="pool")
flat = mx.sym.FullyConnected(mx.sym.Flatten(pooled), num_hidden=4 * CLASSES, name="bbox_pred")
scores = mx.sym.SoftmaxOutput(
    mx.sym.FullyConnected(mx.sym.Flatten(pooled), num_hidden=CLASSES, name="cls"),
    group[1],
    name="cls_prob",
    normalization="batch",
)
box_loss = mx.sym.MakeLoss(
    mx.sym.smooth_l1((flat - group[2]) * group[3], scalar=1.0), grad_scale=1.0 / ROIS, name="box"
)
network = mx.sym.Group([scores, box_loss, mx.sym.BlockGrad(group[1])])
executor = network.simple_bind(mx.cpu(), rois=rois.shape, gt_boxes=boxes.shape, features=features.shape)
for name, value in sorted(executor.arg_dict.items()):
    if name.endswith("weight"):
        value[:] = mx.nd.array(random.normal(0, 0.1, value.shape))
losses = []
for _ in range(4):
    probabilities, box, label = executor.forward(
        is_train=True, rois=mx.nd.array(rois), gt_boxes=mx.nd.array(boxes), features=mx.nd.array(features)
    )
    executor.backward()
    losses.append([-mx.nd.log(mx.nd.pick(probabilities, label)).mean().asscalar(), box.sum().asscalar()])
    for name, value in executor.arg_dict.items():
        if name.endswith(("weight", "bias")):
            value[:] = value - 0.1 * executor.grad_dict[name]
found = {
    "losses": losses,
    "labels": label,
    "outputs": network.list_outputs(),
    "rois": executor.grad_dict["features"].sum().asscalar(),
    "weights": group[3].name,
    "internals": group.list_outputs(),
}
