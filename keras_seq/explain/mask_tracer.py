"""Follow the masks through a model, one operation at a time."""

import contextlib
import warnings

import keras
from keras import ops, tree

from keras_seq.explain.layer_tree import named_layers
from keras_seq.explain.mask_event import MaskEvent
from keras_seq.explain.mask_verdict import Given, arguments, remedy, verdict
from keras_seq.explain.tensor_masks import mask_of, masked_copy

_RUN = "_run_through_graph"  # the loop in which Keras runs a functional model


def mask_events(model):
    """Return a `MaskEvent` for each operation of `model`, in running order.

    The model runs without data, as when Keras infers shapes. It has to run:
    the masks on the symbolic tensors of a functional model are not those it
    has at run time, when a model inside a model hands its mask on.
    """
    if not (isinstance(model, keras.Sequential) or hasattr(model, _RUN)):
        raise ValueError(
            "`model` must be a functional or sequential model, whose "
            f"operations can be followed. Received: {model!r}"
        )
    if not model.built:
        raise ValueError(
            "`model` must be built, to know its operations: give it a "
            f"keras.Input or call it once. Received: {model!r}"
        )
    tracer = _Tracer(model)
    with warnings.catch_warnings(), tracer.watching():
        # Keras warns of some masks that it drops; the events name them all.
        warnings.simplefilter("ignore")
        is_sequential = isinstance(model, keras.Sequential)
        inputs = model.inputs[0] if is_sequential else model.input
        _DryRun(tracer).compute_output_spec(inputs)
    return tracer.events


class _DryRun(keras.Operation):
    def __init__(self, tracer):
        super().__init__()
        self.tracer = tracer

    def call(self, inputs):
        self.tracer.begin()  # anew: some backends run twice to infer shapes
        return self.tracer.model(inputs)


class _Tracer:
    def __init__(self, model):
        self.model = model
        self.begin()

    def begin(self):
        self.events = []
        self.inside = []  # the names of the operations we are in
        # id -> (name of the maker, the tensor, which keeps the id in use)
        self.makers = {}
        self.removers = {}  # id -> name of the operation that took a mask off

    @contextlib.contextmanager
    def watching(self):
        """Observe what `model`, and every model inside it, runs."""
        layers = [self.model, *named_layers(self.model).values()]
        # A sequential model has a functional one that does its work.
        layers += [getattr(layer, "_functional", None) for layer in layers]
        graphs = {id(x): x for x in layers if hasattr(x, _RUN)}.values()
        for graph in graphs:
            vars(graph)[_RUN] = self._watched_run(graph)
        try:
            yield
        finally:
            for graph in graphs:
                del vars(graph)[_RUN]

    def _watched_run(self, graph):
        run = getattr(graph, _RUN)

        def watched_run(inputs, operation_fn=lambda op: op, **kwargs):
            for symbol, tensor in zip(
                graph.inputs, tree.flatten(inputs), strict=True
            ):
                self.makers.setdefault(id(tensor), (symbol.name, tensor))

            def observed(operation):
                call = operation_fn(operation)
                return lambda *args, **kwargs: self._observe(
                    operation, call, args, kwargs
                )

            return run(inputs, operation_fn=observed, **kwargs)

        return watched_run

    def _observe(self, operation, call, args, kwargs):
        # Masks are read before the call: some layers take them off.
        given = [
            self._given(tensor, mask, leads)
            for tensor, mask, leads in arguments(operation, args, kwargs)
            if ops.is_tensor(tensor)
        ]
        attached = [x for x in given if mask_of(x.tensor) is not None]
        place = len(self.events)
        self.events.append(None)  # what runs inside this call comes after it
        self.inside.append(operation.name)
        path, depth = "/".join(self.inside), len(self.inside) - 1
        outputs = tree.map_structure(_fresh(given), call(*args, **kwargs))
        self.inside.pop()
        made = [x for x in tree.flatten(outputs) if ops.is_tensor(x)]
        for tensor in made:
            self.makers[id(tensor)] = (operation.name, tensor)
        for x in attached:
            if mask_of(x.tensor) is None:
                self.removers.setdefault(id(x.tensor), operation.name)
        if _only_computes_masks(operation, made):
            del self.events[place]
            return outputs
        if isinstance(operation, keras.Model) and len(self.events) > place + 1:
            event = "model"  # the events inside it tell the story
        else:
            event = verdict(operation, given, made)
        lost = event == "lost"
        self.events[place] = MaskEvent(
            path=path,
            kind=_kind(operation),
            event=event,
            inputs=tuple((x.name, x.mask is not None) for x in given),
            depth=depth,
            remedy=remedy(operation, given, made) if lost else "",
        )
        return outputs

    def _given(self, tensor, mask, leads):
        attached = mask_of(tensor)
        mask = mask if attached is None else attached
        removed_by = self.removers.get(id(tensor)) if mask is None else None
        name, _ = self.makers.get(id(tensor), ("?", None))
        return Given(tensor, name, mask, leads, removed_by)


def _fresh(given):
    """Copy what is handed back as it came: a tensor must have one maker."""
    seen = {id(x.tensor) for x in given}

    def fresh(tensor):
        return (
            masked_copy(tensor, mask_of(tensor))
            if id(tensor) in seen
            else tensor
        )

    return fresh


def _only_computes_masks(operation, made):
    """Whether this is one of the operations that Keras makes masks with."""
    return not isinstance(operation, keras.layers.Layer) and all(
        keras.backend.standardize_dtype(x.dtype) == "bool" for x in made
    )


def _kind(operation):
    name = type(operation).__name__
    is_layer = isinstance(operation, keras.layers.Layer)
    return name if is_layer else f"ops.{name.lower()}"
