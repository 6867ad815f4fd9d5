"""Games in which people speak as somebody else, and stories they ask for: nothing in them is true of the person."""

from __future__ import annotations

import re
from collections.abc import Iterator

from memproxy.extraction.guards.claim import Claim
from memproxy.extraction.guards.patterns import Pattern, lexicon
from memproxy.extraction.guards.presupposed import presupposed
from memproxy.folding import fold
from memproxy.model import Turn

_PLAY = (
    r"role[- ]?play(?:ing)?|rollenspiel|jeu de rôle|juego de rol(?:es)?|gioco di ruolo|jogo de papéis|"
    r"rollenspel|rollspel|rollespill?|ролевую игру|ролевая игра|角色扮演|ロールプレイ|역할극|상황극"
)
# Sets a scene: an invitation to play, not a mention of playing.
_SCENE = Pattern(
    rf"(?:(?:let'?s|let us|lets|can we|shall we|could we|we will|we'll|i want to|i'd like to|please|now|start|begin|"
    rf"do|try|in this|this is an?|for this|lass uns|wollen wir|on fait|faisons|hagamos|facciamo|vamos fazer|laten we|"
    rf"давай|我们|我們|来) ?(?:\w+ ){{0,3}}|\A|[.!?\n] ?)(?:{_PLAY})"
    r"|\b(?:stay|remain|be|answer|speak|respond) in character\b|\bdon't break character\b|\bdungeon master\b|"
    r"\bgame master\b"
    r"|\b(?:let'?s|let us|i'll|i will|we'll|we) pretend\b|\bpretend (?:that )?(?:to be|you are|you're|i am|i'm|"
    r"we are|we're|my)\b|\bmake[- ]believe\b"
    r"|\bi(?:'ll| will)? (?:play|be) (?:the (?:role|part) of|a character|the character)\b|\byou(?:'ll|"
    r" will)? (?:play|be) (?:the (?:role|part) of|my character|the narrator|the \w+) (?:and|,) i\b|"
    r"\byou be \w+(?: \w+)?,? (?:and )?i'll be\b"
    r"|\b(?:let'?s|let us|we) (?:play|act out|simulate|imagine)\b[^?]{0,120}\b(?:you(?:'re| are| play| be)|i(?:'m|"
    r" am|'ll be| play))\b"
    r"|\b(?:spielen wir|lass uns spielen|wir spielen|tu so,? als|bleib in (?:der|deiner) rolle|ich spiele (?:den|die|"
    r"das|einen|eine) \w+ und du)\b"
    r"|\b(?:jouons|on joue|fais semblant|reste dans (?:le|ton) (?:rôle|personnage)|faisons comme si)\b|\b(?:juguemos|"
    r"finge que|finjamos|mantente en (?:el|tu) (?:papel|personaje)|hagamos como si)\b"
    r"|\b(?:giochiamo|fai finta|facciamo finta|resta nel personaggio)\b|\b(?:vamos (?:brincar|jogar|fingir)|"
    r"finja que|faz de conta|fique no personagem)\b|\b(?:laten we spelen|doe alsof|blijf in je rol)\b"
    r"|(?:давай (?:сыграем|поиграем|представим)|сыграем в|притворись|не выходи из роли)|扮演|假装你|假裝你|"
    r"假装我|演一个|になりきって|"
    r"を演じて|のふりを|인 척|연기해"
)
_NO_SCENE = lexicon(
    "chess | football | tennis | cards | guitar | piano | poker | golf | trivia | 20 questions | twenty questions |"
    " scrabble | hangman | tic[- ]tac[- ]toe"
)
_ENDS = Pattern(
    r"\b(?:pause|stop|end|quit|exit|leave|finish|break|drop|enough of|done with|out of)\b[^.!?:\n]{0,25}\b(?:game|"
    r"role[- ]?play\w*|scene|story|character|act|pretending|play)\b"
    r"|\b(?:game|scene|role[- ]?play|story)(?: is)? (?:over|paused|ended|done)\b|\bout of character\b|\booc\b|\(\(|"
    r"\bback to (?:reality|real life|normal)\b|\bin real life\b|\bfor real now\b|\bserious(?:ly)? now\b|"
    r"\bno longer in character\b"
    r"|\b(?:spiel|rollenspiel|szene)\b[^.!?:\n]{0,15}\b(?:pause|aus|vorbei|ende|beendet|unterbrochen)\b|\b(?:pause|"
    r"ende|schluss)\b[^.!?:\n]{0,15}\b(?:spiel|rollenspiels?)\b|\bim echten leben\b"
    r"|\b(?:pause|fin|arrêt\w*)\b[^.!?:\n]{0,15}\b(?:jeu|scène|histoire)\b|\bdans la vraie vie\b|\b(?:pausa|fin|"
    r"paremos|termina\w*|basta)\b[^.!?:\n]{0,15}\b(?:juego|escena|gioco|jogo|cena)\b|\ben la vida real\b|"
    r"\bnella vita reale\b|\bna vida real\b"
    r"|(?:пауза|стоп|конец|закончим)[^.!?:\n]{0,15}(?:игр|сцен)|в реальной жизни|(?:暂停|停止|结束).{0,6}(?:游戏|"
    r"扮演)|游戏结束|"
    r"现实中|(?:ゲーム|ロールプレイ).{0,4}(?:中断|終わり|終了)|現実では|현실에서"
)
_AGAIN = Pattern(
    r"\b(?:continue|resume|back to|carry on with|go on with)\b[^.!?\n]{0,20}\b(?:game|role[- ]?play|scene|story|"
    r"character)\b|\bback in character\b|weiter im spiel|继续游戏|ゲーム再開"
)
# An answer of the assistant in which it acts.
_ACTED = Pattern(r"^\*[a-zß-öø-ÿ][^*\n]{2,120}\*(?!\*)", re.MULTILINE)

