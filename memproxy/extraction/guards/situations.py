"""What is asked for once ("in three bullets, this time") against what shall always be so ("from now on")."""

from __future__ import annotations

from memproxy.extraction.guards.claim import Claim
from memproxy.extraction.guards.patterns import Pattern, lexicon
from memproxy.extraction.guards.presupposed import presupposed
from memproxy.folding import fold

_ONCE = lexicon(
    """
    this once | just once | just this once | only this once | for once | this time | just this time | this one time
    for this (?:answer|reply|response|one|question|task|chat|conversation|message)
    just (?:for )?(?:today|now) | only (?:for )?(?:today|now) | for now | for today
    in this (?:chat|conversation|answer|reply|message|thread)
    diesmal | dieses mal | nur (?:dieses|diesmal|dies eine) mal | nur heute | ausnahmsweise | für diese antwort
    in diesem chat
    cette fois | pour cette (?:fois|réponse) | juste (?:aujourd'hui|cette fois) | pour une fois
    esta vez | s[oó]lo (?:por )?(?:hoy|esta vez) | por esta vez | para esta respuesta | questa volta
    solo (?:per )?(?:oggi|questa volta) | per questa risposta
    desta vez | dessa vez | s[oó] (?:hoje|desta vez|por hoje) | apenas (?:hoje|desta vez) | deze keer | alleen vandaag
    voor deze keer | den här gången | denne gang(?:en)? | tym razem
    в этот раз | на этот раз | только сегодня | только сейчас | в этом ответе
    """,
    "这次 這次 这一次 就这一次 仅此一次 今回だけ 今回は 今回のみ 今日だけ 이번만 이번에는 이번 한 번",
)  # fmt: skip
_STANDING = lexicon(
    """
    from now on | from here on | from today on | always | never | every time | each time | whenever
    in (?:the )?future | going forward | henceforth | generally | by default | at all times | as a rule
    ever again | again
    stop | any ?more
    ab jetzt | ab sofort | von jetzt an | von nun an | künftig | in zukunft | immer | nie | niemals | jedes mal
    grundsätzlich | stets
    désormais | dorénavant | à partir de maintenant | toujours | jamais | chaque fois | à l'avenir
    de ahora en adelante | a partir de ahora | desde ahora | siempre | nunca | cada vez | en el futuro | en adelante
    d'ora in poi | d'ora in avanti | da adesso | sempre | mai | ogni volta | in futuro
    de agora em diante | a partir de agora | daqui em diante | sempre | nunca | toda vez | no futuro
    vanaf nu | voortaan | altijd | nooit | elke keer | i fortsättningen | från och med nu | alltid | aldrig
    fra nå av | alltid | fremover | od teraz | zawsze | nigdy
    отныне | с этого момента | впредь | всегда | никогда | каждый раз | больше не | bundan sonra | her zaman | من الآن
    دائما | מעכשיו | תמיד
    """,
    "从现在起 从现在开始 從現在 以后 以後 今后 今後 总是 總是 每次 永远 一直 从不 これから いつも 常に 毎回 "
    "決して 앞으로 항상 언제나 매번 절대",
)  # fmt: skip
# What somebody tells an assistant to do with its answer.
_TELLS = (
    r"answer|respond|reply|write|rewrite|give|keep|make|use|put|list|explain|summari[sz]e|format|speak|talk|say|tell|"
    r"show|help|add|remove|include|exclude|omit|"
    r"skip|shorten|expand|translate|describe|create|generate|draft|compose|return|output|print|provide|start|begin|"
    r"end|finish|continue|count|calculate|compute|"
    r"find|search|look up|check|compare|suggest|recommend|pretend|act|don't|do not|try|limit|stick|convert|"
    r"sort|group|define|name|think|avoid|"
    r"antworte|antworten sie|schreibe?|schreiben sie|gib|geben sie|halte?|mach|machen sie|benutze?|verwende|"
    r"verwenden sie|nutze|erkläre?|liste|fasse?|sprich|sprechen sie|formatiere|sag|zeig|erstelle|"
    r"réponds|répondez|écris|écrivez|donne|donnez|fais|faites|utilise|utilisez|mets|mettez|explique|expliquez|résume|"
    r"résumez|parle|parlez|liste|"
    r"responde|responda|contesta|escribe|escriba|da|dame|deme|haz|haga|usa|use|utiliza|pon|ponga|explica|explique|"
    r"resume|habla|hable|"
    r"rispondi|risponda|scrivi|scriva|dai|dammi|fai|usa|usi|metti|metta|spiega|riassumi|parla|"
    r"escreva|escreve|dê|dá|me dê|faça|faz|use|usa|coloque|põe|explique|explica|resuma|resume|fale|fala|"
    r"antwoord|schrijf|geef|houd|maak|gebruik|zet|leg|vat|spreek|svara|skriv|ge|håll|gör|använd|förklara|svar|gi|"
    r"bruk|lag|odpowiedz|napisz|podaj|użyj|"
    r"ответь|ответьте|отвечай|напиши|пиши|дай|дайте|сделай|используй|объясни|кратко|говори|перечисли"
)
_DIRECTIVE = Pattern(
    rf"(?:(?:{_ONCE.source})[,:]? )?(?:(?:please|pls|now|ok|okay|and|but|so|then|also|just|only|next|first|hey|bitte|"
    rf"und|jetzt|aber|nur|stp|s'il te plaît|s'il vous plaît|"
    r"por favor|per favore|y|e|et|alsjeblieft|пожалуйста|и|а|sólo|solo|apenas),? )*+"
    rf"(?:(?:{_TELLS})(?!\w)(?!'s)|(?:can|could|would|will) you\b|i(?:'d| would)? (?:want|need|like) (?:you to|"
    rf"the (?:answer|reply|response|output|summary)|your (?:answer|reply)|this|it|that)\b|"
    r"(?:in|with|using|as) (?:\w+ ){0,2}(?:bullets?|bullet points|sentences?|words?|lines?|paragraphs?|table|json|"
    r"markdown|english|german|french)\b|(?:much |a bit |even )?(?:shorter|longer|simpler|briefer|clearer|"
    r"more (?:formal|detail\w*)|less formal|kürzer|länger|einfacher|plus court|más corto|più breve|"
    r"короче)(?=[ ,.!]*(?:please|bitte|pls)?[ .!]*\Z)|no (?:emojis?|markdown|code|bullets?|preamble)\b)"
    r"|(?:请|麻烦|帮我|用|给我|回答|写)|.{0,20}(?:てください|で答えて|してくれ|でお願い)|.{0,20}(?:해 ?줘|"
    r"해 ?주세요|로 답)"
)
_POLITE = Pattern(
    r"(?<!\w)(?:please|bitte|s'il (?:te|vous) plaît|por favor|per favore|пожалуйста|alsjeblieft)(?!\w)|请|ください"
)
# Telling what to know is no request for an answer of some form, nor is telling how one is called.
_TO_KNOW = Pattern(
    r"(?:(?:please|and|also|bitte|por favor),? )*(?:remember|note|keep in mind|don't forget|do not forget|"
    r"bear in mind|be aware|make a note|save|store|add to (?:your )?memory|say hello|"
    r"call me|tell everyone|know that|merk dir|denk daran|vergiss nicht|nenn mich|souviens-toi|retiens|n'oublie pas|"
    r"note que|appelle-moi|recuerda|no olvides|llámame|ricorda|ricordati|chiamami|lembre|lembra|"
    r"не забудь|запомни|зови)|记住|記住|别忘|叫我|覚えて|忘れないで|と呼んで|기억해"
)
_STATEMENT = Pattern(
    r"(?<!\w)(?:i|we)(?:'\w{1,2})? (?!(?:\w+ )?(?:want|need|like|prefer) (?:you|the (?:answer|reply|response|output|"
    r"summary)|your|this|it|that)\b)\w+|"
    r"(?:and |but |because |since )?(?:my|our|mein\w{0,2}|mon|ma|mes|mis?|mia|mio|meu|minha|mijn|"
    r"мо[йяё]) (?:\w+ ){1,3}(?:is|are|was|were|has|have|had|hurts?|ist|sind|hat|est|sont|es|son|è|sono|é|são)\b|"
    r"(?<!\w)(?:i'm|i've|ich|wir|je|j'\w+|nous|yo|io|eu|ik|jag|jeg|я|мы) \w+|我(?:是|有|住|喜欢|不|对|在|的)|"
    r"私は|私の|저는|나는"
)


def one_off(claim: Claim) -> bool:
    """Whether the fact is drawn from a request for one answer. What the person says beside it stays, and so does what
    they ask to be always so.
    """
    sentence = fold(claim.sentence)
    own = next((clause.words for clause in claim.drawn if _STATEMENT.search(clause.words)), None)
    if own is not None and not _DIRECTIVE.match(own):
        return False
    if _TO_KNOW.match(sentence) or _TO_KNOW.match(claim.said):
        return False
    tells = (
        _DIRECTIVE.match(sentence)
        or _DIRECTIVE.match(claim.said)
        or (_POLITE.search(sentence) and _ONCE.search(sentence))
    )
    if not tells:
        return False
    if _ONCE.search(sentence):
        return not presupposed(claim)
    return not _STANDING.search(sentence) and not presupposed(claim)
