"""Laws that every attention layer obeys, whatever its score."""

import keras
import numpy as np
import pytest
from keras import ops

from keras_seq import layers
from keras_seq.layers.attention_recording import recording
from keras_seq.ops import blockwise_attention as blockwise
from tests.gradients import gradients, weight_gradients
from tests.mask_probe import MaskProbe

# Batch, queries, keys, width: every axis a different prime.
B, T, S, D = 2, 3, 5, 7
POLICIES = ["float32", "mixed_float16", "mixed_bfloat16"]
MAKERS = {
    "dot": layers.DotProductAttention,
    "cosine": lambda **k: layers.CosineAttention(strength=3.0, **k),
    "bilinear": layers.BilinearAttention,
    "additive": lambda **k: layers.AdditiveAttention(11, **k),
    "multi_head": lambda **k: layers.MultiHeadAttention(3, 5, **k),
    "grouped_rotary": lambda **k: layers.MultiHeadAttention(
        4, 6, num_key_value_heads=2, rotary=True, use_gate=True, **k
    ),
    "local": lambda **k: layers.LocalAttention(3, 5, window=3, **k),
}
MULTI_HEAD = ["multi_head", "grouped_rotary", "local"]
every_layer = pytest.mark.parametrize("name", MAKERS)
# Local attention takes as many keys as queries.
every_cross_layer = pytest.mark.parametrize(
    "name", [name for name in MAKERS if name != "local"]
)


def draw(*shape, seed=0):
    return np.random.default_rng(seed).normal(size=shape).astype("float32")


def numpy(x):
    return ops.convert_to_numpy(ops.cast(x, "float32"))


def run(layer, query, value=None, **arguments):
    """The layer's output; of context and scores if they are asked for."""
    query = ops.convert_to_tensor(query)
    value = query if value is None else ops.convert_to_tensor(value)
    outputs = layer(query, value, **arguments)
    if arguments.get("return_attention_scores"):
        return [numpy(x) for x in outputs]
    return numpy(outputs)


def make(name, *, like=None, length=T, **options):
    """A built layer, with the weights of another if one is given."""
    layer = MAKERS[name](seed=1, **options)
    layer(np.zeros((B, length, D)), np.zeros((B, length, D)))
    if like is not None:
        layer.set_weights(like.get_weights())
    return layer


def padding(*lengths, total):
    return np.arange(total)[None] < np.array(lengths)[:, None]


def cross_inputs(name, seed=0):
    """Query and value, of different lengths where the layer takes them."""
    query = draw(B, T, D, seed=seed)
    return query, draw(B, T if name == "local" else S, D, seed=seed + 1)


def pair_mask(query, value, seed=2):
    mask = np.random.default_rng(seed).random(
        (B, query.shape[1], value.shape[1])
    )
    return mask < 0.6


# --- rows with nothing to see -----------------------------------------------


@every_layer
@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("scores", [False, True])
def test_blind_row_is_zero_and_its_gradients_finite(name, policy, scores):
    query, value = cross_inputs(name)
    layer = make(name, dtype=policy)
    mask = pair_mask(query, value)
    mask[:, 0] = False
    mask[1] = False

    def attended(query, value):
        outputs = layer(
            query, value, attention_mask=mask, return_attention_scores=scores
        )
        return outputs[0] if scores else outputs

    outputs = layer(
        ops.convert_to_tensor(query),
        ops.convert_to_tensor(value),
        attention_mask=mask,
        return_attention_scores=scores,
    )
    context = numpy(outputs[0] if scores else outputs)
    assert not context[:, 0].any() and not context[1].any()
    assert context[0].any()
    if scores:
        weights = numpy(outputs[1])
        assert not weights[..., 0, :].any() and not weights[1].any()
    found = gradients(attended, query, value)
    found += weight_gradients(layer, attended, query, value)
    for gradient in found:
        assert np.isfinite(gradient).all()
    assert not found[0][1].any()  # the second example says nothing


