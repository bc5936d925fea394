"""trace_masks: what it says is what happens when the model runs."""

import io

import keras
import numpy as np
import pytest
from keras import layers, ops

import keras_seq.layers as seq
from keras_seq.explain import attention_model, trace_masks

D = 7
IDS = np.array([[4, 9, 2, 0, 0], [3, 1, 5, 8, 0]])


def embedded(length=None, name="embed"):
    ids = keras.Input((length,), dtype="int32", name=f"{name}_ids")
    embed = layers.Embedding(11, D, mask_zero=True, name=name)
    return ids, embed(ids)


def traced(inputs, outputs, **kwargs):
    model = keras.Model(inputs, outputs, name="traced")
    return trace_masks(model, file=io.StringIO(), **kwargs)


def last_event(function, length=None):
    """Trace `function` of masked `x` and of `y`, which has no mask."""
    ids, x = embedded(length)
    y = keras.Input((length, D), name="y")
    events = traced([ids, y], [function(x, y), y])
    return events[-1]


CASES = {
    "carried": [
        lambda x, y: layers.Dense(3)(x),
        lambda x, y: layers.Dropout(0.1)(x),
        lambda x, y: layers.LSTM(3, return_sequences=True)(x),
        lambda x, y: layers.LSTM(3, return_sequences=True, return_state=True)(
            x
        )[0],
        lambda x, y: layers.MultiHeadAttention(2, 3)(x, y),
        lambda x, y: layers.MultiHeadAttention(2, 3)(query=x, value=y),
        lambda x, y: layers.Attention()([x, y]),
        lambda x, y: layers.Lambda(lambda x: 2 * x, mask=lambda x, mask: mask)(
            x
        ),
    ],
    "merged": [
        lambda x, y: layers.Add()([x, layers.Dense(D)(x)]),
        lambda x, y: layers.Concatenate()([x, layers.Dense(D)(x)]),
        lambda x, y: layers.Concatenate(axis=1)([x, y]),
    ],
    "made": [
        lambda x, y: layers.Masking()(y),
        lambda x, y: layers.Masking()(x),
    ],
    "used": [
        lambda x, y: layers.GlobalAveragePooling1D()(x),
        lambda x, y: layers.LSTM(3)(x),
        lambda x, y: layers.LSTM(3, return_state=True)(x)[1],
        lambda x, y: layers.Bidirectional(layers.GRU(3))(x),
        lambda x, y: layers.MultiHeadAttention(2, 3)(y, x),
        lambda x, y: layers.Attention()([y, x]),
    ],
    "unused": [
        lambda x, y: x[:, 0],
        lambda x, y: ops.mean(x, axis=1),
        lambda x, y: layers.GlobalMaxPooling1D()(x),
    ],
    "lost": [
        lambda x, y: x + y,
        lambda x, y: x + layers.Dense(D)(x),
        lambda x, y: ops.relu(x),
        lambda x, y: ops.sum(x, axis=-1),
        lambda x, y: x[:, 1:],
        lambda x, y: layers.Add()([x, y]),
        lambda x, y: layers.Multiply()([y, x]),
        lambda x, y: layers.Lambda(lambda x: 2 * x)(x),
        lambda x, y: layers.Conv1D(3, 2, padding="same")(x),
        lambda x, y: layers.Conv1D(3, 2, strides=2)(x),
        lambda x, y: layers.MaxPooling1D(2)(x),
    ],
    "none": [lambda x, y: layers.Dense(3)(y), lambda x, y: y + 1],
}


@pytest.mark.filterwarnings("ignore:Layer .* was passed an input with a mask")
@pytest.mark.parametrize("length", [None, 13])
@pytest.mark.parametrize(
    "want, function",
    [(event, function) for event in CASES for function in CASES[event]],
)
def test_every_fate_of_a_mask_is_told(want, function, length):
    assert last_event(function, length).event == want


@pytest.mark.filterwarnings("ignore:Layer .* was passed an input with a mask")
@pytest.mark.parametrize("function", CASES["lost"])
def test_what_is_called_lost_is_lost_when_the_model_runs(function):
    seen = []

    class Spy(layers.Layer):
        def call(self, x, mask=None):
            seen.append(mask)
            return x

    ids, x = embedded(13)
    y = keras.Input((13, D))
    model = keras.Model([ids, y], Spy()(function(x, y)))
    seen.clear()
    model([np.ones((2, 13), "int32"), np.ones((2, 13, D), "float32")])
    assert seen == [None]


