"""Rewriting the 4-bit weights of a GGUF file as 8-bit ones."""

import importlib.util
from pathlib import Path
from typing import Any

Q8_0 = "Q8_0"

# What the format calls files of this quantisation.
_Q8_0_FILE_TYPE = 7
_FILE_TYPE_FIELD = "general.file_type"
_ARCHITECTURE_FIELD = "general.architecture"


def can_requantise() -> bool:
    """Whether the gguf package is installed."""
    return importlib.util.find_spec("gguf") is not None


def requantise(source: Path, target: Path) -> None:
    """Write a GGUF file with its 4-bit weights as Q8_0.

    Nothing is gained in quality: 8-bit blocks are multiplied twice as fast as 4-bit ones on CPUs.

    Args:
        source: The file.
        target: The new file.

    Raises:
        ImportError: The gguf package is not installed.
    """
    from gguf import GGUFReader, GGUFWriter

    reader = GGUFReader(source)
    fields = {name: entry for name, entry in reader.fields.items() if name[:5] != "GGUF."}
    # The writer adds the architecture itself.
    writer = GGUFWriter(target, fields.pop(_ARCHITECTURE_FIELD).contents())
    try:
        _copy_fields(fields, writer)
        _copy_tensors(reader.tensors, writer)
        writer.write_header_to_file()
        writer.write_kv_data_to_file()
        writer.write_tensors_to_file()
    finally:
        writer.close()


def _copy_fields(fields: dict[str, Any], writer: Any) -> None:
    from gguf import GGUFValueType

    for name, entry in fields.items():
        value = entry.contents()
        if name == _FILE_TYPE_FIELD:
            value = _Q8_0_FILE_TYPE
        value_type = entry.types[0]
        item_type = entry.types[-1] if value_type == GGUFValueType.ARRAY else None
        writer.add_key_value(name, value, value_type, item_type)


def _copy_tensors(tensors: Any, writer: Any) -> None:
    from gguf import GGMLQuantizationType
    from gguf.quants import dequantize, quantize

    kept_types = (
        GGMLQuantizationType.F32,
        GGMLQuantizationType.F16,
        GGMLQuantizationType.Q8_0,
    )
    for tensor in tensors:
        data = tensor.data
        tensor_type = tensor.tensor_type
        if tensor_type not in kept_types:
            data = quantize(dequantize(data, tensor_type), GGMLQuantizationType.Q8_0)
            tensor_type = GGMLQuantizationType.Q8_0
        writer.add_tensor(tensor.name, data, raw_dtype=tensor_type)
