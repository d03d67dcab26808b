"""Questions and answers in English whose topics and templates differ between training and testing.

A ranker does well on them only if its encoder knows which words belong together. Right answers share no word with the
question; an answer that repeats the question's words is labeled 2, so a search by words ranks worse than chance.
"""

import random
from collections.abc import Iterator, Sequence

from simulation.learnable_answers import LearnableQuestion

# Of each topic, words that questions use and words that answers use.
_TOPICS = {
    "train": (
        ("garden flower lawn plant", "soil seeds roots compost watering sunlight weeds bloom"),
        ("dog puppy pet leash", "bark treats training walk fur kennel obedience bite"),
        ("car engine vehicle brakes", "mechanic oil gasoline tires garage transmission driver motor"),
        ("bread oven cake dough", "flour yeast bake sugar butter recipe knead crust"),
        ("guitar piano song melody", "chords strings practice rhythm tune musician notes concert"),
        ("doctor fever cough illness", "medicine rest fluids hospital virus symptoms pills infection"),
        ("bank loan mortgage debt", "interest credit payment savings lender income budget money"),
        ("computer laptop keyboard software", "install reboot windows files virus memory screen update"),
        ("swim pool lake diving", "water float lifeguard breathe stroke goggles splash waves"),
        ("school teacher exam homework", "students study classroom grades lessons textbook learning college"),
        ("wedding bride marriage groom", "ceremony ring husband wife vows guests church dress"),
        ("snow winter ice cold", "shovel coat freezing gloves blizzard heater frost temperature"),
        ("horse saddle pony riding", "stable hay hooves gallop mare reins barn mane"),
        ("camera photo picture lens", "focus shutter lighting film portrait zoom exposure flash"),
        ("house roof wall kitchen", "carpenter paint bricks cement floor nails plumber renovation"),
        ("tree forest wood branch", "leaves bark axe oak pine lumber saw trunk"),
    ),
    "test": (
        ("cat kitten whiskers paws", "meow litter purr scratch feline vet fur mice"),
        ("airplane flight airport pilot", "luggage passengers takeoff boarding wings ticket runway travel"),
        ("coffee tea espresso mug", "brew beans caffeine roast sip boiling cup sugar"),
        ("football soccer goal coach", "players team kick referee score league stadium match"),
        ("moon planet stars telescope", "orbit astronomy sky galaxy astronaut space night solar"),
        ("baby infant diaper crib", "mother milk nap bottle crying parents toddler feed"),
        ("fish fishing boat river", "bait hook catch net trout rod salmon reel"),
        ("lawyer court judge trial", "attorney evidence jury guilty sentence legal crime prison"),
        ("tooth dentist gums cavity", "brush floss mouth pain filling jaw enamel rinse"),
        ("phone mobile call battery", "charger signal text ringtone dial voicemail carrier contacts"),
        ("hair beard barber curls", "shampoo comb scissors trim conditioner salon shave brush"),
        ("money salary job boss", "employer wages office hire career resume interview promotion"),
    ),
}
_ASKS = {
    "train": ("how do you deal with a {0} and a {1} and a {2}", "what is best for the {0} or the {1} or the {2}"),
    "test": ("why would anyone want {0} {1} {2}", "can somebody explain {0} {1} and {2} to me"),
}
_SAYS = {
    "train": (
        "well , you should look at the {0} first , then {1} and {2} , and do not forget {3}",
        "i think {0} with {1} helps a lot , my friend says {2} and {3} too",
        "try {0} , {1} , {2} , and if all fails then {3} it is",
    ),
    "test": (
        "everything here is about {0} , {1} , {2} and {3} , ask around",
        "in my experience {0} comes before {1} , and {2} is related to {3}",
        "read up on {0} and {1} ; later on {2} or {3} may matter",
    ),
}


def unseen_questions(count: int, *, split: str, seed: int, first: int = 0) -> Iterator[LearnableQuestion]:
    """Yield ``count`` questions of a split, train or test; the splits share no topic and no template.

    The labels are 4 and 3 for words of the topic, 2 for the question's own words, 1 for words of other topics.
    """
    topics = [tuple(part.split() for part in topic) for topic in _TOPICS[split]]
    chance = random.Random(seed)  # noqa: S311  a simulation
    for number in range(first, first + count):
        at = chance.randrange(len(topics))
        asks, says = topics[at]
        own = chance.sample(asks, 3)
        others = [topics[one][1] for one in chance.sample([one for one in range(len(topics)) if one != at], 2)]
        texts = [
            *((_said(chance, split, says), label) for label in (4, 3)),
            (_said(chance, split, asks), 2),
            *((_said(chance, split, other), 1) for other in others),
        ]
        chance.shuffle(texts)
        answers = [(f"{number}_{place}", text, label) for place, (text, label) in enumerate(texts)]
        yield LearnableQuestion(str(number), chance.choice(_ASKS[split]).format(*own), answers)


def _said(chance: random.Random, split: str, words: Sequence[str]) -> str:
    return chance.choice(_SAYS[split]).format(*chance.sample(words, 4))
