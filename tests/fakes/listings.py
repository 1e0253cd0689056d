"""What model servers answer to GET /v1/models, in the form of each product."""

from typing import Any

_LLAMA_CPP_MODEL = {
    "id": "models/qwen3-4b-q4_k_m.gguf",
    "object": "model",
    "created": 1760000000,
    "owned_by": "llamacpp",
    "meta": {"vocab_type": 2, "n_vocab": 151936, "n_ctx_train": 40960, "n_params": 4022468096},
}

#: By the name of the product.
LISTINGS: dict[str, Any] = {
    "Ollama": {
        "object": "list",
        "data": [
            {
                "id": "llama3.2:latest",
                "object": "model",
                "created": 1760000000,
                "owned_by": "library",
            },
            {
                "id": "nomic-embed-text:latest",
                "object": "model",
                "created": 1760000000,
                "owned_by": "library",
            },
        ],
    },
    "llama.cpp": {
        "models": [{"name": "models/qwen3-4b-q4_k_m.gguf", "type": "model", "tags": [""]}],
        "object": "list",
        "data": [_LLAMA_CPP_MODEL],
    },
    "LM Studio": {
        "data": [
            {
                "id": "text-embedding-nomic-embed-text-v1.5",
                "object": "model",
                "owned_by": "organization_owner",
            },
            {"id": "qwen2.5-7b-instruct", "object": "model", "owned_by": "organization_owner"},
        ],
        "object": "list",
    },
    "vLLM": {
        "object": "list",
        "data": [
            {
                "id": "Qwen/Qwen2.5-1.5B-Instruct",
                "object": "model",
                "created": 1760000000,
                "owned_by": "vllm",
                "root": "Qwen/Qwen2.5-1.5B-Instruct",
                "parent": None,
                "max_model_len": 32768,
                "permission": [],
            }
        ],
    },
}
