"""token_weights: which tokens decided, by three methods, on any backend."""

from concurrent.futures import ThreadPoolExecutor

import keras
import numpy as np
import pytest
from keras import ops

import keras_seq.layers as seq
from keras_seq.explain import token_weights
from keras_seq.layers.attention_recording import record
from tests.oracles import explanation as oracle

B, T, D, H, V, C = 3, 7, 6, 2, 17, 5
# Padding at the end, inside, at the front, and nothing else.
IDS = np.array(
    [
        [4, 9, 2, 16, 3, 1, 5],
        [3, 1, 5, 8, 0, 0, 0],
        [0, 7, 0, 2, 11, 0, 13],
        [0, 0, 0, 0, 0, 0, 0],
    ],
    "int32",
)


def array(x):
    return ops.convert_to_numpy(x)


class Pool(keras.layers.Layer):
    """Attention with one learned query, which hands its weights in."""

    def __init__(self, heads=1, **kwargs):
        super().__init__(**kwargs)
        self.heads = heads
        self.supports_masking = True

    def build(self, shape):
        self.query = self.add_weight(
            shape=(shape[-1], self.heads),
            initializer=keras.initializers.RandomNormal(seed=3),
        )

    def call(self, x, mask=None):
        scores = ops.transpose(ops.matmul(x, 20.0 * self.query), (0, 2, 1))
        if mask is not None:
            scores = ops.where(mask[:, None], scores, -1e9)
        weights = ops.softmax(scores)  # (B, H, T)
        if mask is not None:
            weights = ops.where(mask[:, None], weights, 0.0)
        record(self, weights[:, :, None])
        return ops.reshape(ops.matmul(weights, x), (-1, self.heads * D))

    def compute_output_shape(self, shape):
        return (shape[0], self.heads * shape[-1])

    def compute_mask(self, x, mask=None):
        return None


def classifier(*middle, outputs=C, embedding="token_embedding", pool=None):
    keras.utils.set_random_seed(1)
    ids = keras.Input((None,), dtype="int32", name="token_ids")
    x = keras.layers.Embedding(
        V,
        D,
        mask_zero=True,
        name=embedding,
        embeddings_initializer=keras.initializers.RandomNormal(seed=5),
    )(ids)
    for layer in middle:
        x = layer(x)
    x = (pool or MaskedMean())(x)
    x = keras.layers.Dense(
        outputs, name="logits", bias_initializer="random_normal"
    )(x)
    return keras.Model(ids, x, name="judge")


