"""The captioner of a run, which can also be exported."""

from keras_seq.commands.captioning_model import CaptioningModel
from keras_seq.commands.captioning_task import DEFAULTS, EVALUATE
from keras_seq.commands.run_notes import RunNotes


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
        """Export, all signatures or `only` some; return the version folder."""
        from keras_seq.tasks.captioning_export import export_captioning

        settings = self.captioner.settings
        return export_captioning(
            self.captioner,
            folder,
            only=only,
            half=half,
            card=self.notes.card(settings, credits=_sight(settings)),
        )

    def scores(self, said: dict) -> dict:
        """Score the captioner itself, which can search otherwise, too."""
        from keras_seq.tasks import captioning

        return captioning.evaluate(self.captioner, **said)

    def own_data(self) -> dict:
        """Load the data of the training, of which files keep a part aside."""
        from keras_seq.tasks.captioning import load_data

        settings = self.captioner.settings
        data = self.notes.load_data(load_data, settings, ("data_dir",))
        return {"data": data}


def _sight(settings):
    if settings.get("vision_weights") != "imagenet":
        return []
    if settings.get("vision") == "small_cnn":
        return []
    return [f"sees with {settings['vision']}, trained on ImageNet"]
