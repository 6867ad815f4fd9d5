"""What people really say of themselves passes every guard: a corpus of ordinary statements in many languages."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from memproxy.extraction.drafts import drafts
from memproxy.model import FactDraft, Turn

TURN = Turn("t", "s", 1, "user", None, "", datetime(2026, 5, 6, tzinfo=UTC))

# What was said, what a model makes of it, and the words it quotes (all of them, where there is no third).
ENGLISH: list[tuple[str, ...]] = [
    ("I own a kayak called Petrel.", "Owns a kayak called Petrel"),
    ("I'm a nurse, not a doctor.", "Is a nurse"),
    ("I live in Tolm, not in Brask.", "Lives in Tolm", "I live in Tolm"),
    ("I'm Bo, nice to meet you!", "Is called Bo", "I'm Bo"),
    ("My name is Bo Larsson.", "Is called Bo Larsson"),
    ("Call me Max.", "Wants to be called Max"),
    ("Everybody calls me Mo.", "Is called Mo"),
    ("I don't eat meat.", "Does not eat meat"),
    ("I don't eat meat.", "Is a vegetarian"),
    ("I can't stand opera.", "Dislikes opera"),
    ("I never drink coffee after noon.", "Never drinks coffee after noon"),
    ("No, I live in Tolm.", "Lives in Tolm"),
    ("Can't wait to visit Oslo in May, I booked the flights.", "Has booked flights to Oslo in May"),
    ("I can't live without tea.", "Loves tea"),
    ("I eat nothing but rice on Mondays.", "Eats only rice on Mondays"),
    ("I play not only the cello but also the flute.", "Plays the cello and the flute"),
    ("I don't finish work until six.", "Finishes work at six"),
    ("Don't forget that I have twins.", "Has twins"),
    ("I don't know if I told you, but I have a boat.", "Has a boat"),
    ("I no longer live in Tolm.", "No longer lives in Tolm"),
    ("I stopped smoking in 2019.", "Does not smoke any more"),
    ("I'm single.", "Is not married"),
    ("I left Tarrow last year.", "No longer works at Tarrow"),
    ("I've never been to Oslo, but I want to go there.", "Wants to go to Oslo"),
    ("My sister Jorun cannot stand opera.", "Sister Jorun dislikes opera"),
    ("My sister Jorun cannot stand opera.", "Jorun dislikes opera"),
    ("My mother tongue is Basque.", "Native language is Basque"),
    ("My wife and I love opera.", "Loves opera"),
    ("My dog Moss is a border collie.", "Has a border collie called Moss"),
    ("I go climbing with my brother every Tuesday.", "Goes climbing every Tuesday"),
    ("My doctor diagnosed diabetes.", "Has diabetes"),
    ("My boss is Teodora Vance.", "Boss is Teodora Vance"),
    ("My kids go to school in Tolm.", "Kids go to school in Tolm"),
    ("What can I cook for my vegan daughter?", "Has a vegan daughter"),
    ("Can my twins swim in the pool there?", "Has twins"),
    ("How do I train my border collie Moss?", "Has a border collie called Moss"),
    ("I'm allergic to nuts, what can I eat?", "Is allergic to nuts"),
    ("I like tea, don't I?", "Likes tea"),
    ("I told you I work nights, right?", "Works nights"),
    ("Why do I always forget names?", "Always forgets names"),
    ("As a nurse, what should I know about shifts?", "Is a nurse"),
    ("Could you find me a flat? I earn 2400 a month.", "Earns 2400 a month"),
    ("How far is Brask from Tolm, where I live?", "Lives in Tolm"),
    ("Write a poem for my wife Anna.", "Wife is called Anna"),
    ("Give me a recipe without nuts, I'm allergic.", "Is allergic to nuts", "without nuts, I'm allergic"),
    ("From now on always put the conclusion first.", "Wants the conclusion first"),
    ("Never use emojis when you answer me.", "Does not want emojis"),
    ("I prefer short answers.", "Prefers short answers"),
    ("Please remember that I have an exam on Friday.", "Has an exam on Friday"),
    ("Call me Bo from now on.", "Wants to be called Bo"),
    ("I just moved to Tolm today.", "Moved to Tolm"),
    ("I might go to Oslo in June.", "Might go to Oslo in June"),
    ("I'm thinking about buying a kayak.", "Is thinking about buying a kayak"),
    ("I'm thinking about buying a kayak.", "Considers buying a kayak"),
    ("It might sound odd, but I eat only fish.", "Eats only fish"),
    ("Maybe you can help: I live in Tolm.", "Lives in Tolm"),
    ("I'll probably quit my job in March.", "Will probably quit the job in March"),
    ("I think my favourite colour is green.", "Favourite colour is green"),
    ("If I eat nuts, I get hives.", "Gets hives from eating nuts"),
    ("If you need me, I live in Tolm.", "Lives in Tolm"),
    ("When I was twelve I broke my arm.", "Broke an arm at twelve"),
    ("I imagine my garden full of bees; I keep two hives.", "Keeps two hives"),
    ("I play chess on Sundays.", "Plays chess on Sundays"),
    ("I write stories about dragons.", "Writes stories about dragons"),
    ("I love role-play games.", "Loves role-play games"),
    ("You are an expert nutritionist. I am 34 and weigh 80 kg.", "Is 34 and weighs 80 kg"),
    ("I translate novels for a living.", "Translates novels for a living"),
    ("I check my blood sugar every morning: it was 7.2 today.", "Checks blood sugar every morning"),
    ("Name: Bo\nAge: 34\nCity: Tolm", "Lives in Tolm", "City: Tolm"),
    ("From: Tolm\nTo: Brask\nI take that train daily.", "Takes the train to Brask daily", "I take that train daily"),
    ("I told her \"I am moving to Oslo\" and she cried.", "Is moving to Oslo", "I am moving to Oslo"),
    ("My favourite book is \"The Old Man and the Sea\".", "Favourite book is The Old Man and the Sea"),
    ("The locker label is BX-2219-q.", "The locker label is BX-2219-q"),
    ("I own 2 boats.", "Owns boats"),
    ("I moved to Tolm in 2019.", "Moved to Tolm"),
    ("My rent is 840 a month.", "Rent is 840 a month"),
    ("I use Python 3.11 at work.", "Uses Python 3.11 at work"),
    ("I asked for a raise.", "Asked for a raise"),
    ("My speaker is broken.", "Speaker is broken"),
    ("I'm an assistant at the museum.", "Is an assistant at the museum"),
    ("I work on language models.", "Works on language models"),
    ("My model railway is two metres long.", "Has a model railway two metres long"),
    ("I suggested a new plan to my boss.", "Suggested a new plan"),
    ("I have a potential buyer for the house.", "Has a potential buyer for the house"),
    ("My flight leaves on 5 May at 10:30.", "Flight leaves on 5 May at 10:30"),
    ("i work nights n sleep till noon", "Works nights and sleeps until noon"),
    ("Two kids, one dog, no car.", "Has two kids and a dog"),
    ("Hi, I'd like help with my CV. I studied physics in Graz.", "Studied physics in Graz"),
    ("Make it short please. I'm on my phone and I commute two hours a day.", "Commutes two hours a day"),
    ("Translate this: good morning.\n\nBy the way, I moved to Tolm.", "Moved to Tolm", "I moved to Tolm"),
    ("My exam is on Friday. Proofread this:\nI like eels.", "Has an exam on Friday", "My exam is on Friday"),
    ("I do not mind spicy food.", "Does not mind spicy food"),
    ("I'm not sure about Oslo, but I definitely go to Bergen in May.", "Goes to Bergen in May"),
    ("You know I like tea.", "Likes tea"),
    ("My partner is from Chile, and I am learning Spanish.", "Is learning Spanish"),
    ("She left me last year.", "Separated last year"),
    ("I'm afraid of spiders.", "Is afraid of spiders"),
    ("I hate that my brother smokes.", "Hates that the brother smokes"),
]  # fmt: skip

GERMAN: list[tuple[str, ...]] = [
    ("Ich esse kein Fleisch.", "Isst kein Fleisch"),
    ("Ich wohne in Wien und arbeite als Lehrerin.", "Wohnt in Wien"),
    ("Ich heiße Bo.", "Heißt Bo"),
    ("Nenn mich Max.", "Will Max genannt werden"),
    ("Meine Schwester mag keine Oper.", "Schwester mag keine Oper"),
    ("Ich fahre nicht mehr Auto.", "Fährt nicht mehr Auto"),
    ("Was kann ich für meine vegane Tochter kochen?", "Hat eine vegane Tochter"),
    ("Ich bin allergisch gegen Nüsse, was kann ich essen?", "Ist allergisch gegen Nüsse"),
    ("Antworte ab jetzt immer auf Deutsch.", "Will Antworten auf Deutsch"),
    ("Vielleicht ziehe ich nach Graz.", "Zieht vielleicht nach Graz"),
    ("Wenn ich Nüsse esse, bekomme ich Ausschlag.", "Bekommt von Nüssen Ausschlag"),
    ("Ich spiele Geige und sammle Steine.", "Spielt Geige"),
    ("Ich bin nicht verheiratet.", "Ist ledig"),
    ("Mein Auto ist ein alter Volvo.", "Fährt einen alten Volvo"),
    ("Ich habe zwei Kinder, Lena und Paul.", "Hat zwei Kinder, Lena und Paul"),
]

FRENCH: list[tuple[str, ...]] = [
    ("Je ne conduis plus.", "Ne conduit plus"),
    ("J'habite à Lyon depuis 2019.", "Habite à Lyon"),
    ("Je m'appelle Anne.", "S'appelle Anne"),
    ("Ma sœur déteste l'opéra.", "Sa sœur déteste l'opéra"),
    ("Je ne mange que du poisson.", "Ne mange que du poisson"),
    ("Je ne bois jamais de café.", "Ne boit jamais de café"),
    ("Que cuisiner pour ma fille végane ?", "A une fille végane"),
    ("Je suis allergique aux noix, que puis-je manger ?", "Est allergique aux noix"),
    ("Désormais, réponds toujours en français.", "Veut des réponses en français"),
    ("J'irai peut-être à Oslo en juin.", "Ira peut-être à Oslo en juin"),
    ("Je travaille comme infirmière à Nantes.", "Travaille comme infirmière à Nantes"),
    ("J'ai trois enfants.", "A trois enfants"),
]

SPANISH: list[tuple[str, ...]] = [
    ("Nunca bebo café.", "Nunca bebe café"),
    ("Vivo en Madrid.", "Vive en Madrid"),
    ("Me llamo Inés.", "Se llama Inés"),
    ("Mi hermana odia la ópera.", "Su hermana odia la ópera"),
    ("No como carne, vivo en Madrid.", "Vive en Madrid", "vivo en Madrid"),
    ("Soy alérgico a las nueces, ¿qué puedo comer?", "Es alérgico a las nueces"),
    ("A partir de ahora responde siempre en español.", "Quiere respuestas en español"),
    ("Tal vez vaya a Oslo en junio.", "Tal vez vaya a Oslo en junio"),
    ("Tengo dos hijos y un perro.", "Tiene dos hijos y un perro"),
    ("Trabajo de enfermera en Sevilla.", "Trabaja de enfermera en Sevilla"),
    ("Ya no fumo.", "Ya no fuma"),
]

ITALIAN: list[tuple[str, ...]] = [
    ("Non mangio carne.", "Non mangia carne"),
    ("Abito a Torino.", "Abita a Torino"),
    ("Mi chiamo Luca.", "Si chiama Luca"),
    ("Sono allergico alle noci, cosa posso mangiare?", "È allergico alle noci"),
    ("Mia sorella odia l'opera.", "La sorella odia l'opera"),
    ("Lavoro come infermiere a Pisa.", "Lavora come infermiere a Pisa"),
    ("D'ora in poi rispondi sempre in italiano.", "Vuole risposte in italiano"),
    ("Forse vado a Oslo a giugno.", "Forse va a Oslo a giugno"),
    ("Ho due gatti.", "Ha due gatti"),
]

PORTUGUESE: list[tuple[str, ...]] = [
    ("Não como carne.", "Não come carne"),
    ("Moro em Lisboa.", "Mora em Lisboa"),
    ("Eu me chamo Rui.", "Se chama Rui"),
    ("Minha irmã odeia ópera.", "A irmã odeia ópera"),
    ("Trabalho como enfermeira no Porto.", "Trabalha como enfermeira no Porto"),
    ("Nunca bebo café.", "Nunca bebe café"),
    ("Talvez eu vá a Oslo em junho.", "Talvez vá a Oslo em junho"),
    ("Tenho dois filhos.", "Tem dois filhos"),
]

DUTCH: list[tuple[str, ...]] = [
    ("Ik eet geen vlees.", "Eet geen vlees"),
    ("Ik woon in Utrecht.", "Woont in Utrecht"),
    ("Ik heet Joris.", "Heet Joris"),
    ("Mijn zus haat opera.", "Zus haat opera"),
    ("Ik werk als verpleegkundige.", "Werkt als verpleegkundige"),
]

RUSSIAN: list[tuple[str, ...]] = [
    ("Я не ем мясо.", "Не ест мясо"),
    ("Живу в Казани.", "Живёт в Казани"),
    ("Меня зовут Илья.", "Зовут Илья"),
    ("Моя сестра не любит оперу.", "Сестра не любит оперу"),
    ("Работаю медсестрой в Туле.", "Работает медсестрой в Туле"),
    ("Возможно, я поеду в Осло.", "Возможно, поедет в Осло"),
    ("У меня двое детей.", "Двое детей"),
]

EASTERN: list[tuple[str, ...]] = [
    ("我住在青岛,对花生过敏。", "对花生过敏"),
    ("我住在青岛,对花生过敏。", "住在青岛"),
    ("我叫李明。", "叫李明"),
    ("我不吃肉。", "不吃肉"),
    ("我妹妹讨厌歌剧。", "妹妹讨厌歌剧"),
    ("我特别喜欢爬山。", "特别喜欢爬山"),
    ("我非常喜欢茶。", "喜欢茶"),
    ("我住在青岛，附近有什么好吃的？", "住在青岛"),
    ("以后请总是用中文回答。", "希望用中文回答"),
    ("我可能会去奥斯陆。", "可能会去奥斯陆"),
    ("私は肉を食べません。", "肉を食べない"),
    ("私の名前は健太です。", "名前は健太"),
    ("大阪に住んでいます。", "大阪に住んでいる"),
    ("ピーナッツのアレルギーがあります。", "ピーナッツのアレルギーがある"),
    ("毎朝六時に起きなければなりません。", "毎朝六時に起きる"),
    ("저는 고기를 먹지 않아요.", "고기를 먹지 않음"),
    ("저는 부산에 살아요.", "부산에 산다"),
    ("أنا أسكن في عمّان منذ سنة.", "يسكن في عمّان منذ سنة"),
    ("أنا لا آكل اللحم.", "لا يأكل اللحم"),
    ("אני לא אוכל בשר.", "לא אוכל בשר"),
]

STATEMENTS = [*ENGLISH, *GERMAN, *FRENCH, *SPANISH, *ITALIAN, *PORTUGUESE, *DUTCH, *RUSSIAN, *EASTERN]


def outcome(said: str, text: str, quote: str | None = None) -> FactDraft | str:
    found = drafts([{"text": text, "quote": quote or said}], [replace(TURN, content=said)])
    return found.accepted[0] if found.accepted else str(next(iter(found.rejected)))


@pytest.mark.parametrize("statement", STATEMENTS, ids=lambda statement: statement[1])
def test_an_ordinary_statement_is_kept(statement: tuple[str, ...]) -> None:
    draft = outcome(*statement)
    assert isinstance(draft, FactDraft), draft
    assert draft.text == statement[1]


@pytest.mark.parametrize("statement", STATEMENTS, ids=lambda statement: statement[1])
def test_a_statement_is_kept_in_the_persons_own_words(statement: tuple[str, ...]) -> None:
    said = statement[2] if len(statement) > 2 else statement[0].strip("¿?.!。？ ")
    if not re.search(r"[?？]|Write|Give|Make", statement[0]):
        assert isinstance(outcome(statement[0], said, said), FactDraft)


def test_the_corpus_is_large_and_of_many_languages() -> None:
    assert len(STATEMENTS) >= 120
