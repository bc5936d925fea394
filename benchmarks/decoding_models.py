"""One model, written down for each engine that will decode from it.

The weights are random, but for two things: the last normalization is turned up,
so that the best tokens stand out as they do in a trained model, and nothing
speaks for the special tokens, so that no translation ends before its limit.
"""

import pathlib

from benchmarks.training_work import BETWEEN, HEADS, LAYERS, VOCABULARY, WIDTH

WORDS = 26  # and the end token
TOKENS = 64  # what `Translator.search` lets 27 source tokens become
CONTRAST = 3.0
SPECIAL = ("<pad>", "<unk>", "<s>", "</s>")


def make_models(folder):
    """Write `keras_seq-<beam>`, `keras_hub` and `ctranslate2` into `folder`."""
    import keras
    import numpy as np

    from keras_seq.models import transformer
    from keras_seq.tasks.translation_export import translation_signatures
    from keras_seq.tasks.translator import Translator
    from keras_seq.text import WordTokenizer

    folder = pathlib.Path(folder)
    keras.utils.set_random_seed(0)
    words = [f"w{n}" for n in range(len(SPECIAL), VOCABULARY)]
    tokenizer = WordTokenizer(words)
    model = transformer(VOCABULARY, "small")
    table = model.source_embedding.embeddings
    table.assign(np.where(np.arange(VOCABULARY)[:, None] < 4, 0.0, table))
    last = model.get_layer(f"decoder_{LAYERS}").feed_forward_norm
    last.gamma.assign(np.full(WIDTH, CONTRAST, "float32"))
    translator = Translator(tokenizer, model)
    for beam in (1, 4):
        signatures = translation_signatures(translator, beam_size=beam)
        _save(
            folder / f"keras_seq-{beam}",
            {name: signatures[name] for name in ("serving_default", "fast")},
            [model, tokenizer],
        )
    _save(folder / "keras_hub", *_keras_hub(model, tokenizer))
    spec = _ctranslate2_spec(model)
    tokens = [*SPECIAL, *words]
    spec.register_source_vocabulary(tokens)
    spec.register_target_vocabulary(tokens)
    spec.validate()
    (folder / "ctranslate2").mkdir()
    spec.save(str(folder / "ctranslate2"))


def texts(batch):
    """Return `batch` sentences of `WORDS` words each."""
    import numpy as np

    ids = np.random.default_rng(1).integers(
        len(SPECIAL), VOCABULARY, (batch, WORDS)
    )
    return [" ".join(f"w{n}" for n in row) for row in ids]


def _save(path, signatures, tracked):
    """What `keras_seq.export.save` writes, but not tried in a new process."""
    import tensorflow as tf

    module = tf.Module()
    module.weights = [v.value for part in tracked for v in part.variables]
    module.tables = tracked[1:]
    tf.saved_model.save(module, str(path), signatures=signatures)


# === KerasHub ===


