"""The recurrent family."""

from keras_seq import layers
from tests.conformance.case import Case

CELL = {
    "units": 5,
    "activation": "softsign",
    "use_bias": False,
    "kernel_initializer": "he_normal",
    "recurrent_initializer": "glorot_normal",
    "bias_initializer": "ones",
    "kernel_regularizer": "l2",
    "recurrent_regularizer": "l1",
    "bias_regularizer": "l2",
    "kernel_constraint": "max_norm",
    "recurrent_constraint": "unit_norm",
    "bias_constraint": "non_neg",
    "dropout": 0.2,
    "recurrent_dropout": 0.3,
    "seed": 3,
}
GATED = {**CELL, "recurrent_activation": "hard_sigmoid"}
LAYER = {
    "activity_regularizer": "l2",
    "return_sequences": True,
    "return_state": True,
    "go_backwards": True,
    # Off its default and yet off: a stateful layer takes one batch size.
    "stateful": None,
    "unroll": True,
    "zero_output_for_mask": True,
    "bptt_window": 2,
}
# What remains at its default here takes the hand-written gradient.
PLAIN = {"return_sequences": True, "return_state": True, "bptt_window": 2}


def call_cell(cell, inputs, *states):
    return cell(inputs, list(states))


CASES = {
    "RNNCell": Case(
        make=lambda: layers.RNNCell(**CELL),
        shapes=[(2, 3), (2, 5)],
        call=call_cell,
        has_sequence=False,
    ),
    "LSTMCell": Case(
        make=lambda: layers.LSTMCell(**GATED, unit_forget_bias=False),
        shapes=[(2, 3), (2, 5), (2, 5)],
        call=call_cell,
        has_sequence=False,
    ),
    "GRUCell": Case(
        make=lambda: layers.GRUCell(**GATED, reset_after=False),
        shapes=[(2, 3), (2, 5)],
        call=call_cell,
        has_sequence=False,
    ),
    "SimpleRNN": Case(
        make=lambda: layers.SimpleRNN(**CELL, **LAYER),
        shapes=[(2, 7, 3)],
    ),
    "LSTM": Case(
        make=lambda: layers.LSTM(
            **GATED, **LAYER, unit_forget_bias=False, use_cudnn=False
        ),
        shapes=[(2, 7, 3)],
    ),
    "GRU": Case(
        make=lambda: layers.GRU(
            **GATED, **LAYER, reset_after=False, use_cudnn=False
        ),
        shapes=[(2, 7, 3)],
    ),
    "Bidirectional": Case(
        make=lambda: layers.Bidirectional(
            layers.LSTM(5, **PLAIN),
            merge_mode="sum",
            backward_layer=layers.LSTM(5, go_backwards=True, **PLAIN),
        ),
        shapes=[(2, 7, 3)],
    ),
}