@every_layer
def test_padded_queries_give_zeros(name):
    query, value = cross_inputs(name)
    layer = make(name)
    mask = padding(1, 3, total=T)
    context, weights = run(
        layer, query, value, query_mask=mask, return_attention_scores=True
    )
    assert not context[~mask].any()
    assert not np.moveaxis(weights, -2, 1)[~mask].any()
    alone = run(layer, query, value, query_mask=mask)
    np.testing.assert_allclose(alone, context, atol=1e-6)
    whole = run(layer, query, value)
    np.testing.assert_allclose(context[mask], whole[mask], atol=1e-6)


# --- the same numbers, however they are asked for ---------------------------


@every_layer
@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("masked", ["not", "keys", "pairs"])
def test_numbers_do_not_depend_on_what_else_is_asked(name, causal, masked):
    query, value = cross_inputs(name)
    arguments = {"use_causal_mask": causal}
    if masked == "keys":
        arguments["value_mask"] = padding(2, 3, total=value.shape[1])
    elif masked == "pairs":
        arguments["attention_mask"] = pair_mask(query, value)
    layer = make(name)
    plain = run(layer, query, value, **arguments)
    context, weights = run(
        layer, query, value, **arguments, return_attention_scores=True
    )
    np.testing.assert_allclose(context, plain, atol=1e-6)
    dropping = make(name, like=layer, dropout=0.5)
    for training in (None, False):
        context = run(dropping, query, value, **arguments, training=training)
        np.testing.assert_allclose(context, plain, atol=1e-6)
    with recording() as found:
        context = run(layer, query, value, **arguments)
    np.testing.assert_allclose(context, plain, atol=1e-6)
    (recorded,) = found.values()
    recorded = numpy(recorded)
    if weights.ndim == 3:
        recorded = recorded[:, 0]
    np.testing.assert_array_equal(recorded, weights)


@every_layer
def test_blocks_of_long_sequences_give_the_same(name, monkeypatch):
    query, value = cross_inputs(name)
    mask = padding(2, 3, total=value.shape[1])
    layer = make(name)
    arguments = {"value_mask": mask, "use_causal_mask": True}
    plain = run(layer, query, value, **arguments)
    monkeypatch.setattr(blockwise, "LONG", 0)
    monkeypatch.setattr(blockwise, "BLOCK_ROWS", 2)
    by_blocks = run(layer, query, value, **arguments)
    np.testing.assert_allclose(by_blocks, plain, atol=1e-6)


@every_layer
def test_dropout_drops_in_training_alone_and_repeats_with_its_seed(name):
    query, value = cross_inputs(name)
    first = make(name, dropout=0.5)
    second = make(name, like=first, dropout=0.5)
    dropped, weights = run(
        first, query, value, training=True, return_attention_scores=True
    )
    again = run(second, query, value, training=True)
    np.testing.assert_allclose(dropped, again, atol=1e-6)
    still, undropped = run(
        first, query, value, training=False, return_attention_scores=True
    )
    assert np.abs(dropped - still).max() > 1e-3
    # Scores are what the layer thinks, not what was left of it.
    np.testing.assert_allclose(weights, undropped, atol=1e-6)


# --- causal -----------------------------------------------------------------


@every_layer
def test_causal_with_left_padding_blinds_the_first_rows(name):
    x, mask = draw(B, S, D), np.array([[0, 0, 1, 1, 1], [1, 1, 1, 1, 1]], bool)
    layer = make(name)
    output = run(
        layer, x, query_mask=mask, value_mask=mask, use_causal_mask=True
    )
    assert not output[0, :2].any()
    alone = run(layer, x[:1, 2:], use_causal_mask=True)
    np.testing.assert_allclose(output[:1, 2:], alone, atol=1e-5)
    unmasked_queries = run(layer, x, value_mask=mask, use_causal_mask=True)
    assert not unmasked_queries[0, :2].any()


