"""Names of layers: readable, stable, and no two alike."""

import keras
import pytest
from keras import layers

from keras_seq.explain.layer_tree import named_layers


class Block(layers.Layer):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.attention = layers.Attention()
        self._hidden = layers.Dense(3)
        self.named = layers.Dense(3, name="out")
        self.steps = [layers.Dense(3), layers.Dense(3)]
        self.parts = {"left": layers.Dense(3)}


def test_a_layer_without_a_name_goes_by_its_attribute():
    assert set(named_layers(Block())) == {
        "attention",
        "hidden",
        "out",
        "steps_0",
        "steps_1",
        "parts_left",
    }


def test_names_do_not_depend_on_what_was_made_before():
    first = named_layers(Block())
    layers.Dense(3)
    layers.Attention()
    assert list(named_layers(Block())) == list(first)


def test_a_name_that_was_given_stays_even_if_it_ends_in_a_number():
    class Stage(layers.Layer):
        def __init__(self):
            super().__init__()
            self.inner = layers.Dense(3, name="stage_2")

    assert list(named_layers(Stage())) == ["stage_2"]


def test_models_in_models_are_walked():
    x = keras.Input((3, 5))
    low = keras.Model(x, layers.Dense(5, name="d")(x), name="low")
    high = keras.Sequential([low, layers.Dense(5, name="d")], name="high")
    model = keras.Model(x, high(x))
    names = [n for n in named_layers(model) if "input" not in n]
    assert names == ["high", "high/low", "high/d", "high/low/d"]


def test_layers_of_one_name_get_numbers():
    class Twins(layers.Layer):
        def __init__(self):
            super().__init__()
            self.a = layers.Dense(3, name="same")
            self.b = layers.Dense(3, name="same")

    block = Twins()
    found = named_layers(block)
    assert found == {"same": block.a, "same:2": block.b}


class Holder(layers.Layer):
    """Holds other layers, in the order of their names."""

    def __init__(self, name, *held):
        super().__init__(name=name)
        self.held = list(held)


def test_a_shared_layer_is_named_once_where_it_is_shallow():
    shared = layers.Dense(3, name="shared")
    deep = Holder("deep", Holder("deeper", shared))
    for held in (deep, Holder("low", shared)), (Holder("low", shared), deep):
        found = named_layers(Holder("model", *held))
        assert found["low/shared"] is shared
        assert list(found.values()).count(shared) == 1


@pytest.mark.parametrize("kind", [layers.LSTM, layers.RNN])
def test_cells_stand_in_their_recurrent_layer(kind):
    made = kind(3) if kind is layers.LSTM else kind(layers.LSTMCell(3))
    assert list(named_layers(keras.Sequential([made], name="s"))) == [
        made.name,
        f"{made.name}/cell",
    ]
