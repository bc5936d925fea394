"""Nouns, by what they name.

A row is `English French gender`. After a comma stands a plural that the rules
of `english_forms.py` and `french_forms.py` do not give. A star marks an
h aspiré, before which nothing is elided. Mass nouns have no plural; of places,
one is "in" some and "at" others.
"""

COUNTABLE = {
    "person": """
        man,men homme m; woman,women femme f; boy garçon m; girl fille f;
        child,children enfant m; friend ami m; neighbour voisin m; king roi m;
        queen reine f; prince prince m; princess princesse f; guest invité m;
        hero *héros,héros m; tourist touriste m; thief,thieves voleur m;
        lady dame f; baby bébé m; prisoner prisonnier m; captain capitaine m;
        soldier soldat m; policeman,policemen policier m; pupil élève m
    """,
    "family": """
        father père m; mother mère f; brother frère m; sister sœur f;
        son fils,fils m; daughter fille f; uncle oncle m; aunt tante f;
        cousin cousin m; grandfather grand-père,grands-pères m;
        grandmother grand-mère,grands-mères f; nephew neveu,neveux m;
        niece nièce f
    """,
    "animal": """
        dog chien m; cat chat m; horse cheval m; bird oiseau m; cow vache f;
        mouse,mice souris,souris f; rabbit lapin m; bear ours,ours m;
        wolf,wolves loup m; fox renard m; goat chèvre f; pig cochon m;
        duck canard m; hen poule f; donkey âne m; monkey singe m; lion lion m;
        elephant éléphant m; owl *hibou,hiboux m; turtle tortue f;
        bee abeille f; butterfly papillon m; frog grenouille f;
        squirrel écureuil m; hedgehog *hérisson m; snake serpent m;
        ant fourmi f; hamster *hamster m
    """,
    "food": """
        apple pomme f; orange orange f; egg œuf m; cake gâteau m;
        carrot carotte f; tomato,tomatoes tomate f; banana banane f;
        onion oignon m; pear poire f; cherry cerise f; strawberry fraise f;
        lemon citron m; mushroom champignon m; bean *haricot m;
        sandwich sandwich m; omelette omelette f; peach pêche f;
        pineapple ananas,ananas m; oyster huître f; apricot abricot m;
        lobster *homard m
    """,
    "text": """
        book livre m; letter lettre f; newspaper journal m; novel roman m;
        story histoire f; poem poème m; message message m; article article m;
        magazine magazine m; song chanson f
    """,
    "object": """
        key clé f; knife,knives couteau m; glass verre m; cup tasse f;
        plate assiette f; bottle bouteille f; phone téléphone m;
        computer ordinateur m; bag sac m; box boîte f; lamp lampe f;
        umbrella parapluie m; watch montre f; photo photo f;
        painting tableau m; mirror miroir m; pen stylo m; pencil crayon m;
        ball balle f; toy jouet m; gift cadeau m; flower fleur f;
        ticket billet m; suitcase valise f; guitar guitare f;
        violin violon m; axe *hache f; hammer marteau m; candle bougie f;
        basket panier m; tool outil m; jewel bijou,bijoux m; ring bague f;
        map carte f; clock horloge f; harp *harpe f; vase vase m;
        spoon cuillère f; fork fourchette f; wallet portefeuille m;
        blanket couverture f; pillow oreiller m; towel serviette f
    """,
    "clothing": """
        shirt chemise f; dress robe f; coat manteau m; hat chapeau m;
        skirt jupe f; shoe chaussure f; scarf,scarves écharpe f;
        jacket veste f; sock chaussette f; tie cravate f; glove gant m;
        boot botte f; belt ceinture f
    """,
    "vehicle": """
        car voiture f; boat bateau m; bicycle vélo m; plane avion m;
        truck camion m; motorcycle moto f; taxi taxi m; train train m
    """,
    "furniture": """
        table table f; chair chaise f; bed lit m; sofa canapé m;
        desk bureau m; armchair fauteuil m; shelf,shelves étagère f;
        bench banc m; carpet tapis,tapis m; wardrobe armoire f
    """,
    "inside": """
        garden jardin m; kitchen cuisine f; house maison f; park parc m;
        forest forêt f; village village m; garage garage m; castle château m;
        church église f; tower tour f; cave grotte f; field champ m;
        courtyard cour f; library bibliothèque f; bakery boulangerie f;
        apartment appartement m; valley vallée f; cabin cabane f;
        stable écurie f; shop magasin m; bedroom chambre f; attic grenier m
    """,
    "at": """
        market marché m; station gare f; museum musée m; office bureau m;
        hotel hôtel m; restaurant restaurant m; hospital hôpital m;
        school école f; airport aéroport m; cinema cinéma m; beach plage f;
        university université f; bank banque f; theatre théâtre m;
        pool piscine f
    """,
    "landmark": """
        tree arbre m; river rivière f; mountain montagne f; bridge pont m;
        road route f; lake lac m; island île f; wall mur m; door porte f;
        window fenêtre f; roof toit m; hill colline f; statue statue f;
        street rue f; gate portail,portails m
    """,
}
MASS = {
    "dish": """
        bread pain m; cheese fromage m; meat viande f; butter beurre m;
        rice riz m; chocolate chocolat m; ham jambon m; fish poisson m;
        soup soupe f; salad salade f; honey miel m; jam confiture f;
        cream crème f; garlic ail m; sugar sucre m
    """,
    "drink": """
        water eau f; milk lait m; wine vin m; coffee café m; tea thé m;
        beer bière f; lemonade limonade f; cider cidre m
    """,
}
# What people do, in French for a man and for a woman. "The nurse" is a woman
# and all others are men, unless the sentence says who is meant.
PROFESSIONS = """
    doctor médecin; teacher professeur; student étudiant étudiante;
    lawyer avocat avocate; nurse infirmier infirmière;
    baker boulanger boulangère; journalist journaliste; dentist dentiste;
    architect architecte; artist artiste; engineer ingénieur;
    farmer agriculteur agricultrice; singer chanteur chanteuse;
    waiter serveur serveuse; cook cuisinier cuisinière;
    musician musicien musicienne; gardener jardinier jardinière;
    secretary secrétaire; butcher boucher bouchère; painter peintre;
    pilot pilote; guide guide
"""
FEMALE_PROFESSIONS = {"nurse"}
# Things that take part in what only some things can do.
GROUPS = {
    "openable": "door window box bottle suitcase letter umbrella gate bag",
    "breakable": "glass cup plate bottle lamp watch mirror vase window toy",
    "crossable": "street river bridge road field valley",
    "building": "house castle church tower bridge wall cabin stable school",
    "drivable": "car truck motorcycle taxi",
    "plant": "tree flower",
    "music": "song",
}
NAMES = {
    "m": "Paul Pierre Luc Thomas Louis Antoine Albert Omar Julien Éric",
    "f": "Marie Anne Sophie Alice Julie Emma Claire Irène Nadia Hélène",
}
CITIES = """
    Paris Lyon Rome Berlin Oslo Athens/Athènes London/Londres Geneva/Genève
"""
COUNTRIES = """
    France France f; Italy Italie f; Spain Espagne f; Germany Allemagne f;
    England Angleterre f; Canada Canada m; Japan Japon m; Portugal Portugal m;
    Greece Grèce f; Brazil Brésil m; Iran Iran m; Belgium Belgique f
"""
