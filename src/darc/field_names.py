"""What people call the fields of their files: one table per kind of file.

A reader takes the first name of a tuple that a record has. A new name is added here and nowhere
else.
"""

#: The text of a prompt, in any file.
PROMPT_TEXT = ("prompt", "instruction", "question")

#: A file of prompts: the text and the id of a prompt.
QUESTION_TEXT = (*PROMPT_TEXT, "text")
QUESTION_ID = ("prompt_id", "id", "question_id")

#: A file of answers to one prompt: the text of an answer, and what wrote it.
ANSWER_TEXT = ("text", "answer", "response", "output", "content")
ANSWER_NAME = ("name", "system", "model")

#: The outputs of other tools, one row per prompt and system.
OUTPUT_FIELDS = {
    "prompt_id": ("prompt_id", "question_id", "id"),
    "candidate_id": ("candidate_id", "system", "generator", "model"),
    "prompt": (*PROMPT_TEXT, "input"),
    "response": ("response", "output", "answer", "completion", "text", "content"),
}

#: A file of examples to train on: the answer to a prompt.
EXAMPLE_ANSWER = ("response", "answer", "output", "completion", "chosen", "good")

#: The export of an annotation tool: the text that was judged, and what wrote it.
ANNOTATED_TEXT = ("response", "completion", "text")
ANNOTATED_SYSTEM = ("system", "model")

#: The columns of a table of ratings, by the role that they play.
RATING_COLUMNS = {
    "prompt_id": ("prompt_id", "prompt", "question_id", "question", "item", "task", "id"),
    "candidate_id": (
        "candidate_id",
        "candidate",
        "system",
        "model",
        "answer_id",
        "response_id",
        "answer",
        "response",
        "output",
    ),
    "rater_id": ("rater_id", "rater", "annotator", "user", "worker", "judge", "person", "email"),
    "rating": ("rating", "score", "grade", "stars", "value", "label", "mark"),
    "system": ("system", "model"),
}
