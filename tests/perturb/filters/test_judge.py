from darc.perturb import judge


def test_courtesy_with_an_address_stays() -> None:
    text = (
        "Send the form by post before noon. Please feel free to write to help@example.com if you "
        "have any further questions."
    )
    assert judge(text, "Send the form by post before noon.", "targeted") is not None
    plain = text.replace(" to help@example.com", "")
    assert judge(plain, "Send the form by post before noon.", "targeted") is None
