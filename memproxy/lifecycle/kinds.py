"""The kinds of background jobs, and what model calls are made for, as `usage` counts them."""

from __future__ import annotations

EXTRACT = "extract"  # jobs: learn from a conversation's new turns
SUMMARIZE = "summarize"  # … sum a closed conversation up
CONDENSE = "condense"  # … sum up a stretch of a long one

MERGE = "merge"  # calls, beside those of extraction
REFLECT = "reflect"
SUMMARY = "summary"
PURPOSES = (EXTRACT, MERGE, REFLECT, SUMMARY)
