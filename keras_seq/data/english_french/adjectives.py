"""Adjectives, by what they can be said of.

A row is `English French`, with the feminine after a comma where the rules of
`french_forms.py` do not give it, and a third form, "bel", for a masculine
noun that begins with a vowel. A star marks an h aspiré.
"""

# The few that stand before their noun.
BEFORE = {
    "person": "young jeune; old vieux,vieille,vieil; good bon,bonne",
    "animal": """
        big gros,grosse; small petit; old vieux,vieille,vieil;
        young jeune; beautiful beau,belle,bel
    """,
    "edible": "good bon,bonne; bad mauvais; big gros,grosse; small petit",
    "dish": "good bon,bonne; bad mauvais",
    "text": """
        good bon,bonne; bad mauvais; new nouveau,nouvelle,nouvel;
        old vieux,vieille,vieil; long long,longue; beautiful beau,belle,bel
    """,
    "thing": """
        big gros,grosse; small petit; new nouveau,nouvelle,nouvel;
        old vieux,vieille,vieil; pretty joli; beautiful beau,belle,bel
    """,
    "place": """
        large grand; small petit; old vieux,vieille,vieil;
        pretty joli; beautiful beau,belle,bel
    """,
}
AFTER = {
    "person": """
        happy heureux; sad triste; furious furieux; rich riche;
        kind gentil,gentille; clever intelligent; funny drôle;
        brave courageux; shy timide; lazy paresseux; polite poli;
        proud fier; serious sérieux; jealous jaloux,jalouse; strong fort;
        famous célèbre; honest honnête; curious curieux;
        generous généreux; elegant élégant; French français;
        English anglais; Italian italien; Spanish espagnol;
        German allemand; American américain; Greek grec,grecque;
        Hungarian *hongrois; tired fatigué; sick malade; calm calme
    """,
    "animal": """
        black noir; white blanc,blanche; grey gris; brown brun; calm calme;
        sick malade; dangerous dangereux; curious curieux; tired fatigué;
        timid craintif; happy heureux
    """,
    "edible": """
        fresh frais,fraîche; delicious délicieux; expensive cher; cold froid;
        light léger; excellent excellent
    """,
    "dish": """
        fresh frais,fraîche; delicious délicieux; expensive cher; cold froid;
        hot chaud; sweet sucré; bitter amer; French français; Italian italien;
        excellent excellent
    """,
    "text": """
        interesting intéressant; boring ennuyeux; difficult difficile;
        funny drôle; famous célèbre; strange étrange; serious sérieux;
        secret secret,secrète; French français; English anglais;
        Italian italien; Spanish espagnol; German allemand; sad triste
    """,
    "thing": """
        red rouge; blue bleu; green vert; black noir; white blanc,blanche;
        yellow jaune; grey gris; pink rose; purple violet,violette;
        expensive cher; heavy lourd; light léger; dirty sale; clean propre;
        modern moderne; strange étrange; elegant élégant; rare rare;
        magnificent magnifique; useful utile; Italian italien;
        Hungarian *hongrois
    """,
    "place": """
        quiet tranquille; famous célèbre; dangerous dangereux;
        modern moderne; empty vide; magnificent magnifique;
        strange étrange; clean propre; dirty sale; public public,publique;
        dark sombre; narrow étroit; medieval médiéval
    """,
}
# Which lists the nouns of a kind draw from.
SAID_OF = {
    "person": "person",
    "family": "person",
    "profession": "person",
    "animal": "animal",
    "food": "edible",
    "dish": "dish",
    "drink": "dish",
    "text": "text",
    "object": "thing",
    "clothing": "thing",
    "vehicle": "thing",
    "furniture": "thing",
    "inside": "place",
    "at": "place",
    "landmark": "place",
}
# States of people that French has and English is.
HAD = """
    hungry faim; thirsty soif; cold froid; hot chaud; afraid peur; right raison
"""
# Nothing is very or too much of these.
NOT_GRADED = frozenset(
    "excellent delicious magnificent secret public medieval furious".split()
)
# Combinations that would be odd.
UNFIT = frozenset(
    (adjective, noun)
    for adjective in ("old", "young")
    for noun in ("baby", "boy", "girl", "child", "pupil")
)
