"""The work that trainings race at: a Transformer, all of its training step.

3+3 layers, 256 wide, 4 heads, 1024 feed-forward, vocabulary 8000, embeddings
tied, dropout 0.1, Adam, float32; 64 pairs of 32 and 32 tokens a batch, none of
them padding.
"""

import math

LAYERS, WIDTH, HEADS, BETWEEN, VOCABULARY = 3, 256, 4, 1024, 8000
BATCH, LENGTH = 64, 32
DROPOUT, SMOOTHING = 0.1, 0.1
RATE, BETA_2 = 1e-3, 0.98


def make_batch():
    """Return `((source_ids, target_ids), labels)`, `(B, T)` int32 each."""
    import numpy as np

    random = np.random.default_rng(0)
    source = random.integers(3, VOCABULARY, (BATCH, LENGTH))
    target = random.integers(3, VOCABULARY, (BATCH, LENGTH + 1))
    source, target = source.astype("int32"), target.astype("int32")
    return (source, target[:, :-1]), target[:, 1:]


def keras_seq_fit(steps, attention_dropout=DROPOUT):
    """Our `fit` with all that a real run has on.

    Label smoothing, the running average of the weights, early stopping,
    checkpoints, the progress bar.
    """
    import os
    import tempfile

    from benchmarks.gated_steps import GatedSteps, endless
    from keras_seq import models, training
    from keras_seq.training.graph_steps import GraphSteps

    gate = GatedSteps(steps)
    learn = GraphSteps.train

    def learn_in_turn(self, batch):
        gate.before_step()
        learn(self, batch)
        gate.after_step()

    GraphSteps.train = learn_in_turn
    model = models.transformer(
        VOCABULARY,
        "small",
        dropout=DROPOUT,
        attention_dropout=attention_dropout,
    )

    def train():
        with tempfile.TemporaryDirectory() as folder:
            training.fit(
                model,
                endless(make_batch()),
                loss=training.MaskedCrossentropy(SMOOTHING),
                optimizer=training.Adam(RATE, beta_2=BETA_2, epsilon=1e-9),
                steps_per_epoch=10**6,
                early_stopping=training.EarlyStopping(monitor="loss"),
                average=training.ExponentialAverage(0.998),
                folder=folder,
                verbose=1,
            )

    # The bar is drawn, and nobody looks.
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    return gate.start(train)


def keras_hub_fit(steps):
    """KerasHub's layers under `keras.Model.fit`; Keras knows no smoothing."""
    from benchmarks.gated_steps import GatedSteps, endless
    from benchmarks.keras_hub_transformer import keras_hub_transformer

    model, _ = keras_hub_transformer(
        VOCABULARY, WIDTH, BETWEEN, HEADS, LAYERS, DROPOUT
    )
    import keras

    model.compile(
        keras.optimizers.Adam(RATE, beta_2=BETA_2, epsilon=1e-9),
        keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    )
    gate = GatedSteps(steps)
    turns = keras.callbacks.LambdaCallback(
        on_train_batch_begin=lambda batch, logs: gate.before_step(),
        on_train_batch_end=lambda batch, logs: gate.after_step(),
    )
    return gate.start(
        lambda: model.fit(
            endless(make_batch()),
            steps_per_epoch=10**6,
            callbacks=[turns],
            shuffle=False,
            verbose=0,
        )
    )


def products_alone(steps):
    """The matrix products of a step, forward and backward, and nothing else.

    No training is faster whose products are TensorFlow's.
    """
    from keras_seq import _startup

    _startup.load_backend()
    import tensorflow as tf

    rows, head = BATCH * LENGTH, WIDTH // HEADS
    attentions = 3 * LAYERS  # of encoders, and two of each decoder
    # How many of each: (..., T, D) times (..., D, E).
    shapes = [
        (4 * attentions, (rows, WIDTH), (WIDTH, WIDTH)),
        (2 * LAYERS, (rows, WIDTH), (WIDTH, BETWEEN)),
        (2 * LAYERS, (rows, BETWEEN), (BETWEEN, WIDTH)),
        (1, (rows, WIDTH), (WIDTH, VOCABULARY)),
    ]
    many = BATCH, HEADS
    shapes += [
        (attentions, (*many, LENGTH, head), (*many, head, LENGTH)),
        (attentions, (*many, LENGTH, LENGTH), (*many, LENGTH, head)),
    ]
    pairs = [
        (tf.random.normal(left), tf.random.normal(right))
        for count, left, right in shapes
        for _ in range(count)
    ]

    @tf.function
    def step():
        seen = []
        for x, w in pairs:
            y = tf.matmul(x, w)
            d_x = tf.matmul(y, w, transpose_b=True)
            d_w = tf.matmul(x, y, transpose_a=True)
            # One number of each, lest it be left out.
            seen += [tf.reshape(part, [-1])[0] for part in (y, d_x, d_w)]
        return tf.add_n(seen)

    def work():
        for _ in range(steps):
            step().numpy()

    return work


def torch_loop(steps):
    """`torch.nn.Transformer` in a plain loop, its Adam fused."""
    import torch

    torch.manual_seed(0)
    model = torch.nn.Transformer(
        WIDTH,
        HEADS,
        LAYERS,
        LAYERS,
        BETWEEN,
        DROPOUT,
        batch_first=True,
    )
    table = torch.nn.Embedding(VOCABULARY, WIDTH)
    torch.nn.init.normal_(table.weight, std=WIDTH**-0.5)
    parameters = [*model.parameters(), *table.parameters()]
    adam = torch.optim.Adam(
        parameters, RATE, betas=(0.9, BETA_2), eps=1e-9, fused=True
    )
    loss_of = torch.nn.CrossEntropyLoss(label_smoothing=SMOOTHING)
    (source, target), labels = make_batch()
    source, target, labels = (
        torch.from_numpy(x).long() for x in (source, target, labels)
    )
    angle = torch.arange(LENGTH)[:, None] * torch.exp(
        -torch.arange(0, WIDTH, 2) * (math.log(10000.0) / WIDTH)
    )
    places = torch.stack([angle.sin(), angle.cos()], -1).flatten(1)
    mask = model.generate_square_subsequent_mask(LENGTH)

    def embed(ids):
        x = table(ids) * math.sqrt(WIDTH) + places
        return torch.nn.functional.dropout(x, DROPOUT)

    def work():
        for _ in range(steps):
            adam.zero_grad(set_to_none=True)
            x = model(
                embed(source),
                embed(target),
                tgt_mask=mask,
                tgt_is_causal=True,
            )
            logits = torch.nn.functional.linear(x, table.weight)
            loss = loss_of(logits.flatten(0, 1), labels.flatten())
            loss.backward()
            adam.step()

    return work