@every_layer
@pytest.mark.parametrize(
    "longer, causal", [(0, True), (1, True), (S, True), (S, False)]
)
def test_right_padding_changes_nothing(name, longer, causal):
    lengths = (3, S)
    x = draw(B, S, D)
    padded = np.concatenate([x, draw(B, longer, D, seed=5)], axis=1)
    mask = padding(*lengths, total=S + longer)
    layer = make(name)
    output = run(
        layer, padded, query_mask=mask, value_mask=mask, use_causal_mask=causal
    )
    for b, length in enumerate(lengths):
        alone = run(layer, x[b : b + 1, :length], use_causal_mask=causal)
        np.testing.assert_allclose(output[b : b + 1, :length], alone, atol=1e-5)


@every_cross_layer
def test_the_last_queries_see_what_they_see_among_all(name):
    x = draw(B, S, D)
    layer = make(name)
    whole, weights = run(
        layer, x, use_causal_mask=True, return_attention_scores=True
    )
    for t in (1, 2, S):
        for scores in (False, True):
            last = run(
                layer,
                x[:, -t:],
                x,
                use_causal_mask=True,
                return_attention_scores=scores,
            )
            if scores:
                last, last_weights = last
                np.testing.assert_allclose(
                    last_weights, weights[..., -t:, :], atol=1e-6
                )
            np.testing.assert_allclose(last, whole[:, -t:], atol=1e-5)


@pytest.mark.parametrize(
    "name", ["dot", "cosine", "bilinear", "additive", "multi_head"]
)
def test_one_causal_query_sees_the_whole_past(name):
    layer = make(name)
    query, value = draw(B, 1, D), draw(B, S, D, seed=1)
    np.testing.assert_allclose(
        run(layer, query, value, use_causal_mask=True),
        run(layer, query, value),
        atol=1e-6,
    )


# --- leakage ----------------------------------------------------------------


def causal_outputs(name, weights_of):
    """A function of `x`: dropout off and on, scores off and on, two masks."""
    mask = ops.convert_to_tensor(padding(S, 4, total=S))
    dropping = make(name, like=weights_of, length=S, dropout=0.1)

    def outputs(x):
        found = []
        for layer in (weights_of, dropping):
            for scores in (False, True):
                for value_mask in (None, mask):
                    output = layer(
                        x,
                        x,
                        value_mask=value_mask,
                        return_attention_scores=scores,
                        use_causal_mask=True,
                    )
                    found += list(output) if scores else [output]
        return found

    return outputs


def compiled(function, how):
    if how == "eager":
        return function
    if keras.backend.backend() == "jax":
        import jax

        return jax.jit(function)
    import tensorflow as tf

    return tf.function(function, jit_compile=how == "xla")


HOW = {
    "tensorflow": ["eager", "graph", "xla"],
    "jax": ["eager", "xla"],
    "torch": ["eager"],
}[keras.backend.backend()]


@every_layer
@pytest.mark.parametrize("how", HOW)
def test_the_past_does_not_hear_the_future(name, how):
    outputs = compiled(causal_outputs(name, make(name, length=S)), how)
    x = draw(B, S, D)
    before = [numpy(y) for y in outputs(ops.convert_to_tensor(x))]
    for t in (1, 3):
        loud = x.copy()
        loud[:, t] += 1e3
        after = [numpy(y) for y in outputs(ops.convert_to_tensor(loud))]
        for a, b in zip(before, after, strict=True):
            steps = -2 if a.shape[-1] == S else 1  # of scores, of outputs
            a, b = np.moveaxis(a, steps, 0), np.moveaxis(b, steps, 0)
            np.testing.assert_array_equal(a[:t], b[:t])
            assert (a[t:] != b[t:]).any()


