"""A Transformer of KerasHub's layers, to be trained and decoded from."""


def keras_hub_transformer(vocabulary, width, between, heads, layers, dropout):
    """Return the model, and its layers by name, KerasHub's own.

    Post-norm, ReLU, sinusoidal positions, one table of embeddings for source,
    target and logits: what `keras_seq.models.transformer` is.
    """
    from keras_seq import _startup  # keeps start-up notes off the screen

    _startup.load_backend()
    import keras
    import keras_hub

    table = keras.layers.ReversibleEmbedding(
        vocabulary,
        width,
        mask_zero=True,
        embeddings_initializer=keras.initializers.RandomNormal(
            stddev=width**-0.5
        ),
    )
    place = keras_hub.layers.SinePositionEncoding()
    drop = keras.layers.Dropout(dropout)
    block = dict(intermediate_dim=between, num_heads=heads, dropout=dropout)
    encoders = [
        keras_hub.layers.TransformerEncoder(**block) for _ in range(layers)
    ]
    decoders = [
        keras_hub.layers.TransformerDecoder(**block) for _ in range(layers)
    ]

    def embed(ids):
        x = table(ids) * width**0.5
        return drop(x + place(x))

    inputs = {
        name: keras.Input((None,), dtype="int32", name=name)
        for name in ("source_ids", "target_ids")
    }
    x = embed(inputs["source_ids"])
    for encoder in encoders:
        x = encoder(x)
    y = embed(inputs["target_ids"])
    for decoder in decoders:
        y = decoder(y, x)
    model = keras.Model(inputs, table(y, reverse=True))
    return model, {
        "table": table,
        "place": place,
        "encoders": encoders,
        "decoders": decoders,
    }
