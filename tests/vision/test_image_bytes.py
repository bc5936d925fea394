"""Files become the pixels that Pillow sees; bad ones a clear sentence."""

import struct
import subprocess
import sys
import time
import zlib

import numpy as np
import pytest
import tensorflow as tf
from PIL import Image

from keras_seq.vision import check_image_bytes, decode_images, read_images
from keras_seq.vision.image_bytes import decode_checked
from keras_seq.vision.image_header import KINDS, read_image_header
from tests.vision.image_cases import cases, drawing, encode, pillow

pytestmark = pytest.mark.tensorflow
CASES = cases()


@pytest.mark.parametrize("name", CASES)
def test_every_kind_of_file_gives_the_pixels_pillow_sees(name):
    wanted = pillow(CASES[name])
    got = decode_checked(CASES[name], wanted.shape[:2], "stretch")
    # Two decoders of JPEG may differ by rounding; colours not at all.
    limit = 4 if name.startswith("jpeg") else 1
    assert np.abs(got - wanted).max() <= limit
    assert wanted.std() > 30


def test_turned_files_differ_from_one_another():
    seen = [pillow(CASES[f"jpeg turned {n}"]) for n in range(1, 9)]
    seen = [image.mean(-1).round(-1).tobytes() for image in seen]
    assert len(set(seen)) == 8


def test_header_says_what_is_in_the_file():
    header = read_image_header(CASES["jpeg turned 6"])
    numbers = [int(number) for number in header]
    assert (KINDS[numbers[0]], *numbers[1:]) == ("jpeg", 63, 45, 6)


def test_a_batch_is_decoded_in_graph_and_the_file_order_kept():
    @tf.function(input_signature=[tf.TensorSpec((None,), tf.string)])
    def decode(image_bytes):
        return decode_images(image_bytes, (29, 31))

    names = ["png", "jpeg turned 3", "gif"]
    batch = decode(tf.constant([CASES[name] for name in names]))
    assert batch.shape == (3, 29, 31, 3)
    for image, name in zip(batch, names, strict=True):
        alone = decode_checked(CASES[name], (29, 31), "crop")
        np.testing.assert_allclose(image, alone, atol=1e-3)
    assert decode(tf.zeros(0, tf.string)).shape == (0, 29, 31, 3)


def test_a_saved_model_needs_nothing_but_tensorflow(tmp_path):
    module = tf.Module()
    module.decode = tf.function(
        lambda image_bytes: decode_images(image_bytes, (11, 13)),
        input_signature=[tf.TensorSpec((None,), tf.string)],
    )
    tf.saved_model.save(module, tmp_path / "model")
    path = tmp_path / "image.png"
    path.write_bytes(CASES["png alpha"])
    code = (
        "import sys, tensorflow as tf\n"
        "decode = tf.saved_model.load(sys.argv[1]).decode\n"
        "image = decode(tf.constant([open(sys.argv[2], 'rb').read()]))\n"
        "print('keras_seq' in sys.modules, float(tf.reduce_sum(image)))\n"
    )
    run = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "model"), str(path)],
        capture_output=True,
        text=True,
        cwd=tmp_path,
    )
    known, total = run.stdout.split()
    assert known == "False"
    wanted = decode_checked(CASES["png alpha"], (11, 13), "crop").sum()
    assert float(total) == pytest.approx(wanted, rel=1e-5)
    functions = module.decode.get_concrete_function().graph.as_graph_def()
    ops = {n.op for f in functions.library.function for n in f.node_def}
    assert "DecodeJpeg" in ops
    assert not {op for op in ops if "PyFunc" in op}


def test_crop_keeps_the_middle_and_stretch_keeps_all():
    pixels = np.zeros((40, 100, 3), "uint8")
    pixels[:, :30], pixels[:, 30:70], pixels[:, 70:] = 10, 120, 250
    contents = encode(Image.fromarray(pixels), "PNG")
    crop = decode_checked(contents, (20, 20), "crop")
    np.testing.assert_allclose(crop, 120, atol=1e-3)
    stretch = decode_checked(contents, (20, 20), "stretch")
    np.testing.assert_allclose(
        stretch[:, [1, 10, 18], 0], [[10, 120, 250]] * 20, atol=1
    )


def test_shrinking_is_smooth():
    # One pixel in four is white: a sampler without smoothing sees stripes.
    pixels = np.zeros((128, 128, 3), "uint8")
    pixels[:, ::4] = 255
    contents = encode(Image.fromarray(pixels), "PNG")
    middle = decode_checked(contents, (16, 16), "crop")[2:-2, 2:-2]
    np.testing.assert_allclose(middle, 255 / 4, atol=8)
    got = decode_checked(CASES["png"], (21, 15), "stretch")
    # In float, where Pillow does not round and cut between its two passes.
    channels = np.moveaxis(np.asarray(drawing()).astype("float32"), -1, 0)
    pil = [
        np.asarray(
            Image.fromarray(x).resize((15, 21), Image.Resampling.BICUBIC)
        )
        for x in channels
    ]
    wanted = np.clip(np.stack(pil, axis=-1), 0, 255)
    np.testing.assert_allclose(got, wanted, atol=1e-2)


def bomb(width, height):
    """A PNG file that says how large it is and holds nothing."""
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    files = b"\x89PNG\r\n\x1a\n"
    for kind, data in ((b"IHDR", header), (b"IDAT", b""), (b"IEND", b"")):
        files += struct.pack(">I", len(data)) + kind + data
        files += struct.pack(">I", zlib.crc32(kind + data))
    return files


