"""The words for persons that several guards share. For folded text.

Patterns are matched against `folding.fold`: small letters, plain apostrophes, single blanks ("ß" is "ss" there).
"""

from __future__ import annotations

from memproxy.extraction.guards.patterns import Pattern, lexicon

# The person, in any of their forms.
FIRST = lexicon(
    """
    i | i'\\w{1,2} | im | ive | me | my | mine | myself | we | we'\\w{1,2} | us | our | ours | ourselves
    ich | mich | mir | mein\\w{0,2} | wir | uns | unser\\w{0,2} | unsre\\w?
    je | j'\\w++ | me | m'\\w++ | moi | mon | ma | mes | nous | notre | nos
    yo | mi | mis | mí | conmigo | nosotr[oa]s | nuestr[oa]s?
    io | mio | mia | miei | mie | noi | nostr[oaie]
    eu | mim | meu | minha | meus | minhas | comigo | nós | noss[oa]s?
    ik | mij | mijn | m'n | wij | we | ons | onze
    jag | mig | min | mitt | mina | jeg | meg | mine | oss | vår\\w{0,2} | minä | minu\\w++ | olen
    ja | mnie | mną | mój | moj\\w{1,3} | mam | jestem | mám | jsem | můj
    я | меня | мне | мной | мой | мо[яеё] | мои\\w? | моего | моей | моему | моим\\w? | мы | нас | нам | наш\\w{0,3}
    мене | мені | мій
    ben | beni | bana | benim | biz | bizim | én | engem | nekem | az én
    أنا | لي | عندي | لدي | אני | שלי | לי | אנחנו | मैं | मेर[ाीे] | मुझे | हम | tôi | mình | saya | aku
    """,
    "我 咱 俺 私 僕 わたし わたくし あたし ぼく 自分 うちの 나는 난 나의 내 제 저는 전 저희 우리 나도 저도 ผม "
    "ฉัน ดิฉัน",
)  # fmt: skip

# "My", and the people and animals that somebody has, language by language ("Kind" is a child, "my kind" is none).
_MY_PEOPLE = (
    (
        r"my|our",
        r"(?:(?:step|half|grand|great-?grand|foster|god)[- ]?)?(?:mother|mum|mom|mama|mommy|father|dad|papa|daddy|"
        r"parents?|sisters?|brothers?|siblings?|sons?|daughters?|child|children|kids?|bab(?:y|ies)|twins?)"
        r"(?:[- ]in[- ]law)?|wife|husband|spouse|partner|(?:girl|boy)friend|fiance\w?|fiancée?|ex|grandma|grandpa|"
        r"granny|nan|gran|aunt(?:ie)?|uncle|cousins?|nephews?|nieces?|friends?|mates?|buddy|bestie|colleagues?|"
        r"co-?workers?|boss|neighbou?rs?|(?:room|flat|house)mates?|dogs?|cats?|pupp(?:y|ies)|kittens?|horses?|"
        r"rabbits?|hamsters?|parrots?",
    ),
    (
        r"mein\w{0,2}|unser\w{0,2}|unsre",
        r"(?:schwieger|stief|gross)?(?:mutter|vater|eltern|sohn|tochter)|mama|papa|schwestern?|bruder|brüder|"
        r"geschwister|söhne|töchter|kind(?:er)?|frau|mann|freund(?:in|e|innen)?|partner(?:in)?|oma|opa|tante|onkel|"
        r"kolleg(?:e|in|en)|chef(?:in)?|nachbar(?:in|n)?|mitbewohner(?:in)?|hund|katzen?|kater|pferd",
    ),
    (
        r"mon|ma|mes|notre|nos",
        r"(?:belle-|grand-)?(?:mère|père|sœur|soeur|frère|fille|fils)|maman|papa|parents|frères|s(?:œ|oe)urs|enfants?|"
        r"femme|mari|copine|copain|amie?s?|tante|oncle|cousine?s?|collègues?|voisine?s?|chien(?:ne)?|chat(?:te)?|"
        r"patron(?:ne)?|conjointe?",
    ),
    (
        r"mis?|nuestr[oa]s?",
        r"madre|mamá|padres?|papás?|herman[oa]s?|hij[oa]s?|espos[oa]|marido|mujer|novi[oa]|amig[oa]s?|t[ií][oa]s?|"
        r"prim[oa]s?|abuel[oa]s?|jef[ea]|vecin[oa]s?|suegr[oa]|perr[oa]s?|gat[oa]s?|pareja|compañer[oa]s?",
    ),
    (
        r"mi[ao]|mie[i]?|nostr[oaie]|i miei|le mie",
        r"madre|mamma|padre|papà|genitori|sorell[ae]|fratell[oi]|figli[oae]?|moglie|marito|fidanzat[oa]|"
        r"amic[oai]|amiche|zi[oa]|cugin[oa]|nonn[oai]|capo|vicin[oa]|cane|gatt[oa]|ragazz[oa]",
    ),
    (
        r"meus?|minhas?|noss[oa]s?",
        r"mãe|pais?|irmãs?|irmãos?|filh[oa]s?|espos[oa]|marido|mulher|namorad[oa]|amig[oa]s?|ti[oa]|prim[oa]s?|"
        r"av[óô]|chefe|vizinh[oa]|cachorr[oa]|gat[oa]|sogr[oa]",
    ),
    (
        r"mijn|m'n|onze|ons",
        r"moeder|mama|vader|papa|ouders|zus|zusje|broer|zoon|dochter|kind(?:eren)?|vrouw|man|vriend(?:in|en)?|"
        r"opa|oma|oom|tante|baas|collega|buur(?:man|vrouw)|hond|kat",
    ),
    (
        r"min|mitt|mina|mine|vår|vårt|våra|våre",
        r"mor|mamma|far|pappa|föräldrar|foreldre|forældre|syster|søster|søsteren|bror|son|sønn|søn|dotter|datter|"
        r"barn|fru|kone|mann|man|vän|venn|ven|kompis|chef|sjef|hund|katt|kat|sambo|samboer|kæreste|kjæreste",
    ),
    (
        r"mój|moja|moje|moi|mojej|nasz[ae]?|můj|moje",
        r"matka|mama|ojciec|tata|rodzice|siostra|brat|syn|córka|żona|mąż|dziewczyna|chłopak|przyjaciel|"
        r"przyjaciółka|szef|sąsiad|pies|kot|sestra|bratr|manželka|manžel|dcera",
    ),
    (
        r"мо[йяеи]|моё|наш\w?|у моего|у моей|мій",
        r"мам[аыеу]|мать|пап[аыеу]|отец|родители|сестр[аыеу]|брат\w?|сын\w?|доч[ьк]\w?|дети|жен[аыеу]|муж\w?|"
        r"друг\w?|подруг[аи]|тёт[яи]|дяд[яи]|бабушк[аи]|дедушк[аи]|начальник\w?|сосед\w?|коллег[аи]|собак[аи]|"
        r"кошк[аи]|кот\w?",
    ),
)
_KIN_JOINED = (
    "妈妈|媽媽|母亲|母親|爸爸|父亲|父親|爸妈|父母|姐姐|妹妹|哥哥|弟弟|儿子|兒子|女儿|女兒|孩子|老婆|妻子|太太|老公|"
    "丈夫|女朋友|男朋友|女友|男友|朋友|同事|老板|老闆|邻居|鄰居|奶奶|爷爷|外婆|外公|室友|表弟|表姐|表哥|表妹|"
    "お母さん|お父さん|母|父|両親|姉|妹|兄|弟|息子|娘|子供|子ども|妻|夫|彼女|彼氏|友達|友人|同僚|上司|"
    "엄마|어머니|아빠|아버지|부모님|언니|누나|오빠|여동생|남동생|아들|딸|아내|남편|여자친구|남자친구|친구|동료"
)
_MY_JOINED = r"(?:我们?|咱们?|私|僕|俺|うち|우리|제|내)(?:的|の)? ?[大小二三亲双]?"
_NO_PERSON = r"(?! (?:tongue|language|country|land|figure|company|board|code|name)\b)"

