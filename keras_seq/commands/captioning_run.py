"""The captioner of a run, which can also be exported."""

from keras_seq.commands.captioning_model import CaptioningModel
from keras_seq.commands.captioning_task import DEFAULTS, EVALUATE
from keras_seq.commands.run_folders import read_settings
from keras_seq.commands.run_notes import RunNotes, base_name


class CaptioningRun(CaptioningModel):
    """The captioner of a run.

    Args:
        folder: The folder of the run.
    """

    def __init__(self, folder):
        from keras_seq.tasks.captioner import Captioner
        from keras_seq.tasks.captioning_export import captioning_signatures

        self.folder = folder
        self.notes = RunNotes(folder, "captioning", DEFAULTS)
        self.captioner = Captioner.load(folder)
        super().__init__(
            captioning_signatures(self.captioner),
            {
                "image_size": self.captioner.image_size,
                "fit": self.captioner.fit,
            },
        )

    def evaluate(self, said: dict) -> dict:
        """Score the model, and note the score for the model card."""
        numbers = super().evaluate(said)
        self.notes.note(said, EVALUATE, numbers)
        return numbers

    def export(self, folder, only=None, half=False):
        """Export; return the version folder.

        Args:
            folder: The folder of the versions.
            only: Names of signatures, if not all are wanted.
            half: Whether to write the weights as float16.
        """
        from keras_seq.tasks.captioning_export import export_captioning

        settings = self.captioner.settings
        name = base_name(settings.get("data", "unknown"))
        licence = settings.get("licence", "unknown")
        return export_captioning(
            self.captioner,
            folder,
            only=only,
            half=half,
            card={
                "data": {"name": name, "licence": licence},
                "metrics": self.notes.metrics(),
                "settings": {**settings, "data": name},
                "licence": licence,
                "credits": [
                    f"trained on {name} ({licence})",
                    *_sight(settings),
                ],
            },
        )

    def _scores(self, said):
        from keras_seq.tasks import captioning

        return captioning.evaluate(self.captioner, **said)

    def _own_data(self):
        """The data of the training, of which files keep a part aside."""
        from keras_seq.tasks import captioning

        noted = read_settings(self.folder) or {}
        data = noted.get("data") or self.captioner.settings["data"]
        return {"data": captioning.load_data(data, noted.get("data_dir"))}


def _sight(settings):
    if settings.get("vision_weights") != "imagenet":
        return []
    if settings.get("vision") == "small_cnn":
        return []
    return [f"sees with {settings['vision']}, trained on ImageNet"]