def test_equal_sizes_do_not_confuse_time_with_width():
    ids, x = embedded(length=D)  # (B, D, D)
    state = layers.LSTM(D, name="last")(x)
    assert [e.event for e in traced(ids, state)] == ["made", "used"]


def residual_model(attend):
    """Two rounds of attention with a residual sum between them."""
    ids, x = embedded()
    x = layers.Add(name="add")([x, attend(2, 3, name="first")(x, x)])
    x = layers.LayerNormalization(name="norm")(x)
    return keras.Model(ids, attend(2, 3, name="second")(x, x))


def test_keras_attention_takes_the_mask_off_what_it_is_given():
    model = residual_model(layers.MultiHeadAttention)
    events = {e.name: e for e in trace_masks(model, file=io.StringIO())}
    assert events["add"].event == "lost"
    assert events["add"].inputs == (("embed", False), ("first", True))
    assert "'first' took the mask off 'embed'" in events["add"].remedy
    assert events["second"].event == "none"
    # And that is the truth: the second attention looks at the padding.
    _, weights = attention_model(model)(IDS)
    on_padding = ops.convert_to_numpy(weights["second"])[0, ..., 3:]
    assert (on_padding > 0.1).all()


def test_whoever_comes_after_keras_attention_finds_no_mask():
    ids, x = embedded()
    attended = layers.MultiHeadAttention(2, 3, name="attend")(x, x)
    norm = layers.LayerNormalization(name="norm")(x)
    events = traced(ids, [norm, attended])
    assert [(e.name, e.event) for e in events] == [
        ("embed", "made"),
        ("attend", "carried"),
        ("norm", "lost"),
    ]
    assert "'attend' took the mask off 'embed'" in events[-1].remedy


def test_a_layer_that_hands_its_input_back_is_not_taken_for_its_maker():
    ids, x = embedded()
    dropped = layers.Dropout(0.5, name="drop")(x)  # the same tensor, at rest
    after = layers.Dense(D, name="after")(dropped)
    beside = layers.Dense(D, name="beside")(x)
    events = {e.name: e for e in traced(ids, [after, beside])}
    assert events["after"].inputs == (("drop", True),)
    assert events["beside"].inputs == (("embed", True),)


def test_layers_of_keras_seq_keep_the_mask_to_the_end():
    model = residual_model(seq.MultiHeadAttention)
    trace_masks(model, strict=True, file=io.StringIO())
    _, weights = attention_model(model)(IDS)
    assert not ops.convert_to_numpy(weights["second"])[0, ..., 3:].any()

    ids, x = embedded(name="source")
    x = seq.SinusoidalPositions()(x)
    x = seq.TransformerEncoder(8, 1)(x)
    target, y = embedded(name="target")
    y = seq.TransformerDecoder(8, 1)(y, x)
    events = traced([ids, target], [x, y], strict=True)
    assert {e.event for e in events} == {"made", "carried"}


def test_models_inside_models_are_walked_and_hand_their_mask_on():
    ids, x = embedded(name="inner_embed")
    encoder = keras.Model(ids, layers.Dense(D, name="inner")(x), name="encoder")
    head = keras.Sequential(
        [keras.Input((None, D)), layers.Dropout(0.1, name="drop")], name="head"
    )
    source = keras.Input((None,), dtype="int32", name="source")
    x = layers.Dense(3, name="outer")(head(encoder(source)))
    events = traced(source, x)
    assert [(e.path, e.depth, e.event) for e in events] == [
        ("encoder", 0, "model"),
        ("encoder/inner_embed", 1, "made"),
        ("encoder/inner", 1, "carried"),
        ("head", 0, "model"),
        ("head/drop", 1, "carried"),
        ("outer", 0, "carried"),
    ]


def test_a_sequential_model_is_walked():
    model = keras.Sequential(
        [
            keras.Input((None,), dtype="int32"),
            layers.Embedding(11, D, mask_zero=True),
            layers.LSTM(3),
        ]
    )
    events = trace_masks(model, file=io.StringIO())
    assert [e.event for e in events] == ["made", "used"]


