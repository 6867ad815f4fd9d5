"""A sentence model run by onnxruntime, in the calling thread."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memproxy.embedders.model_files import ModelFiles
from memproxy.errors import EmbedderError
from memproxy.interfaces import Vectors

_LONGEST_TOKEN = 40  # characters, white space included
_HEAD_SHARE = 0.3  # of a text that is too long: what was asked about a pasted document mostly stands at its end
BATCH = 8  # larger batches are no faster on a CPU, and cost memory


class OnnxModel:
    """Token ids in, unit vectors out."""

    def __init__(self, files: ModelFiles, threads: int = 1) -> None:
        """Load the model. Raises EmbedderError where the files cannot be used."""
        import onnxruntime
        from tokenizers import Tokenizer

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        options.inter_op_num_threads = 1
        options.enable_cpu_mem_arena = False  # an arena keeps the longest batch's memory for good
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        try:
            self._tokenizer: Any = Tokenizer.from_file(str(files.tokenizer))
            self._session: Any = onnxruntime.InferenceSession(
                str(files.model), options, providers=["CPUExecutionProvider"]
            )
        except Exception as error:  # both libraries raise plain Exception subclasses of their own making
            raise EmbedderError(f"the model in {files.model.parent} cannot be loaded: {type(error).__name__}") from None
        self._tokenizer.no_padding()
        self._tokenizer.no_truncation()
        self._files = files
        self._inputs = {given.name for given in self._session.get_inputs()}

    def tokens(self, text: str) -> list[int]:
        """The ids of a text, its head and its tail where it is longer than the model reads."""
        limit = self._files.max_tokens
        reach = limit * _LONGEST_TOKEN
        if len(text) > 2 * reach:  # what lies between cannot be among the first or the last tokens that are kept
            text = f"{text[:reach]} {text[-reach:]}"
        ids: list[int] = self._tokenizer.encode(text).ids
        if len(ids) <= limit:
            return ids
        head = int(limit * _HEAD_SHARE)
        return ids[:head] + ids[head - limit :]

    def embed(self, token_ids: Sequence[Sequence[int]]) -> Vectors:
        """One unit vector a text. Texts of equal length go together: padding changes int8 results."""
        out: list[Vectors | None] = [None] * len(token_ids)
        by_length: dict[int, list[int]] = {}
        for index, ids in enumerate(token_ids):
            by_length.setdefault(len(ids), []).append(index)
        for indexes in by_length.values():
            for start in range(0, len(indexes), BATCH):
                batch = indexes[start : start + BATCH]
                for index, row in zip(batch, self._run([token_ids[i] for i in batch]), strict=True):
                    out[index] = row
        return np.stack([row for row in out if row is not None])

    def _run(self, batch: Sequence[Sequence[int]]) -> Vectors:
        ids: NDArray[np.int64] = np.array(batch, dtype=np.int64)
        given = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
        hidden = self._session.run(None, {name: array for name, array in given.items() if name in self._inputs})[0]
        pooled = hidden if hidden.ndim == 2 else hidden[:, 0] if self._files.pooling == "cls" else hidden.mean(axis=1)
        norms = np.linalg.norm(pooled, axis=1, keepdims=True)
        vectors: Vectors = (pooled / np.maximum(norms, 1e-12)).astype(np.float32)
        return vectors
