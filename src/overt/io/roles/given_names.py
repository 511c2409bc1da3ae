# SPDX-License-Identifier: Apache-2.0
# Tested through tests/io/roles/test_roles.py
"""Frequent first names and surnames of some languages, without accents, by which a column of names is known whatever its header says."""

_GIVEN_TEXT = """
aad aada aadhya aapo aarav aare aarne aaro aaron aarti aatu abbas abbie abby abdelkader abdelkarim abdellah abdou
abdul abdulaziz abdullah abdulrahman abebe abed abhay abhinav abhishek abigail achille achim ada adaeze adam addison
ade adebayo adel adela adele adelheid adelina adelmo adem adil adina aditi aditya adnan adolfo adriaan adrian adriana
adrianna adriano adwoa afia afonso agafya agapi agata agatha agathe aggeliki agnes agnese agneta agnieszka agostino
agoston agris agustin ahlam ahmad ahmed ahmet ahu aicha aida aidan aiden aija aila aimee aimo aina aino airi aisha
aishah aitana aitor aivar aivars ajay ajdin ajit akash ake aki akiko akin akira akos akosua aksel akshay akua ala
aladar alain alan albert alberta albertha alberto albin albrecht alda aldis aldo aldona alec aleida alejandra
alejandro aleks aleksandar aleksander aleksandr aleksandra aleksei aleksey alen alena alenka ales alessandra
alessandro alessia alessio alev alex alexa alexander alexandra alexandre alexandros alexei alexey alexia alexis alf
alfie alfio alfonso alfred alfredo algirdas algot ali alice alicia alicja alin alina aline alireza alison alistair
alix aliya alla allan allison alma alois alojz alojzija alok alonso alp alper alpo altan alva alvaro alwin alyona
alyssa alzbeta ama amadeo amadeu amadou amaka amal amalia aman amanda amandine amani amar amedeo amelia amelie americo
amin amina aminata amir amirhossein amit amita amjad amleto ammar amparo amra amrita amund amy ana anabel anais anand
ananya anas anastacia anastasia anastasios anastasiya anastazja anatoliy anatoly anca andela anders andra andrada
andras andraz andre andrea andreas andree andreea andrei andrej andreja andres andrew andrey andris andrzej andzelika
aneta anett anette anezka anfisa angela angeles angelica angelika angeliki angelina angelo angie angus anibal anica
aniela anika anil anirudh anish anita anja anjali anke ankit ankita ann anna annabel annabelle annalisa annamaria anne
annegret anneke anneli anneliese annemarie annemiek annetta annette annibale annie annika annikki anouk anselmo anssi
antal antanas ante antero anthony antigoni antje antoine antoinette anton antonella antonello antoni antonia antonija
antonin antonina antonio antonios antony antra ants antti anu anup anuradha anushka anwar anze anzhelika aparecida
aparna apolonia apostolos araceli aranka arash archana archie arda ardalan areej arend arezoo argyro ariadna ariadne
ariana ariane arie ariel arif arild arina aristea aristeidis arja arjan arjen arjun arkadiusz arkady arlette armand
armando armi armindo arnaldo arnaud arnav arne arno arpad arsenio arseny artem arthur artis arto arttu artur arturo
arturs artyom arun aruna arvi arvid arvids arvind arvo arwa arzu asa asaf asami asbjorn asger asha ashish ashlee
ashleigh ashley ashok ashraf ashwin asko aslaug asli asma astrid asya atakan athanasios athina atilla atsushi atte
attila atul aubrey aud aude audrey audun august augusta auguste augusto aukje auli aulis aune aurel aurelia aurelie
aurelio aurica aurore ausra ava avery avi avinash aviv avner avraham axel aya ayaka ayako ayca aycan aydan aygul aylin
ayman aynur ayodele ayoub ayse aysegul aysel aysun ayten ayumi ayush azadeh azeglio azim aziz aziza azra babak
babatunde babette badr bahar bahram baiba balaji balazs balint baltasar bao barbara barbora barbro bard barend barica
barna barry bartek bartlomiej bartolome bartolomeo bartosz basak basem bashar basilio basma bastian bastien batuhan
batya beata beate beatrice beatrix beatriz becky bedia begona behcet behnam behrouz bela belen belgin bella ben bence
bendeguz bendik benedek benedicte benedita benedito bengt benita benito benjamin benno benoit bente beren berit berk
berkay bernadett bernadette bernard bernardo bernd bernice bert berta bertalan bertha bertil bertrand bessie bethan
bethany bettina betty beverley beverly beyza bharat bhavna bhavya bianca bijan bilal bilge billy birger birgit
birgitta birol birsen biruta birute bjarke bjarne bjorg bjorn bjornar blake blanca blanka blaz blazej blazena boaz
bobby bodil bodo bogdan bogdana boglarka bogomir bogumila boguslaw bohdan bohumil bohuslav bojan bojana boleslaw
bonnie borge borghild boris borivoj borja borje borna boro borys bosko bostjan botond boudewijn boutros bozena bozo
brad bradley brahim bram brandon branimir branislav branka branko brayden brechtje breda brenda brendan breno brent
bret bretislav brett brian brianna brice bridget brigida brigitta brigitte brijesh brit britt britta brittany brittney
brody bronislava bronislaw brooke bruce bruna brunhilde bruno bryan bryce bryony buket bukola bulent burak burkhard
busra byron cagla cagri cahit caio caique caitlin cajsa calcedonio caleb calixto callum calogero calvin camelia
cameron camila camilla camille can candela candelaria candice caner cansu capucine cara caridad carina carl carla
carlo carlos carlota carlton carly carmela carmelo carmen carmina carol carola carole carolien carolina caroline
carolyn carrie carsten casandra casey cassandra cassie catalin catalina catarina caterina catharina catherine cathy
catia catrina caua cayetano cecil cecile cecilia cecylia cedric celestin celestino celia celine cem cemal cemil cenek
cengiz ceren cerys cesar cesare cestmir cetin cevdet cezar cezary chad chaim chaima chana chandan chandra chantal
chantelle chao charalampos charlene charles charlie charlotte charu chelsea chen cheryl chetan chiara chidi chidinma
chika chinedu chioma chiyo chloe christa christel christelle christer christian christiane christie christina
christine christof christoph christophe christopher christos christy chrysoula chuck chukwu chun chus cigdem cindy
cinzia ciprian cipriano ciro claire clara clarence clarissa clark claude claudia claudio claudiu clayton clelia
clemence clement cliff clifford clint clive clotilde clyde cody coen colby colette colin colleen conceicao concetta
connie connor conny conor constance constanta constantin consuelo cordula corina corine corinna corinne coriolano
cornel cornelia cornelis corrado cosmin costantino costanzo costel costin courtney craig cristi cristian cristiana
cristiano cristina cristobal crt csaba csenge csilla cuong curtis custodia cyprian cyril czeslaw daan dace dafne daga
dagfinn dagmar dagmara dagny daiane daiga daiki dainis dainius daisuke daiva dajana dalal dalia dalibor dalila dalimil
dalit damaso damian damiano damien damir damla damon dan dana dani danica daniel daniela daniele danielle daniil
danijel danila danilo danny danuta darcy daren daria darija darina darinka dario darius dariush dariusz darko darla
darlene darrell darren darshan darya dave davi david davide davor dawid deanna debbie deborah debra decebal declan dee
deepa deepak deepika defne deirdre dejan delfim delfino delia della demet demetrio denes denis denisa denise deniz
dennis derek derin derrick derya desiderio desiree desta detlef detlev devendra devin dhruv diana diane dianne didier
diego dieter dietmar dietrich dieuwertje dijana dilara dilek diletta dimitra dimitri dimitrios dimitris dina dinesh
dinis dino dinu diogo dirk dirkje divya diya djamila djordje dmitri dmitriy dmitry doaa dobromila dobroslav dogukan
doina dolores domagoj domenico dominic dominik dominika dominique donald donat donatella donatello donato donna dora
doreen dorian dorin dorina doris dorota dorothea dorothee dorothy dorte dorthe doug douglas dov dragan dragana dragica
drago dragos dragutin drahomir drahomira drazen dries duane duarte dubravka dubravko duc dumitra dumitru duncan dung
dunja duong durante durdica dusan dusana dusko dustin duygu dwayne dwight dylan dzintars ebba ebbe ebere eberhard
ebony ebru ecaterina ece ecem eckhard eda eddie edelmiro edeltraud edgar edgardo edgars edin edina edit edita edith
edmund edna edoardo edouard eduard eduarda eduardo edvin edward edwin edyta eelco eemeli eero eetu eeva efe efrain
efrat efstathios efthymia efua ege egidijus egita egle egon eha eija eila eileen eilif einar eino eirik eirini eitan
ekaterina ekrem ekta elad eladio elaine elba elda eldbjorg eleanor eleftheria eleftherios elena eleni eleonora
eleuterio elfriede elham eliana eliane elias eliezer elif eligio elin elina eline elis elisa elisabeth elise eliseo
eliska eliza elizabeth elizaveta elke ella ellen elli ellie elling elliot elliott elly elma elmer elnaz elodie elof
eloise eloy elpida els elsa elsbeth elsie elvan elvira elza elzbieta ema eman emanuel emanuela emanuella embla emeka
emelie emeline emese emi emiel emiko emil emile emilee emilia emiliana emiliano emilie emilija emilio emily emina
emine emir emma emmanuel emmanuelle emmett emoke emrah emre encarnacion ender endre engin enid enik eniko ennio enno
enrico enrique ensio enzo ercan erdal erdem eren erhan eri eric erica erich erik erika erin erkan erkki erling ermanno
ermenegildo ermes erna ernest ernestine ernesto erno ernst erol ersin ertan ertugrul erwin eryk erzsebet escolastica
esha esin eskil esko esma esme esmee espen esra essi esteban estefania estelle ester esther estrella eszter etelka
ethan ethel etienne etta ettore eufemia eugen eugene eugenia eugenie eugenio eugeniusz eulalia eunice eunji eusebio
eusebiu eutropio eva evan evangelia evangelista evangelos evaristo evdokia eve evelin evelyn even evert evgeni evgenia
evgeniy evgeniya evgeny evi evie evija evren evzen ewa ewald ewelina ewout eylul eymen ezequiel ezra fabian fabiana
fabien fabienne fabio fabiola fabrice fabrizia fabrizio fadi fahad faisal fang fani fanny farah fares farhad farhan
fariba farid farida faris farouk faruk farzad farzaneh fathi fatih fatiha fatima fatimah fatma fatos fatou fatoumata
faustino fawzi fay faye fayez fedele federica federico fedor fei felicia feliciano felicity feline felipe felix femi
femke feng fenna ferdinand ferdinando ferenc fereshteh ferhat feride ferit fermin fernanda fernando fernao fevzi feyza
fiamma fien figen fikret filip filippa filippo filiz finley finn fiona fiorenzo firas firat flavia flavie flavio
flemming floarea flora florea florent florentina florentino florian floriana florica florin floris floyd folake folke
fortunata fortunato fotini fotis fouad fran franc franca frances francesca francesco franci francis francisca
francisco franck franco francois francoise franjo frank franka frankie frans frantisek frantiska franz franziska
fraser frauke fred freddie frederic frederick frederique fredrik freek freja freya frida frideborg fridtjof frieda
friederike friedhelm friedrich fritiof frits fritz frode fruzsina fryderyk fulvio fulya fumiko funda funmi funmilayo
furkan fyodor gabi gabija gabor gabriel gabriela gabriele gabriella gabrielle gadi gael gaelle gaetan gaetano gail
galileo galina galip gamze gang gareth garrett garry gary gaspar gaspare gasper gaston gatis gaurav gauri gavin gayle
geert geeta geir gejza gellert gelu gemma genevieve gennady gennaro geoff geoffrey georg george georges georgeta
georgian georgiana georgie georgina georgios georgy gerald geraldine geraldo gerard gerardo gerben gerd gerda gergely
gergo gerhard gerlinde germaine german germana gerold gerrit gert gertraud gertrud gertrudis gervasio ghada ghassan
ghazal gheorghe ghislaine giacinta giacinto giacobbe giacomo gian giancarlo gianfranco giang gianluca gianluigi
gianmarco gianni giannis gianpaolo giedre gijs gila gilad gilbert gilberto gilda gilles gillian gina ginesa ginny gino
gintaras gintare gints gioacchino gioele giorgia giorgio giorgos giovanna giovanni girish girolamo gisela gisele gita
gitte giulia giuliana giuliano giulio giuseppe giuseppina giustino gizella gizem gjertrud gladys gleb glenda glenn
gloria godofredo goffredo gokhan golan golnaz gonca gonzalo gopal goran goranka gordan gordana gordon gosta gottfried
govind graca grace graciela gracjan graeme graham gratian graziano graziella grazyna greca greg greger gregg gregor
gregorio gregory greta grete grethe griffin grigore grigorios grigory gro grzegorz guang guarino gudbrand gudmund
gudrun guenter guenther guglielmo guido guilherme guillaume guillermo gul gulay gulcan gull gullan gulsah gulsen
gulten gun gunars gunborg gunda guney gunhild gunilla gunn gunnar gunnel gunta gunter gunther guntis gunvor gurpreet
gursel gustaf gustav gustavo gustaw guus gwen gwenaelle gwendolyn gyda gyongyi gyorgy gyula habib habibe hacer hadas
hadi hadiye haeun hafsa haile haim hajnalka hakan hakon hala haldis haley halil halima halime halina halit haluk
halvard halvor hamad hamdi hamed hamid hamza hana hanaa hanan hande hanh hani hanka hanna hannah hanne hanneke hannele
hannelore hannes hannu hanny hans hao harald harish harjit harm harold haroldo harpreet harri harriet harrison harry
harsh harsha hartmut hartwig haruka haruki harun haruto harvey hasan hassan hatice haya hayden hayley hayriye hazem
heather hector hedda hedvig hedvika hedwig hege heidemarie heidi heike heikki heiko heimo hein heiner heini heino
heinrich heinz heitor helder helen helena helene helga helge helgi heli helina heliodoro helka hella helle helmi
heloisa helvi hema hemant hendrik hendrika heng henna henning henny henri henrietta henriette henrik henrique henry
henryk herbert herman hermenegildo herminia herminio hernan hernando herta hertha herve hiba hicham hidde hideki hideo
hien hieu hikmet hilal hilario hilary hilda hilde hildegard hilding hildur hilkka hilla hilma hiltrud himanshu hina
hinata hipolito hiroki hiroko hiroshi hiroyuki hisham hitomi hjalmar hjordis hoa hoang hoda holger hollie holm honore
horacio horatiu horia horst hortencia hortense hossein howard hrvoje hua hubert huda hue hugh hugo hui hulya humberto
hung hunor huong huseyin husnu hussain hussein huub huy hye hynek hyun iacob ian iara ib ibo ibolya ibrahim ibrahima
ibtisam ichiro ida idan idar idris ieva ifeoma ignacio ignacy igor ihab ihsan iida iiris iiro ikechukwu iker ikram
ilan ilaria ilario ildiko ileana ilektra ilga ilham ilhan ilias ilie ilinca ilja ilkay ilker ilkka ilknur ilmari ilona
ilpo ilse ilta ilya ilze iman imane imants imelda imke immo imogen imran imre imrich inacio inas inbal inci indira
indra indrek ineke ines inese ineta inga inge ingeborg ingebrigt ingegerd ingela ingelise ingelore ingemar inger
ingmar ingo ingrid ingrun ingus ingvar ingvild ingvor inkeri inmaculada inna innokenty inta ints ioan ioana ioanna
ioannis ion ionel ionela ionut iordanis ipek ipoly ippazio ippolito iqbal irem irena irene ireneusz irfan irina irini
iris irja irma irmgard irmtraud irving isa isaac isabel isabella isabelle isadora isaias isaque iselin isha ishaan
ishita isidora isidro isil isis isla ismael ismail ismet isobel isolde issa isto istvan itai itamar itziar iulia
iulian iuliana iustin iva ivan ivana ivanka ivanna ivar ivars iveta ivett ivica ivka ivo ivona ivone iwo iwona izabela
izabella izidor iztok jaak jaakko jaan jaana jaap jabulani jacek jacinto jack jackie jackson jacob jacoba jacobo
jacqueline jacques jade jadranka jadranko jadwiga jae jafar jagdish jagoda jaime jakab jake jakob jakub jalal jalmari
jamal james jamie jamila jan jana jane janelle janet janez jani janice janie janika janina janine janis janka janko
janne jannes jannik janos janusz jared jari jarkko jarl jarle jarmila jarmo jaromir jaroslav jaroslava jaroslaw
jasleen jasmiina jasmin jasmina jasmine jasna jason jaspreet javad javier javiera jawad jay jaya jayant jayden jayesh
jayne jazmin jean jeanne jeannette jeannie jeannine jedrzej jeff jeffery jeffrey jela jelena jelica jelle jen jenaro
jenet jenna jenni jennifer jenny jeno jens jeremi jeremy jermaine jernej jeroen jerome jeronimo jerry jerzy jesper
jess jesse jessica jessie jesus jette jia jian jianhua jie jihoon jill jilles jillian jim jimena jimin jimmie jimmy
jin jindrich jindriska jing jip jiri jirina jiska jisoo jitka jiwon jo joachim joakim joan joana joann joanna joanne
joao joaquin joaquina joar jobst jocelyn jochen jodie jody joe joel joelle joep joerg joey johan johann johanna
johanneke johannes john johnathan johnny joice joke jolan jolana jolanda jolanta jon jonas jonatan jonathan jonathon
joni jonna jonny joon joop joost jordana jordi jordy jordyn jorg jorge jorgen joris jorma jorn jorunn jos jose josef
josefa josefin josefina joseph josephine josh joshua josie josine josip josipa jost jostein josue jouko jouni jovan
jovana jovita joy joyce joze jozef jozefa jozica jozsef juan juanita judd jude judit judith judy juha juhana juhani
juho jukka jules julia julian juliana juliane julianna julie julien juliette julio julius juliusz jun junho junko
juozas juraj jure jurgen jurgita juri jurica jurij juris jurriaan jussi justin justinas justine justyna jutta jyoti
jyri jyrki kaan kaare kaarina kaarlo kabir kacper kadir kadri kadriye kai kaido kaija kaisa kaitlyn kaito kaj kaja
kajal kajetan kajsa kalervo kalev kalevi kalina kalle kalliopi kalman kalpana kamal kamala kamau kamil kamila kamile
kamran kanika kaori kara karan karel karen kari karim karima karin karina karl karla karlheinz karol karoliina
karolina karoly karsten karthik kartik kasey kaspars kasper kata katalin katariina katarina katarzyna kate katelyn
katerina katharina katherine kathie kathleen kathrin kathryn kathy kati katica katie katja katri katrin katrina kauko
kaveh kavita kavya kawtar kaye kayla kaylee kazimierz kazuko kazuo kazys kees keijo keiko keira keith keld kellie
kelly kelsey kelvin kemal ken kenan kendra kenichi kenji kenn kennet kenneth kenny kent kenta kenth kerem kerri kerry
kersti kerstin kerttu keshav kestutis kevin khadija khaled khalid khalil khanh khoa kholoud kian kiana kien kieran
kike kim kimberly kimmo kinga kira kiran kirill kirk kirsi kirsten kirsti kirstine kirsty kirti kiyoshi kjeld kjell
kjellaug kjersti kjetil klaas klara klas klaudia klaus klavdiya klemen knud knut koen kofi koji kojo kolbjorn komal
konrad konstantin konstantina konstantinos koos koray korbinian kordian kordula kornel kornelia kostas kosti kresimir
krishna krista kristaps kristen krister kristi kristian kristie kristiina kristijan kristin kristina kristine kristjan
kristofer kristoffer kristopher kristy kristyna krisztian krisztina kriti kruno krystal krystian krystyna krzysztof
ksawery ksenia ksenija kuba kubra kullervo kunal kunigunde kurt kveta kvetoslava kwabena kwadwo kwaku kwame kwasi kyla
kyle kylie kyllikki kyoko kyosti kyriaki kyriakos kyung lacey lacramioara lada ladislav ladislava lado laercio
laetitia laila laima laina laine lakshmi lale laleh lalit lalo lam lamberto lambros lamia lana lara lari larisa
larissa larry lars lasse lassi laszlo lata latif latifa latoya laura laureano lauren laurence laurens laurent
laurentiu lauretta lauri laurie lauris lauryn laust lavanya lavinia lawrence layla lazar lazzaro lea leah leandro
leanne leena leevi lei leida leif leigh leila leili leiv leman len lena lene lenka lennart lenneke lenuta leo leocadia
leon leonard leonardo leonas leonel leonhard leonid leonidas leonie leontin leopold leopoldo leos lerato leroy lesley
leslie lester leszek leticia letizia levent levente levi lewis lex lexi leyla lia liam liana lianne libor libuse licia
lidia lidija lidiya lieke lies liesel lieselotte lieve liga ligia liina liis liisa lili lilia lilian liliana liliane
lilja lill lilla lillemor lillian lily lin lina linards linas linda lindsay lindsey ling linh linn linnea lino linus
lior liora lis lisa lisbet lisbeth lise liselore liselotte lissi liv livia liviu liwia liz lizzie ljerka ljiljana
ljubica ljubo ljubomir lloyd loan loc loes logan loic lois lojze lola lone lonneke lonnie lope lora lorand loredana
loren lorena lorenza lorenzo loretta lori lorna lorraine lothar lotta lotte lottie lou louis louisa louise loukas
lourdes lourenco louwrens lova lovro lu luan luana lubica lubna lubomir lubomira lubor lubos luca lucas lucca luchino
lucho lucia lucian luciana luciano lucica lucie lucien lucienne lucila lucille lucio lucja lucjan lucy ludek ludger
ludmila ludovica ludovico ludovit ludvig ludvik ludwig ludwik luigi luigina luis luisa luise luisina luiz luiza luka
lukas lukasz luke luminita lumir lupe lurdes lutfi luther lutz luuk lydia lydie lyn lynda lynette lynn lynne lyubov
lyudmila maaike maaria maarit maarten maayan mabel macarena macario machteld maciej mackenzie madalin madalina
maddalena maddison madeleine madeline madhav madhu madhuri madison mads mael maelle mafalda magda magdalena magdalene
magdolna maggie magnus maha mahdi mahesh mahmoud mahmud mahmut mahsa maie maija maik mailis maire maisie maite maj
maja majda majed majid majken makary makena makoto maks maksim maksymilian mala malak malcolm malek malene malgorzata
malin malka malle malte malwina mamadou mami manal mandy manfred manish manisha manju manjula manoj manolo manon mans
mansour mantas manu manuel manuela mara marat marc marcel marcela marcelina marcelino marcell marcella marcelle
marcello marcelo marcia marcial marciano marcin marcio marco marcos marcus mare mareike marek maren marfa marga
margaret margarete margarida margarita margaux margherita margit margot margrete margrethe margriet margrit marguerite
margus mari maria mariah mariam marian mariana mariane marianna marianne maribel marica maricela maricica maricruz
marie marieke marietta marija marijan marijana marijke marijn marika mariko marilena marilyn marin marina marinko
marino mario marioara marion marios maris marisa mariska marisol marissa maristela marit marita maritta marius mariusz
mariya marja marjan marjatta marjeta marjo marjolein marjorie marju marjut mark marketa markku marko markus marlene
marli marlies marlis marloes marsha marshall mart marta marte marten martha marthe martijn martim martin martina
martine martino martins marton martti marvin marwa marwan mary maryam maryse marzena masahiro masako masaru masoud
massimo mate matea matei matej mateja mateo mateusz matheus mathew mathias mathieu mathijs mathilde mathis matias
matic matija matilda matilde matjaz matko matleena mats matteo matthew matthias matthieu matthijs matti mattias matus
matvey matyas matylda maud mauno maura maureen maurice mauricio maurizio mauro mavis max maxime maximilian maximiliano
maximino maxine maya mayumi mckayla mckenzie mechthild medhat meena meera meeri mees megan megha megumi mehdi mehmet
mehran mehtap mehul mei meike meiling meinhard meir melania melanie melchor melek melih meliha melike melina melinda
melissa melker meltem melvin menachem mengmeng menno merche meredith merel merete meri merike merja merle mert merve
mervi meryem mesut meta metehan metin metka mette mevlut mia micael micaela micah michael michaela michail michal
michalina michalis micheal michel michelangelo michele micheletto micheline michelle michiel michiko mickael mickey
midori mie mieczyslaw mieke miguel miha mihael mihaela mihai mihail mihaly mihkel miho mihovil miia miikka mika mikael
mike mikhail miki mikkel mikko miklos mikolaj mikulas mila milada milagros milan mildred mile milena mileva milica
milja milka millie milo milorad milos miloslav miloslava milosz milota milou milovan miluse milvi mina minako
mindaugas mindy ming minh minho minji minjun minna minnie minseo mira miranda miray mircea mirco mireille mirela
mirella miriam mirja mirjam mirjana mirko miro miron mirona miroslav miroslava miroslaw mirthe mirva misaki mislav
mitchel mitchell mitja mitra mitsuko miyuki mladen modris mogens mohamad mohamed mohammad mohammed mohan mohit mohsen
moira moises mojca mollie molly mona monalisa monica monika monique montserrat mordechai morena morgan morgane moritz
morten morteza moshe mounir mourad mousa moussa mozes mpho muge muhammad muhammed muhittin mukesh mukul muna munevver
munir murat muriel murilo musa mustafa mustapha muzaffer mwangi mykhailo mykola myra myriam myrtle nabil nacho nada
nader nadezhda nadia nadim nadine naima najat najib nalini namrata nana nancy nandini nando nandor nanna naoki naoko
naomi napoleone narayan narcis narciso naresh nasr nasrin nasser nastaran natalia natalie natalya natan natanael
natasa natascha natasha natasza nathalie nathan nathaniel naveen navya nawal nazan nazaret nazim nazli nea nebojsa
necati nechama necla neculai neda nedeljko neelam neeraj nefeli nefise negar neha neil nejat nejc nektarios nela nele
nelida nellie nelly nelson nelu nerea nereida nerijus nermin nese neslihan nesrin neven nevenka nevin nga ngoc ngozi
nhung niamh nicanor niccolo nicholas nichole nick nicoara nicola nicolae nicolas nicolasa nicole nicoleta nicoletta
nicolo nicu nidhi niek niels nienke nieves nigel nihal nihat niilo niina nikhil nikica nikita niklas niko nikodem
nikola nikolai nikolaj nikolaos nikolay nikolett nikoletta nikolina nikos nilay nilesh nilgun nilo niloufar nils
nilufer nima nina ning nino ninon nir nirmala nisha nishant nitin nitzan nives nizar njeri nkechi nneka noa noah
noboru noe noel noelia noemi noemia noemie noha nomvula nooa noor noora noortje nora norbert norberto noriko norman
normunds nour noura nozomi nuno nunzia nupur nuray nurcan nurettin nuri nuria nursel oana obdulia oceane octavia
octavian octavio odd oddbjorn oddvar oded odette odile ofer ognjen okan okko oksana oktay ola olaf olaug olaus olav
olavi oldrich ole oleg olegario oleksandr oleksandra oleksii olena olev olga olgierd olha olimpia olimpiu oliver
olivera olivia olivier oliwia oliwier olle olli ollie olof oluf olumide oluwaseun olympia omar omid omnia onder ondrej
onni onofre onur ophelie orazio oreste orhan ori oriana orit orlando orly orsolya ortrud ortwin orvokki osama osamu
oscar oskar oskari oskars osman osmo ostap osvaldo oswald otakar otavio othman otilia ottar ottavio ottilie otto
ousmane outi ove ovidio ovidiu owen oya oyku oystein oyvind ozan ozge ozgur ozkan ozlem paal paavo pablo pacifica paco
paige paivi paivikki pal pallavi palle paloma pam pamela panagiota panagiotis pancho pankaj panna paola paolo par
paraschiva paraskevi paride parisa parth parul parvin pascal pascale pascual pasqual pasquale pastora patrice patricia
patrick patrik patrizia patrizio patrycja patryk patsy patti patty paul paula pauli paulina pauline paulo pavel pavla
pavle pavlo pavlos pawel payal payam pedro peggy pehr pekka pelagia pelayo pelin penelope peng pentti pepe pepijn per
percy perihan perla pernilla pero perry pertti perttu petar peter peteris petr petra petras petre petri petrica petro
petrona petronela petros petru petter petteri peyton phil philip philipp philippe phillip phoebe phong phuc phuong
phyllis pier piergiorgio pierina pierluigi piermaria piero pierre pierrette piet pietari pieter pietra pietro pihla
piia pijus pim pina pinar ping pinja piotr piper pirjo pirkko piroska platon pola polina polona pompeo pompiliu pontus
pooja poonam pooya poppy porfirio poul pouria povilas povl poyraz prabhat prachi pradeep prakash pramod pranav prasad
prashant pratibha pratik praveen preben predrag preeti premysl prerna preston priit primoz priscila priscilla priti
priya priyanka prudencia przemyslaw puccio puja puneet purnima qasim qiang qin qing quan quang quentin quinn quinten
quirino quyen quynh rabab rabia rachael rachel rachid rachna rade radek radha radhika radim radka radmila rado radomir
radoslaw radovan radu rafa rafael rafaela rafal raffaele raffaella raffaello rafik raghad raghav ragna ragnar ragnhild
ragnvald rahma rahul raija raili raimo raimondo raimonds raimundo rainer raisa raivis raivo raj raja rajat rajeev
rajendra rajesh rajiv raju rakesh ralf ralfs ralph raluca rama raman ramazan ramesh rami ramin ramiro ramon ramona
ramune rana randal randall randi randy rani rania ranjit rannveig raphael raquel rasa rasha rashid rashmi rasmus ratko
rauha raul rauni rauno raven ravi ravindra raymond raymonde raz rebeca rebecca rebekah recep reece reem reese reeta
refik regina reginald regine regis regulo reidar reidun reijo reiko reima rein reinaldo reiner reinhard reinhold
reinier reino reka rekha rembrandt remedios remi remus remy remzi ren renan renata renate renato renaud rene renee
rens renske renu renzo resi resul reuben reuven reyansh reyhan reza rezso rhiannon rhonda rhys ria riad rica ricarda
ricardo riccarda riccardo richard rick rickard rickey ricky ridvan rie rigoberto rihards riho riikka riitta rik rika
rikke riku riley rima rimantas rin rinske rishabh risto rita ritika ritu ritva ritvars rivka riyad riza roar rob
robbert robbie robert roberta roberto roberts robin robyn rocco rochelle rocio roderick rodica rodion rodney rodolfo
rodolphe rodrigo roel rogelio roger rohan rohit rok roko roksana rola roland rolandas rolando roldan rolf romain roman
romana romane romeo romeu romina romolo romulo romy ron ronald ronaldo ronen rong ronit ronnie roos roosa rory rosa
rosalia rosalie rosalina rosalind rosalva rosangela rosanna rosaria rosario rosaura rose rosemarie rosemary rosendo
roshan roshni rosi rosie rosina ross rossana rostislav rowan roxana roxane roxanne roy roya roza rozalia ruba ruben
ruby ruchi rudi rudolf rudolfs ruediger rufus ruggero ruggiero rui rune rupa rupert ruperto ruslan russell rut ruta
rutenis rutger ruth ruud ruxandra ruya ruza ruzena ruzica ryan ryo ryota ryszard saad saana saara sabah sabatino sabin
sabina sabine sabri sabrina sachiko sachin sadie sadik saeed safa safiya safiye sahar sahil said saida saija saila
sajjad sakari sakshi sakura salah saleh salem salih salim salla sally salma salman salome salvatore salwa sam samanta
samantha samar samarth sameer sameh sami samia samir samira sammy sampo samu samuel samuli sana sanaa sanaz sancho
sanda sandalio sandeep sander sandhya sandis sandor sandra sandrine sandro sandu sanela sangeeta sanita sanja sanjana
sanjay sanjeev sanna sanne sanni sante santina santosh sapna sara sarah sari sarit sarita sarka sarmite sasa sascha
saskia saso satoko satoshi satu saturnina saturnino saulius saurabh saverio savita sawsan sayed sayuri scarlett scott
sean sebastian sebastiana sebastiano sebastiao sebastien seda sedat seema sefa seija sekou selahattin selcuk selda
selena selim selin selma sema semih semra semyon senad senay senem senja senka senna seo seojun seoyeon sepideh seppo
septimiu serafin serafina serap serban serdar seren serena serge sergei sergio sergiu sergius serhat serhii serkan
serpil seth seun sevda severino sevgi sevil sevim sevinc seyma shadi shahin shahram shai shaima shalini shan shane
shania shannon shanti sharad shari sharon shaun shauna shawn sheena sheetal sheila shelby sheldon shelley shelly sheri
sherif sherri sherry shigeru shilpa shimon shin shinji shiori shira shiri shirin shirley shiv shivam shivani shizuko
shlomo shmuel sho shobha shoji shota shreya shruti shu shuai shubham shun shweta siamak sibel siddharth sidney siebe
siegfried sieglinde siegmund sienna sigbjorn sigbritt sigfrido sigmund signe sigrid sigrun sigurd sigvard siham silja
silje silke silva silvana silvano silvestre silvestro silvia silvija silvio silviu simao simas simion simo simon
simona simone simonetta simran sina sinan sindre sinem sini sinisa sintija sipho sirje sirkka sirpa sissel sita siv
sivert sixten sizwe sjaak sjoerd skaidrite skirmante skye slaven slavica slavka slavko slavomir slawomir slobodan
slobodanka smilja smita sneha snezhana sniedze snjezana snorre sofia sofiane sofie soha soheil soili soini sointu
solange soledad solene solfrid solveig solvita sona sonal sonali sonam songul sonia sonja sonya soo sophia sophie sora
soraia soraya soren sorin sorina soroush sotiria sotirios souad soyeon spela spencer speranta spomenka spyridon spyros
srdjan srecko srinivas stacey staci stacie stacy staffan stamatia stan stana stanislav stanislava stanislaw stanko
stanley stasys stavros stavroula stefan stefani stefania stefano steffen stefica steinar stela stelian steliana
stelios stella stellan stepan stepanka stephan stephane stephanie stephany stephen stergios steve steven stewart stian
stig stijn stina stipe stjepan stuart sture stylianos suad suat subhash sudha sudhir sue sueli suha sujata sukran sule
suleyman sulo suman sumit sumitra suncica sune sung sunghee sunil sunita suraj surendra suresh surya susan susana
susann susanna susanne sushil sushma susie susumu suvi suzan suzana suzanna suzanne suze svante svatava svatopluk svea
svein sven svend sverker sverre svetlana svitlana swantje swati swen sylvain sylvester sylvette sylvi sylvia sylvie
sylwester sylwia synnove szabolcs szandra szczepan szebasztian szilard szilvia szymon tabitha tadas tadashi tadeas
tadej tadeo tadeusz tage taha tahani tahir taichi taina taisiya taisto tajana takahiro takako takashi takeshi takumi
tal talal tali talia tamar tamara tamas tamer tami tammie tammy taneli taner tanguy tania tanja tansu tanvi tanya tao
tapani tapio tara taras tarek tarik tariq tariro tarja tarmo taro taru tarun tasha tatiana tatiane tatjana tatsuya
tauno tautvydas tayfun tea tecla ted teemu teijo teja tejas tekin telemaco telma telmo tendai teodor teodora teodoro
teofil teofilo teppo terence teresa teresio teresita tereza terhi teri terje tero terrance terrell terri terry tertti
terttu tessa tetsuya teun teunis teuvo tevfik thabo thales thandiwe thanh thao thea thelma themba theo theodor
theodora theodore theodoros theofanis theophile theresa therese theresia thiago thibault thibaut thierry thijmen thijs
thilo thinh thomai thomas thor thorbjorn thorkild thorsten thu thuy tiago tiberiu tibor tiburcio tien tiffany tihana
tihomir tiia tiina tiit tiiu tijmen tijn tikhon tilda tilde tilen tilman tim timea timo timofey timothee timothy timur
tin tina tincuta tine ting tito tivadar tiziana tiziano tjasa tjeerd toan tobias tobiasz todd toini toivo tola tolga
tom toma tomas tomasa tomasz tomaz tome tomislav tommi tommy tomoko tomomi tomoya toms tone toni tonino tonis tonje
tonu tony tonya toomas toon topi tor torben torbjorn tord tordis tore torgeir torhild toribio toril torild torill
torleif tormod tormund torquato torsten torsti torunn torvald toshiko toshio touko tove tracey traci tracie tracy
traian trang traudel traute travis trent trevor tricia trijntje trine trinh trisha tristan troels trond troy trude
truls trung truong truus tsubasa tuan tuba tudor tufan tugba tugce tuija tulay tullio tunc tuncay tunde tung tuomas
tuomo turan turgut turid turkan tushar tuula tuulikki tuure tuva tuyet tygo tyler tymon tymoteusz tyra tyrone tytti
ubaldo uche uday udo ufuk ugne ugo ugolino uldis ulf uli ulises ulku ulla ulle ulrich ulrik ulrika ulrike uma umberto
umit umran umut una unal unni uno unto urbano urho uri uriel urmas urmila uros urpo urs ursa ursula urszula urte urve
usama uschi usha usko uta ute utkarsh utku uuno uwe vaclav vaclava vadim vadym vagn vahid vaibhav vaidas vaike vaino
vaios valborg valdas valdemar valdis valentim valentin valentina valentine valentino valentyna valeria valeriano
valerie valero vali valter vandana vanesa vanessa vani vanja varsha varun vasant vasco vasile vasileios vasilica
vasiliki vasilis vasily vasudha vasyl vasyliy vaughn vedran vedrana veena veera vegard veijo veikko veini veit veli
velimir vellamo vello venceslao vendela vendula veneranda veniamin venkat venla vera verena verner vernerikku vernon
veronica veronika veronique vesa vesna veta vibeke vibha vicente vicentiu vicki vickie vicky victor victoria
victoriano victorine vid vida vidar vidya vieno viera vigdis viggo viivi vija vijay vikas viking vikram viktor
viktoria viktorija viktoriya vilem vilgot vilhelm vilho vilja viljami villads ville villu vilma vilmos vilnis vimal
vinay vince vincent vincenza vincenzo vineet vinh vinicio vinicius vinko vinod viola violette viorel viorica vipin
vipul virag virat virgil virgilio virginia virginie virginija virginijus virve vishal vishnu visnja vit vita vitaliy
vitaly vitezslav vito vitor vitoria vittoria vittorio vivaan vivek viveka vivian viviana viviane vivien vizma
vjekoslav vlad vladan vladena vladimir vladimira vladislav vlado vladyslav vlaicu vlasta vlastimil voicu vojtech
volkan volker volkmar volodymyr vratislav vsevolod vuk vuokko vy vyacheslav vytautas waclaw wade wael wafa waldemar
walid wallace walter waltraud waltraut wambui wanda wanjiru warren wassim wayne wei wendelin wendy wenjie wenke werner
weronika wesley whitney widad wiebke wieland wieslaw wiktor wiktoria wilbur wilfredo wilfried wilhelm wilhelmine
willard willeke willem willemijn willi william willie willow willy wilma wim wincenty winfried witold wladyslaw
wlodzimierz wojciech wojtek wolfgang wolfram woojin wouter xander xavier xenia xia xiang xiao xiaoming ximena xin xiu
xuan xue yaa yael yagmur yago yahya yair yaiza yakov yakup yalcin yalda yana yang yann yannick yara yaren yaroslav
yaroslava yasemin yash yasin yasir yasmin yasmine yassin yasuko yavuz yegor yehuda yekaterina yekta yelena yeliz
yelizaveta yen yener yeon yesenia yesim yetunde yigit yilmaz ying yitzhak yngvar yngve yogesh yoichi yoko yolanda
yolande yonatan yonca yosef yoshiko yoshio yossi yota younes youngja yousef youssef ypma yuan yucel yue yuka yuki
yukiko yuko yulia yuliya yumi yumiko yun yuna yunus yuri yuriy yury yusuf yutaka yuto yuuki yves yvette yvonne zac
zacarias zach zacharie zachary zachery zafer zaharia zahra zaida zain zainab zainabu zaira zakaria zakhar zaki zala
zalan zamfir zan zane zbigniew zbynek zdenek zdenka zdenko zdislava zdravko zdzislaw zeev zehra zeina zekeriya zeki
zeliha zeljka zeljko zenon zeren zeynep zhanna zhen zhi zhiqiang ziad ziemowit ziga zigmunds zigrida zinaida zineb
zisis zita ziva zivile zlata zlatan zlatko zodwa zoe zoey zofia zofie zohra zoi zoltan zora zoraida zoran zorica zorka
zsanett zsigmond zsofia zsolt zsombor zsuzsanna zubeyde zuhal zumra zuzana zuzanna zvonimir zvonko zygimantas zygmunt
"""
_SURNAME_TEXT = """
acar ackermann adam adamczyk adams agarwal aguilar ahmed aksoy aktas albers albrecht allen almeida alonso alvarez
alves anders andersen anderson andersson andre andreasen andreassen arias armstrong arnaud arndt arnold arslan
arvidsson aslan aubert aubry avci axelsson aydin bachmann bailey baker bakken bakker balazs balogh banerjee baran
barbier barbieri barbosa barker barone barrett bartels barth bartos bauer baumann bayer beck becker beckmann behrens
bell benedetti benes bengtsson benitez bennett benoit berg berglund bergman bergmann bergqvist bergstrom bernard
bernardi bertrand beyer bhatt bianchi binder bischoff bjork blanc blanchard blanco blazek blom blomqvist bock bohm
bohme bonnet borkowski bos bosch bose boucher bourgeois boyer bradley brandl brandt braun braune brennan breuer
brinkmann brooks brouwer brown bruckner brun brunet brunner bruno buchholz buchner bui bulut burger burke burkhardt
burton busch byrne caballero cabrera calvo campbell cano caputo carbone caron carpentier carr carrasco carre carter
caruso carvalho castillo castro cattaneo celik cermak cerna cerny cetin chambers charpentier chatterjee chaudhry
chauhan chevalier chmielewski chopra christ ciobanu claesson clark clarke clausen clement coelho colin collins colombo
connolly conrad constantinescu conte conti cook cooper coppola cortes coskun costa costantini crawford crespo cruz
cunningham dahl daly dang dangelo danielsson david davies davis deangelis deboer debruijn debruin degraaf degroot
dehaan dejong dekker dekoning delgado deluca demir demirci denis desai desantis deschamps devries dewit dias diaz
dietrich dietz dijkstra dima dobre dogan dolezal dominguez donnelly dorn doyle dreyer dubois duda dudek duffy dufour
dumas dumitrescu dumont dunn dupont dupuis dupuy duran durand duval dvorak dvorakova ebert eckert eder edwards ehlers
eichhorn eklund ellis engelhardt engstrom erdem erdmann erdogan eriksen ernst esposito esser esteban evans fabbri
fabre farina farkas farrell faure feher fekete ferguson fernandes fernandez ferrara ferrari ferraro ferreira ferrer
ferri fiala fiedler fink fischer fitzgerald fletcher fleury florea flynn fodor fontaine fontana ford forsberg forster
foster fournier fowler francois franke fransson frederiksen fredriksson frey friedrich fritz fromm fuchs funk gabriel
gaillard gal gallagher gallardo gallego galli gallo garcia gardner garnier garrido gatti gauthier gautier gebhardt
geiger gentile gerard gerlach ghosh gibson giese gil gill gimenez giordano girard giraud giuliani gobel gomes gomez
goncalves gonzalez gorski gotz grabowski graf grassi grasso gray greco green griffin grimm gruber guerin guerra
guerrero guillaume guillot guler gunnarsson gunther gupta gustafsson gutierrez guyot guzman haas haase hafner hahn
hajek hakansson hall halvorsen hamalainen hamann hamilton hanke hansen hansson harper harris harrison hartmann harvey
haugen haupt hayes hecht heikkinen heil heine heinemann heinonen heinrich heinz heinze heller hendriks hennig henning
henriksen henriksson henry hentschel herbst hering hermann hernandez herrera herrero herrmann herz hess hesse heuer
heyer hidalgo higgins hill hirsch hoang hoch hoekstra hofer hoffmann hofmann hogan hohmann holmberg holmes hoppe horak
horakova horn horstmann horvat horvath howard huber hubert hubner hudson huet hughes huisman hummel hussain huynh
ibanez iglesias ilie ionescu iqbal isaksson ivanov iversen iyer jablonski jackson jacob jacobs jacobsen jacquet jager
jahn jakobsen jakobsson jakubowski james jankowski jansen janssen jansson jarvinen jasinski jaworski jelinek jenkins
jeppesen jespersen jimenez johannessen johansen johansson john johnsen johnson joly jones jonsson joshi jost jovanovic
juhasz jung jungmann kaiser kalinowski kaminski kaminsky kaplan kapoor karaca karl karlsson kaur kavanagh kaya
kazmierczak keane keil keller kelley kelly kennedy kern keskin kessler khan khanna kiefer kilic kilinc king kirchner
kirsch kiss klein kluge knoll knudsen kocak koch kocsis kohler kok kolar kolb konecny konig kopecky kopp korhonen
korkmaz koskinen koster kovacs kovar kowalczyk kowalski kozlowska kozlowski kraft kramer kranz kratochvil kraus krause
krawczyk krejci kremer kristiansen kristoffersen kriz kroger krol krueger krug kruger kruse kubiak kucera kucerova
kucharski kuhlmann kuhn kuhne kuipers kulkarni kumar kunz kunze kurt kuster lacroix laine laitinen lakatos lambert
lang lange larsen larsson lauer laurent lauridsen laursen lawson lechner leclerc leclercq lecomte lee lefebvre lefevre
legrand lehmann lehtinen lehtonen lemaire lemoine lenz leone leroux leroy lewandowski lewis lima lindberg lindgren
lindner lindqvist lindstrom linke linz lofgren lohmann lombardi lombardo long longo lopes lopez lorenz lorenzo lowe
lozano lucas ludwig lundberg lundgren lundin lundqvist lungu lutz lynch maas macdonald maciejewski mack magnusson
maguire maier maillard majewski makela makinen malhotra malik malinowski mancini marchand marchetti marciniak marek
mariani marini marino marques marquez marshall martin martinelli martinez martini martino martins marty marx masson
matei mathieu mattsson mayer mayr mazza mccarthy mcdonald mcgrath medina mehta meier meijer meister menard mendes
mendez menon menzel mercier merz messina meszaros metz meunier meyer michalak michalski michel michels mikkelsen
miller mishra mitchell mogensen mohr molina moller molnar montanari monteiro montero moore morales moran moreau
moreira morel morelli moreno moretti morgan morin moritz morris mortensen moser moulin moya mueller muhl mukherjee
mulder muller munoz munteanu murphy murray musil nagel nagy naidu nair nascimento naumann navarro navratil neagu
nelson nemcova nemec nemeth neubauer neuhaus neumann nguyen nickel nicolas nielsen niemann niemi nieminen nieto
nilsson nissen nistor noel nolan nolte novak novakova novotna novotny nowak nowakowski nowicka nunes nunez nyberg
nystrom obrien oconnor ogden olah olesen oliveira olivier olofsson olsen olsson olszewski oprea ortega ortiz ostrowski
oswald ott otto ozdemir ozer ozkan ozturk palmer palmieri palumbo pandey pape papp parisi parker parra pascual pastor
patel patil paul pawlak pawlowski payet pedersen peeters pellegrini pellegrino pereira perez perrin persson peter
peters petersen peterson petit petrov pettersson petzold pfeifer pfeiffer pham phan philippe phillips picard pietrzak
pillai pinter pinto piotrowski pohl poirier pokorny polat popa popescu popov popp pospisil postma poulsen powell
preuss price prieto prins probst prochazka prochazkova quinn qureshi raab racz radu ramirez ramos rantanen rao
rasmussen rathore rauch rausch reddy reed reich reichert reid reilly reimann reinhardt reinhold reis reiter renard
renaud renault renner reuter rey reyes ribeiro ricci richard richardson richter riedel rieger rinaldi rivera riviere
rizzi rizzo robert roberts robertson robin robinson rocha roche rodrigues rodriguez rogers rohde rojas rolland romano
romer romero rossetti rossi roth rousseau roussel roux roy royer rubio rudolph ruiz runge russell russo rusu rutkowski
ruud ruzicka ryan saarinen sadowski saez sahin salminen salonen samuelsson sanchez sandberg sander sandhu sanna
santana santoro santos sanz sari sauer schaaf schade schafer schaller scheffer schenk scherer schiller schindler
schlegel schlosser schlueter schluter schmid schmidt schmitt schmitz schneider scholten scholz schouten schramm
schreiber schreiner schroder schroeder schubert schuler schulte schultz schulz schulze schumacher schumann schuster
schwartz schwarz scott sedlak seidel seifert seitz serban serra serrano shah sharma siddiqui siebert siegel sikora
silva silvestri simek simon simonsen simpson simsek singh sinha sipos sjoberg smit smith smits soares soderberg
sokolowski solberg soler sorensen soto sousa souza spencer stan steffen stein steiner stephan stepien stevens stewart
stoll strauss strobel suarez sullivan svendsen svensson svoboda svobodova sweeney szabo szewczyk szilagyi szucs takacs
taylor teixeira tekin thiel thiele thomas thompson thomsen tiwari tomaszewski torok torres toth tran trivedi tudor
turner turunen ullrich ulrich unal unger valente valentini vanbeek vandam vandenberg vandenbrink vandenbroek
vandenheuvel vanderberg vanderheijden vanderlinden vandermeer vanderveen vanderwal vandeven vandijk vanek vanleeuwen
vanveen vanvliet vanwijk varga vargas vasquez vasseur vaz vazquez velasco verhoeven verma vermeulen vesela vesely
vetter vicente vidal vieira vincent virtanen visser vitale vlcek vogel vogler vogt voicu voigt vos voss wagner wahl
walczak walker wallace wallin walsh walter walz wang ward watson watts webb weber weidner weigel weiland weis weiss
wendt wenzel werner wetzel white wieczorek wiegand wikstrom wilhelm wilk wilke willems wilson wimmer winkelmann
winkler winter wirth wisniewski witkowski witt witte wittmann wlodarczyk wojciechowski wojcik wolf wolff wolter wood
wozniak wright wrobel wroblewski wulf wunderlich yadav yildirim yildiz yilmaz young zajac zalewski zander zawadzki
zeller zeman ziegler zielinski zimmermann zink
"""
GIVEN_NAMES = frozenset(_GIVEN_TEXT.split())
SURNAMES = frozenset(_SURNAME_TEXT.split())
