"""An invented person's past, as long as it is wanted: ten thousand turns on many subjects, and questions about them."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator

_THINGS = (
    "kayak bicycle telescope violin greenhouse camera tent sailboat piano workshop garden caravan loom kiln "
    "beehive drone typewriter accordion lathe orchard rowboat skateboard microscope aquarium sewing-machine "
    "printing-press motorbike harp"
).split()
_NAMES = (
    "Petrel Wren Juniper Saffron Marlow Orla Quill Hazel Bramble Tansy Rook Linnet Osprey Clover Birch Merlin "
    "Sorrel Teasel Fennel Curlew Jasper Lark Maple Nettle Rowan Sedge Thistle Yarrow"
).split()
_PLACES = (
    "Lisbon Tromsø Galway Kyoto Tartu Porto Bergen Ghent Turku Cork Lund Brno Vilnius Split Graz Aarhus Girona "
    "Nantes Uppsala Maribor Zadar Leuven Riga Bologna"
).split()
_PEOPLE = (
    "sister brother neighbour cousin aunt dentist teacher landlord colleague manager grandmother nephew flatmate "
    "mechanic"
).split()
_FOODS = (
    "lentil soup|rye bread|plum cake|mushroom risotto|fish stew|pickled beetroot|walnut pie|barley salad|goat cheese|"
    "apple strudel|chickpea curry|sourdough|pumpkin gnocchi|seaweed crackers"
).split("|")
_DAYS = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()

_SAID = (
    "I bought a {thing} last spring and named it {name}; it stands in a shed near {place}.",
    "My {person} {name} moved to {place} and works nights at the hospital there.",
    "Every {day} I cook {food} for my {person}, who cannot eat onions.",
    "Can you help me plan three days in {place}? I would like to see the old harbour and avoid museums.",
    "The {thing} broke again. The repair in {place} costs {number} euros and takes two weeks.",
    "I am allergic to {food}, so my {person} always brings something else.",
    "On {day} I have an appointment with {name} about the contract for the flat in {place}.",
    "I finally finished the novel {name} recommended; the ending in {place} made me cry.",
    "My blood test came back: {number}, which the {person} says is a little high.",
    "Write a short thank-you note to {name}, who lent me the {thing} for the festival.",
    "We adopted a cat called {name} from a shelter in {place}; she hides under the {thing}.",
    "My {person} wants to learn the {thing}, so we booked a course on {day} evenings.",
)
_ASKED = (
    "Where does my {thing} {name} stand?",
    "What is my {person} {name} doing in {place}?",
    "What should I cook on {day} for my {person}?",
    "How much was the repair of the {thing} in {place}?",
    "Who lent me the {thing}?",
    "What did I plan for {place}?",
)


def _filled(template: str, dice: random.Random) -> str:
    return template.format(
        thing=dice.choice(_THINGS),
        name=dice.choice(_NAMES),
        place=dice.choice(_PLACES),
        person=dice.choice(_PEOPLE),
        food=dice.choice(_FOODS),
        day=dice.choice(_DAYS),
        number=dice.randrange(20, 900),
    )


def said() -> Iterator[dict[str, str]]:
    """Turns of the user without end, as `POST …/turns` takes them; the same ones each time."""
    dice = random.Random(1)
    for at in itertools.count():
        yield {
            "role": "user",
            "time": f"{2024 + at % 2}-{1 + at % 12:02}-{1 + at % 28:02}T12:00:00Z",
            "content": _filled(dice.choice(_SAID), dice),
        }


def turns(number: int) -> list[dict[str, str]]:
    """The first so many of them."""
    return list(itertools.islice(said(), number))


def question(number: int) -> str:
    """One question of very many."""
    dice = random.Random(number)
    return _filled(dice.choice(_ASKED), dice)
