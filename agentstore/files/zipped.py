"""What bundles from anywhere hold: what an entry is called, what is no file, what a damaged zip raises.

Pure Python.
"""

from __future__ import annotations

import struct
import zipfile
import zlib
from collections.abc import Callable

__all__ = ["DAMAGED", "is_folder", "is_resource_fork", "path_of"]

#: What ``zipfile`` raises on zips that are damaged, or made to harm.
DAMAGED = (
    zipfile.BadZipFile, zlib.error, struct.error, EOFError, NotImplementedError, ValueError, IndexError,
    OverflowError,
)  # fmt: skip
#: How the files begin that macOS writes beside others where it can't keep its own data (AppleDouble).
_FORK = b"\0\5\x16\7"
#: The flag that says: the name is UTF-8.
_UTF8 = 0x800
#: The extra field that holds the name in UTF-8 besides (Info-ZIP).
_UNICODE_PATH = 0x7075


def is_folder(info: zipfile.ZipInfo) -> bool:
    """Tell whether an entry is a folder, which holds nothing itself."""
    return info.filename.endswith("/") and info.file_size == 0


def is_resource_fork(path: str, read: Callable[[int], bytes]) -> bool:
    """Tell whether a file is what macOS keeps of another one: ``._SOUL.md`` beside ``SOUL.md``."""
    return path.rsplit("/", 1)[-1].startswith("._") and read(len(_FORK)) == _FORK


def path_of(info: zipfile.ZipInfo) -> str:
    """Return the path of an entry as whoever packed it wrote it.

    Some programs write names in UTF-8 and do not say so: what can be read as UTF-8 is. Only what
    can't is in the code page that the format was made with.
    """
    name = info.orig_filename
    if info.flag_bits & _UTF8:
        return name
    raw = name.encode("cp437")
    try:
        return (_unicode_path(info.extra, raw) or raw).decode()
    except UnicodeDecodeError:
        return name


def _unicode_path(extra: bytes, raw: bytes) -> bytes | None:
    """Return the name of the extra field, if there is one that was made for this very name."""
    while len(extra) >= 4:
        kind, size = struct.unpack_from("<HH", extra)
        field, extra = extra[4 : 4 + size], extra[4 + size :]
        if kind == _UNICODE_PATH and len(field) > 5:
            format_version, crc = struct.unpack_from("<BL", field)
            return field[5:] if format_version == 1 and crc == zlib.crc32(raw) else None
    return None
