"""Image files of every kind, drawn here, and what Pillow reads in them."""

import io

import numpy as np
from PIL import Image, ImageOps

HEIGHT, WIDTH = 63, 45


def drawing():
    """Blocks of random colours, none of which is like its neighbours."""
    colours = np.random.default_rng(0).uniform(0, 255, (7, 5, 3))
    pixels = colours.repeat(9, 0).repeat(9, 1).astype("uint8")
    return Image.fromarray(pixels)


def encode(image, kind, **options):
    with io.BytesIO() as file:
        image.save(file, kind, **options)
        return file.getvalue()


def pillow(contents):
    """Return the pixels as Pillow sees them, upright and over white."""
    image = ImageOps.exif_transpose(Image.open(io.BytesIO(contents)))
    if image.mode == "I;16":
        return np.repeat(np.asarray(image)[..., None] / 256.0, 3, -1)
    if image.mode in ("RGBA", "LA", "P") or "transparency" in image.info:
        image = image.convert("RGBA")
        white = Image.new("RGBA", image.size, "white")
        white.alpha_composite(image)
        image = white
    return np.asarray(image.convert("RGB")).astype("float64")


def cases():
    image = drawing()
    grey = image.convert("L")
    few = image.quantize(9)
    veil = np.linspace(0, 255, HEIGHT * WIDTH).reshape(HEIGHT, WIDTH)
    see_through = image.convert("RGBA")
    see_through.putalpha(Image.fromarray(veil.astype("uint8")))
    deep = np.asarray(grey).astype("uint16") * 256
    corner = int(np.asarray(few)[0, 0])
    files = {
        "jpeg": encode(image, "JPEG", quality=95),
        "jpeg progressive": encode(image, "JPEG", progressive=True),
        "jpeg grey": encode(grey, "JPEG"),
        "jpeg cmyk": encode(image.convert("CMYK"), "JPEG"),
        "png": encode(image, "PNG"),
        "png grey": encode(grey, "PNG"),
        "png grey 1 bit": encode(image.convert("1"), "PNG"),
        "png grey 16 bits": encode(Image.fromarray(deep), "PNG"),
        "png grey alpha": encode(see_through.convert("LA"), "PNG"),
        "png alpha": encode(see_through, "PNG"),
        "png palette": encode(image.quantize(16), "PNG"),
        "png palette 1 bit": encode(image.quantize(2), "PNG"),
        "png palette alpha": encode(few, "PNG", transparency=corner),
        "gif": encode(image, "GIF"),
        "gif comment": encode(image, "GIF", comment=b"x" * 700),
        "gif alpha": encode(few, "GIF", transparency=corner),
        "gif animated": encode(
            image, "GIF", save_all=True, append_images=[image.rotate(180)] * 3
        ),
        "bmp": encode(image, "BMP"),
        "bmp grey": encode(grey, "BMP"),
        "bmp palette": encode(few, "BMP"),
        "bmp 32 bits": encode(image.convert("RGBA"), "BMP"),
    }
    for orientation in range(1, 9):
        exif = Image.Exif()
        exif[0x010F] = "a maker"
        exif[0x0112] = orientation
        name = f"jpeg turned {orientation}"
        files[name] = encode(image, "JPEG", quality=95, exif=exif)
    return files


# One of each kind of file, and of what makes them hard.
CASES_OF_EACH_KIND = [
    contents
    for name, contents in cases().items()
    if name
    in {
        "jpeg",
        "jpeg cmyk",
        "jpeg grey",
        "jpeg turned 6",
        "png alpha",
        "png grey 1 bit",
        "gif alpha",
        "bmp palette",
    }
]
