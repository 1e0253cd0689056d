from darc.models.remote.server_report import one_line


def test_long_messages_are_cut() -> None:
    assert one_line("refused", "") == "refused"
    assert one_line("refused (400)", "two\n lines") == "refused (400): two lines"
    assert len(one_line("x" * 500)) == 100
