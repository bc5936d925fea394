"""Flickr8k: photographs of people and dogs, five captions each."""

import pathlib
import zipfile

from keras_seq.data.captioned_images import CaptionedImages, captioned_files
from keras_seq.data.folders import find_folder
from keras_seq.data.image_files import ImageFiles
from keras_seq.data.tables import read_columns, read_lines

LICENCE = (
    "research and education only, no redistribution; photographs belong to "
    "their authors; cite Hodosh, Young and Hockenmaier 2013"
)
TABLE = ("captions.tsv", "captions.tsv.gz", "captions.tsv.xz")
TABLE_SPLITS = {"train": "train", "dev": "validation", "test": "test"}
TOKENS = "Flickr8k.token.txt"
LISTS = {
    "train": "Flickr_8k.trainImages.txt",
    "validation": "Flickr_8k.devImages.txt",
    "test": "Flickr_8k.testImages.txt",
}


def load_flickr8k(data_dir=None, images=None) -> CaptionedImages:
    """Load photographs with five captions each (Hodosh et al., 2013).

    Two layouts are read. The original: `Flickr8k.token.txt` and the three
    lists `Flickr_8k.{train,dev,test}Images.txt`. And one table,
    `captions.tsv` (plain, `.gz` or `.xz`) with the columns `image split
    index caption`, whose splits are `train`, `dev` and `test`. Text files may
    lie in the folder, in a folder in it, or in a zip file in it, like
    `Flickr8k_text.zip`.

    Fields: `name`, the file of a picture, and `captions`. Pictures are read
    one by one when they are asked for. Those that are missing are left out,
    with a warning that names them.

    Args:
        data_dir: A folder, or a zip file with all in it; by default what
            `KERAS_SEQ_DATA` names. A folder `flickr8k` in it comes first.
        images: Where the pictures are: a folder, a zip file or a list of
            them. By default all that are in the data set's folder.
    """
    folder = find_folder(data_dir, "flickr8k")
    table = _find(folder, *TABLE)
    tokens = _find(folder, TOKENS)
    if table is None and tokens is None:
        raise ValueError(
            "`data_dir` must hold the captions of Flickr8k, as captions.tsv "
            f"or {TOKENS}. Received: {str(folder)!r}, where neither is"
        )
    if table is not None:
        captions, notes = _read_table(table), ()
    else:
        captions, notes = _read_original(folder, tokens)
    if images is None:
        images = [folder]
        if folder.is_dir():
            images += sorted(folder.glob("*.zip"))
    return captioned_files(
        "flickr8k", LICENCE, captions, ImageFiles(images), notes
    )


def _find(folder, *names):
    """Return the first file of one of the names: beside, below or zipped."""
    archives = [folder] if folder.is_file() else []
    if folder.is_dir():
        for name in names:
            for path in (folder / name, *sorted(folder.glob(f"*/{name}"))):
                if path.is_file():
                    return path
        archives = sorted(folder.glob("*.zip"))
    for path in archives:
        if not zipfile.is_zipfile(path):
            continue  # Who asks for its pictures is told what is wrong.
        with zipfile.ZipFile(path) as archive:
            members = archive.namelist()
        for member in members:
            place = pathlib.PurePosixPath(member)
            if place.name in names and "__MACOSX" not in place.parts:
                return zipfile.Path(path, member)
    return None


def _read_table(path):
    columns = read_columns(path, ("image", "split", "caption"), "\t")
    captions = {split: {} for split in TABLE_SPLITS.values()}
    places = {}
    for line, image, split, caption in zip(*columns.values(), strict=True):
        where = f"{path}, line {line}"
        if split not in TABLE_SPLITS:
            raise ValueError(
                f"{where}: the column 'split' must be one of "
                f"{list(TABLE_SPLITS)}. Received: {split!r}"
            )
        if not image.strip() or not caption.strip():
            raise ValueError(
                f"{where}: must have a picture and its caption. "
                f"Received: {image!r} and {caption!r}"
            )
        if places.setdefault(image, split) != split:
            raise ValueError(
                f"{where}: a picture must be in one split. Received: "
                f"{image!r} in {split!r}, and above in {places[image]!r}"
            )
        said = captions[TABLE_SPLITS[split]]
        said.setdefault(image, []).append(caption.strip())
    return captions


def _read_original(folder, path):
    said = _read_tokens(path)
    captions, places = {}, {}
    for split, name in LISTS.items():
        listed = _find(folder, name)
        if listed is None:
            raise ValueError(
                f"`data_dir` must hold {name}, which says what {split!r} is, "
                f"beside {TOKENS}. Received: {str(folder)!r}, where it is not"
            )
        captions[split] = {}
        for number, line in read_lines(listed):
            image = line.strip()
            if not image:
                continue
            if image not in said:
                raise ValueError(
                    f"{listed}, line {number}: must name a picture that has "
                    f"captions in {path}. Received: {image!r}"
                )
            if places.setdefault(image, split) != split:
                raise ValueError(
                    f"{listed}, line {number}: a picture must be in one "
                    f"split. Received: {image!r}, which is in "
                    f"{places[image]!r} as well"
                )
            captions[split][image] = said[image]
    rest = len(said) - len(places)
    notes = (f"{rest} pictures with captions are in no split.",) if rest else ()
    return captions, notes


def _read_tokens(path):
    """Read lines of a name, `#0`, a tab and a caption."""
    said = {}
    for number, line in read_lines(path):
        if not line.strip():
            continue
        place, tab, caption = line.partition("\t")
        image, mark, index = place.strip().rpartition("#")
        caption = caption.strip()
        if not (tab and mark and image and index.isdigit() and caption):
            raise ValueError(
                f"{path}, line {number}: must be the name of a picture, '#', "
                f"a number, a tab and a caption. Received: {line!r}"
            )
        said.setdefault(image, []).append(caption)
    if not said:
        raise ValueError(f"{path}: must have captions. Received: none")
    return said
