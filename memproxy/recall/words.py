"""Words: how they are told apart, which carry no content in a search, and which make up small talk. Data only.

Negations (not, no, never, none, nothing, nobody, without, cannot and every n't) are in no list: they carry meaning.
"""

from __future__ import annotations

import re

WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")  # with what an apostrophe joins to it

STOPWORDS = frozenset(
    """
    a an the this that these those such some any each every both all other another same own
    i me my mine myself we us our ours ourselves you your yours yourself yourselves
    he him his himself she her hers herself it its itself they them their theirs themselves one ones
    am is are was were be been being do does did doing done have has had having
    can could shall should will would might must ought
    and or but if then else than so because while although though whether as of at by for with about into onto
    through during to from in out on off over under again further once until upon per via within between among
    what which who whom whose when where why how
    here there now just very too also only even still yet really quite rather ever much many more most few less least
    get gets got getting let lets go goes going gone make makes made come comes came
    s t m d re ve ll im ive id youre
    """.split()
)

# Words that make up greetings, thanks, acknowledgements and bare commands. A message of nothing else recalls nothing.
SMALL_TALK = frozenset(
    """
    hi hello hey heya hiya yo howdy greetings morning afternoon evening night goodnight welcome bye goodbye cheers later
    thanks thank thx ty tysm appreciated appreciate please pls sorry
    ok okay k kk alright right sure yes yeah yep yup ya no nope nah fine good great cool nice perfect awesome excellent
    amazing wonderful brilliant lovely interesting wow oh ah aha hm hmm mhm um uh lol haha hahaha heh
    got understood understand see agreed exactly correct indeed true works worked done ready
    fix continue proceed go keep going start stop wait retry try again redo undo repeat rerun run next more explain
    elaborate clarify expand shorten rewrite rephrase improve check test summarize summarise translate finish
    it this that them one everything anything something nothing
    help question quick doing day today there everyone all friend buddy mate folks guys team
    well lot lots much very so bit back time far made up sounds
    hola hallo bonjour salut ciao servus moin danke gracias merci grazie obrigado obrigada bitte oui ja nein si non
    köszönöm szia dziękuję cześć ahoj tack hej tak takk kiitos teşekkürler merhaba
    привет здравствуйте спасибо пока да нет хорошо
    """.split()
)
SAID_ALL_THE_TIME = STOPWORDS | SMALL_TALK
SMALL_TALK_PHRASES = frozenset(
    """
    你好 您好 谢谢 多谢 再见 好的 好 是的 嗯 继续 可以 こんにちは おはよう こんばんは ありがとう
    ありがとうございます はい いいえ
    안녕 안녕하세요 감사합니다 고마워 네 아니요 مرحبا شكرا نعم לא שלום תודה כן नमस्ते धन्यवाद
    """.split()
)
