"""Which rule does best on ratings that did not select."""