@every_layer
def test_the_past_does_not_hear_the_future_while_training(name):
    x = draw(B, S, D)
    loud = x.copy()
    loud[:, 3] += 1e3
    layer = make(name, length=S, dropout=0.5)
    same = make(name, like=layer, length=S, dropout=0.5)
    a = run(layer, x, use_causal_mask=True, training=True)
    b = run(same, loud, use_causal_mask=True, training=True)
    np.testing.assert_array_equal(a[:, :3], b[:, :3])
    assert (a[:, 3:] != b[:, 3:]).any()


@every_layer
def test_the_past_does_not_hear_the_future_by_blocks(name, monkeypatch):
    monkeypatch.setattr(blockwise, "LONG", 0)
    monkeypatch.setattr(blockwise, "BLOCK_ROWS", 2)
    x = draw(B, S, D)
    loud = x.copy()
    loud[:, 3] += 1e3
    layer = make(name, length=S)
    a, b = (run(layer, y, use_causal_mask=True) for y in (x, loud))
    np.testing.assert_array_equal(a[:, :3], b[:, :3])
    assert (a[:, 3:] != b[:, 3:]).any()


# --- what is hidden is not read ---------------------------------------------


@every_layer
@pytest.mark.parametrize("by", ["value_mask", "attention_mask"])
@pytest.mark.parametrize("scores", [False, True])
def test_nan_in_padding_is_not_heard(name, by, scores):
    query, value = cross_inputs(name)
    length = value.shape[1]
    seen = padding(length, 2, total=length)
    arguments = {by: seen}
    if by == "attention_mask":
        arguments = {by: np.repeat(seen[:, None], T, axis=1)}
    loud = np.where(seen[..., None], value, np.nan)
    layer = make(name)

    def attended(query, value):
        outputs = layer(
            query, value, **arguments, return_attention_scores=scores
        )
        return outputs[0] if scores else outputs

    quiet = numpy(attended(*map(ops.convert_to_tensor, (query, value))))
    heard = numpy(attended(*map(ops.convert_to_tensor, (query, loud))))
    np.testing.assert_array_equal(quiet, heard)
    found = gradients(attended, query, loud)
    found += weight_gradients(layer, attended, query, loud)
    for gradient in found:
        assert np.isfinite(gradient).all()


@every_layer
def test_nan_in_padded_queries_is_not_heard(name):
    query, value = cross_inputs(name)
    seen = padding(T, 1, total=T)
    loud = np.where(seen[..., None], query, np.nan)
    layer = make(name)

    def attended(query, value):
        return layer(query, value, query_mask=seen)

    output = numpy(attended(*map(ops.convert_to_tensor, (loud, value))))
    np.testing.assert_array_equal(
        output, numpy(attended(*map(ops.convert_to_tensor, (query, value))))
    )
    found = gradients(attended, loud, value)
    found += weight_gradients(layer, attended, loud, value)
    for gradient in found:
        assert np.isfinite(gradient).all()


class LoudPadding(keras.layers.Layer):
    """Vectors by id, NaN where the id is 0, with the mask an Embedding has."""

    def __init__(self, table):
        super().__init__()
        self.table = table
        self.supports_masking = True

    def call(self, ids):
        return ops.take(ops.convert_to_tensor(self.table), ids, axis=0)

    def compute_mask(self, ids, mask=None):
        return ops.not_equal(ids, 0)


@every_layer
@pytest.mark.parametrize("policy", ["float32", "mixed_float16"])
def test_nan_behind_an_automatic_mask_is_not_heard(name, policy):
    ids = np.array([[3, 1, 4, 1, 0], [2, 6, 0, 0, 0]], "int32")
    quiet, loud = draw(7, D), draw(7, D)
    loud[0] = np.nan
    layer = make(name, dtype=policy)

    def attended(table):
        x = LoudPadding(table)(ids)
        return numpy(layer(x, x))

    output = attended(loud)
    assert np.isfinite(output).all()
    assert not output[ids == 0].any()
    np.testing.assert_array_equal(output, attended(quiet))


