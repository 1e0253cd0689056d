from darc.study.messages import Refusal, messages


def test_every_message_is_an_error_with_a_title_and_a_text() -> None:
    for name, page in messages().items():
        assert page.keys() == {"status", "title", "text"}, name
        assert Refusal(name).status >= 400
