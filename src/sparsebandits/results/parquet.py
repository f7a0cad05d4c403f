"""Parquet files with a checksum over all of their bytes, the footer included.

Parquet has checksums of pages, but none of the footer, which says what the pages are. So the footer ends with an entry
``sparsebandits sha256`` of 64 hexadecimal digits: the digest of the whole file with zeros in their place. Every reader
of Parquet reads such a file, and ours refuses it if a single bit is not what was written.
"""

import hashlib
import os
from collections.abc import Sequence
from typing import Any

from sparsebandits.files import opened

SEAL_KEY = "sparsebandits sha256"
DIGITS = 64

MARK = SEAL_KEY.encode() + b"\x18" + bytes([DIGITS])
"""Bytes before the digits: the key, and in Thrift's compact form the type and length of a text that follows it."""

EXPANSION, ALLOWANCE = 100, 2**24
"""A file may hold so many times its size, and so many bytes more; :func:`write` leaves compression out beyond that."""


def import_parquet() -> tuple[Any, Any]:
    """Return pyarrow and its Parquet module, or explain how to install them."""
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError as error:
        raise OSError(
            "directory: results are Parquet files, which need pyarrow (pip install 'sparsebandits[results]')"
        ) from error
    return pa, pq


def write(table: Any, metadata: dict[str, str], **settings: Any) -> bytes:
    """Return the bytes of a Parquet file with a checksum; the same arguments give the same bytes.

    Parameters
    ----------
    table : pyarrow.Table
        The contents.
    metadata : dict of str to str
        Entries of the footer.
    **settings : object
        Further settings of pyarrow's writer.
    """
    pa, pq = import_parquet()
    sealed = _written(table, metadata, compression="zstd", **settings)
    if _held(pq.read_metadata(pa.BufferReader(sealed))) > EXPANSION * len(sealed) + ALLOWANCE:
        sealed = _written(table, metadata, **{**settings, "compression": "none", "use_dictionary": False})
    return sealed


def _written(table: Any, metadata: dict[str, str], **settings: Any) -> bytes:
    pa, pq = import_parquet()
    sink = pa.BufferOutputStream()
    with pq.ParquetWriter(sink, table.schema, write_statistics=False, write_page_checksum=True, **settings) as writer:
        writer.write_table(table)
        writer.add_key_value_metadata({**metadata, SEAL_KEY: "0" * DIGITS})
    content = bytes(sink.getvalue())
    start = content.rindex(MARK) + len(MARK)
    digest = hashlib.sha256(content).hexdigest().encode()
    return content[:start] + digest + content[start + DIGITS :]


def read(path: str | os.PathLike[str], dictionaries: Sequence[str] = ()) -> tuple[Any, bool]:
    """Open a Parquet file, and check what it says of itself.

    Parameters
    ----------
    path : str or path
        The file.
    dictionaries : sequence of str, optional
        Columns of texts that are not to be repeated in every row.

    Returns
    -------
    file : pyarrow.parquet.ParquetFile
        The file, in memory.
    sealed : bool
        Whether it has a checksum, which is then right.

    Raises
    ------
    OSError
        If there is no such file, or it is not a regular one.
    ValueError, pyarrow.ArrowException
        If its checksum does not fit, it holds too much for its size, or it is no Parquet file.
    """
    pa, pq = import_parquet()
    with opened(path) as (file, size):
        file.seek(max(size - 4, 0))
        if file.read(4) != b"PAR1":  # so that a large file of another kind is not read
            raise ValueError("it does not end as a Parquet file does")
        file.seek(0)
        content = file.read(size)
    start = content.rfind(MARK) + len(MARK)
    sealed = start >= len(MARK)
    if sealed:
        digest = hashlib.sha256(content[:start])
        digest.update(b"0" * DIGITS + content[start + DIGITS :])
        if content[start : start + DIGITS] != digest.hexdigest().encode():
            raise ValueError("its checksum does not fit its contents")
    found = pq.ParquetFile(pa.BufferReader(content), page_checksum_verification=True, read_dictionary=dictionaries)
    if _held(found.metadata) > EXPANSION * size + ALLOWANCE:
        raise ValueError("it holds too much for its size")
    return found, sealed


def _held(metadata: Any) -> int:
    """Return about how many bytes of memory the columns of a file take."""
    groups = [metadata.row_group(number) for number in range(metadata.num_row_groups)]
    chunks = [group.column(number) for group in groups for number in range(group.num_columns)]
    return sum(max(chunk.total_uncompressed_size, 8 * chunk.num_values) for chunk in chunks)
