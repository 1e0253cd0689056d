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

#: The columns of a table of ratings, by the role that they play, in the languages of its users.
RATING_COLUMNS = {
    "prompt_id": (
        "prompt_id",
        "prompt",
        "question_id",
        "question",
        "item_id",
        "item",
        "task_id",
        "task",
        "instance_id",
        "query",
        "instruction",
        "input",
        "frage",
        "aufgabe",
        "anfrage",
        "consigne",
        "requête",
        "pregunta",
        "consulta",
        "id",
    ),
    "candidate_id": (
        "candidate_id",
        "candidate",
        "system",
        "model",
        "answer_id",
        "response_id",
        "modell",
        "modèle",
        "modele",
        "modelo",
        "système",
        "sistema",
        "llm",
        "bot",
        "assistant",
        "generator",
        "model_name",
        "variant",
        "kandidat",
        "candidat",
        "candidato",
        "answer",
        "response",
        "output",
        "completion",
        "antwort",
        "réponse",
        "reponse",
        "respuesta",
    ),
    "rater_id": (
        "rater_id",
        "rater",
        "annotator_id",
        "annotator",
        "user_id",
        "user",
        "worker_id",
        "worker",
        "judge",
        "reviewer",
        "evaluator",
        "grader",
        "labeler",
        "participant_id",
        "participant",
        "respondent",
        "person",
        "email",
        "email_address",
        "username",
        "wer",
        "who",
        "bewerter",
        "bewerterin",
        "gutachter",
        "teilnehmer",
        "évaluateur",
        "evaluateur",
        "annotateur",
        "juge",
        "evaluador",
        "anotador",
        "juez",
        "participante",
        "usuario",
    ),
    "rating": (
        "rating",
        "score",
        "grade",
        "stars",
        "value",
        "label",
        "mark",
        "likert",
        "bewertung",
        "urteil",
        "punkte",
        "note",
        "évaluation",
        "evaluation",
        "nota",
        "puntuación",
        "puntuacion",
        "calificación",
        "calificacion",
        "valoración",
        "valoracion",
    ),
    "rater_group": (
        "rater_group",
        "group",
        "user_group",
        "cohort",
        "segment",
        "gruppe",
        "bewertergruppe",
        "groupe",
        "grupo",
    ),
    "system": ("system", "model", "modell", "modèle", "modele", "modelo", "système", "llm"),
}

#: The columns of a table of ratings that hold the texts that were rated.
RATED_TEXT_COLUMNS = {
    "prompt": (
        "prompt_text",
        "question_text",
        "prompt",
        "question",
        "instruction",
        "query",
        "input",
        "frage",
        "aufgabe",
        "pregunta",
        "consigne",
    ),
    "response": (
        "response_text",
        "answer_text",
        "response",
        "answer",
        "output",
        "completion",
        "text",
        "displayed_text",
        "antwort",
        "réponse",
        "reponse",
        "respuesta",
        "texte",
        "texto",
    ),
}

#: Columns of numbers in a table with one column per rater that are not ratings.
NOT_RATERS = frozenset(
    {"id", "index", "row", "nr", "no", "no.", "#", "number", "seed", "temperature", "year", "age"}
    | {"tokens", "n_tokens", "words", "length", "characters", "count", "n", "cost", "latency"}
    | {"time", "duration", "seconds", "timestamp", "date", "lead_time", "progress", "finished"}
    | {"mean", "average", "avg", "median", "total", "sum", "std", "sd", "min", "max", "variance"}
    | {"mittelwert", "durchschnitt", "summe", "anzahl", "moyenne", "écart_type", "somme"}
    | {"media", "promedio", "mediana", "suma", "alter", "dauer", "länge", "zeilennummer"}
    | {"annotation_id", "created_at", "updated_at", "duration_(in_seconds)", "status"}
    | {"remark", "remarks", "comment", "comments", "notes", "feedback", "kommentar", "bemerkung"}
    | {"average_rating", "mean_rating", "average_score", "mean_score"}
)
