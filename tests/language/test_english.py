"""Sentences in English and in other languages, written for these tests."""
# ruff: noqa: RUF001 (letters of other scripts are what is tested)

import json
import random
import time
from importlib import resources

import pytest

from darc.language.english import is_english, looks_foreign

FOREIGN = {
    "german": [
        "Warum ist der Himmel am Tag blau?",
        "Der Mond zieht das Wasser auf der nahen Seite an.",
        "Kannst du mir bitte kurz helfen?",
        "Schreibe ein Gedicht über den Herbst in Berlin.",
        "Katzen schlafen gern auf warmen Dächern.",
        "Welche Hauptstadt hat Australien und warum?",
        "Erkläre einem Kind, wie Regen entsteht.",
        "Peter kaufte gestern drei rote Äpfel.",
        "Nenne drei Gründe für den Klimawandel.",
        "Schreib mir eine Funktion, die eine Liste sortiert.",
    ],
    "french": [
        "Pourquoi le ciel est-il bleu pendant la journée ?",
        "L'eau bout à cent degrés au niveau de la mer.",
        "Écris un court poème sur l'automne.",
        "Il n'y a pas de fumée sans feu.",
        "Mon frère travaille dans une banque.",
        "Quelle ville choisir comme capitale ?",
        "Explique à un enfant comment naît la pluie.",
        "Donne trois raisons de faire du sport.",
        "Paul achète trois pommes rouges demain.",
        "Peux-tu écrire une fonction qui trie une liste ?",
        "J’aime beaucoup ce livre, c’est magnifique.",
    ],
    "spanish": [
        "¿Por qué el cielo es azul durante el día?",
        "La Luna atrae el agua del lado más cercano.",
        "Escribe un poema corto sobre el otoño.",
        "No hay mal que por bien no venga.",
        "Mi hermano trabaja en un banco.",
        "Explica cómo se forma la lluvia.",
        "Dame tres razones para hacer deporte.",
        "Pedro compró tres manzanas rojas ayer.",
        "Necesito ayuda con mi tarea de historia.",
        "Escribe una función que ordene una lista.",
    ],
    "italian": [
        "Perché il cielo è blu durante il giorno?",
        "La luna attira l'acqua del lato più vicino.",
        "Scrivi una breve poesia sull'autunno.",
        "Marco mangia una mela rossa.",
        "Chi dorme non piglia pesci.",
        "Spiega come si forma la pioggia.",
        "Dammi tre motivi per fare sport.",
        "Paolo compra tre mele rosse domani.",
        "Ho bisogno di aiuto con i compiti.",
        "Qual è la capitale della Francia oggi?",
    ],
    "portuguese": [
        "Por que o céu é azul durante o dia?",
        "A Lua puxa a água do lado mais próximo.",
        "Escreva um pequeno poema sobre o outono.",
        "Meu irmão trabalha em um banco.",
        "Quem não arrisca não petisca.",
        "Explique como se forma a chuva.",
        "Dê três razões para praticar esportes.",
        "Pedro comprou três maçãs vermelhas ontem.",
        "Preciso de ajuda com meu trabalho.",
        "Qual é a capital do Brasil hoje?",
    ],
    "dutch": [
        "Waarom is de lucht overdag blauw?",
        "De maan trekt het water aan de dichtstbijzijnde kant aan.",
        "Schrijf een kort gedicht over de herfst.",
        "Mijn broer werkt bij een bank.",
        "Wie niet waagt, die niet wint.",
        "Leg uit hoe regen ontstaat.",
        "Geef drie redenen om te sporten.",
        "Jan kocht gisteren drie rode appels.",
        "Ik heb hulp nodig met huiswerk.",
        "Wat is de hoofdstad van Frankrijk?",
    ],
    "swedish": [
        "Varför är himlen blå på dagen?",
        "Månen drar till sig vattnet på den närmaste sidan.",
        "Skriv en kort dikt om hösten.",
        "Min bror arbetar på en bank.",
        "Det finns inget dåligt väder.",
        "Förklara hur regn bildas i naturen.",
        "Ge tre skäl att idrotta mer.",
        "Erik köpte tre röda äpplen igår.",
        "Jag behöver hjälp med min läxa.",
        "Vad heter huvudstaden i Frankrike?",
    ],
    "polish": [
        "Dlaczego niebo jest niebieskie w ciągu dnia?",
        "Księżyc przyciąga wodę po bliższej stronie.",
        "Napisz krótki wiersz o jesieni.",
        "Mój brat pracuje w banku.",
        "Nie ma dymu bez ognia.",
        "Wyjaśnij, jak powstaje deszcz w górach.",
        "Podaj trzy powody, aby uprawiać sport.",
        "Jan kupił wczoraj trzy czerwone jabłka.",
        "Potrzebuję pomocy z pracą domową.",
        "Jaka jest stolica Francji dzisiaj?",
    ],
    "turkish": [
        "Gökyüzü gündüz neden mavi görünür?",
        "Ay, yakın taraftaki suyu kendine çeker.",
        "Sonbahar hakkında kısa bir şiir yaz.",
        "Kardeşim bir bankada çalışıyor.",
        "Bugün hava dünden daha sıcak.",
        "Yağmurun nasıl oluştuğunu bir çocuğa açıkla.",
        "Spor yapmak için üç neden ver.",
        "Ali dün üç kırmızı elma aldı.",
        "Ödevim için yardıma ihtiyacım var bugün.",
        "Fransa'nın başkenti neresidir ve neden?",
    ],
    "russian": [
        "Почему небо днём голубое?",
        "Луна притягивает воду на ближней стороне.",
        "Напиши короткое стихотворение про осень.",
    ],
    "greek": [
        "Γιατί ο ουρανός είναι γαλάζιος την ημέρα;",
        "Η Σελήνη έλκει το νερό της κοντινής πλευράς.",
        "Γράψε ένα σύντομο ποίημα για το φθινόπωρο.",
    ],
    "chinese": [
        "为什么白天的天空是蓝色的？",
        "月亮吸引靠近它一侧的海水。",
        "请写一首关于秋天的短诗。",
    ],
    "japanese": [
        "なぜ昼間の空は青いのですか。",
        "Pythonでリストを並べ替える方法を教えてください。",
        "秋についての短い詩を書いてください。",
    ],
    "korean": [
        "낮에는 왜 하늘이 파란색인가요?",
        "달은 가까운 쪽의 바닷물을 끌어당깁니다.",
        "가을에 대한 짧은 시를 써 주세요.",
    ],
    "arabic": [
        "لماذا تكون السماء زرقاء في النهار؟",
        "يجذب القمر مياه البحر في الجانب القريب.",
        "اكتب قصيدة قصيرة عن الخريف.",
    ],
    "hindi": [
        "दिन में आसमान नीला क्यों होता है?",
        "चाँद पास की ओर के पानी को खींचता है।",
        "पतझड़ पर एक छोटी कविता लिखो।",
    ],
    "danish": [
        "Hvorfor er himlen blå om dagen?",
        "Jeg har brug for hjælp i dag.",
    ],
    "norwegian": [
        "Hvorfor er himmelen blå om dagen?",
        "Jeg trenger hjelp med leksene mine.",
    ],
    "czech": [
        "Proč je obloha přes den modrá?",
        "Potřebuji pomoc s domácím úkolem dnes.",
    ],
    "finnish": [
        "Miksi taivas on sininen päivällä nyt?",
        "Tarvitsen apua läksyjen kanssa tänään.",
    ],
    "hungarian": [
        "Miért kék az ég nappal mindig?",
        "Segítségre van szükségem a házi feladathoz.",
    ],
    "romanian": [
        "De ce este cerul albastru ziua?",
    ],
    "indonesian": [
        "Mengapa langit berwarna biru pada siang hari?",
        "Saya butuh bantuan dengan pekerjaan rumah.",
    ],
    "vietnamese": [
        "Tại sao bầu trời có màu xanh?",
    ],
    "ukrainian": [
        "Чому небо вдень блакитне?",
    ],
    "hebrew": [
        "מדוע השמיים כחולים ביום?",
    ],
    "thai": [
        "ทำไมท้องฟ้าถึงเป็นสีฟ้า",
    ],
}

