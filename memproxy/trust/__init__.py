"""What may enter a memory: secrets masked, instructions kept out, our own words not heard twice."""

from memproxy.trust.instructions import looks_like_instruction
from memproxy.trust.markers import CLOSE, OPEN, cut_blocks, without_markers
from memproxy.trust.secrets import mask_secrets

__all__ = ["CLOSE", "OPEN", "cut_blocks", "looks_like_instruction", "mask_secrets", "without_markers"]