class MaskedMean(keras.layers.Layer):
    """Mean of the tokens, 0 if there are none."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.supports_masking = True

    def call(self, x, mask=None):
        real = ops.cast(mask, x.dtype)[..., None]
        return ops.sum(x * real, 1) / ops.maximum(ops.sum(real, 1), 1.0)

    def compute_mask(self, x, mask=None):
        return None


def encoder(number):
    return seq.TransformerEncoder(8, H, name=f"encoder_{number}")


def every_kind():
    return {
        "attention": classifier(seq.GRU(D, return_sequences=True), pool=Pool()),
        "transformer": classifier(encoder(1), encoder(2)),
        "gradient": classifier(seq.LSTM(D, return_sequences=True)),
    }


@pytest.fixture(scope="module")
def models():
    return every_kind()


@pytest.mark.parametrize("method", ["attention", "transformer", "gradient"])
def test_laws_of_all_methods(models, method):
    model = models[method]
    weigh = token_weights(model)
    assert weigh.method == method  # what "auto" found
    outputs, weights = weigh(IDS)
    np.testing.assert_allclose(array(outputs), array(model(IDS)), atol=1e-6)
    weights = array(weights)
    assert weights.shape == IDS.shape and weights.dtype == "float32"
    assert np.isfinite(weights).all()
    assert (weights[IDS == 0] == 0).all()
    assert (np.abs(weights[:3]).sum(axis=1) > 0).all()
    if method != "gradient":
        np.testing.assert_allclose(weights.sum(axis=1), [1, 1, 1, 0], atol=1e-6)
        assert (weights >= 0).all()


@pytest.mark.parametrize("method", ["attention", "transformer", "gradient"])
def test_padding_changes_nothing(models, method):
    weigh = token_weights(models[method], method)
    _, together = weigh(IDS)
    _, alone = weigh(IDS[1:2, :4])
    np.testing.assert_allclose(
        array(together)[1, :4], array(alone)[0], atol=1e-6
    )


def test_attention_is_the_mean_over_the_heads_of_pooling():
    pool = Pool(heads=3, name="pool")
    model = classifier(pool=pool)
    x = array(model.get_layer("token_embedding")(IDS)).astype("float64")
    scores = x @ (20.0 * array(pool.query).astype("float64"))  # (B, T, H)
    e = np.exp(scores) * (IDS != 0)[..., None]
    want = (e / np.maximum(e.sum(axis=1, keepdims=True), 1e-30)).mean(axis=-1)
    _, weights = token_weights(model, "attention")(IDS)
    np.testing.assert_allclose(array(weights), want, rtol=1e-4, atol=1e-6)


def recorded(model):
    from keras_seq.explain import attention_model

    _, weights = attention_model(model)(IDS)
    return {name: array(w).astype("float64") for name, w in weights.items()}


def test_transformer_is_the_rollout_averaged_over_tokens(models):
    found = recorded(models["transformer"])
    _, weights = token_weights(models["transformer"], "transformer")(IDS)
    for row, ids in enumerate(IDS[:3]):
        joint = oracle.rollout([w[row] for w in found.values()])
        want = joint[ids != 0].mean(axis=0)
        np.testing.assert_allclose(array(weights)[row], want, atol=1e-6)


def test_transformer_follows_the_query_of_attention_pooling():
    model = classifier(encoder(1), encoder(2), pool=Pool(name="pool"))
    found = recorded(model)
    share = found.pop("pool")[:, 0, 0]
    assert token_weights(model).method == "attention"
    _, weights = token_weights(model, "transformer")(IDS)
    for row in range(3):
        joint = oracle.rollout([w[row] for w in found.values()])
        want = share[row] @ joint
        np.testing.assert_allclose(array(weights)[row], want, atol=1e-6)


def test_gradient_times_input_is_that_of_the_predicted_class():
    """A small network by hand, with central differences."""
    hidden = keras.layers.Dense(D, activation="tanh", name="hidden")
    model = classifier(hidden)
    table = array(model.get_layer("token_embedding").weights[0]) * 20
    model.get_layer("token_embedding").set_weights([table])  # where tanh bends
    inner = array(hidden.kernel)
    kernel = array(model.get_layer("logits").kernel)
    bias = array(model.get_layer("logits").bias)
    outputs, weights = token_weights(model, "gradient")(IDS)
    for row, ids in enumerate(IDS[:3]):
        winner = array(outputs)[row].argmax()
        real = ids != 0

        def score(x, real=real, winner=winner):
            return (np.tanh(x @ inner)[real].mean(axis=0) @ kernel + bias)[
                winner
            ]

        want = oracle.gradient_times_input(score, table[ids])
        np.testing.assert_allclose(array(weights)[row], want, atol=1e-5)


def test_shares_of_a_linear_model_add_up_to_its_logit():
    model = classifier()
    bias = array(model.get_layer("logits").bias)
    outputs, weights = map(array, token_weights(model)(IDS))
    total = weights.sum(axis=1) + bias[outputs.argmax(axis=1)]
    np.testing.assert_allclose(total, outputs.max(axis=1), atol=1e-5)


def test_one_output_is_two_classes():
    model = classifier(outputs=1)
    # Even ids speak for class 1, odd ones for class 0.
    table = np.tile((-1.0) ** np.arange(V)[:, None], D)
    kernel, bias = np.ones((D, 1)), 0.01
    model.set_weights([table, kernel, np.array([bias])])
    outputs, weights = token_weights(model)(IDS)
    sign = np.sign(array(outputs)[:, 0])
    assert {*sign} == {-1, 1}
    total = array(weights).sum(axis=1) + sign * bias
    np.testing.assert_allclose(total, np.abs(array(outputs)[:, 0]), atol=1e-5)


def test_padding_weighs_nothing_even_in_a_model_that_looks_at_it():
    ids = keras.Input((None,), dtype="int32")
    x = keras.layers.Embedding(V, D, name="token_embedding")(ids)
    model = keras.Model(ids, keras.layers.Dense(C)(Pool()(x)))
    for method in ("attention", "gradient"):
        weights = array(token_weights(model, method)(IDS)[1])
        assert (weights[IDS == 0] == 0).all()
        assert (weights[IDS != 0] != 0).all()


def test_an_embedding_inside_a_nested_model_is_found():
    inner = classifier()
    ids = keras.Input((None,), dtype="int32")
    outer = keras.Model(ids, inner(ids))
    want = array(token_weights(inner)(IDS)[1])
    np.testing.assert_allclose(array(token_weights(outer)(IDS)[1]), want)


def test_a_model_is_left_as_it_was(models):
    for model in models.values():
        before = array(model(IDS))
        layers = [{**vars(layer)}.keys() for layer in model.layers]
        token_weights(model)(IDS)
        assert [vars(layer).keys() for layer in model.layers] == layers
        np.testing.assert_array_equal(array(model(IDS)), before)


def test_it_says_what_it_looked_for_and_what_there_is():
    plain = classifier(embedding="vectors")
    with pytest.raises(ValueError, match="attention pooling.*'vectors'"):
        token_weights(plain, "attention")
    with pytest.raises(ValueError, match="self-attention.*'vectors'"):
        token_weights(plain, "transformer")
    with pytest.raises(ValueError, match="'token_embedding'.*'vectors'"):
        token_weights(plain, "gradient")
    with pytest.raises(ValueError, match="any method.*'token_embedding'"):
        token_weights(plain)
    pooled = classifier(pool=Pool(name="pool"))
    with pytest.raises(ValueError, match=r"'pool': \(None, 1, 1, None\)"):
        token_weights(pooled, "transformer")


def test_bad_arguments_are_named():
    with pytest.raises(ValueError, match="`method`.*'magic'"):
        token_weights(classifier(), "magic")
    with pytest.raises(ValueError, match="`model` must be a Keras model"):
        token_weights(len)
    with pytest.raises(ValueError, match=r"`token_ids`.*shape=\(3,\)"):
        token_weights(classifier())([1, 2, 3])
    two = keras.Input((None,), name="one"), keras.Input((None,), name="two")
    model = keras.Model(two, keras.layers.Add()(two))
    with pytest.raises(ValueError, match="nothing else.*'one', 'two'"):
        token_weights(model)


def test_threads_that_explain_and_use_one_model_do_not_meet(models):
    model = models["gradient"]
    weigh = token_weights(model, "gradient")
    want, weights = map(array, weigh(IDS))

    def use(number):
        if number % 2:
            np.testing.assert_allclose(array(model(IDS)), want, atol=1e-5)
        else:
            np.testing.assert_allclose(array(weigh(IDS)[1]), weights, atol=1e-5)
        return True

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(use, range(16)))


@pytest.mark.tensorflow
@pytest.mark.parametrize("method", ["attention", "transformer", "gradient"])
def test_it_can_be_a_signature_of_a_saved_model(models, method, tmp_path):
    import tensorflow as tf

    weigh = token_weights(models[method], method)
    traces = []

    @tf.function(input_signature=[tf.TensorSpec((None, None), tf.int32)])
    def explain(token_ids):
        traces.append(1)
        logits, weights = weigh(token_ids)
        return {"logits": logits, "weights": weights}

    module = tf.Module()
    module.model, module.explain = models[method], explain
    tf.saved_model.save(module, str(tmp_path), signatures=explain)
    loaded = tf.saved_model.load(str(tmp_path)).signatures["serving_default"]
    for ids in (IDS, IDS[:1, :3], IDS[:0], IDS[:, :0]):
        got = loaded(token_ids=tf.constant(ids))
        if ids.size:
            logits, weights = weigh(ids)
            np.testing.assert_allclose(got["logits"], logits, atol=1e-5)
            np.testing.assert_allclose(got["weights"], weights, atol=1e-5)
        assert got["weights"].shape == ids.shape
    assert len(traces) == 1