BAD = {
    "text": (b"<html>404</html>", "JPEG, PNG, GIF or BMP file.*16 bytes"),
    "empty": (b"", "JPEG, PNG, GIF or BMP file.*0 bytes"),
    "webp": (encode(drawing(), "WEBP"), "JPEG, PNG, GIF or BMP file"),
    "one pixel": (encode(Image.new("RGB", (1, 1)), "PNG"), "8 x 8.*: 1 x 1"),
    "huge png": (bomb(10_000, 10_000), "36000000 pixels.*: 10000 x 10000"),
    "overflow": (bomb(2**31 - 1, 2**31 - 1), "36000000 pixels"),
    "huge jpeg": (
        CASES["jpeg"].replace(b"\0\x3f\0\x2d", b"\xff\xff\xff\xff", 1),
        "36000000 pixels.*: 65535 x 65535",
    ),
    "huge gif": (
        CASES["gif"].replace(b"\x2d\0\x3f\0", b"\xff\xff\xff\xff", 1),
        "36000000 pixels",
    ),
    # The frame, and not the screen it stands on.
    "huge gif frame": (
        b"\xff\xff\xff\xff".join(CASES["gif"].rsplit(b"\x2d\0\x3f\0", 1)),
        "36000000 pixels",
    ),
    "cut jpeg": (CASES["jpeg"][:-300], "whole image.*cut off or damaged"),
    "cut header": (CASES["jpeg"][:100], "whole image.*no size"),
    "cut png": (CASES["png"][:-60], "whole image"),
    "cut gif": (CASES["gif"][:-60], "whole image"),
    "cut bmp": (CASES["bmp"][:-60], "whole image"),
    "bmp 1 bit": (encode(drawing().convert("1"), "BMP"), "BMP file of 8, 24"),
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_file_is_a_clear_sentence(name):
    contents, message = BAD[name]
    with pytest.raises(ValueError, match=f"`image_bytes` must be .*{message}"):
        check_image_bytes(contents)


def test_a_real_bomb_is_refused_before_it_is_unpacked():
    contents = encode(Image.new("L", (10_000, 10_000)), "PNG")
    with pytest.raises(
        tf.errors.InvalidArgumentError, match="at most 36000000"
    ):
        decode_images([CASES["png"], contents])
    check_image_bytes(CASES["png"])  # traces
    start = time.process_time()
    with pytest.raises(ValueError, match="at most 36000000 pixels"):
        check_image_bytes(contents)
    assert time.process_time() - start < 0.2  # to decode it takes longer
    check_image_bytes(CASES["png"], max_pixels=63 * 45)
    with pytest.raises(ValueError, match="at most 2834 pixels"):
        check_image_bytes(CASES["png"], max_pixels=63 * 45 - 1)


def test_every_cut_and_damaged_file_is_refused_or_read():
    rng = np.random.default_rng(0)
    refused = 0
    for contents in CASES.values():
        for _ in range(8):
            data = bytearray(contents[: rng.integers(len(contents))])
            refused += is_refused(bytes(data))
            data = bytearray(contents)
            for place in rng.integers(0, min(len(data), 700), 3):
                data[place] = rng.integers(256)
            is_refused(bytes(data))
    assert refused > 0.8 * 8 * len(CASES)


def is_refused(contents):
    try:
        check_image_bytes(contents)
    except ValueError:
        return True
    return False


def with_comments(*blocks, count=1):
    """A GIF file with comments of such blocks before its picture."""
    contents = CASES["gif"]
    start = 13 + 3 * 2 ** (contents[10] % 8 + 1)
    comment = b"".join(bytes([len(block)]) + block for block in blocks)
    comments = (b"\x21\xfe" + comment + b"\0") * count
    return contents[:start] + comments + contents[start:]


def test_a_file_made_to_be_walked_through_for_hours_has_no_size():
    filled = b"\xff\xd8" + b"\xff" * 30_000 + CASES["jpeg"][2:]
    assert int(read_image_header(filled).height) == 0
    few = b"\xff\xd8" + b"\xff" * 300 + CASES["jpeg"][2:]
    assert int(read_image_header(few).height) == 63
    long, many = with_comments(*[b"x"] * 30_000), with_comments(count=30_000)
    for contents in (filled, long, many):
        with pytest.raises(ValueError, match="have no size or no pixels"):
            check_image_bytes(contents)


def test_a_large_file_with_full_blocks_is_read():
    check_image_bytes(with_comments(*[b"x" * 255] * 15_000))


def test_the_rest_of_the_batch_is_still_done(tmp_path):
    for name in ("png", "gif"):
        (tmp_path / name).write_bytes(CASES[name])
    (tmp_path / "cut").write_bytes(CASES["jpeg"][:-300])
    names = ["cut", "png", "lost", "gif"]
    paths = [tmp_path / name for name in names]
    images, failures = read_images(paths, size=(63, 45))
    assert list(failures) == [str(paths[0]), str(paths[2])]
    assert "cut off" in failures[str(paths[0])]
    assert failures[str(paths[2])] == "No such file or directory"
    assert images.dtype == "float32"
    for image, name in zip(images, ("png", "gif"), strict=True):
        np.testing.assert_allclose(image, pillow(CASES[name]), atol=1)


@pytest.mark.parametrize(
    "wrong",
    [{"size": 224}, {"size": (0, 3)}, {"fit": "pad"}, {"max_pixels": 0}],
)
def test_what_cannot_be_is_refused(wrong):
    with pytest.raises(ValueError, match=f"`{next(iter(wrong))}` must.*Rec"):
        decode_images([CASES["png"]], **wrong)


def test_what_is_not_bytes_is_refused():
    with pytest.raises(ValueError, match=r"strings. Received: float32"):
        decode_images(np.zeros((2, 3), "float32"))
    with pytest.raises(ValueError, match="must be bytes. Received: str"):
        check_image_bytes("image.png")
    with pytest.raises(ValueError, match="`paths` must be a list"):
        read_images("image.png")