@every_layer
def test_a_key_hidden_from_all_may_still_ask(name):
    # Self-attention: what no one may look at is still a query of its own.
    x = draw(B, S, D)
    layer = make(name)
    seen = np.ones((B, S), bool)
    seen[:, 1] = False
    pairs = np.repeat(seen[:, None], S, axis=1)
    for arguments in ({"value_mask": seen}, {"attention_mask": pairs}):
        together = run(layer, x, **arguments)
        apart = run(layer, x, x.copy(), **arguments)
        np.testing.assert_allclose(together, apart, atol=1e-6)
        hushed = x.copy()
        hushed[:, 1] = 0
        asked = run(layer, hushed, x, **arguments)
        assert np.abs(asked[:, 1] - together[:, 1]).max() > 1e-4


# --- masks: how they arrive, and which are refused --------------------------


@every_layer
def test_masks_of_all_ranks_and_integers_mean_the_same(name):
    query, value = cross_inputs(name)
    layer = make(name)
    pairs = pair_mask(query, value)
    pairs[1] = pairs[0]
    want = run(layer, query, value, attention_mask=pairs)
    heads = getattr(layer, "num_heads", 1)
    for mask in (
        pairs[0],
        pairs[:1],
        pairs[:, None],
        np.repeat(pairs[:, None], heads, axis=1),
        pairs.astype("int32"),
        pairs.astype("uint8"),
    ):
        got = run(layer, query, value, attention_mask=mask)
        np.testing.assert_allclose(got, want, atol=1e-6)


@every_layer
def test_value_mask_key_mask_and_attention_mask_agree(name):
    query, value = cross_inputs(name)
    layer = make(name)
    keys = np.zeros((B, value.shape[1]), bool)
    keys[:, :2] = True
    want = run(layer, query, value, value_mask=keys)
    pairs = np.repeat(keys[:, None], T, axis=1)
    for arguments in (
        {"key_mask": keys},
        {"value_mask": keys.astype("int32")},
        {"attention_mask": pairs},
        {"value_mask": keys, "key_mask": keys, "attention_mask": pairs},
    ):
        got = run(layer, query, value, **arguments)
        np.testing.assert_allclose(got, want, atol=1e-6)
    assert np.abs(want - run(layer, query, value)).max() > 1e-4


@every_layer
@pytest.mark.parametrize(
    "argument", ["query_mask", "value_mask", "key_mask", "attention_mask"]
)
def test_bad_masks_are_refused_by_name(name, argument):
    query, value = cross_inputs(name)
    layer = make(name)
    right = {
        "query_mask": (B, T),
        "value_mask": (B, value.shape[1]),
        "key_mask": (B, value.shape[1]),
        "attention_mask": (B, T, value.shape[1]),
    }[argument]
    additive = np.zeros(right, "float32")
    with pytest.raises(
        ValueError, match=f"`{argument}`.*Received: dtype=float"
    ):
        run(layer, query, value, **{argument: additive})
    longer = np.ones((*right[:-1], right[-1] + 2), bool)
    transposed_or_short = np.ones(right[1:][:1], bool)
    for wrong in (longer, transposed_or_short, np.ones((3, *right[1:]), bool)):
        with pytest.raises(
            ValueError, match=rf"`{argument}`.*Received: shape="
        ):
            run(layer, query, value, **{argument: wrong})


def token_model(make_layer, residual=True):
    """Ids in; output and the mask behind it, of dynamic length."""
    ids = keras.Input((None,), dtype="int32")
    x = keras.layers.Embedding(11, D, mask_zero=True, name="embed")(ids)
    y = make_layer()(x, x)
    if residual:
        y = keras.layers.Add()([x, y])
    return keras.Model(ids, [y, MaskProbe()(y)])


