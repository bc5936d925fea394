"""Looking at one place only: drawn by chance, or the likeliest one."""

from keras import ops


def draw_one(weights, luck):
    """Return one place per row, drawn with the probabilities `weights`.

    No gradient passes: which place is drawn does not change smoothly. A row
    of zeros has nothing to draw from and gives zeros.

    Shapes:
        weights `(B, S)`, luck `(B, 1)` uniform in [0, 1) -> `(B, S)`, a
        single one in each row.

    >>> weights = ops.convert_to_tensor([[0.25, 0.0, 0.75]])
    >>> draw_one(weights, ops.convert_to_tensor([[0.2]])).numpy().tolist()
    [[1.0, 0.0, 0.0]]
    >>> draw_one(weights, ops.convert_to_tensor([[0.25]])).numpy().tolist()
    [[0.0, 0.0, 1.0]]
    """
    if weights.shape[-1] == 0:
        return weights
    dtype = weights.dtype
    # In float32: half precision has too few numbers below one to draw fairly.
    heights = ops.cumsum(ops.cast(weights, "float32"), axis=-1)
    aim = ops.cast(luck, "float32") * heights[:, -1:]
    return ops.stop_gradient(ops.cast(_first(heights > aim), dtype))


def likeliest_one(weights):
    """Return the place with the largest weight, the first of equals.

    >>> likeliest_one(ops.convert_to_tensor([[0.2, 0.4, 0.4]])).numpy().tolist()
    [[0.0, 1.0, 0.0]]
    """
    largest = ops.max(weights, axis=-1, keepdims=True, initial=0.0)
    here = ops.logical_and(weights >= largest, weights > 0)
    return ops.stop_gradient(ops.cast(_first(here), weights.dtype))


def doubly_stochastic_penalty(weights, mask=None):
    r"""Return what it costs to leave places unseen, of each row.

    $$ \sum_i \Bigl(1 - \sum_t \alpha_{ti}\Bigr)^2, $$

    equation 14 of Xu et al. (2015): over all steps, every place shall get
    the attention of about one.

    Shapes:
        weights `(B, T, S)`, mask `(B, T)`, True for steps that count
        -> `(B,)`, float32.

    >>> doubly_stochastic_penalty(ops.ones((1, 1, 3))).numpy().tolist()
    [0.0]
    """
    weights = ops.cast(weights, "float32")
    if mask is not None:
        weights = ops.where(ops.expand_dims(mask, -1), weights, 0.0)
    unseen = 1.0 - ops.sum(weights, axis=1)
    return ops.sum(ops.square(unseen), axis=-1)


def choice_log_probability(weights, choices):
    r"""Return $\sum_i s_{ti} \log \alpha_{ti}$ of each step.

    Where $s_t$ is a drawn place this is its log-probability, whose gradient
    is the score of Xu et al. (2015), equation 11. Where $s_t$ is $\alpha_t$
    itself, its expected value, the gradient is zero, since
    $\sum_i \alpha_i \nabla \log \alpha_i = \nabla \sum_i \alpha_i = 0$.

    Shapes:
        weights, choices `(B, T, S)` -> `(B, T)`, float32.
    """
    weights, choices = (ops.cast(x, "float32") for x in (weights, choices))
    logs = ops.log(ops.maximum(weights, TINY))
    return ops.sum(ops.stop_gradient(choices) * logs, axis=-1)


def choice_entropy(weights):
    r"""Return $-\sum_i \alpha_{ti} \log \alpha_{ti}$ of each step.

    Shapes:
        weights `(B, T, S)` -> `(B, T)`, float32.
    """
    weights = ops.cast(weights, "float32")
    return -ops.sum(weights * ops.log(ops.maximum(weights, TINY)), axis=-1)


# A probability whose logarithm is still finite.
TINY = 1e-30


def _first(here):
    """Keep the first True of each row."""
    count = ops.cumsum(ops.cast(here, "int32"), axis=-1)
    return ops.logical_and(here, ops.equal(count, 1))
