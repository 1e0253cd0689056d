from darc.language.text import Text
from darc.parts.scorers.manners import padding, rudeness, shouting, template_tokens


def test_rudeness_needs_a_reader_or_a_plain_insult() -> None:
    assert rudeness(Text("You are an idiot.")) >= 1.0
    assert rudeness(Text("I will hurt you.")) >= 1.0
    assert rudeness(Text("The clown wore a thick red coat, and the pig was lazy.")) <= 0.3
    assert rudeness(Text("You could try a second coat of paint.")) == 0.0
    assert rudeness(Text("You are lazy and useless.")) >= 1.0


def test_noise_is_counted() -> None:
    assert shouting(Text("PLEASE STOP SHOUTING HERE!!!")) > 0.2
    assert shouting(Text("NASA is calm.")) < 0.1
    assert padding(Text("Great question! Certainly! I hope this helps.")) == 3.0
    assert template_tokens(Text("Fine.<|im_end|>\nUser: more [/INST]")) == 3.0
