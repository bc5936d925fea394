"""Which models a server has, and what they are for: `/api/models`."""

from keras_seq.serving.repository import ModelRepository
from keras_seq.serving.serving_error import ServingError

_FOR_MACHINES = "golden"  # long, and of no use to who chooses a model


def list_models(repository: ModelRepository) -> list[dict]:
    """Return what is known of each model that can answer, by name.

    The task is the card's, or None for a model without a card.
    """
    models = []
    for name in repository.names:
        try:
            with repository.use(name) as version:
                card = version.servable.card
                number = version.number
                signatures = sorted(version.servable.signatures)
        except ServingError:  # it is still being loaded, or has failed
            continue
        task = card.get("task")
        models.append(
            {
                "name": name,
                "version": str(number),
                "task": task if isinstance(task, str) else None,
                "signatures": signatures,
                "card": {k: v for k, v in card.items() if k != _FOR_MACHINES},
            }
        )
    return models
