"""attention_model: the same answers, the right weights, nothing disturbed."""

from concurrent.futures import ThreadPoolExecutor

import keras
import numpy as np
import pytest
from keras import layers, ops

import keras_seq.layers as seq
from keras_seq.explain import attention_model
from keras_seq.layers.attention_recording import record
from tests.gradients import gradients

# Every axis a different prime: a transposed or confused axis cannot hide.
B, T, S, D, H, K = 2, 3, 5, 7, 11, 13
PADDED = np.array([[4, 9, 2, 0, 0], [3, 1, 5, 8, 0]])  # (B, S), 0 = padding


def array(x):
    return ops.convert_to_numpy(x)


def random(*shape, seed=0):
    return np.random.default_rng(seed).normal(size=shape).astype("float32")


def shapes(weights):
    return {name: tuple(w.shape) for name, w in weights.items()}


def softmax(scores):
    e = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


class Looker(layers.Layer):
    """Attention that hands in its weights, as the layers of keras_seq do."""

    def call(self, query, value):
        scores = ops.matmul(query, ops.swapaxes(value, -1, -2))
        weights = ops.softmax(scores)
        record(self, weights)
        return ops.matmul(weights, value)

    def compute_output_shape(self, query_shape, value_shape):
        return (*query_shape[:-1], value_shape[-1])