ENGLISH = [
    "Why is the sky blue during the day?",
    "Name three famous French painters.",
    "Die Hard is an action film, and so is Das Boot.",
    "The sum of a die is in an urn, so no man can tell.",
    "I don't know; it's what they've always said.",
    "Write a haiku about Köln.",
    'What does the German phrase "Ich verstehe nur Bahnhof" mean?',
    "Explain the meaning of the proverb 塞翁失馬 to a child.",
    "The angle α is π/4, so sin α and cos α are equal.",
    "Translate 'la vie est belle' to English.",
    "The naïve café owner sent his résumé to El Paso and to Los Angeles.",
]

UNKNOWN = [
    "",
    "   ",
    "Yes.",
    "Warum nicht?",
    "Paris. Rome. Berlin. Madrid. Lisbon.",
    "3.14 2.71 1.41 42 1000",
    "Flour, sugar, butter, eggs, vanilla, baking soda, salt",
    "Los Angeles, La Paz, El Paso, San Diego, Las Vegas",
    "Vincent van Gogh, Ludwig van Beethoven, Leonardo da Vinci",
    "Mix, stir, pour, bake, serve.",
    "NASA ESA JAXA CNES DLR",
    "https://de.wikipedia.org/wiki/Der_Himmel_ist_blau",
    "```python\nprint('der die das und nicht')\n```",
    "```\nder die das und nicht, never closed",
    '{"de": "la", "id": [1, 2, 3], "un": {"le": null}}',
    "const die = (n) => Math.floor(Math.random() * n); // des",
    "public static void main(String[] args) { int i = 0; }",
    "x + y = 4z, (-1/2)y z-x = z - 2z",
    "CaCO₃ + 2 HCl → CaCl₂ + CO₂ + H₂O",
    "Δx Δp ≥ ħ/2",
    "😀 😀 😀",
]