_TALE = (
    r"stor(?:y|ies)|poems?|tales?|novels?|songs?|lyrics|scripts?|screenplay|haiku|limerick|sonnet|fan ?fiction|"
    r"dialogues?|monologues?|scene|"
    r"geschichten?|gedichte?|märchen|lied(?:text)?|drehbuch|roman|histoires?|poèmes?|contes?|chansons?|cuentos?|"
    r"poemas?|historias?|canci[oó]n|canciones|"
    r"stori[ae]|racconti?|poesi[ae]|canzon[ei]|favol[ae]|históri?as?|contos?|canç(?:ão|ões)|verhaal|gedicht|liedje|"
    r"berättelse|dikt|historie|opowiadanie|wiersz|рассказ|сказк[уа]|стих\w*|истори[юя]|песн[юя]"
)
_MAKE = (
    r"write|tell|compose|make up|draft|generate|create|invent|continue|give|schreibe?|erzähle?|erfinde|dichte|écris|"
    r"écrivez|raconte|invente|escribe|cuenta|cuéntame|inventa|scrivi|racconta|raccontami|escreva|conte|invente|"
    r"schrijf|vertel|skriv|berätta|fortell|napisz|opowiedz|напиши|расскажи|придумай|сочини"
)
_ASKS_A_TALE = Pattern(
    rf"(?:\A|[,.!?:;] ?|(?<!\w)(?:please|now|and|then|you|me|to|bitte|und|du|mir|por favor|per favore|"
    rf"пожалуйста) )(?:{_MAKE})(?!\w)(?: \S+){{0,6}}? (?:{_TALE})(?!\w)|(?:写|編|编|讲|講|创作).{{0,10}}(?:故事|"
    rf"诗|詩|小说|小說|歌词|"
    rf"剧本|童话)|(?:物語|小説|詩|童話|歌詞|脚本).{{0,6}}(?:書いて|作って|話して)|(?:이야기|소설|시|"
    rf"동화).{{0,6}}(?:써|만들어|들려)"
)


# "For the story: I am an orphan …"
_FOR_A_TALE = Pattern(
    rf"(?:for|in|für|in|pour|dans|para|en|per|nel|voor|för|для|в) (?:\w+ )?(?:{_TALE}|book|chapter|campaign|"
    rf"character|game|buch|livre|libro|livro|boek|книг\w)(?: \w+)?\s?[:：]"
)


# "My character is a dwarf": told of somebody who is made up.
_MADE_UP = (
    r"characters?|avatar|alter ego|oc|protagonist|spielfigur|spielcharakter|personnage|personaje|personaggio|"
    r"personagem|personage|rollfigur|персонаж\w*"
)
_MINE = r"my|our|meine?r?|unsere?|mon|notre|mi|nuestro|il mio|meu|minha|mijn|onze|min|мой|наш"
_OF_ONE_MADE_UP = Pattern(
    rf"(?<!\w)(?:{_MINE}) (?:[\w&'’-]+ ){{0,4}}?(?:{_MADE_UP})(?!\w)"
    r"(?! (?:traits?|flaws?|reference|witness|of )| in me)"
    r"|(?:我的|我們的|我们的)(?:\w{0,6})(?:角色|人物)|(?:私|僕|俺)の(?:\w{0,6})キャラ|(?:내|나의|제) ?(?:\w{0,6})캐릭터"
)
_TELLS_SO = Pattern(
    rf"(?<!\w)(?:{_MADE_UP}|plays?|playing|spielt|joue|juega|gioca|joga|играет)(?!\w)|角色|人物|キャラ|캐릭터|扮演"
)


def played(claim: Claim) -> bool:
    """Whether the words were said in a game, or tell what a story shall be about, or who somebody made up is."""
    return _in_a_scene(claim) or _of_one_made_up(claim) or (_of_a_tale(claim) and not presupposed(claim))


def _of_one_made_up(claim: Claim) -> bool:
    """Whether a clause about a character is told of the person, without a word that it is one."""
    return not _TELLS_SO.search(claim.told) and all(_OF_ONE_MADE_UP.search(clause.words) for clause in claim.drawn)


def _in_a_scene(claim: Claim) -> bool:
    """The last thing said about the game before the words: it began, or it was paused or ended. The turn that sets a
    scene belongs to it from its first word.
    """
    playing = any(_ACTED.search(turn.content) for turn in claim.context)
    for turn in claim.turns or (claim.turn,):
        here = turn.id == claim.turn.id
        moves = sorted(_moves(turn))
        if here:
            said = [begins for at, begins in moves if at <= claim.start + len(claim.quote)]
            if not said and moves and moves[0][1] and not moves[0][0] > claim.end + _FAR:
                return True
            return said[-1] if said else playing
        if moves:
            playing = moves[-1][1]
    return playing


_FAR = 400  # characters between what the person says first and a scene they set later in the same turn


def _moves(turn: Turn) -> Iterator[tuple[int, bool]]:
    """Where a turn begins a game (True) or leaves it (False)."""
    words = turn.content.casefold().replace("’", "'")
    for match in _SCENE.finditer(words):
        if not _NO_SCENE.search(words, match.start(), match.end() + 20):
            yield match.start(), True
    for match in _AGAIN.finditer(words):
        yield match.start(), True
    for match in _ENDS.finditer(words):
        yield match.start(), False


def _of_a_tale(claim: Claim) -> bool:
    words = fold(claim.sentence)
    return _ASKS_A_TALE.search(words) is not None or _FOR_A_TALE.match(words) is not None