def test_named_inputs_and_a_shared_layer():
    inputs = {
        name: keras.Input((None,), dtype="int32", name=name)
        for name in ("a", "b")
    }
    embed = layers.Embedding(11, D, mask_zero=True, name="embed")
    x = layers.Add(name="add")([embed(inputs["a"]), embed(inputs["b"])])
    events = traced(inputs, x)
    assert [(e.name, e.event, e.inputs) for e in events] == [
        ("embed", "made", (("a", False),)),
        ("embed", "made", (("b", False),)),
        ("add", "merged", (("embed", True), ("embed", True))),
    ]


def test_strict_names_the_first_loss_its_inputs_and_a_remedy():
    ids, x = embedded()
    y = keras.Input((None, D), name="positions")
    x = layers.Dense(D, name="dense")(x)
    x = layers.Add(name="sum")([x, y])
    with pytest.raises(ValueError) as error:
        traced([ids, y], ops.relu(x) + 1, strict=True)
    message = str(error.value)
    assert "lost at 'sum' (Add)" in message
    assert "Received: inputs *dense, positions" in message
    assert "keeps a mask only if all its inputs have one" in message


def test_strict_accepts_a_model_that_keeps_its_masks():
    ids, x = embedded()
    x = layers.Add()([x, layers.Dense(D)(x)])
    traced(ids, layers.GlobalAveragePooling1D()(x), strict=True)


@pytest.mark.filterwarnings("ignore:Layer .* was passed an input with a mask")
@pytest.mark.parametrize(
    "function, words",
    [
        (lambda x, y: x + y, "Operators and keras.ops drop masks"),
        (lambda x, y: layers.Add()([x, y]), "only if all its inputs"),
        (lambda x, y: layers.Lambda(lambda x: x * 2)(x), "mask=lambda"),
        (lambda x, y: layers.Conv1D(3, 1)(x), "supports_masking = True"),
        (lambda x, y: layers.MaxPooling1D(2)(x), "no longer fits"),
    ],
)
def test_the_remedy_fits_the_loss(function, words):
    assert words in last_event(function, length=13).remedy


def test_the_table_is_aligned_and_fits_the_screen():
    ids, x = embedded(name="a_rather_long_name_of_an_embedding")
    y = keras.Input((None, D), name="positions")
    screen = io.StringIO()
    trace_masks(keras.Model([ids, y], layers.Dense(3)(x + y)), file=screen)
    _, head, *lines = screen.getvalue().splitlines()
    column = head.index("mask")
    rows = [line for line in lines if not line.startswith(" ")]
    assert [row[column:].split()[0] for row in rows] == ["made", "LOST", "-"]
    assert all(len(line) <= 100 for line in [head, *lines])


def test_the_screen_is_the_default(capsys):
    ids, x = embedded()
    trace_masks(keras.Model(ids, x, name="shown"))
    assert "Masks in model 'shown'" in capsys.readouterr().out


def test_the_model_is_left_as_it_was():
    model = residual_model(layers.MultiHeadAttention)
    every = [model, *model.layers]
    before = [set(vars(layer)) for layer in every]
    nodes = [len(layer._inbound_nodes) for layer in every]
    model(IDS)
    trace_masks(model, file=io.StringIO())
    assert [set(vars(layer)) for layer in every] == before
    assert [len(layer._inbound_nodes) for layer in every] == nodes


@pytest.mark.filterwarnings("ignore:Layer .* was passed an input with a mask")
def test_the_model_is_left_as_it_was_after_an_error():
    class Broken(layers.Layer):
        def call(self, x):
            raise RuntimeError("broken on purpose")

        def compute_output_shape(self, shape):
            return shape

    ids, x = embedded()
    model = keras.Model(ids, Broken()(x))
    with pytest.raises(Exception, match="broken on purpose"):
        trace_masks(model, file=io.StringIO())
    assert "_run_through_graph" not in vars(model)


def test_a_model_that_cannot_be_followed_is_refused():
    class Mine(keras.Model):
        def call(self, x):
            return x

    with pytest.raises(ValueError, match="functional.*Received: <Mine"):
        trace_masks(Mine())
    with pytest.raises(ValueError, match="functional.*Received: 3"):
        trace_masks(3)
    with pytest.raises(ValueError, match="must be built.*Received"):
        trace_masks(keras.Sequential([layers.Dense(3)]))
