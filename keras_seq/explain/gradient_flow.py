"""How far back in time a loss is heard: vanishing and exploding gradients."""

import dataclasses

import numpy as np


@dataclasses.dataclass(frozen=True)
class GradientFlow:
    r"""What reaches the states of one recurrent layer from the loss.

    Everything is ordered by lag: entry 0 is the last step that was read,
    entry `k` lies `k` steps before it. Padding does not count as a step.

    Attributes:
        name: Path of the layer.
        norms: $\|dL/dh_t\|$ of each row, `(B, T)`; NaN beyond its first step.
        cell_norms: $\|dL/dc_t\|$ likewise for an LSTM, else `None`.
        singular_values: Of the step's Jacobian $J_t = ds_t / ds_{t-1}$,
            largest first, `(T, S)`. For a plain RNN this is
            $\mathrm{diag}(g') W_h^\top$; `s` is `h`, for an LSTM `(h, c)`.
            Of the row `example`, which has `T` steps here.
        spectral_radius: Largest $|\lambda|$ of each $J_t$, `(T,)`.
        growth: $\|J_T J_{T-1} \cdots J_{T-k+1}\|$, `(T,)`: the most by
            which a gradient can have grown, or the least it has shrunk, `k`
            steps back; 1 at lag 0.
    """

    name: str
    norms: np.ndarray
    cell_norms: np.ndarray | None
    singular_values: np.ndarray
    spectral_radius: np.ndarray
    growth: np.ndarray

    @property
    def lag(self):
        """Steps before the last one, `(T,)`."""
        return np.arange(self.norms.shape[1])

    @property
    def norm(self):
        """The mean of `norms` over the rows that reach so far back, `(T,)`."""
        return _mean_of_rows(self.norms)

    @property
    def cell_norm(self):
        """The same of `cell_norms`; `None` if there are none."""
        return (
            None if self.cell_norms is None else _mean_of_rows(self.cell_norms)
        )

    def half_life(self):
        """The first lag at which less than half of the gradient is left."""
        below = np.nonzero(self.norm < self.norm[0] / 2)[0]
        return int(below[0]) if len(below) else None


def gradient_flow(model, x, y=None, loss=None, example=0):
    r"""Measure the gradient of a loss at every time step of a model.

    Backpropagation multiplies $dL/dh_t$ by a Jacobian per step it goes back,
    for a plain RNN by $W_h \,\mathrm{diag}(g')$. If its singular values stay
    below 1 the gradient vanishes, if they stay above it explodes. This
    measures both: the gradient itself, and the Jacobians that made it.

    Args:
        model: A Keras model that has `SimpleRNN`, `LSTM` or `GRU` of
            keras_seq in it, on their own or in `Bidirectional`; or such a
            layer.
        x: A batch for it.
        y: Targets, if `loss` takes them.
        loss: `loss(outputs)`, or `loss(y, outputs)` if there is a `y`; its
            sum is differentiated. Default: half the squared norm of the
            outputs, at the last time step if they are a sequence.
        example: The row of the batch whose Jacobians are looked at.

    Returns:
        `{layer path: GradientFlow}`, plain NumPy arrays, for
        `plot_gradient_flow` or for your own drawing.

    Example:
        >>> import numpy as np
        >>> from keras_seq.layers import SimpleRNN
        >>> layer = SimpleRNN(4, name="rnn")
        >>> flow = gradient_flow(layer, np.ones((2, 7, 3), "float32"))["rnn"]
        >>> flow.norm.shape, flow.singular_values.shape
        ((7,), (7, 4))
    """
    # Here and not above, so that drawing does not load Keras.
    from keras import ops

    from keras_seq.explain.gradients import gradients
    from keras_seq.explain.step_jacobians import step_jacobians
    from keras_seq.layers.state_recording import recording_states

    def total_loss(outputs):
        if loss is None:
            last = outputs[:, -1] if len(outputs.shape) == 3 else outputs
            return ops.sum(ops.square(last)) / 2
        return ops.sum(loss(outputs) if y is None else loss(y, outputs))

    with recording_states() as records:
        model(x)
    if not records:
        raise ValueError(
            "`model` must have a recurrent layer of keras_seq (SimpleRNN, "
            f"LSTM or GRU) that runs when it is called. Received: {model!r}"
        )

    def nudged_loss(*nudges):
        with recording_states(dict(zip(records, nudges, strict=True))):
            return total_loss(_first(model(x)))

    still = [
        ops.concatenate([ops.zeros_like(state) for state in r.after], axis=-1)
        for r in records.values()
    ]
    found = gradients(nudged_loss, still)
    flows = {}
    for (name, record), gradient in zip(records.items(), found, strict=True):
        taken = np.ones(gradient.shape[:2], bool)  # (T, B)
        if record.mask is not None:
            taken = ops.convert_to_numpy(record.mask)
        of_states = np.split(
            gradient.astype("float64"), len(record.after), axis=-1
        )
        norms = [
            _by_lag(np.linalg.norm(of_state, axis=-1), taken)
            for of_state in of_states
        ]
        jacobians = step_jacobians(record, taken, example)
        flows[name] = GradientFlow(
            name,
            norms[0],
            norms[1] if len(norms) > 1 else None,
            np.linalg.svd(jacobians, compute_uv=False),
            np.abs(np.linalg.eigvals(jacobians)).max(axis=-1, initial=0.0),
            _growth(jacobians),
        )
    return flows


def _first(outputs):
    return outputs[0] if isinstance(outputs, (list, tuple)) else outputs


def _mean_of_rows(norms):
    heard = ~np.isnan(norms)
    total = np.where(heard, norms, 0.0).sum(axis=0)
    return total / np.maximum(heard.sum(axis=0), 1)


def _by_lag(norms, taken):
    """Turn `(T, B)` in reading order into `(B, T)` by lag, NaN at the end."""
    length, batch = norms.shape
    ordered = np.full((batch, length), np.nan)
    for row in range(batch):
        heard = norms[taken[:, row], row][::-1]
        ordered[row, : len(heard)] = heard
    return ordered


def _growth(jacobians):
    """The norm of the product of the first `k` Jacobians, latest first."""
    growth = []
    product = np.eye(jacobians.shape[-1])
    for jacobian in jacobians:
        growth.append(np.linalg.norm(product, 2))
        product = product @ jacobian
    return np.array(growth)
