"""What the clients of the serving benchmarks ask."""

import functools
import itertools
import json
import pathlib

from benchmarks.http_load import post

MODELS = pathlib.Path(__file__).parents[1] / "saved_models"
TASKS = ("sentiment", "translation")
MANY = 512


def shipped_tasks() -> list[str]:
    """Return the tasks whose models are shipped, of those measured."""
    return [task for task in TASKS if (MODELS / task).is_dir()]


@functools.cache
def texts(task: str) -> list[str]:
    """Return texts of a task, of the built-in data: long ones and short."""
    from keras_seq import data

    if task == "sentiment":
        reviews = itertools.islice(data.write_reviews(seed=3), MANY)
        return [review.text for review in reviews]
    return [pair.source for pair in data.write_pairs(MANY, seed=3)]


def path_of(task: str) -> str:
    """Return where a model is asked."""
    return f"/v1/models/{task}:predict"


def single_requests(task: str) -> list[bytes]:
    """Return requests of one text each."""
    return [
        post(path_of(task), json.dumps({"instances": [text]}).encode())
        for text in texts(task)
    ]


def mixed_requests(tasks: list[str]) -> list[bytes]:
    """Return requests of all kinds: large and small, good and bad.

    Most are for sentiment, which is fast, so that there can be many.
    """
    requests = []
    for task in tasks:
        share = MANY if task == "sentiment" else MANY // 8
        some = texts(task)[:share]
        for place, text in enumerate(some):
            body = {"instances": [text]}
            if place % 8 == 1:
                body = {"instances": some[place : place + 5]}
            elif place % 8 == 2:
                body = {"inputs": {"text": [text]}}
            elif place % 8 == 3:
                body["signature_name"] = "explain"
            elif place % 64 == 4:
                body = {"instances": [" ".join(some[:20])]}
            elif place % 16 == 5:
                body = {"instances": [place]}
            elif place % 16 == 6:
                body["signature_name"] = "nope"
            requests.append(post(path_of(task), json.dumps(body).encode()))
    requests += [
        post(path_of("nobody"), b'{"instances": [1]}'),
        post(path_of("sentiment"), b'{"instances": ['),
        post(path_of("sentiment"), b"\xff\xfe"),
    ]
    return requests
