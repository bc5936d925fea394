"""Verbs, by what they need.

A row is `English | French | who | what`. English irregular pasts follow a
comma, particles a space ("look at"). French verbs that follow no rule of
`french_forms.py` have their forms in `IRREGULAR`. `who` and `what` are kinds
of noun; `who` left empty is people. A plus marks a state, whose past is the
imparfait: "had" is "avait".
"""

TRANSITIVE = """
    eat,ate | manger | person animal | food dish
    drink,drank | boire | | drink
    see,saw | voir | person animal | person animal vehicle landmark inside
    look at | regarder | | person animal text object clothing vehicle landmark
    read,read | lire | | text
    write,wrote | écrire | | text
    buy,bought | acheter | | food dish drink text object clothing vehicle
    sell,sold | vendre | | food dish text object clothing vehicle furniture
    find,found | trouver | | text object clothing animal
    lose,lost | perdre | | object clothing text
    take,took | prendre | | object clothing food vehicle text
    open | ouvrir | | openable
    close | fermer | | openable
    wash | laver | | clothing vehicle animal
    clean | nettoyer | | furniture vehicle inside object
    break,broke | casser | | breakable
    repair | réparer | | vehicle object furniture
    draw,drew | dessiner | | animal landmark vehicle inside
    paint | peindre | | furniture landmark animal
    choose,chose | choisir | | text object clothing vehicle food
    prefer | préférer+ | | text clothing vehicle drink dish
    like | aimer+ | | person family animal text at dish
    hate | détester+ | | animal text dish drink
    forget,forgot | oublier | | object text clothing
    keep,kept | garder | | object text animal
    hide,hid | cacher | | object text food
    steal,stole | voler | | object vehicle food
    borrow | emprunter | | text object vehicle
    follow | suivre | person animal | person animal vehicle
    help | aider | | person profession family
    know,knew | connaître+ | | person profession family inside
    invite | inviter | | person profession family
    meet,met | rencontrer | | person profession
    thank | remercier | | person profession family
    call | appeler | | person profession family
    visit | visiter | | inside at
    leave,left | quitter | | inside at
    cross | traverser | person animal | crossable
    build,built | construire | | building
    admire | admirer+ | | person text landmark inside
    have,had | avoir+ | | animal vehicle object clothing
    hear,heard | entendre | person animal | person animal vehicle music
    recognise | reconnaître | | person profession family vehicle
    drive,drove | conduire | | drivable
    prepare | préparer | | dish food
    push | pousser | | vehicle furniture person
    touch | toucher | | object animal furniture
    want | vouloir+ | | food dish drink object clothing vehicle
    hold,held | tenir | | object
    wear,wore | porter | | clothing
    carry | porter | | furniture object
    understand,understood | comprendre | | text person profession
    order | commander | | food dish drink
    taste | goûter | | dish food drink
    plant | planter | | plant
    feed,fed | nourrir | | animal
    greet | saluer | | person profession family
    look for | chercher | | person object text clothing animal
    listen to | écouter | | person profession family music
    wait for | attendre | | person profession family vehicle
    throw,threw | jeter | | object food
    finish | finir | | text dish
    receive | recevoir | | text object
    learn | apprendre | | music
    sing,sang | chanter | | music
"""
# What English does to somebody directly, or to, at: French always "à".
TO_SOMEBODY = """
    talk to | parler | | person profession family
    phone | téléphoner | | person profession family
    answer | répondre | | person profession family
    obey | obéir | | person family
    smile at | sourire | | person profession family
    resemble | ressembler+ | | family person
"""
# Give something to somebody.
GIVING = """
    give,gave | donner | | text object clothing food animal
    show | montrer | | text object clothing vehicle
    lend,lent | prêter | | text object clothing vehicle
    send,sent | envoyer | | text object
    offer | offrir | | food object clothing
    bring,brought | apporter | | text object food dish drink
"""
# A star: the past is formed with "être". "se" makes it so, too.
INTRANSITIVE = """
    sleep,slept | dormir | person animal
    work | travailler
    laugh | rire
    cry | pleurer
    sing,sang | chanter | person
    dance | danser
    run,ran | courir | person animal
    swim,swam | nager | person animal
    walk | marcher
    smile | sourire
    play | jouer | person animal
    travel | voyager
    dream,dreamt | rêver
    shout | crier
    fall,fell | *tomber | person animal
    arrive | *arriver
    leave,left | *partir | person vehicle
    come,came | *venir
    stay | *rester | person animal
    die | *mourir | person animal
    hesitate | hésiter
    eat,ate | manger | person animal
    get,got up | se lever
    wake,woke up | se réveiller | person animal
    hurry | se dépêcher
    rest | se reposer
    fall,fell asleep | se endormir | person animal
    stop | se arrêter | person vehicle animal
    sit,sat down | se asseoir
"""
# `what` is where; the French preposition follows the verb.
MOTION = """
    go,went to | *aller à | | inside at
    return to | *retourner à | | inside at
    arrive at | *arriver à | | inside at
    come,came from | *venir de | | inside at
    enter | *entrer dans | person animal | inside
    live in | habiter+ dans | | inside
    work at | travailler à | | at
    stay at | *rester à | | at
    think,thought of | penser à | | person animal inside
    dream,dreamt of | rêver de | | person animal vehicle inside
"""
SAYING = """
    say,said | dire
    think,thought | penser
    know,knew | savoir
    believe | croire
    hope | espérer
"""
# English before the infinitive, French, and what French puts between.
BEFORE_INFINITIVE = """
    can | pouvoir
    must | devoir
    want to | vouloir
    try to | essayer de
    start to | commencer à
    hope to | espérer
    like to | aimer
"""
# What is done for somebody.
FOR_SOMEBODY = frozenset(
    "buy prepare build draw paint write order choose find keep borrow clean "
    "repair wash carry open sing".split()
)
# One sees, and is not seeing.
NEVER_IN_PROGRESS = {"see", "hear", "understand", "recognise", "forget"}
# Present: je, il, nous, vous, ils; then the past participle.
IRREGULAR = {
    "aller": "vais va allons allez vont allé",
    "appeler": "appelle appelle appelons appelez appellent appelé",
    "apprendre": "apprends apprend apprenons apprenez apprennent appris",
    "asseoir": "assieds assied asseyons asseyez asseyent assis",
    "avoir": "ai a avons avez ont eu",
    "boire": "bois boit buvons buvez boivent bu",
    "comprendre": "comprends comprend comprenons comprenez comprennent compris",
    "conduire": "conduis conduit conduisons conduisez conduisent conduit",
    "connaître": "connais connaît connaissons connaissez connaissent connu",
    "construire": "construis construit construisons construisez construisent "
    "construit",
    "courir": "cours court courons courez courent couru",
    "croire": "crois croit croyons croyez croient cru",
    "devoir": "dois doit devons devez doivent dû",
    "dire": "dis dit disons dites disent dit",
    "dormir": "dors dort dormons dormez dorment dormi",
    "endormir": "endors endort endormons endormez endorment endormi",
    "envoyer": "envoie envoie envoyons envoyez envoient envoyé",
    "essayer": "essaie essaie essayons essayez essaient essayé",
    "être": "suis est sommes êtes sont été",
    "jeter": "jette jette jetons jetez jettent jeté",
    "lire": "lis lit lisons lisez lisent lu",
    "mourir": "meurs meurt mourons mourez meurent mort",
    "offrir": "offre offre offrons offrez offrent offert",
    "ouvrir": "ouvre ouvre ouvrons ouvrez ouvrent ouvert",
    "partir": "pars part partons partez partent parti",
    "peindre": "peins peint peignons peignez peignent peint",
    "pouvoir": "peux peut pouvons pouvez peuvent pu",
    "prendre": "prends prend prenons prenez prennent pris",
    "recevoir": "reçois reçoit recevons recevez reçoivent reçu",
    "reconnaître": "reconnais reconnaît reconnaissons reconnaissez "
    "reconnaissent reconnu",
    "rire": "ris rit rions riez rient ri",
    "savoir": "sais sait savons savez savent su",
    "sourire": "souris sourit sourions souriez sourient souri",
    "suivre": "suis suit suivons suivez suivent suivi",
    "tenir": "tiens tient tenons tenez tiennent tenu",
    "venir": "viens vient venons venez viennent venu",
    "voir": "vois voit voyons voyez voient vu",
    "vouloir": "veux veut voulons voulez veulent voulu",
    "écrire": "écris écrit écrivons écrivez écrivent écrit",
}
BE = {
    "present": IRREGULAR["être"].split()[:5],
    "past": "étais était étions étiez étaient".split(),
    "future": "serai sera serons serez seront".split(),
}