# People one has to do with, whose names for what they do are also said of the person ("is a teacher").
_ROLES = r"managers?|clients?|customers?|students?|pupils?|patients?|tenants?|teachers?|coach|assistant"

# "my older sister": somebody else, in relation to the person.
_OURS = "|".join(rf"(?:{my}) (?:[\w-]+ ){{0,2}}?(?:{kin})" for my, kin in _MY_PEOPLE)
MY_PEOPLE = Pattern(
    rf"(?<!\w)(?:{_OURS}|(?:my|our) (?:[\w-]+ ){{0,2}}?(?:{_ROLES}))(?!\w){_NO_PERSON}|{_MY_JOINED}(?:{_KIN_JOINED})"
)
PEOPLE = Pattern(rf"(?<!\w)(?:{'|'.join(kin for _, kin in _MY_PEOPLE)})(?!\w){_NO_PERSON}|{_KIN_JOINED}")
# A text whose subject is one of them: "Sister Jorun …", "User's best friend …", "Sa sœur …".
OF_PEOPLE = Pattern(
    rf"(?:(?:the )?(?:user|person)'s |the |his |her |their |my |our |sein\w? |ihr\w? |mein\w? |die |der |sa |"
    rf"son |ses |ma |mon |su |sus |mi |"
    rf"la |il |el |las |los |le |sua |suo |a |o |as |os |zijn |haar |de |hans |hennes |moja |его |её |моя |мой |"
    rf"他的|她的|我的?)?"
    rf"(?:[\w-]+ )?(?:(?:{'|'.join(kin for _, kin in _MY_PEOPLE)}|{_ROLES})(?!\w){_NO_PERSON}|{_KIN_JOINED})"
)

# Somebody spoken of, in forms that mean one person and nobody else.
THIRD = lexicon(
    """
    he | he'\\w{1,2} | she | she'\\w{1,2} | his | her | hers | him | himself | herself
    il | elle | él | ella | lui | lei | ele | ela | dele | dela | hij | zijn zus | hun
    han | hon | hun | hans | henne | hennes
    он | она | его | её | ему | ей
    """,
    "他 她 彼は 彼が 彼女は 彼女が 그는 그녀는 그녀가 그가",
)
