"""Two hundred requests that need no memory: whatever a memory says to them is noise. Data only, and our own words."""

from __future__ import annotations

SMALL_TALK = """
hi there
good morning!
thanks a lot, that helped
ok great
hello, how are you today?
haha nice one
never mind
that's perfect, thank you so much
bye, talk to you later
can you help me with something?
tell me a joke
tell me another one please
sing me a song
what's up?
are you a robot?
do you sleep?
guten Morgen, wie geht's?
danke, das war's schon
bonjour, ça va ?
merci beaucoup pour ton aide
hola, ¿qué tal?
muchas gracias, eso es todo
ciao, come va?
grazie mille, a presto
olá, tudo bem?
obrigado pela ajuda
hej, hur mår du?
tack så mycket
szia, hogy vagy?
köszönöm szépen
cześć, co słychać?
dziękuję bardzo
привет, как дела?
спасибо большое
你好,你今天好吗?
非常感谢你的帮助
こんにちは、お元気ですか
ありがとうございました
안녕하세요, 잘 지내세요?
مرحبا، كيف حالك؟
""".strip().splitlines()

CODING = """
write a Python function that reverses a linked list
fix this error: TypeError: 'NoneType' object is not subscriptable
how do I center a div in CSS?
what is the difference between == and === in JavaScript?
convert this loop into a list comprehension: for x in xs: ys.append(x * 2)
explain what a mutex is
write a regular expression that matches an IPv4 address
how do I undo the last git commit?
what does segmentation fault mean?
write a SQL query that returns the second highest salary
how do I read a CSV file in pandas?
what is the time complexity of merge sort?
rename the variable tmp to buffer in the code above
add type hints to this function
write unit tests for a stack class
what does the yield keyword do?
how do I exit vim?
translate this Java snippet to Kotlin: int total = 0;
why does my Docker container exit immediately with code 0?
explain the difference between TCP and UDP
write a bash one-liner that counts the lines of all .log files
how do I parse JSON in Go?
implement binary search in Rust
what is a closure?
write a Makefile with a clean target
how can I debounce an input handler in React?
what does HTTP status 418 mean?
generate a UUID in C#
optimise this query: SELECT * FROM orders WHERE YEAR(created) = 2020
explain big-endian and little-endian
schreibe eine Funktion, die prüft, ob eine Zahl prim ist
was bedeutet NullPointerException?
wie sortiere ich ein Array in PHP?
écris une fonction qui calcule la suite de Fibonacci
comment supprimer une branche git ?
escribe un programa que imprima los números primos hasta 100
¿qué es una clase abstracta?
scrivi una query SQL con due join
escreva uma função que inverte uma string
напиши функцию сортировки пузырьком
чем отличается процесс от потока?
用Python写一个快速排序
什么是递归?
Pythonで辞書をソートする方法は?
파이썬에서 파일을 읽는 방법은?
refactor this class to use dependency injection
what is the purpose of __init__.py?
write a Dockerfile for a Flask app
how do I set an environment variable in PowerShell?
what is the difference between a thread and a coroutine?
""".strip().splitlines()

KNOWLEDGE = """
what is the capital of Mongolia?
how tall is Mount Kilimanjaro?
who wrote The Brothers Karamazov?
what is the boiling point of ethanol?
explain photosynthesis in two sentences
how many bones does an adult human have?
when did the Berlin Wall fall?
what is the square root of 1764?
who painted the Night Watch?
what causes tides?
how far is the moon from the earth?
what is inflation?
convert 12 miles to kilometres
what is the chemical symbol of tungsten?
why is the sky blue?
what year did the Titanic sink?
translate "where is the railway station" into Portuguese
what is the longest river in Asia?
who discovered penicillin?
how does a refrigerator work?
what is the difference between weather and climate?
what is 17 percent of 2350?
summarise the plot of Hamlet
which planet has the most moons?
what language is spoken in Andorra?
how do vaccines work?
what is a haiku?
who was the first person in space?
what is the speed of sound?
define entropy
what are the rules of offside in football?
how many time zones does Russia have?
write a limerick about a lighthouse
what is the Pythagorean theorem?
how do bees make honey?
list five prime numbers above 100
what is the currency of Vietnam?
why do leaves change colour in autumn?
what does ad hoc mean?
how long do you boil a soft egg?
wie hoch ist der Eiffelturm?
wer hat die Zauberflöte komponiert?
was ist die Hauptstadt von Kasachstan?
warum ist das Meer salzig?
wie viele Bundesländer hat Deutschland?
quelle est la capitale de l'Australie ?
qui a peint Guernica ?
pourquoi le ciel est-il bleu ?
combien de pattes a une araignée ?
¿cuál es la capital de Noruega?
¿quién escribió Don Quijote?
¿cuántos planetas hay en el sistema solar?
¿por qué flotan los barcos?
qual è la montagna più alta d'Europa?
chi ha inventato il telefono?
qual é o maior oceano do mundo?
quem descobriu o Brasil?
vad är Sveriges största sjö?
wat is de hoofdstad van Canada?
mi Magyarország legmagasabb hegye?
jaka jest stolica Peru?
столица Аргентины?
кто написал «Войну и мир»?
почему трава зелёная?
世界上最高的山是什么?
水的沸点是多少?
日本で一番長い川は何ですか?
光の速さはどれくらいですか?
세계에서 가장 큰 섬은 무엇인가요?
ما هي عاصمة البرازيل؟
""".strip().splitlines()

CHATTER = """
{"status": "ok", "rows": 42, "elapsed_ms": 17}
Tool result: 3 files changed, 41 insertions(+), 7 deletions(-)
Traceback (most recent call last): File "main.py", line 12, in <module>
npm WARN deprecated inflight@1.0.6: This module is not supported
exit code 1
HTTP/1.1 200 OK
PASSED 118 tests in 4.2s
<html><head><title>404 Not Found</title></head></html>
The command completed successfully.
Error: ENOENT: no such file or directory, open 'package.json'
continue
go on
try again
run the tests again
yes, apply the patch
shorten that to one paragraph
make it more formal
now as a bullet list
translate the last answer into French
repeat that in simpler words
give me three alternatives
rewrite it in the passive voice
format the output as JSON
explain step 3 in more detail
what does the second line do?
weiter
kürzer bitte
noch einmal, aber auf Englisch
continue s'il te plaît
plus court, s'il te plaît
sigue
más corto, por favor
continua
mais curto, por favor
продолжай
короче, пожалуйста
继续
请用中文再说一遍
もっと短くしてください
계속해 주세요
""".strip().splitlines()

REQUESTS = (*SMALL_TALK, *CODING, *KNOWLEDGE, *CHATTER)
