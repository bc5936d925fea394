"""Features of many pictures, computed once and kept on disk."""

import dataclasses
import hashlib
import json
import os
import pathlib
import zlib

import numpy as np
import tensorflow as tf

from keras_seq.vision.image_bytes import check_decoding
from keras_seq.vision.read_images import read_image

ABOUT, FEATURES, PARTS = "about.json", "features.npy", "parts.jsonl"
PART = 64  # pictures that are computed and written together


@dataclasses.dataclass(frozen=True, eq=False)
class CachedFeatures:
    """What `cached_features` found or made.

    Attributes:
        features: `(n, h, w, D)` float16, on disk, read where it is indexed.
            Pictures that could not be read are zero.
        failures: `{number of the picture: why it could not be read}`.
    """

    features: np.ndarray
    failures: dict[int, str]


def cached_features(
    folder,
    network,
    names,
    read,
    image_size=(224, 224),
    fit="stretch",
    mirror=False,
    progress=None,
    stamps=None,
) -> CachedFeatures:
    """Return the features of pictures, from disk where they are there.

    They are written in parts, each with a checksum: a run that was killed
    goes on with the part it was at, and a part that is damaged is made anew.
    A cache of another network, size or list of pictures is refused. Pictures
    that cannot be read do not stop the others, and are tried again each time.

    Args:
        folder: Where the cache is, or is to be.
        network: A model from pixels `(B, H, W, 3)`, 0 to 255, to features
            `(B, h, w, D)`.
        names: Names of the pictures, in order.
        read: `read(name)` that returns the bytes of a file.
        image_size: `(H, W)`.
        fit: As in `decode_images`.
        mirror: Whether to swap left and right.
        progress: `progress(done, total)`, called after each part.
        stamps: For each picture, a string that changes when its contents do:
            a cache of other contents is refused. None takes pictures of the
            same names to be the same.

    Returns:
        `CachedFeatures`.
    """
    folder, names = pathlib.Path(folder), [str(name) for name in names]
    size = check_decoding(image_size, fit, max_pixels=1)
    if not names:
        raise ValueError("`names` must have a picture. Received: none")
    if stamps is not None and len(stamps) != len(names):
        raise ValueError(
            "`stamps` must be as many as `names`. "
            f"Received: {len(stamps)} and {len(names)}"
        )
    about = {
        "network": network.name,
        "weights": fingerprint(network),
        "image_size": list(size),
        "fit": fit,
        "mirror": bool(mirror),
        "pictures": len(names),
        "names": _digest(names),
        "contents": None if stamps is None else _digest(stamps),
        "shape": list(network.compute_output_shape((1, *size, 3))[1:]),
        "dtype": "float16",
    }
    features = _open(folder, about)
    known, failures, total = _known_parts(folder, features), {}, len(names)
    missing = [at for at in range(-(-total // PART)) if at not in known]
    chosen = [range(at * PART, min((at + 1) * PART, total)) for at in missing]
    done = total - sum(map(len, chosen))
    encode = _encoder(network, size, mirror)

    def compute(rows):
        return _compute(features, rows, names, read, encode, size, fit)

    for part, rows in known.items():
        bad = compute(rows)  # those that could not be read
        if len(bad) < len(rows):  # somebody has mended one
            _note(folder, features, part, bad)
        failures |= bad
    for part, rows in zip(missing, chosen, strict=True):
        bad = compute(rows)
        _note(folder, features, part, bad)
        failures |= bad
        done += len(rows)
        if progress is not None:
            progress(done, total)
    found = np.load(folder / FEATURES, mmap_mode="r")
    return CachedFeatures(found, dict(sorted(failures.items())))


def fingerprint(network) -> str:
    """Return a short name for a network's architecture and its weights.

    Example:
        >>> from keras_seq.vision import small_cnn
        >>> network = small_cnn(widths=(4,))
        >>> before = fingerprint(network)
        >>> before == fingerprint(small_cnn(widths=(4,)))  # other weights
        False
        >>> before == fingerprint(network)
        True
    """
    found = hashlib.sha256()
    for weight in network.weights:
        found.update(f"{tuple(weight.shape)}".encode())
        found.update(np.ascontiguousarray(weight.numpy()).tobytes())
    for layer in network.layers:
        found.update(type(layer).__name__.encode())
    return found.hexdigest()[:16]


def _digest(texts):
    return hashlib.sha256("\n".join(texts).encode()).hexdigest()[:16]


def _open(folder, about):
    """Return the array to write to; a new one where there is no cache."""
    path = folder / ABOUT
    shape = (about["pictures"], *about["shape"])
    if path.is_file():
        try:
            known = json.loads(path.read_text())
        except ValueError:
            known = {}
        known = known if isinstance(known, dict) else {}
        differs = [key for key in about if known.get(key) != about[key]]
        if differs:
            told = "; ".join(
                f"{key}: {known.get(key)} there, {about[key]} asked for"
                for key in differs
            )
            raise ValueError(
                "`folder` must hold features of the same network, size and "
                "pictures: delete it, or choose another `cache_dir`. "
                f"Received: {str(folder)!r}, which differs in {told}"
            )
        if (folder / FEATURES).is_file():
            try:
                found = np.load(folder / FEATURES, mmap_mode="r+")
                if found.shape == shape and found.dtype == about["dtype"]:
                    return found
            except (ValueError, EOFError):
                pass  # empty, cut off or damaged: all is made anew
    elif folder.is_dir() and any(folder.iterdir()):
        raise ValueError(
            "`folder` must be a cache of features, or empty: choose another "
            f"`cache_dir`. Received: {str(folder)!r}, which has other files "
            f"and no {ABOUT}"
        )
    folder.mkdir(parents=True, exist_ok=True)
    (folder / PARTS).unlink(missing_ok=True)
    found = np.lib.format.open_memmap(
        folder / FEATURES, "w+", about["dtype"], shape
    )
    unfinished = folder / f".{ABOUT}"
    unfinished.write_text(json.dumps(about, indent=1) + "\n")
    os.replace(unfinished, path)
    return found


def _known_parts(folder, features):
    """Return the parts that are whole, and what failed in each."""
    found = {}
    path = folder / PARTS
    lines = path.read_bytes().splitlines() if path.is_file() else []
    for line in lines:
        try:
            part = json.loads(line)
            number, crc32 = part["part"], part["crc32"]
            bad = {int(at): why for at, why in part["failures"].items()}
            if _checksum(features, number) == crc32:
                found[number] = bad  # of several the last, which was mended
        except (ValueError, KeyError, TypeError, AttributeError):
            continue  # the line a kill cut off
    return dict(sorted(found.items()))


def _note(folder, features, part, bad):
    """Write a part, and that it is whole."""
    features.flush()
    crc32 = _checksum(features, part)
    line = {"part": part, "crc32": crc32, "failures": bad}
    with open(folder / PARTS, "a") as file:
        # A line of its own, also after one that a kill cut off.
        file.write(f"\n{json.dumps(line)}\n")


def _checksum(features, part):
    rows = features[part * PART : (part + 1) * PART]
    return zlib.crc32(np.ascontiguousarray(rows))


def _compute(features, rows, names, read, encode, size, fit):
    images, places, bad = [], [], {}
    for place in rows:
        image, failure = read_image(
            lambda name=names[place]: read(name), size, fit
        )
        if failure is None:
            images.append(image)
            places.append(place)
        else:
            bad[place] = failure
            features[place] = 0
    for at in range(0, len(images), 16):  # what a cache of a CPU can hold
        found = encode(np.stack(images[at : at + 16])).numpy()
        for place, row in zip(places[at : at + 16], found, strict=True):
            features[place] = row
    return bad


def _encoder(network, size, mirror):
    @tf.function(
        input_signature=[tf.TensorSpec((None, *size, 3), tf.float32)],
        autograph=False,
    )
    def encode(images):
        images = images[:, :, ::-1] if mirror else images
        found = tf.cast(network(images, training=False), tf.float32)
        # What half precision cannot hold would be infinite.
        return tf.cast(tf.clip_by_value(found, -65504.0, 65504.0), tf.float16)

    return encode
