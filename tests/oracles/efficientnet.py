"""EfficientNet-Lite0 in float64 NumPy, from the table of the paper.

Tan and Le (2019), table 1, without squeeze-and-excitation and with ReLU6, as
the Lite variant has it; the tensors are those of the PyTorch file.
"""

import numpy as np

# Kernel and stride of the 16 blocks; the widths are those of the tensors.
BLOCKS = (
    [(3, 1)]
    + [(3, 2), (3, 1)]
    + [(5, 2), (5, 1)]
    + [(3, 2), (3, 1), (3, 1)]
    + [(5, 1)] * 3
    + [(5, 2), (5, 1), (5, 1), (5, 1)]
    + [(3, 1)]
)


def windows(x, kernel, stride):
    """Return `(kernel * kernel, h, w, D)`; padding so that h = H / stride."""
    sizes = [-(-n // stride) for n in x.shape[:2]]
    pads = [
        max((m - 1) * stride + kernel - n, 0)
        for m, n in zip(sizes, x.shape[:2], strict=True)
    ]
    # The odd one of the zeros comes after.
    x = np.pad(x, [(p // 2, p - p // 2) for p in pads] + [(0, 0)])
    return np.stack(
        [
            x[i:, j:][
                : sizes[0] * stride : stride, : sizes[1] * stride : stride
            ]
            for i in range(kernel)
            for j in range(kernel)
        ]
    )


def conv(x, weight, stride=1):
    """Weight `(out, in, k, k)`."""
    taps = windows(x, weight.shape[-1], stride)
    weight = weight.reshape(*weight.shape[:2], -1)
    return np.einsum("thwi,oit->hwo", taps, weight, optimize=True)


def depthwise(x, weight, stride):
    """Weight `(D, 1, k, k)`."""
    taps = windows(x, weight.shape[-1], stride)
    return np.einsum("thwd,dt->hwd", taps, weight.reshape(len(weight), -1))


def efficientnet_lite0(image, tensors):
    """Image `(H, W, 3)` of 0..255 -> features `(h, w, 1280)`, logits."""
    tensors = {k: v.astype("float64") for k, v in tensors.items()}

    def norm(x, name):
        mean, var = (tensors[f"{name}.running_{s}"] for s in ("mean", "var"))
        x = (x - mean) / np.sqrt(var + 1e-3)
        return x * tensors[f"{name}.weight"] + tensors[f"{name}.bias"]

    def relu6(x):
        return np.clip(x, 0, 6)

    x = (np.asarray(image, "float64") - 127) / 128
    x = relu6(norm(conv(x, tensors["_conv_stem.weight"], 2), "_bn0"))
    for number, (kernel, stride) in enumerate(BLOCKS):
        name = f"_blocks.{number}"
        came_in = x
        if f"{name}._expand_conv.weight" in tensors:
            x = conv(x, tensors[f"{name}._expand_conv.weight"])
            x = relu6(norm(x, f"{name}._bn0"))
        weight = tensors[f"{name}._depthwise_conv.weight"]
        assert weight.shape[-1] == kernel
        x = relu6(norm(depthwise(x, weight, stride), f"{name}._bn1"))
        x = conv(x, tensors[f"{name}._project_conv.weight"])
        x = norm(x, f"{name}._bn2")
        if stride == 1 and x.shape == came_in.shape:
            x = x + came_in
    x = relu6(norm(conv(x, tensors["_conv_head.weight"]), "_bn1"))
    logits = tensors["_fc.weight"] @ x.mean(axis=(0, 1)) + tensors["_fc.bias"]
    return x, logits
