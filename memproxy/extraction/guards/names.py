"""What the person is called: only what they say of themselves, never somebody they ask about."""

from __future__ import annotations

from memproxy.extraction.guards.claim import Claim
from memproxy.extraction.guards.lexicon import OF_PEOPLE
from memproxy.extraction.guards.patterns import Pattern, lexicon
from memproxy.folding import fold

_SLOTS = frozenset(
    "name first_name last_name full_name user_name username nickname given_name surname family_name preferred_name "
    "called alias identity".split()
)
_OF_THE_USER = r"(?:the )?(?:(?:user|person)(?:'s)? )?"
_CALLS = Pattern(
    rf"{_OF_THE_USER}(?:is |wants to be |prefers to be |likes to be |goes by |prefers )?"
    r"(?:called|named|nicknamed|known as|goes by|(?:full |first |last |given |family |preferred )?name(?: is|:))"
    r"|(?:the )?user is (?=[^\W\d_]+(?: [^\W\d_]+)?\Z)|goes by\b|(?:heisst|nennt sich|s'appelle|se llama|si chiama|"
    r"(?:ele |ela )?se chama|chama-se|heet|heter|hedder|nazywa się|её зовут|его зовут|зовут|имя) ?"
    r"|(?:用户)?(?:名叫|叫|名字)|(?:名前|이름)"
)
_IS_A_NAME = Pattern(r"(?:User\s)?Is\s([A-Z][\w'’-]+\s[A-Z][\w'’-]+)\.?\Z|([A-Z][\w'’-]+(?:\s[A-Z][\w'’-]+)?)\.?\Z")

_OWN = (
    r"my (?:full |first |last |given |nick|real |sur|user|middle )*+name(?:'s| is|:)?|name's|name:|call me|calls? me|"
    r"called me|"
    r"i'?m called|i am called|i go by|known as|this is|it's|it is|here is|address me as|refer to me as|sign(?:ed)?|"
    r"named me|"
    r"mein (?:vor|nach|spitz)?name(?: ist|:)?|ich heisse|nennt? mich|nennen mich|man nennt mich|ich werde|hier ist|"
    r"je m'appelle|mon (?:pré)?nom(?: est)?|appelle[- ]?(?:z[- ])?moi|on m'appelle|c'est|me llamo|mi (?:nombre|"
    r"apellido)(?: es)?|"
    r"ll[aá]m[ae](?:n)?me|me llaman|me dicen|dime|mi chiamo|il mio nome(?: è)?|chiamami|mi chiamano|(?:eu )?me chamo|"
    r"chamo-me|"
    r"(?:o )?meu nome(?: é)?|me chame(?: de)?|me chamam(?: de)?|ik heet|mijn naam(?: is)?|noem me|jag heter|"
    r"mitt namn(?: är)?|"
    r"jeg heter|jeg hedder|mam na imię|nazywam się|jmenuji se|меня зовут|мо[её] имя|зовите меня|зови меня|"
    r"називай мене|мене звати|"
    r"adım|benim adım|ismim|bana|nevem|a nevem|minun nimeni on|nimeni on|اسمي|שמי|קוראים לי|मेरा नाम|tôi tên là|"
    r"tên tôi là|nama saya"
)
_BEING = (
    r"i am|i'm|im|ich bin|je suis|soy|yo soy|sono|io sono|sou|eu sou|ik ben|jag är|jeg er|jestem|я|ben|én vagyok|"
    r"minä olen|"
    r"أنا|אני|मैं|tôi là|saya"
)
_SELF = Pattern(
    rf"(?<!\w)(?:{_OWN}|(?:i am|i'm) [^.!?]{{0,60}} (?:named|"
    rf"called))(?!\w)[\s:,\"'“„«]*+(?P<own>(?:[\w'’.-]+[\s\"'”»]*+){{1,4}})"
)
_AM = Pattern(
    rf"(?<!\w)(?:{_BEING})(?!\w)[\s,\"'“„«]*+(?:(?:dr|mr|mrs|ms|prof|frau|herr|just|really|"
    rf"actually)\.? )?(?P<own>(?:[\w'’.-]+[\s\"'”»]*+){{1,2}})"
)
_SELF_BEHIND = Pattern(
    r"(?P<own>(?:[\w'’.-]+\s){1,3})(?:here\b|speaking\b|is my (?:\w+ )?name|ist mein name|est mon nom|es mi nombre)"
)
_SELF_JOINED = Pattern(
    "我叫|我是|我的名字|叫我|名字是|我姓|私は|僕は|俺は|名前は|と申します|といいます|と言います|と呼んで|제 이름|"
    "내 이름|저는|나는|라고 불러|라고 합니다|ชื่อ"
)
_ASKED_FOR = lexicon(
    "name | called | call you | who are you | heissen | heisst | name | appelles?-tu | appelez | nom | llamas |"
    " llamo | nombre | "
    "chiami | nome | chamas? | heet | naam | heter | зовут | имя | imię",
    "名字 叫什么 怎么称呼 名前 이름 성함",
)
# How a person goes on correcting what they are called.
_CORRECTS = Pattern(
    r"(?:no|not|nah|actually|rather|just|only|final|finally|sorry|i mean|wait|ok|or|make that|better|nein|doch|eher|"
    r"lieber|"
    r"non|plutôt|enfin|mejor|perdón|solo|sólo|anzi|meglio|não|melhor|nee|liever|нет|лучше)\b|不|是|いや|아니"
)
_SHORT = 5  # words of an answer that is nothing but a name


def names_somebody_else(claim: Claim) -> bool:
    """Whether a fact names the person by a name that they do not give themselves."""
    if not _is_a_name(claim):
        return False
    turn = fold(claim.turn.content)
    sentence = fold(claim.sentence)
    if _names_themselves(sentence, claim.told) or _names_themselves(turn, claim.told):
        return False
    short = len(turn.split()) <= _SHORT and "?" not in turn
    if short and _CORRECTS.match(turn):
        return False
    return not (short and any(_ASKED_FOR.search(fold(other.content)) for other in claim.context))


def _is_a_name(claim: Claim) -> bool:
    """Whether the text says what the person is called (and not what their boat is)."""
    told = claim.told
    if OF_PEOPLE.match(told):
        return False
    if _CALLS.match(told):
        return True
    is_name = _IS_A_NAME.match(claim.text)
    if (claim.slot or "").casefold() in _SLOTS:
        return is_name is not None or (len(told.split()) <= _SHORT and not _OF_A_THING.match(told))
    return not claim.slot and is_name is not None and is_name[1] is not None


_OF_A_THING = lexicon("has | owns | keeps | have | own | hat | tiene | tem | ha | works | lives")


def _names_themselves(words: str, told: str) -> bool:
    """Whether words say "I am called …", with a name that the fact's text has."""
    if _SELF_JOINED.search(words):
        return True
    named = set(_WORD.findall(told)) - _COMMON
    for pattern in (_SELF, _SELF_BEHIND):
        if any(named.intersection(_WORD.findall(found["own"])) for found in pattern.finditer(words)):
            return True
    # "I am Bo", but not "I am meeting Bo"
    return any(_first(found["own"]) in named for found in _AM.finditer(words))


def _first(words: str) -> str:
    return next(iter(_WORD.findall(words)), "")


_WORD = Pattern(r"[^\W_]+")
_COMMON = frozenset("is be to a an the called named name user goes by known as wants prefers likes me my".split())
