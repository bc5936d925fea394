"""The state of many hypotheses, as beam search reorders it.

A step of its own kind may know better than to copy all it keeps at each step.
It says so by a method `for_beams(beam_size)`, which returns what has the three
methods of `CopiedBeams`.
"""

from keras import ops

from keras_seq.decoding.loop import pick_rows


class CopiedBeams:
    """`K` rows of any step's state for each row of the batch.

    Args:
        step: As in `greedy`.
        beam_size: K.
    """

    def __init__(self, step, beam_size):
        self.step = step
        self.size = beam_size

    def spread(self, state):
        """Return the state of a batch as that of `B * K` equal hypotheses."""
        if self.size == 1:
            return dict(state)
        return {k: ops.repeat(x, self.size, axis=0) for k, x in state.items()}

    def __call__(self, token_ids, state):
        """Take a step with each hypothesis, `(B * K,)`."""
        return self.step(token_ids, state)

    def reorder(self, state, new_state, parents):
        """Return `new_state`, each hypothesis with the past of its parent.

        Args:
            state: The state before the step: what is still the same in
                `new_state` is the same for all hypotheses of a row.
            new_state: The state after it.
            parents: `(B * K,)`, rows, each one of its own row's `K`.
        """
        if self.size == 1:
            return new_state
        return {
            name: x if x is state[name] else pick_rows(x, parents)
            for name, x in new_state.items()
        }


def beams_of(step, beam_size):
    """Return `step` for `beam_size` hypotheses a row."""
    own = getattr(step, "for_beams", None)
    return CopiedBeams(step, beam_size) if own is None else own(beam_size)
