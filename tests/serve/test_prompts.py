from darc.serve.prompts import read_prompt

MESSAGES = [{"role": "user", "content": "Hi"}]


def test_parts_become_text_and_nothing_is_fetched() -> None:
    content = [
        {"type": "text", "text": "What is this?"},
        {"type": "image_url", "image_url": {"url": "http://127.0.0.1:1/x.png"}},
    ]
    prompt = read_prompt([{"role": "user", "content": content}])
    assert prompt.question == "What is this?\n[image_url]"


def test_prompt_id_depends_on_the_messages_alone() -> None:
    own = read_prompt(MESSAGES).id
    assert own == read_prompt([{"content": "Hi", "role": "user"}]).id
    assert own != read_prompt([{"content": "Ho", "role": "user"}]).id