class Block(layers.Layer):
    """Somebody's own decoder block, with layers that have no names."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.first = layers.MultiHeadAttention(H, K)
        self._second = layers.MultiHeadAttention(H, K)
        self.more = [layers.Attention(), layers.Attention(name="third")]

    def call(self, target, source):
        x = target + self.first(target, target)
        x = x + self._second(x, source)
        return self.more[1]([self.more[0]([x, x]), source])

    def compute_output_shape(self, target_shape, source_shape):
        return target_shape


def cross_model(*attention, name=None):
    """Two inputs, `(T, D)` and `(S, D)`, through each attention in turn."""
    target, source = keras.Input((T, D)), keras.Input((S, D))
    x = target
    for layer in attention:
        x = layer([x, source])
    return keras.Model([target, source], x, name=name)


def padded_model():
    """Self-attention of Keras over padded tokens."""
    ids = keras.Input((None,), dtype="int32")
    x = layers.Embedding(17, D, mask_zero=True, name="embed")(ids)
    attend = layers.MultiHeadAttention(H, K, name="attend")
    x = layers.Dense(3, name="dense")(attend(x, x))
    return keras.Model(ids, x, name="padded")


def test_weights_are_the_softmax_of_the_scores():
    model = cross_model(layers.Attention(name="look"))
    query, value = random(B, T, D), random(B, S, D, seed=1)
    _, weights = attention_model(model)([query, value])
    want = softmax(query.astype("float64") @ value.transpose(0, 2, 1))
    assert shapes(weights) == {"look": (B, 1, T, S)}
    np.testing.assert_allclose(array(weights["look"])[:, 0], want, rtol=1e-4)


def test_outputs_are_the_models_own_to_the_last_bit():
    # Padded queries are where Keras gives other outputs if asked for scores.
    model = padded_model()
    outputs, _ = attention_model(model)(PADDED)
    np.testing.assert_array_equal(array(outputs), array(model(PADDED)))


def test_weights_are_zero_on_padding_and_sum_to_one_elsewhere():
    _, weights = attention_model(padded_model())(PADDED)
    weights, real = array(weights["attend"]), PADDED != 0
    for b in range(B):
        assert not weights[b, :, :, ~real[b]].any()  # padded keys
        assert not weights[b, :, ~real[b]].any()  # padded queries
        sums = weights[b, :, real[b]].sum(-1)
        np.testing.assert_allclose(sums, np.ones_like(sums), rtol=1e-5)


def test_masks_given_by_hand_are_heeded():
    query = keras.Input((T, D))
    visible = keras.Input((T, T), dtype="bool")
    attend = layers.MultiHeadAttention(H, K, name="attend")
    model = keras.Model(
        [query, visible], attend(query, query, attention_mask=visible)
    )
    seen = np.tril(np.ones((B, T, T), bool))
    _, weights = attention_model(model)([random(B, T, D), seen])
    np.testing.assert_array_equal(array(weights["attend"])[:, 0] > 0, seen)


def test_a_model_that_asks_for_scores_itself_still_gets_them():
    query = keras.Input((T, D))
    attend = layers.MultiHeadAttention(H, K, name="attend")
    outputs = attend(query, query, return_attention_scores=True)
    model = keras.Model(query, outputs)
    (context, scores), weights = attention_model(model)(random(B, T, D))
    assert context.shape[-1] == D
    np.testing.assert_array_equal(array(scores), array(weights["attend"]))


def test_it_shares_the_weights():
    model = padded_model()
    shown = attention_model(model)
    assert shown.count_params() == model.count_params()
    assert [id(v) for v in shown.variables] == [id(v) for v in model.variables]
    before = array(shown(PADDED)[1]["attend"])
    model.get_layer("embed").set_weights([random(17, D)])
    assert np.abs(array(shown(PADDED)[1]["attend"]) - before).max() > 1e-3


def state(model):
    """Every attribute of every layer, by identity.

    But for two notes that Keras makes the first time a layer runs; asking for
    scores runs a softmax layer that the model itself never used.
    """
    notes = ("_called", "_parent_path")
    every = [model, *model._flatten_layers(include_self=False)]
    return {
        (layer.name, name): id(value)
        for layer in every
        for name, value in vars(layer).items()
        if name not in notes
    }


def test_the_model_is_left_as_it_was():
    model = padded_model()
    before = array(model(PADDED))
    then = state(model)
    attention_model(model)(PADDED)
    assert state(model) == then
    np.testing.assert_array_equal(array(model(PADDED)), before)


def test_the_model_is_left_as_it_was_after_an_error():
    model = padded_model()
    model(PADDED)
    then = state(model)
    with pytest.raises(Exception, match="rank|shape"):
        attention_model(model)(np.ones((B, S, 3, 3)))
    assert state(model) == then


def test_a_call_that_somebody_replaced_is_put_back():
    look = layers.Attention(name="look")
    model = cross_model(look)
    original = look.call

    def doubled(inputs, return_attention_scores=False, **kwargs):
        context, scores = original(inputs, return_attention_scores=True)
        return (2 * context, scores) if return_attention_scores else 2 * context

    look.call = doubled
    inputs = [random(B, T, D), random(B, S, D)]
    outputs, weights = attention_model(model)(inputs)
    assert look.call is doubled
    np.testing.assert_array_equal(array(outputs), array(model(inputs)))
    assert shapes(weights) == {"look": (B, 1, T, S)}


# === Names ===


def test_self_and_cross_attention_are_told_apart_in_somebodys_block():
    target, source = keras.Input((T, D)), keras.Input((S, D))
    x = Block(name="decoder_1")(target, source)
    x = Block(name="decoder_2")(x, source)
    model = keras.Model([target, source], x)
    inputs = [random(B, T, D), random(B, S, D)]
    _, weights = attention_model(model)(inputs)
    assert shapes(weights) == {
        "decoder_1/first": (B, H, T, T),
        "decoder_1/second": (B, H, T, S),
        "decoder_1/more_0": (B, 1, T, T),
        "decoder_1/third": (B, 1, T, S),
        "decoder_2/first": (B, H, T, T),
        "decoder_2/second": (B, H, T, S),
        "decoder_2/more_0": (B, 1, T, T),
        "decoder_2/third": (B, 1, T, S),
    }


@pytest.mark.parametrize("kind", [Looker, layers.Attention])
def test_layers_of_the_same_name_in_nested_models_are_told_apart(kind):
    def inner(name, length):
        query = keras.Input((length, D))
        look = kind(name="look")
        x = look(query, query) if kind is Looker else look([query, query])
        return keras.Model(query, x, name=name)

    target, source = keras.Input((T, D)), keras.Input((S, D))
    encoder = keras.Model(source, inner("low", S)(source), name="encoder")
    model = keras.Model(
        [target, source], [inner("decoder", T)(target), encoder(source)]
    )
    inputs = [random(B, T, D), random(B, S, D)]
    _, weights = attention_model(model)(inputs)
    assert shapes(weights) == {
        "decoder/look": (B, 1, T, T),
        "encoder/low/look": (B, 1, S, S),
    }


def test_a_layer_that_is_called_twice_gives_two_entries_in_order():
    look = layers.Attention(name="look")
    model = cross_model(look, look)
    query, value = random(B, T, D), random(B, S, D, seed=1)
    _, weights = attention_model(model)([query, value])
    assert list(weights) == ["look", "look:2"]
    first = array(look([query, value]))
    _, want = look([first, value], return_attention_scores=True)
    np.testing.assert_allclose(
        array(weights["look:2"])[:, 0], array(want), rtol=1e-5
    )


def test_layers_that_record_by_themselves_are_not_asked_again():
    class Both(Looker):
        def call(self, query, value, return_attention_scores=False):
            context = super().call(query, value)
            scores = ops.zeros((B, 1, T, S))
            return (context, scores) if return_attention_scores else context

    target, source = keras.Input((T, D)), keras.Input((S, D))
    model = keras.Model([target, source], Both(name="both")(target, source))
    inputs = [random(B, T, D), random(B, S, D)]
    _, weights = attention_model(model)(inputs)
    assert shapes(weights) == {"both": (B, 1, T, S)}
    np.testing.assert_allclose(array(weights["both"]).sum(-1), 1, rtol=1e-5)


@pytest.mark.parametrize(
    "layer, heads",
    [
        (seq.DotProductAttention(name="look"), 1),
        (seq.CosineAttention(name="look"), 1),
        (seq.BilinearAttention(name="look"), 1),
        (seq.AdditiveAttention(units=K, name="look"), 1),
        (seq.MultiHeadAttention(H, K, name="look"), H),
    ],
    ids=lambda x: type(x).__name__,
)
def test_attention_of_keras_seq_is_looked_into(layer, heads):
    target, source = keras.Input((T, D)), keras.Input((S, D))
    model = keras.Model([target, source], layer(target, source))
    inputs = [random(B, T, D), random(B, S, D, seed=1)]
    outputs, weights = attention_model(model)(inputs)
    _, want = layer(*inputs, return_attention_scores=True)
    want = array(want).reshape(B, heads, T, S)
    np.testing.assert_allclose(array(weights["look"]), want, atol=1e-6)
    np.testing.assert_allclose(array(outputs), array(model(inputs)), atol=1e-6)


def test_blocks_of_keras_seq_are_looked_into():
    ids = keras.Input((S,), dtype="int32")
    target = keras.Input((T, 8))
    x = layers.Embedding(17, 8, mask_zero=True)(ids)
    x = seq.LocalAttention(2, 3, window=2, name="near")(x, x)
    x = seq.TransformerEncoder(16, 2, name="encoder")(x)
    x = seq.TransformerDecoder(16, 2, name="decoder")(target, x)
    model = keras.Model([target, ids], x)
    inputs = [random(B, T, 8), PADDED]
    outputs, weights = attention_model(model)(inputs)
    assert shapes(weights) == {
        "near": (B, 2, S, S),
        "encoder/self_attention": (B, 2, S, S),
        "decoder/self_attention": (B, 2, T, T),
        "decoder/cross_attention": (B, 2, T, S),
    }
    near = array(weights["near"])
    assert not np.triu(near, 2).any() and not np.tril(near, -2).any()
    causal = array(weights["decoder/self_attention"])
    assert not np.triu(causal, 1).any()
    cross = array(weights["decoder/cross_attention"])
    assert not cross[0, ..., 3:].any() and (cross[0, ..., :3] > 0).all()
    np.testing.assert_allclose(array(outputs), array(model(inputs)), atol=1e-6)


def test_blocks_of_keras_hub_are_looked_into():
    keras_hub = pytest.importorskip("keras_hub")
    target, source = keras.Input((T, 8)), keras.Input((S, 8))
    x = keras_hub.layers.TransformerEncoder(16, 2, name="encoder")(source)
    x = keras_hub.layers.TransformerDecoder(16, 2, name="decoder")(target, x)
    model = keras.Model([target, source], x)
    inputs = [random(B, T, 8), random(B, S, 8)]
    outputs, weights = attention_model(model)(inputs)
    assert shapes(weights) == {
        "encoder/self_attention_layer": (B, 2, S, S),
        "decoder/self_attention": (B, 2, T, T),
        "decoder/cross_attention": (B, 2, T, S),
    }
    causal = array(weights["decoder/self_attention"])
    assert not np.triu(causal, 1).any()
    np.testing.assert_array_equal(array(outputs), array(model(inputs)))


# === Kinds of models, inputs and outputs ===


class Subclassed(keras.Model):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.look = layers.MultiHeadAttention(H, K)
        self.drop = layers.Dropout(0.5)

    def call(self, target, source, training=None):
        return self.drop(self.look(target, source), training=training)


def test_a_subclassed_model_need_not_be_built():
    inputs = [random(B, T, D), random(B, S, D)]
    model = Subclassed(name="mine")
    outputs, weights = attention_model(model)(*inputs)
    assert shapes(weights) == {"look": (B, H, T, S)}
    np.testing.assert_array_equal(array(outputs), array(model(*inputs)))
    paths = [variable.path for variable in model.look.variables]
    assert all(path.startswith("mine/") for path in paths), paths


def test_dropout_sleeps_unless_training_is_asked_for():
    inputs = [random(B, T, D), random(B, S, D)]
    model = Subclassed()
    shown = attention_model(model)
    assert not (array(shown(*inputs)[0]) == 0).any()
    assert (array(shown(*inputs, training=True)[0]) == 0).any()


def test_named_inputs_and_outputs_keep_their_names():
    named = {
        n: keras.Input((n_steps, D), name=n)
        for n, n_steps in [("target", T), ("source", S)]
    }
    x = layers.Attention(name="look")([named["target"], named["source"]])
    model = keras.Model(named, {"context": x, "twice": 2 * x})
    inputs = {"target": random(B, T, D), "source": random(B, S, D)}
    outputs, weights = attention_model(model)(inputs)
    assert set(outputs) == {"context", "twice"}
    want = model(inputs)
    for name in outputs:
        np.testing.assert_array_equal(array(outputs[name]), array(want[name]))
    assert shapes(weights) == {"look": (B, 1, T, S)}


def test_a_sequential_model_and_a_lone_layer_will_do():
    look = Looker(name="look")

    class Own(layers.Layer):
        def __init__(self):
            super().__init__()
            self.look = look

        def call(self, x):
            return self.look(x, x)

    model = keras.Sequential([keras.Input((T, D)), Own()])
    assert list(attention_model(model)(random(B, T, D))[1]) == ["own/look"]
    lone = attention_model(look)
    assert list(lone(random(B, T, D), random(B, S, D))[1]) == ["look"]


def test_inputs_reach_the_model_in_the_type_they_have():
    x = keras.Input((T, D), dtype="float64")
    look = layers.Attention(name="look", dtype="float64")
    model = keras.Model(x, look([x, x]))
    inputs = 1 + 1e-12 * np.random.default_rng(0).normal(size=(B, T, D))
    outputs, _ = attention_model(model)(inputs)
    np.testing.assert_array_equal(array(outputs), array(model(inputs)))


def test_mixed_precision_gives_the_models_own_outputs():
    look = layers.MultiHeadAttention(H, K, name="look", dtype="mixed_bfloat16")
    x = keras.Input((T, D))
    model = keras.Model(x, look(x, x))
    inputs = random(B, T, D)
    outputs, weights = attention_model(model)(inputs)
    assert keras.backend.standardize_dtype(outputs.dtype) == "bfloat16"
    outputs, want = (ops.cast(y, "float32") for y in (outputs, model(inputs)))
    np.testing.assert_array_equal(array(outputs), array(want))
    assert shapes(weights) == {"look": (B, H, T, T)}


# === Where it runs ===


def test_predict_gives_what_a_call_gives():
    shown = attention_model(padded_model())
    many = np.concatenate([PADDED] * 5)
    outputs, weights = shown.predict(many, batch_size=3, verbose=0)
    want_outputs, want_weights = shown(many)
    np.testing.assert_allclose(outputs, array(want_outputs), atol=1e-6)
    np.testing.assert_allclose(
        weights["attend"], array(want_weights["attend"]), atol=1e-6
    )


@pytest.mark.tensorflow
@pytest.mark.parametrize("jit_compile", [False, True])
def test_it_runs_inside_a_tf_function_with_lengths_unknown(jit_compile):
    import tensorflow as tf

    shown = attention_model(padded_model())
    compiled = tf.function(
        lambda ids: shown(ids),
        input_signature=[tf.TensorSpec((None, None), tf.int32)],
        jit_compile=jit_compile,
    )
    for ids in (PADDED, PADDED[:1, :3]):
        outputs, weights = compiled(ids)
        want_outputs, want_weights = shown(ids)
        np.testing.assert_allclose(outputs, want_outputs, atol=1e-6)
        np.testing.assert_allclose(
            weights["attend"], want_weights["attend"], atol=1e-6
        )


def test_it_runs_on_symbolic_inputs():
    ids = keras.Input((S,), dtype="int32")
    outputs, weights = attention_model(padded_model())(ids)
    assert outputs.shape == (None, S, 3)
    assert weights["attend"].shape == (None, H, S, S)
    mean = ops.mean(weights["attend"], axis=1)
    model = keras.Model(ids, mean)
    assert model(PADDED).shape == (B, S, S)


def test_gradients_flow_through_the_weights():
    shown = attention_model(cross_model(layers.Attention(name="look")))

    def sharpness(query, value):
        return ops.square(shown([query, value])[1]["look"])

    found = gradients(sharpness, random(B, T, D), random(B, S, D, seed=1))
    assert all(np.abs(g).max() > 1e-3 for g in found)


def test_threads_that_explain_one_model_do_not_disturb_each_other():
    model = padded_model()
    shown = attention_model(model)
    ids = [np.roll(PADDED, k, axis=1) for k in range(3)]
    want = [array(shown(x)[1]["attend"]) for x in ids]
    then = state(model)

    def explain(k):
        for _ in range(3):
            weights = shown(ids[k])[1]
            assert list(weights) == ["attend"]
            np.testing.assert_allclose(
                array(weights["attend"]), want[k], atol=1e-6
            )

    with ThreadPoolExecutor(max_workers=3) as pool:
        list(pool.map(explain, range(3)))
    assert state(model) == then


def test_a_thread_that_just_uses_the_model_notices_nothing():
    class Meanwhile(layers.Layer):
        """Lets another thread use the model, once, while this one runs."""

        task = None

        def call(self, x):
            task, Meanwhile.task = Meanwhile.task, None
            if task:
                with ThreadPoolExecutor(max_workers=1) as pool:
                    pool.submit(task).result()
            return x

    query = keras.Input((T, D))
    x = Meanwhile()(query)
    model = keras.Model(query, layers.Attention(name="look")([x, x]))
    inputs, outputs = random(B, T, D), []
    want = array(model(inputs))
    Meanwhile.task = lambda: outputs.append(array(model(inputs)))
    _, weights = attention_model(model)(inputs)
    np.testing.assert_array_equal(outputs, [want])
    assert shapes(weights) == {"look": (B, 1, T, T)}


def test_models_may_explain_themselves_inside_another():
    inner = cross_model(layers.Attention(name="inner"))
    outer = layers.Attention(name="outer")

    class Curious(keras.Model):
        def __init__(self):
            super().__init__()
            self.inner, self.outer = inner, outer

        def call(self, target, source):
            _, weights = attention_model(self.inner)([target, source])
            summed = ops.sum(weights["inner"], axis=(1, 3))
            return self.outer([target * summed[..., None], source])

    inputs = [random(B, T, D), random(B, S, D)]
    _, weights = attention_model(Curious())(*inputs)
    assert list(weights) == ["outer"]


# === Errors ===


def test_a_model_without_attention_is_named():
    x = keras.Input((T, D))
    model = keras.Model(x, layers.Dense(3)(x), name="plain_one")
    with pytest.raises(ValueError, match="'plain_one' has no attention"):
        attention_model(model)(random(B, T, D))


def test_what_is_not_a_model_is_refused():
    with pytest.raises(ValueError, match="`model` must be.*Received: 3"):
        attention_model(3)


class Cell(layers.Layer):
    """A recurrent cell that attends to its own state."""

    def __init__(self):
        super().__init__()
        self.state_size = D
        self.look = layers.Attention(name="look")

    def build(self, shape):
        self.look.build([(None, 2, D), (None, 2, D)])

    def call(self, x, states):
        pair = ops.stack([x, states[0]], axis=1)
        state = self.look([pair, pair])[:, 0]
        return state, [state]


@pytest.mark.parametrize("way", ["call", "predict"])
def test_attention_in_a_recurrent_loop_is_refused_the_same_way(way):
    model = keras.Sequential(
        [keras.Input((T, D)), layers.RNN(Cell(), name="loop")]
    )
    shown = attention_model(model)
    run = shown if way == "call" else lambda x: shown.predict(x, verbose=0)
    with pytest.raises(ValueError, match="'loop/cell/look'.*loop of.*'loop'"):
        run(random(B, T, D))


@pytest.mark.tensorflow
def test_weights_that_cannot_leave_a_compiled_function_are_refused():
    import tensorflow as tf

    class Compiled(layers.Layer):
        def __init__(self):
            super().__init__()
            self.look = layers.Attention(name="look")

        def call(self, x):
            return tf.function(lambda x: self.look([x, x]))(x)

    model = keras.Sequential([Compiled()])
    with pytest.raises(ValueError, match="look'.*cannot leave it"):
        attention_model(model)(random(B, T, D))