@every_layer
def test_masks_arrive_and_pass_on_through_residual_sums(name):
    ids = np.array([[4, 9, 0, 0, 0], [3, 1, 2, 8, 0]], "int32")
    model = token_model(lambda: MAKERS[name]())
    output, mask = (numpy(x) for x in model(ids))
    np.testing.assert_array_equal(mask, ids != 0)
    for b, length in enumerate((2, 4)):
        alone, _ = model(ids[b : b + 1, :length])
        np.testing.assert_allclose(
            output[b : b + 1, :length], numpy(alone), atol=1e-5
        )
    # The tokens that are padding add nothing to their embedding.
    embedded = numpy(model.get_layer("embed")(ids))
    np.testing.assert_allclose(output[ids == 0], embedded[ids == 0], atol=1e-6)


@every_layer
def test_an_explicit_query_mask_is_the_automatic_one(name):
    ids = np.array([[4, 9, 0, 0, 0], [3, 1, 2, 8, 0]], "int32")
    x = keras.layers.Embedding(11, D, mask_zero=True)(ids)
    layer = make(name)
    automatic = numpy(layer(x, x))
    bare = ops.convert_to_tensor(numpy(x))
    explicit = numpy(
        layer(bare, bare, query_mask=ids != 0, value_mask=ids != 0)
    )
    np.testing.assert_array_equal(automatic, explicit)
    without = numpy(layer(bare, bare, value_mask=ids != 0))
    assert np.abs(without - explicit).max() > 1e-4


# --- half precision ---------------------------------------------------------


@every_layer
@pytest.mark.parametrize("scores", [False, True])
def test_half_precision_strays_by_less_than_five_thousandths(name, scores):
    query, value = cross_inputs(name)
    full = make(name)
    half = make(name, like=full, dtype="mixed_float16")
    arguments = {"return_attention_scores": scores, "use_causal_mask": True}
    got, want = (
        run(layer, query, value, **arguments) for layer in (half, full)
    )
    for a, b in zip(got, want, strict=True):
        np.testing.assert_allclose(a, b, atol=5e-3)


# Luong's product and form are not scaled by their papers, and can overflow.
@pytest.mark.parametrize(
    "name", ["dot", "cosine", "additive", "multi_head", "local"]
)
@pytest.mark.parametrize("scores", [False, True])
def test_float16_does_not_overflow_at_width_64(name, scores):
    # 64 * 40 * 40 = 102400 is beyond float16; an eighth of it is not.
    options = {"dtype": "mixed_float16"}
    layer = {
        "multi_head": lambda: layers.MultiHeadAttention(1, 64, **options),
        "local": lambda: layers.LocalAttention(1, 64, window=2, **options),
    }.get(name, lambda: MAKERS[name](**options))()
    x = np.full((1, T, 64), 40.0, "float32")
    layer(x, x)
    if name in MULTI_HEAD:
        layer.set_weights(
            [
                np.eye(64).reshape(w.shape) if w.ndim > 2 else np.zeros(w.shape)
                for w in layer.get_weights()
            ]
        )
    output = run(layer, x, return_attention_scores=scores)
    output = output[0] if scores else output
    np.testing.assert_allclose(output, x, rtol=1e-3)


@every_layer
@pytest.mark.parametrize("scores", [False, True])
def test_float16_gradients_survive_a_loss_scale(name, scores):
    query, value = cross_inputs(name)
    full = make(name)
    half = make(name, like=full, dtype="mixed_float16")
    mask = padding(2, 3, total=value.shape[1])
    scale = 2.0**15

    def loss(layer, scale):
        def scaled(query, value):
            output = layer(
                query, value, value_mask=mask, return_attention_scores=scores
            )
            output = ops.cast(output[0] if scores else output, "float32")
            return ops.mean(output**2) * scale

        return scaled

    got, want = (
        gradients(loss(layer, by), query, value)
        + weight_gradients(layer, loss(layer, by), query, value)
        for layer, by in ((half, scale), (full, 1.0))
    )
    for a, b in zip(got, want, strict=True):
        assert np.isfinite(a).all()
        # The bias of the keys moves no weight: its gradient is rounding.
        atol = 2e-2 * np.abs(b).max() + 1e-4
        np.testing.assert_allclose(a / scale, b, atol=atol)
