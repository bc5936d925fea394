"""A recurrence that looks at a memory before each of its steps."""

from keras import ops

from keras_seq.ops.masks import masked_softmax
from keras_seq.ops.recurrence import state_history


def attentive_gru_step(x, state, memory, weights):
    r"""One step of the decoder of Bahdanau et al. (2015), appendix A.

    With $s$ the state, $h_j$ the memory and $x = W y_t + b$:

    $$ e_j = v^\top \tanh(W_a s_{t-1} + U_a h_j), \quad
       a = \mathrm{softmax}(e), $$
    $$ z, r = \sigma(x + U s_{t-1} + \textstyle\sum_j a_j\,C h_j), \quad
       n = \tanh(x + \textstyle\sum_j a_j\,C h_j + r \odot U s_{t-1}), $$
    $$ s_t = z \odot s_{t-1} + (1 - z) \odot n. $$

    $U_a h_j$ and $C h_j$ do not depend on the step, so they are made before
    it; and since what $C$ makes of the context is the average of what it makes
    of the memory, the step holds one small product with weights, not three.

    Args:
        x: `(B, 3U)`, the step's projected input.
        state: `(B, U)`.
        memory: Keys `(B, S, A)`, $U_a h_j$; values `(B, S, 3U)`, $C h_j$;
            and a mask `(B, S)`.
        weights: $[W_a, U]$ `(U, A + 3U)`, its bias `(A + 3U,)`, and $v$ `(A,)`.

    Returns:
        The new state `(B, U)` and the weights `(B, S)`.
    """
    keys, values, mask = memory
    kernel, bias, v = weights
    width = v.shape[0]
    heard = ops.matmul(state, kernel) + bias  # (B, A + 3U)
    hidden = ops.tanh(keys + ops.expand_dims(heard[:, :width], 1))  # (B, S, A)
    scores = ops.matmul(hidden, ops.expand_dims(v, 1))  # (B, S, 1)
    attention = masked_softmax(ops.squeeze(scores, -1), mask)
    seen = ops.matmul(ops.expand_dims(attention, 1), values)  # (B, 1, 3U)
    x = x + ops.squeeze(seen, 1)
    units = state.shape[-1]
    gates = x[:, : 2 * units] + heard[:, width : width + 2 * units]
    z, r = ops.split(ops.sigmoid(gates), 2, axis=-1)
    n = ops.tanh(x[:, 2 * units :] + r * heard[:, width + 2 * units :])
    return n + z * (state - n), attention


def attentive_gru(inputs, state, memory, weights, mask=None):
    """Take all steps; return every state and every attention.

    Where `mask` is False the state is carried through, as in `recur`.

    Shapes:
        inputs `(T, B, 3U)`, state `(B, U)`, mask `(T, B)`, the rest as in
        `attentive_gru_step` -> states `(T, B, U)`, attention `(T, B, S)`.
    """

    def step(x, states):
        return list(attentive_gru_step(x, states[0], memory, weights))

    # Attention goes out as a second state, which no step reads.
    nowhere = ops.zeros_like(memory[0][..., 0])
    (states, attention), _ = state_history(step, inputs, [state, nowhere], mask)
    return states, attention
