"""Latin text in other languages than English: which one it is, by its commonest words, and its words' stems in it.

English stems are always there, for what is stored as for what is asked; these are added where they differ. So whoever
asks in three words that give no language away still meets what was told in whole sentences, and the other way round.
"""

from __future__ import annotations

import re
import threading
from functools import lru_cache

import snowballstemmer

# Words that carry no content; none of them is a negation. A word that several languages share counts for each.
FUNCTION_WORDS = {
    "german": "der die das den dem des ein eine einen einem einer und oder aber ist sind war waren bin bist hat habe "
    "haben hatte wird werden wurde ich du er sie es wir ihr mein meine meinen meiner meinem dein deine sein seine "
    "ihre unser unsere mir mich dir dich ihm ihn uns euch mit von zu zum zur auf für bei aus nach vor seit über unter "
    "im am in an wo wer was wann wie warum welche welcher welches wem wen dass weil wenn auch noch schon nur sehr so",
    "french": "le la les l un une des du de d et ou mais est sont était suis es ai a ont avait je j tu il elle nous "
    "vous ils elles mon ma mes ton ta tes son sa ses notre nos votre vos leur leurs me m te t se s lui y en avec pour "
    "par sur dans chez au aux ce cette ces cet où qui que qu quoi quand comment pourquoi quel quelle quels quelles",
    "spanish": "el la los las un una unos unas de del y o pero es son era soy eres he ha han había yo tú él ella "
    "nosotros ellos mi mis tu tus su sus nuestro nuestra me te se le les lo con para por sobre en a al desde que quien "
    "quién qué cuándo dónde donde cómo como cuál cuáles este esta estos estas muy también ya",
    "italian": "il lo la i gli le un uno una di del della dei delle e o ma è sono era ho hai ha hanno aveva io tu lui "
    "lei noi voi loro mio mia miei mie tuo tua suo sua nostro nostra mi ti si ci vi con per su in a al alla da dal che "
    "chi cosa quando dove come quale quali perché questo questa molto anche già",
    "portuguese": "o a os as um uma uns umas de do da dos das e ou mas é são era sou tenho tem têm tinha eu tu ele ela "
    "nós eles meu minha meus minhas teu tua seu sua nosso nossa me te se lhe com para por sobre em na nos nas ao à "
    "que quem quando onde como qual quais este esta muito também já",
    "dutch": "de het een en of maar is zijn was waren ben heb heeft hebben had ik jij je hij zij ze wij we jullie mijn "
    "jouw uw zijn haar ons onze mij me hem hen met van voor op bij uit naar sinds over onder in aan te om wie wat waar "
    "wanneer hoe waarom welke dat dit die deze omdat als ook nog al zeer",
    "swedish": "en ett den det de och eller men är var har hade jag du han hon vi ni min mitt mina din ditt sin sitt "
    "vår mig dig sig oss med av för på hos från till sedan över under i om vem vad var när hur varför vilken som att "
    "också mycket",
    "norwegian": "en et ei den det de og eller men er var har hadde jeg du han hun vi dere min mitt mine din sin vår "
    "meg deg seg oss med av for på hos fra til siden over under i om hvem hva hvor når hvordan hvorfor hvilken som at "
    "også",
    "hungarian": "a az egy és vagy de van volt vagyok én te ő mi ti ők az én enyém nekem neked hogy ki mi hol mikor "
    "hogyan miért melyik ez ezt azt is már még nagyon",
    "turkish": "bir ve veya ama ben sen o biz siz onlar benim senin onun bizim bana sana ile için bu şu kim nerede "
    "zaman nasıl neden hangi da de çok",
}
_SETS = {language: frozenset(words.split()) for language, words in FUNCTION_WORDS.items()}
# A single Latin letter may be anything: what an apostrophe left over, a variable.
_TELLING = {language: frozenset(w for w in words if len(w) > 1 or not w.isascii()) for language, words in _SETS.items()}
_ENGLISH = frozenset(
    "the a an this that these those i me my you your he she it his her its we our they their is are was were am be "
    "been have has had do does did will would can could and or but if of at by for with about to from in on what which "
    "who when where why how not as so there here".split()
)
_WORD = re.compile(r"[a-z\u00e0-\u024f]+")
_READ = 2_000  # characters that are looked at
_FEWEST = 2  # function words that give a language away; one where there are hardly any words …
_SHORT = 5  # … so many
_stemmers: dict[str, snowballstemmer.stemmer] = {}
_stemming = threading.Lock()  # a Snowball stemmer keeps state while it works


def language_of(text: str) -> str | None:
    """The language of a case-folded Latin text, where it is another than English and its words tell; else None."""
    words = _WORD.findall(text[:_READ])
    english = sum(word in _ENGLISH for word in words)
    counts = {language: sum(word in known for word in words) for language, known in _TELLING.items()}
    best = max(counts, key=lambda language: counts[language])
    enough = counts[best] >= (_FEWEST if len(words) > _SHORT else 1)
    return best if enough and counts[best] > english else None


def is_english(text: str) -> bool:
    """Whether the words of a case-folded text give it away as English."""
    return language_of(text) is None and any(word in _ENGLISH for word in _WORD.findall(text[:_READ]))


def content_words(text: str, language: str) -> list[str]:
    """The words of a case-folded text that carry content in a language."""
    return [word for word in _WORD.findall(text) if len(word) > 2 and word not in _SETS[language]]


@lru_cache(maxsize=65_536)
def stem_in(word: str, language: str) -> str:
    """The Snowball stem of a case-folded word in a language."""
    with _stemming:
        stemmer = _stemmers.get(language) or _stemmers.setdefault(language, snowballstemmer.stemmer(language))
        found: str = stemmer.stemWord(word)
    return found if found.isalnum() else word
