# SPDX-License-Identifier: Apache-2.0
# Tested through tests/io/roles/test_roles.py
"""Frequent first names and surnames of some languages, without accents, by which a column of names is known whatever its header says."""

_GIVEN_TEXT = """
aaron abdul abigail ada adam adrian agata agnes agnieszka ahmed ahmet aisha alan albert alberto alejandro aleksandra
alessandra alessandro alex alexander alexandra alexandre alexis alfonso alfred ali alice alicia alina alison amanda
amelia amelie amina amir amy ana anastasia andre andrea andreas andrew andrzej angela angelo anita anja anke ann anna
annamaria anne annette annika antoine anton antonella antonia antonio ariana arjun arthur artur asli astrid audrey
august aurelie ayse azra barbara bartosz beata beatrice beatriz ben benjamin bente bernadette bernard bernd bert
bianca birgit bjorn brandon brenda brian bruno bulent burak camille can carina carl carla carlo carlos carmen carol
carolina caroline catarina catherine cem charles charlotte chiara chloe christian christiane christina christine
christopher claire clara claudia claudio clemence cristina dagmar damian daniel daniela daniele danielle dariusz david
davide deborah deniz dennis derya diana diane diego dieter dimitri diogo dirk dominik dominique donald donna dorota
dorothea dylan eduardo edward ekaterina elena eleonora elias elif elisa elisabeth elise elizabeth elke ella ellen els
emilia emilie emily emine emma emre enrico eric erik erika ernst esra esther eva eve evelyn ewa fabian fabio fatih
fatima fatma federica federico felix fernanda fernando filip filippo florian frances francesca francesco francisco
franck francois francoise frank franz frederic frieda fritz gabriel gabriele gabriella gary georg george georges
gerard gerd gerhard gert giorgia giorgio giovanni giulia giuseppe gizem gloria gonzalo grace gregory greta grzegorz
guido guillaume gunter gustavo hakan hanna hannah hans harald harry hasan hatice heather heike heinrich heinz helen
helena helga hendrik henri henrik henry herbert hiroshi holger horst hugo huseyin ian ibrahim ida ignacio igor ilaria
ilse ines inga inge ingrid irene irina iris isabel isabella isabelle ismail ivan jacek jack jacob jacqueline jakob
jakub james jan jana jane janet janine javier jean jeanne jeffrey jennifer jens jeremy jessica jesus jill joan joana
joanna joao joerg johan johann johanna johannes john jonas jonathan jorg jorge jose josef joseph josephine joshua juan
judith julia julian julie julien juliette jurgen justin justine kadir karen karin karl karolina kasper katarzyna
katharina katherine kathleen katja katrin kelly kemal kenneth kevin kim klaus kristin kristina krzysztof kurt kyle
lara larissa larry lars laura lauren laurence laurent lea leah leila lena leo leon leonardo leonie leticia liam lieke
lisa lorena lorenzo louis louise luca lucas lucia luciano lucie ludwig luis luisa lukas lukasz luke maciej madeleine
madison magda magdalena maik malgorzata manfred manon manuel manuela mara marc marcel marcelo marcin marco marcos
marek margaret margarita margot maria mariana marianne marie marina mario marion marjan mark markus marta martha
martin martina martine mary maryam massimo mateusz mathieu mathilde matteo matthew matthias maurice maurizio max
maximilian mehmet melanie melissa merve mia michael michal michel michele michelle miguel mikael mike milan mireille
mohamed mohammad mohammed monica monika monique muhammad murat mustafa nadia nadine nancy natalia natalie nathalie
nathan nele nicholas nick nicola nicolas nicole niels niklas nils nina noah noel nora nuno nuria olaf oleg olga oliver
olivia olivier omar oscar oskar osman ozlem pablo paola paolo pascal patricia patrick patrizia paul paula paulina
paulo pavel pawel pedro peter petra philip philipp philippe pierre pieter piotr rachel rafael rainer ralf ramona
raphael raquel raul rebecca regina remi renata renate rene ricardo riccardo richard rita rob robert roberta roberto
robin roger roland roman ronald rosa rosario rose roxane rui ruth ryan sabine sabrina salvatore sam samantha samir
samuel sandra sara sarah sascha scott sean sebastian selim selin sema serge sergei sergio serkan sevgi sharon silke
silvia simon simona simone sofia sofie solange sonia sonja sophia sophie stefan stefania stefano steffen stella
stephane stephanie stephen steven stijn susan susana susanne suzanne sven svetlana sylvia sylvie szymon tamara tania
tanja tatiana teresa theo theodor theresa thierry thomas thorsten tiago tim timothy tobias tom tomas tomasz torsten
tuba ulrich ulrike umut ursula ute uwe valentina valeria valerie vanessa vera veronica veronika veronique vicente
victor victoria viktor vincent vincenzo virginie viviane vladimir walter wei werner wilhelm willem william wojciech
wolfgang xavier yasemin yasmin yusuf yves yvonne zehra zeynep zoe zofia zuzanna
"""
_SURNAME_TEXT = """
adams aguilar aksoy albers allen almeida alonso alvarez alves andersen anderson andersson arslan aslan aydin bailey
baker barbieri barbosa bauer baumann becker bell bennett berg bernard bertrand bianchi blanc bonnet bos bosch brandt
braun brooks brouwer brown bruno busch campbell carter caruso carvalho castillo castro celik cetin clark clarke coelho
collins colombo conti cook cooper costa costantini cruz dahl davies davis deboer dekker dekoning delgado deluca demir
dias diaz dijkstra dogan dominguez dubois dupont durand edwards erdogan esposito evans fabre farina fernandes
fernandez ferrara ferrari ferreira fischer fontaine fontana ford foster fournier franke friedrich fuchs gallo garcia
garnier gauthier gil gimenez girard gomes gomez goncalves gonzalez graf gray greco green griffin guerin guerra gunther
gutierrez guzman haas hall hamilton hansen harris harrison hartmann hendriks henry hernandez herrmann hill hoffmann
hofmann horvat horvath howard huber hughes ivanov jackson jacobs jager james jankowski jansen janssen jansson jenkins
jimenez johansson johnson jones jovanovic jung kaiser kaminski karlsson kaya keller kelly khan kilic king klein koch
kohler konig kowalczyk kowalski kozlowski kramer kraus krause krueger kruger kuhn kuipers kumar kurt kuster lambert
lang lange larsen larsson laurent lee lefebvre lefevre lehmann leroy lewandowski lewis lima lombardi long lopes lopez
lorenz maas macdonald maier mancini mariani marino marques marshall martin martinez martini martins mayer meijer
mendes mendez mercier meyer michel miller mitchell molina monteiro moore morales moreau moreira morel moreno moretti
morgan morris moser mueller mulder muller munoz murphy murray nagy nascimento navarro nelson neumann nguyen nielsen
nilsson novak nowak nunes oliveira olsen olsson ortega ortiz ozdemir ozturk parker patel pedersen pereira perez perrin
peters petersen peterson petit petrov pfeiffer phillips pinto polat popescu popov powell price prieto ramirez ramos
reed reis rey ribeiro ricci richard richardson richter rinaldi rivera rizzo robert roberts robertson robin robinson
rocha roche rodrigues rodriguez rogers romano romero rossi rousseau roux rubio ruiz russell russo ryan sahin sanchez
santana santoro santos sanz sari schafer scheffer schmid schmidt schmitt schmitz schneider scholz schreiber schroder
schubert schulte schultz schulz schulze schumacher schuster schwartz schwarz scott serra sharma silva simon simpson
singh smit smith smits soares soto sousa souza stein stevens stewart suarez svensson szabo taylor teixeira thomas
thompson torres toth turner ulrich valente vandenberg vanderberg vandijk vargas vasquez vaz vazquez verhoeven
vermeulen vidal vieira vincent visser vitale vogel vogt vos wagner walker walter wang ward watson weber weiss werner
white wilson winkler winter wisniewski wojcik wolf wolff wood wright yildirim yildiz yilmaz young zielinski zimmermann
"""
GIVEN_NAMES = frozenset(_GIVEN_TEXT.split())
SURNAMES = frozenset(_SURNAME_TEXT.split())
