"""Short names of the reward models that the method was published with."""

PRESETS = {
    "skywork": "Skywork/Skywork-Reward-Llama-3.1-8B-v0.2",
    "aira": "nicholasKluge/RewardModel",
    "openassistant": "OpenAssistant/reward-model-deberta-v3-large-v2",
}


def preset(text: str) -> str:
    """The model that a short name stands for; any other text as it is."""
    return PRESETS.get(text, text)
