"""How plain wishes to a memory are put, by language. Data only; each language stands on its own.

A wish is a whole sentence. `remember` and `forget` begin one, and what follows them is what is meant: for `remember` a
statement of the person's own (`own` is how such begin), for `forget` a thing or a statement. `about_me` is a whole
question. Where a language puts the verb last, the patterns name what is meant as `what`.
"""

from __future__ import annotations

from typing import NamedTuple


class Language(NamedTuple):
    """Patterns of one language, for sentences that are folded: lower case, plain quotes, single blanks."""

    please: str  # what may stand before, and says nothing
    remember: str
    own: str
    forget: str
    about_me: str


LANGUAGES: dict[str, Language] = {
    "en": Language(
        r"(?:please|pls|hey|also|and|ok|okay|can you|could you|i want you to|i'd like you to)",
        r"(?:remember|note|keep in mind|make a note)(?: please)?(?: that|:)",
        r"(?:i|i'm|i've|i'd|i'll|my|we|we're|we've|our|mine)\b",
        r"forget(?: please)?(?: about| that|:)"
        r"|(?:delete|erase|remove) (?:from (?:your|the) memory|the memory)(?: that| of|:)",
        r"(?:what|everything|tell me (?:what|everything)|show me (?:what|everything)|list (?:what|everything))"
        r"(?: all)? (?:do )?you (?:know|remember|have stored|have remembered)(?: all)? (?:about|of) me",
    ),
    "de": Language(
        r"(?:bitte|hey|und|auch|ok|kannst du|könntest du)",
        r"(?:merk(?:e)? dir|merken sie sich|behalte im kopf|notier(?:e)? dir)(?: bitte)?(?:,? dass|:)",
        r"(?:ich|mein\w*|wir|unser\w*|mir|mich)\b",
        r"vergiss(?: bitte)?(?:,? dass|:)|vergessen sie(?: bitte)?(?:,? dass|:)",
        r"was (?:weißt|weisst) du (?:alles )?über mich|was wissen sie über mich|was hast du dir über mich gemerkt",
    ),
    "fr": Language(
        r"(?:s'il te plaît|s'il vous plaît|stp|svp|et|peux-tu|pourrais-tu)",
        r"(?:souviens-toi|rappelle-toi|retiens|note|souvenez-vous|retenez|notez)(?: bien)?(?: que|:)",
        r"(?:je|j'\w+|mon|ma|mes|nous|notre|nos|on)\b",
        r"(?:oublie|oubliez)(?: que|:)",
        r"(?:que sais-tu|qu'est-ce que tu sais|que savez-vous|qu'est-ce que vous savez|dis-moi ce que tu sais)"
        r"(?: de moi| sur moi| à mon sujet)",
    ),
    "es": Language(
        r"(?:por favor|oye|y|puedes|podrías)",
        r"(?:recuerda|acuérdate|recuerde|anota|ten en cuenta|apunta)(?: de)?(?: que|:)",
        r"(?:yo|mi|mis|me|soy|tengo|estoy|vivo|trabajo|nosotros|nuestro|nuestra|no|nací|odio|prefiero|quiero)\b",
        r"(?:olvida|olvídate de|olvide)(?: que|:)",
        r"¿?qué sabes (?:de|sobre) mí|¿?qué recuerdas (?:de|sobre) mí|¿?qué sabe (?:usted )?(?:de|sobre) mí",
    ),
    "it": Language(
        r"(?:per favore|ehi|e|puoi|potresti)",
        r"(?:ricorda|ricordati|ricordi|annota|tieni a mente)(?: che|:)",
        r"(?:io|mio|mia|miei|mie|mi|sono|ho|vivo|lavoro|noi|nostro|nostra|non|odio|preferisco|sto)\b",
        r"(?:dimentica|dimenticati|scorda|scordati)(?: che|:)",
        r"(?:che )?cosa sai (?:di|su) di me|(?:che )?cosa sai (?:di|su) me|che sai di me|cosa ricordi di me",
    ),
    "pt": Language(
        r"(?:por favor|ei|e|você pode|podes)",
        r"(?:lembra-te|lembre-se|lembra|lembre|anota|anote|guarda|recorda)(?: de)?(?: que|:)",
        r"(?:eu|meu|minha|meus|minhas|sou|tenho|estou|moro|vivo|trabalho|nós|nosso|nossa|não|odeio|prefiro)\b",
        r"(?:esquece|esqueça)(?:-te|-se)?(?: de)?(?: que|:)",
        r"o que (?:é que )?(?:você )?(?:sabes?|lembra|se lembra) (?:de|sobre) mim",
    ),
    "nl": Language(
        r"(?:alsjeblieft|alstublieft|hé|en|kun je|wil je)",
        r"(?:onthoud|noteer)(?: alsjeblieft| even)?(?:,? dat|:)",
        r"(?:ik|mijn|m'n|wij|we|ons|onze)\b",
        r"vergeet(?: alsjeblieft)?(?:,? dat|:)",
        r"wat weet (?:je|jij|u) (?:allemaal )?(?:over|van) mij",
    ),
    "sv": Language(
        r"(?:snälla|hej|och|kan du)",
        r"(?:kom ihåg|notera|minns)(?: att|:)",
        r"(?:jag|min|mitt|mina|vi|vår|vårt|våra)\b",
        r"glöm(?: bort)?(?: att|:)",
        r"vad vet du om mig|vad minns du om mig",
    ),
    "no": Language(
        r"(?:vær så snill|hei|og|kan du)",
        r"(?:husk|noter)(?: at|:)",
        r"(?:jeg|min|mitt|mine|vi|vår|vårt|våre)\b",
        r"glem(?: at|:)",
        r"hva vet du om meg|hva husker du om meg",
    ),
    "da": Language(
        r"(?:venligst|hej|og|kan du)",
        r"(?:husk|noter)(?: at|:)",
        r"(?:jeg|min|mit|mine|vi|vores)\b",
        r"glem(?: at|:)",
        r"hvad ved du om mig|hvad husker du om mig",
    ),
    "fi": Language(
        r"(?:ole hyvä ja|hei|ja)",
        r"(?:muista|pidä mielessä|merkitse muistiin)(?:,? että|:)",
        r"(?:minä|minun|minulla|mä|olen|asun|me|meidän|en)\b",
        r"unohda(?:,? että|:)",
        r"mitä (?:sinä )?(?:tiedät|muistat) minusta",
    ),
    "pl": Language(
        r"(?:proszę|hej|i|czy możesz)",
        r"(?:zapamiętaj|pamiętaj|zanotuj)(?: proszę)?(?:,? że|:)",
        r"(?:ja|mój|moja|moje|moi|mam|jestem|mieszkam|pracuję|my|nasz|nasza|nie|lubię|wolę)\b",
        r"zapomnij(?:,? że|:)",
        r"co o mnie wiesz|co wiesz o mnie|co o mnie pamiętasz",
    ),
    "cs": Language(
        r"(?:prosím|hej|a|můžeš)",
        r"(?:zapamatuj si|pamatuj si|pamatuj|poznamenej si)(?:,? že|:)",
        r"(?:já|můj|moje|má|mám|jsem|bydlím|pracuji|my|náš|naše|nemám|nejsem)\b",
        r"zapomeň(?:,? že|:)",
        r"co o mně víš|co víš o mně|co si o mně pamatuješ",
    ),
    "hu": Language(
        r"(?:kérlek|hé|és)",
        r"(?:jegyezd meg|emlékezz(?: rá)?|ne feledd)(?:,? hogy|:)",
        r"(?=.*\b(?:én|nekem|mi|\w+(?:ok|ek|ök|om|em|öm|unk|ünk))\b)",
        r"felejtsd el(?:,? hogy|:)",
        r"mit tudsz rólam|mire emlékszel velem kapcsolatban",
    ),
    "tr": Language(
        r"(?:lütfen|hey|ve)",
        r"(?:hatırla|unutma ki|not et|aklında tut)(?: ki|:)",
        r"(?:ben|benim|bizim|biz|bana)\b",
        r"unut(?: ki|:)",
        r"benim hakkımda ne biliyorsun|hakkımda ne(?:ler)? biliyorsun|benimle ilgili ne biliyorsun",
    ),
    "ru": Language(
        r"(?:пожалуйста|и|можешь|эй)",
        r"(?:запомни|запомните|помни|учти|запиши)(?: пожалуйста)?(?:,? что|:)",
        r"(?:я|у меня|мой|моя|моё|мое|мои|мы|наш|наша|мне|меня)\b",
        r"(?:забудь|забудьте)(?: про то)?(?:,? что|:)",
        r"что ты (?:знаешь|помнишь) обо мне|что вы (?:знаете|помните) обо мне|что тебе обо мне известно",
    ),
    "zh": Language(
        r"(?:请|請|麻烦你|麻煩你)",
        r"(?:记住|記住|记得|記得|记下|記下)[,:,：]? ?",
        r"(?:我)",
        r"(?:忘记|忘記|忘掉|忘了)[,:,：]? ?(?=我)",
        r"你(?:都)?(?:知道|了解|记得|記得)(?:关于|關於)?我(?:的)?(?:什么|什麼|哪些)(?:事|事情|信息)?|关于我你知道(?:些)?什么|你对我了解多少",
    ),
    "ja": Language(
        r"(?:ねえ|あの)[、,]? ?",
        r"(?:覚えて(?:おいて)?|記憶して)(?:ください|ね)?[、,:：] ?",
        r"(?:私|僕|俺|わたし|ぼく)",
        r"(?:忘れて)(?:ください|ね)?[、,:：] ?",
        r"(?:私|僕|俺|わたし)について(?:何を)?(?:知って|覚えて)(?:い)?(?:ます|る)(?:か)?|(?:私|僕|俺)のこと(?:を)?(?:何|なに)(?:を|か)?(?:知って|覚えて)(?:い)?(?:ます|る)(?:か)?",
    ),
    "ko": Language(
        r"(?:제발|저기)[,]? ?",
        r"(?:기억해(?: ?줘| ?주세요)?)[,:] ?",
        r"(?:나는|난|저는|전|내|제|우리)",
        r"(?:잊어(?: ?줘| ?주세요)?)[,:] ?",
        r"(?:나|저)에 (?:대해|대해서) (?:뭘|무엇을|뭐) (?:알아|알고 있어|알고 있나요|아세요|기억해)(?:요)?",
    ),
    "ar": Language(
        r"(?:من فضلك|رجاء)[،,]?",
        r"(?:تذكر|تذكري|احفظ)(?: أنني| أني| أن| بأن|:)",
        r"(?:أنا|ني|ي|اسمي|عندي|لدي|نحن|\w+ي)\b",
        r"(?:انس|انسى|إنس)(?: أنني| أني| أن|:)",
        r"ماذا تعرف عني|ما الذي تعرفه عني|ماذا تتذكر عني",
    ),
    "he": Language(
        r"(?:בבקשה|היי)[,]?",
        r"(?:תזכור|תזכרי|זכור)(?: ש|: ?)",
        r"(?:אני|שלי|יש לי|אנחנו|\w+ שלי)\b",
        r"(?:תשכח|תשכחי|שכח)(?: ש|: ?)",
        r"מה אתה יודע עליי?|מה את יודעת עליי?|מה אתה זוכר עליי?",
    ),
    "hi": Language(
        r"(?:कृपया)",
        r"(?:याद रखो|याद रखना|याद रखें)(?: कि|:)",
        r"(?:मैं|मेरा|मेरी|मेरे|मुझे|हम|हमारा)",
        r"(?:भूल जाओ|भूल जाइए)(?: कि|:)",
        r"(?:तुम|आप) मेरे बारे में क्या जानते (?:हो|हैं)",
    ),
}