@pytest.mark.parametrize("language", FOREIGN)
def test_sentences_in_other_languages_are_recognised(language: str) -> None:
    assert [text for text in FOREIGN[language] if is_english(text) is not False] == []


@pytest.mark.parametrize("text", ENGLISH)
def test_english_with_foreign_words_and_symbols_is_english(text: str) -> None:
    assert is_english(text) is True


@pytest.mark.parametrize("text", UNKNOWN)
def test_what_is_short_or_not_prose_is_not_known(text: str) -> None:
    assert is_english(text) is None


def test_the_prompts_that_ship_are_english() -> None:
    lines = resources.files("darc").joinpath("runs/prompts.jsonl").read_text("utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    texts = [text for row in rows for text in row.get("turns") or [row["prompt"]]]
    assert len(texts) > 40
    assert [text for text in texts if is_english(text) is not True] == []


def test_short_texts_in_other_scripts_are_recognised() -> None:
    assert [is_english(text) for text in ("Да.", "你好", "はい", "네", "Ναι;")] == [False] * 5


def test_code_in_a_text_does_not_hide_its_language() -> None:
    code = "```python\nfor the, of in that.this:\n    print(the, of, is_not)\n```"
    assert is_english(f"Diese Funktion gibt nur die Namen aus.\n{code}") is False
    assert is_english(f"This function prints what it is given.\n{code}") is True


def test_a_question_or_half_of_the_answers_decide() -> None:
    english = ENGLISH[0]
    german, other = FOREIGN["german"][:2]
    assert not looks_foreign(english, [english, english, german, "Yes."])
    assert looks_foreign(english, [english, german, "Yes."])
    assert looks_foreign(german, [english, english])
    assert looks_foreign(english, [german, other])
    assert not looks_foreign("Why?", ["42", "7"])
    assert not looks_foreign("Why?", [])


@pytest.mark.parametrize("piece", ["a", "`", "$a", "<a", "a'", "\\a", "a@", "空", " \n", "A. "])
def test_long_texts_take_no_longer_than_short_ones(piece: str) -> None:
    start = time.perf_counter()
    is_english(piece * 500_000)
    assert time.perf_counter() - start < 0.5


def test_any_text_has_a_verdict() -> None:
    draw = random.Random(0)
    for _ in range(300):
        codes = [draw.choice([draw.randrange(128), draw.randrange(0x3000)]) for _ in range(60)]
        assert is_english("".join(map(chr, codes))) in (True, False, None)
