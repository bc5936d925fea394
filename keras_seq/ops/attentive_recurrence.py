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


def attentive_lstm_step(x, states, memory, weights, choose=None):
    r"""One step of the decoder of Xu et al. (2015), section 3.1.2.

    With $h$ and $c$ the states, $a_i$ the memory and $x = W y_t + b$:

    $$ e_i = v^\top \tanh(W_a h_{t-1} + U_a a_i), \quad
       \alpha = \mathrm{softmax}(e), \quad
       \beta = \sigma(w_\beta^\top h_{t-1} + b_\beta), $$
    $$ i, f, g, o = x + U h_{t-1} + \beta \textstyle\sum_i s_i\,C a_i, \quad
       c_t = \sigma(f) \odot c_{t-1} + \sigma(i) \odot \tanh(g), \quad
       h_t = \sigma(o) \odot \tanh(c_t), $$

    where $s = \alpha$, or what `choose` makes of it.

    Args:
        x: `(B, 4U)`, the step's projected input.
        states: `[h, c]`, each `(B, U)`.
        memory: Keys `(B, S, A)`, $U_a a_i$; values `(B, S, 4U)`, $C a_i$;
            and a mask `(B, S)`.
        weights: $[W_a, w_\beta, U]$ `(U, A + 1 + 4U)`, its bias
            `(A + 1 + 4U,)`, and $v$ `(A,)`.
        choose: Function of $\alpha$ `(B, S)` that says where to look.

    Returns:
        The new `h` and `c`, $\alpha$ `(B, S)`, $s$ `(B, S)`, $\beta$ `(B, 1)`.
    """
    keys, values, mask = memory
    kernel, bias, v = weights
    width = v.shape[0]
    h, c = states
    heard = ops.matmul(h, kernel) + bias  # (B, A + 1 + 4U)
    hidden = ops.tanh(keys + ops.expand_dims(heard[:, :width], 1))  # (B, S, A)
    scores = ops.matmul(hidden, ops.expand_dims(v, 1))  # (B, S, 1)
    attention = masked_softmax(ops.squeeze(scores, -1), mask)
    choice = attention if choose is None else choose(attention)
    gate = ops.sigmoid(heard[:, width : width + 1])
    seen = ops.matmul(ops.expand_dims(choice, 1), values)  # (B, 1, 4U)
    z = x + heard[:, width + 1 :] + gate * ops.squeeze(seen, 1)
    i, f, g, o = ops.split(z, 4, axis=-1)
    c = ops.sigmoid(f) * c + ops.sigmoid(i) * ops.tanh(g)
    return ops.sigmoid(o) * ops.tanh(c), c, attention, choice, gate


def attentive_lstm(inputs, states, memory, weights, mask=None, choose=None):
    """Take all steps; return every state, attention, choice and gate.

    Where `mask` is False the states are carried through, as in `recur`.

    Shapes:
        inputs `(T, B, 4U)`, or `(T, B, 4U + 1)` where `choose(attention,
        luck)` takes a number `(B, 1)` for each step; states `[(B, U)] * 2`,
        mask `(T, B)`, the rest as in `attentive_lstm_step`
        -> `h` `(T, B, U)`, attention and choices `(T, B, S)`, gates
        `(T, B, 1)`.
    """
    width = memory[1].shape[-1]
    dtype = memory[1].dtype

    def step(x, states):
        luck = x[:, width:]
        pick = None
        if choose is not None:
            pick = lambda attention: choose(attention, luck)  # noqa: E731
        x = ops.cast(x[:, :width], dtype)
        return list(attentive_lstm_step(x, states[:2], memory, weights, pick))

    # The rest goes out as states, too, which no step reads.
    nowhere = ops.zeros_like(memory[0][..., 0])
    no_gate = ops.zeros_like(states[0][:, :1])
    (h, _, attention, choices, gates), _ = state_history(
        step, inputs, [*states, nowhere, nowhere, no_gate], mask
    )
    return h, attention, choices, gates