def _keras_hub(model, tokenizer):
    """Return the signatures of KerasHub's greedy loop, and what they use.

    Its caches are held as its own sequence-to-sequence models hold them.
    """
    import keras_hub
    import tensorflow as tf
    from keras import ops

    from benchmarks.keras_hub_transformer import keras_hub_transformer

    theirs, layers = keras_hub_transformer(
        VOCABULARY, WIDTH, BETWEEN, HEADS, LAYERS, dropout=0.0
    )
    table, place = layers["table"], layers["place"]
    table.set_weights([model.source_embedding.embeddings])
    for side in ("encoder", "decoder"):
        for n, layer in enumerate(layers[f"{side}s"], 1):
            ours = model.get_layer(f"{side}_{n}")
            layer.set_weights(ours.get_weights())

    def embed(ids, start_index=0):
        x = table(ids) * WIDTH**0.5
        return x + place(x, start_index=start_index)

    def decode(ids, index, encoded, mask, cache, cross_cache, cross_index):
        x = embed(ids, index)
        caches, cross_caches = [], []
        for n, layer in enumerate(layers["decoders"]):
            x, new, new_cross = layer(
                x,
                encoded,
                encoder_padding_mask=mask,
                self_attention_cache=cache[:, n],
                self_attention_cache_update_index=index,
                cross_attention_cache=cross_cache[:, n],
                cross_attention_cache_update_index=cross_index,
            )
            caches.append(new)
            cross_caches.append(new_cross)
        logits = table(x, reverse=True)
        return logits, ops.stack(caches, 1), ops.stack(cross_caches, 1)

    @tf.function(
        input_signature=[tf.TensorSpec((None, None), tf.int32, "source_ids")]
    )
    def serve(source_ids):
        batch, length = tf.shape(source_ids)[0], tf.shape(source_ids)[1]
        mask = source_ids != 0
        encoded = embed(source_ids)
        for layer in layers["encoders"]:
            encoded = layer(encoded, padding_mask=mask)
        sizes = (HEADS, WIDTH // HEADS)
        room = tf.zeros((batch, LAYERS, 2, TOKENS, *sizes))
        cross_room = tf.zeros((batch, LAYERS, 2, length, *sizes))
        prompt = tf.zeros((batch, TOKENS + 1), tf.int32)
        first = tf.fill((batch, 1), tokenizer.start_id)
        prompt = tf.concat([first, prompt[:, 1:]], axis=1)
        _, room, cross = decode(
            first, 0, encoded, mask, room, cross_room, cross_index=0
        )

        def next(prompt, cache, index):
            token = ops.slice(prompt, [0, index - 1], [batch, 1])
            logits, cache, _ = decode(
                token, index - 1, encoded, mask, cache, cross, None
            )
            return ops.squeeze(logits, axis=1), None, cache

        ids = keras_hub.samplers.GreedySampler()(
            next,
            prompt,
            room,
            index=1,
            mask=tf.zeros_like(prompt, bool),
            stop_token_ids=[tokenizer.end_id],
        )
        return {"token_ids": ids[:, 1:]}

    return {"serving_default": serve}, [theirs]


# === CTranslate2 ===


def _ctranslate2_spec(model):
    """Return our weights as CTranslate2 wants them; the architecture is one."""
    import ctranslate2
    import numpy as np
    from keras import ops

    from keras_seq.ops import sinusoidal_encoding

    spec = ctranslate2.specs.TransformerSpec.from_config(
        LAYERS, HEADS, pre_norm=False
    )
    spec.config.layer_norm_epsilon = 1e-5
    table = np.asarray(model.source_embedding.embeddings)
    places = ops.convert_to_numpy(sinusoidal_encoding(np.arange(256), WIDTH))
    spec.decoder.projection.weight = table
    spec.encoder.embeddings[0].weight = table
    spec.decoder.embeddings.weight = table
    for side in (spec.encoder, spec.decoder):
        side.position_encodings.encodings = places

    def fill(linear, *projections):
        """Several kernels `(D, ...)` become one, `(outputs, inputs)`."""
        rows = [np.asarray(p.kernel).reshape(WIDTH, -1).T for p in projections]
        linear.weight = np.ascontiguousarray(np.concatenate(rows))
        biases = [np.asarray(p.bias).reshape(-1) for p in projections]
        linear.bias = np.concatenate(biases)

    def fill_norm(norm, layer):
        norm.gamma, norm.beta = np.asarray(layer.gamma), np.asarray(layer.beta)

    def fill_attention(attention, layer, norm, is_self):
        memory = layer.key_dense, layer.value_dense
        if is_self:
            fill(attention.linear[0], layer.query_dense, *memory)
        else:
            fill(attention.linear[0], layer.query_dense)
            fill(attention.linear[1], *memory)
        fill(attention.linear[-1], layer.output_dense)
        fill_norm(attention.layer_norm, norm)

    for side in ("encoder", "decoder"):
        for n, layer in enumerate(getattr(spec, side).layer, 1):
            ours = model.get_layer(f"{side}_{n}")
            norm = ours.self_attention_norm
            fill_attention(
                layer.self_attention, ours.self_attention, norm, True
            )
            if side == "decoder":
                norm = ours.cross_attention_norm
                fill_attention(
                    layer.attention, ours.cross_attention, norm, False
                )
            ffn = ours.feed_forward
            for linear, w, b in (
                (layer.ffn.linear_0, ffn.w1, ffn.b1),
                (layer.ffn.linear_1, ffn.w2, ffn.b2),
            ):
                linear.weight = np.ascontiguousarray(np.asarray(w).T)
                linear.bias = np.asarray(b)
            fill_norm(layer.ffn.layer_norm, ours.feed_forward_norm)
    return spec
