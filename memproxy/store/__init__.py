"""Where memories are kept: one SQL, named queries, transactions, and indexes that can be rebuilt from rows.

`sqlite.SqliteDatabase` runs work; the function modules (`entities`, `sessions`, `turns`, `facts`, …) are that work.
Each of their functions takes the `Connection` of a running transaction first and the `Entity` it serves second.
A write for an entity begins with `entities.ensure`; what refers to an entity that is not there is refused.
"""
