# SPDX-License-Identifier: Apache-2.0
# Tested through tests/io/roles/test_roles.py
"""What headers say: words of seventeen languages, and what a column that has them seems to be.

The words are data: whoever misses one adds it to the list. They are compared with the words of a header in small letters
without accents, cut at blanks, signs and capitals ("patientName" is "patient name", "n°" is "no"). `*` stands for any letters, `+` joins words
that follow each other.
"""

import re
from collections.abc import Iterator
from enum import Enum
from functools import cache

from overt.io.roles.plain_text import plain


class Meaning(Enum):
    """What a header says of its column."""

    WEIGHT = "a weight of the sample"
    EMAIL = "an e-mail address"
    PHONE = "a telephone number"
    ADDRESS = "an address"
    NAME = "a person's name"
    STAFF = "somebody who treats or serves a person"
    NUMBER = "a number of a person, record or case"
    HOUSEHOLD = "a household"
    PERSON = "a person"
    TEXT = "remarks"
    DATE = "a date"
    SENSITIVE = "something people keep to themselves"
    PUBLIC = "what others may know"
    THING = "a place or a thing"


WORDS: dict[Meaning, str] = {
    Meaning.WEIGHT: """
        weight wgt fnlwgt sampling+weight survey+weight *wt hochrechnungsfaktor gewichtungsfaktor *gewichtung factor+elevacion factor+expansion
        factor+de+* peso+campion* coefficiente+* ponderation poids+sondage coefficient+extrapolation peso+amostral fator+* weegfactor
        ophoogfactor waga+* agirlik+katsayisi
        poids+de+sondage pond* stratum strata psu weeg+factor
        painokerroin* suly+* sulyozas* vaha+* vahy vyberova+vaha pondere* ponderi* vaegt* vekt+faktor factor+exp*
        poids+cal* poids+ind* poids+men* *inus xw lw
        discwt*""",
    Meaning.EMAIL: "*email* mail *mails mailadres* e+mail* courriel mel correo correo+* pec e+posta eposta* epost* sahkoposti",
    Meaning.PHONE: """
        *telefon* *telephone* *phone* tel tel+* hometel worktel mobtel mobile mobil mobilnummer mobilnr mobiel* handy* cell cellphone cellular* celular* cellulare
        cep+tel* gsm fax* *faks telemovel movil moviles portable durchwahl rufnummer *rufnummer telefoon* puhelin* contact+number
        emergency+contact notfallkontakt kontakt whatsapp komorka msisdn
        notruf+nummer nr+tel numer+tel* telefonnr notfalltel notfalltelefon faxnr
        telefonszam* tlf tlf+* puhelinnumero* mobilszam mob""",
    Meaning.ADDRESS: """
        address* *adresse adressen anschrift *anschrift direccion* domicilio indirizzo* endereco* morada logradouro adres adresi *adres adres+* *adress
        street* strasse *strasse str strasse+* hausnummer hausnr house+no house+number huisnummer calle rue voie via ulica sokak mahalle
        lat lon lng latitude longitude latitud longitud *latitude *longitude gps* coord* koordinat* breitengrad laengengrad ip ip+* clientip remoteip ipaddr* mac+address url
        website webseite homepage geolocation geocode
        lakcim* cim adresa* bydliste* osoite* katuosoite* bopael* bolig+adresse utca* ulice* strada* bostad*""",
    Meaning.NAME: """
        name names *name surname* *names lastname* firstname* forename* nickname alias nom noms prenom prenoms nome cognome* *cognome nombre nombres
        apellido* apelido* sobrenome* naam *naam roepnaam voorletters vorname* *vorname nachname* rufname ad adi soyad* isim isimler namn *namn
        navn *navn imie imiona nazwisko* jmeno prijmeni nev *nev nume prenume nimi *nimi first last middle initials initialen maiden given family
        titular holder policyholder *holder next+of+kin mother father mutter vater mere pere madre padre mae pai anne baba moeder vader
        spouse ehepartner* ehefrau ehemann conjoint conyuge coniuge conjuge partner echtgenoot guardian sorgeberechtigt* tutor kontaktperson contact+person witness
        zeuge* ansprechpartner* username user+name login handle screen+name patronym* init midinit mid mi lname fname mname surn vname nname borrower *navn *namn efternavn etternavn mellannamn imya familiya otchestvo parent parents carer* tuteur* tuteurs erziehungsberechtigt* bill+to ship+to sold+to
        facebook instagram twitter linkedin skype telegram xing signature unterschrift anhoerige* anhorig* angehoerige* familiar+contacto conyugue opiekun* rodzic* zonglista manager* mgr
        nev* neve *neve anyja+neve keresztnev* vezeteknev* krestni* rodic* zastupce* prenumele numele* etunimi* sukunimi* fornavn* fulde+navn* parorende* paarorende* kontaktni+osoba zastupca* priezvisko* vermieter* landlord* proprietaire* empfaenger* zahlungsempf* payee* recipient* beneficiary* bezueger* erz+ber sus
        familienn* familienname* zuname* nachn vorn rufn roepn* achtern voorn apell* denunciant* indagat* imputat* contactpers* surn+* tiers""",
    Meaning.STAFF: """
        doctor* physician *arzt *aerztin *arztin medico medica medecin* prescriber prescritor* prescripteur therapist* therapeut* psychiatrist
        psychologist surgeon nurse gp caseworker case+worker social+worker teacher* *lehrer* *lehrkraft professor* enseignant* docente profesor* leraar
        docent ogretmen hekim doktor *officer agent sachbearbeiter* bearbeiter* handler judge richter lawyer anwalt* avvocato interviewer*
        huisarts behandelaar curante lekarz clerk operator vorgesetzte* supervisor hebamme* midwife* sage+femme matrona ostetrica vroedvrouw conseiller* consejero* consulente* berater* betreuer* counsel* advisor adviser lakare lege laege sykepleier behandler handlaggare larare laerer pharmacist* apotheker* apoteker pharmacien* psycholog* logopad* physio* dentist* zahnarzt* dentista preparer* rep reps einweiser* zuweiser* referrer* referring* verordner* operateur*
        commercialista* accountant* steuerberater* expert+comptable comptable* contable* gestor* ksiegow* boekhouder* asesor* lekarz* therapeutin trainer* coach* tutor+name vorgesetzter chef+de+service
        medic medic+de+* laege* laeg lekar* lakar* orvos* haziorvos* laakari* hoitaja* tridni* ucitel* opettaja* tanar* profesoara* sachb sachbearb* referent* zustaendig* consultant* specialist* counselor* counsellor* facharzt* mentor*
        profissional* professionista* klassenvorstand* kv pm pubblico+ministero expert* perito gutachter* sachverst* einsender* befunder* evv zorgverlener* hulpverlener* ansprechpers* supv*""",
    Meaning.NUMBER: """
        id ids *id id+* uid uuid guid identifier* identifiant* identificador* identificativo* kennung *kennung *kennzeichen ident ssn sin nino ni+number nhs* mrn npi
        dni nie nif nit cpf cnpj rg cnp pesel nip bsn tckn kimlik* codice+fiscale cf steuer+id steuernummer no nr num number numero numer nro number*
        *nummer *nr *num *number matricul* matrikel* passport* *passport passaporte pasaporte reisepass* ausweis* *ausweis licence license licence+* license+* fuehrerschein* permis account* *account
        konto* *konto iban bic rekening* compte cuenta conto conta hesap* card *card karte *karte kaart *kaart* carta tarjeta cartao karta karty policy polizza poliza apolice
        invoice* rechnungsnr acct *acct sort+code aktenzeichen az record* *record case fall *case chart accession* reference* ref referenz ticket barcode serial* imei imsi vin vin+* plate* reg
        immatriculation targa plaka kenteken placa token hash pseudonym* code+patient nss insee+no social+security securite+sociale seguridad+social protokol+* protocol+no dossier*
        expediente pratica processo sicil* tc dosya* studienummer personnr personnummer fodselsnummer *personnummer cpr hetu rodne+cislo cnh titulo+eleitor nis sus
        badge* medallion hack transponder* rfid chip* device+id session* cookie* serien* fahrgestell* vertragsnr contract+no contract+number police+no blz bankverbindung kfz zeichen sygnatura pesel* regon krs nif+* curp rfc rut run rfc nhsno nhs+no ahv* avs* oib jmbg egn emso
        szam *szama sorszam* taj adoazonosito* tunnus* *tunnus *tunniste henkilotunnus* hetu rodne* cislo* poradove* cnp* bankszamla* szamlaszam* ucet* cislo+uctu tilinumero* mpan mprn lopnr* loebenr* journalnr* iban*""",
    Meaning.HOUSEHOLD: "household* hh hhid haushalt* hogar* menage* foyer* huishoud* famiglia nucleo hane hane+* hid hidp hhnr hh+* idhogar ident+log agregado domiciliu gospodarstw*",
    Meaning.PERSON: """
        patient patients pt pat patnr patid patienten* *patient person persons persona personne* individual* individu* subject* member* mitglied* customer* client* kunde* kunden* user* student* schueler* eleve* alumno*
        alunno* aluno* leerling* ogrenci* employee* mitarbeiter* personal pers employe* empleado* dipendente* funcionario* werknemer* participant*
        respondent* proband* teilnehmer* versicherten* versicherte* insured assistito* utente* abonado* allocataire* beneficiaire* beneficiario* reiziger* hasta*
        applicant* antragsteller* tenant* mieter* inmate* haeftling* suspect* donor* voter* waehler* passenger* debtor* borrower* subscriber* czytelnik*
        paciente* paziente* cliente* klient* demandeur*
        beteg* dolgozo* munkavallalo* zak zaci zamestnanec* klienti asigurat* pacient* angajat* elev elevi potilas* asiakas* vastaaja* tyontekija* borger* elever*
        usager* adherent* lecteur* assure assures declarant* contribuable* contribuyente* titulaire* lettore leser leserin entleiher* ausleiher*""",
    Meaning.TEXT: """
        comment* kommentar* commentaire* comentario* commento commenti remark* bemerkung* *bemerkung anmerkung* remarque* observation* observacion* observacoes osservazion*
        opmerking* notiz* note notes *notes note+* nota notas anotac* narrative* description* beschreibung descripcion descrizione aciklama* not notlar free+text freitext* texte
        testo texto memo appreciation* uwagi poznamk* anamnese anamnesis bem anm obs rem kom komm
        poznamka* megjegyzes* huomautus* huomio* observatii mentiuni bemaerkning* merknad* anmarkning*""",
    Meaning.DATE: """
        date* *date datum *datum fecha* f+nac* ne+e+le nee+le ne+le nato+il fodelse* fodsels* fodt fodd fodselsdag *dag *dag+fodd am seit since until bis from depuis hasta desde data datas tarih* *tarihi dato *dato dob dt *dt birth* geb geburts* geboorte* naissance nacimiento nascita nascimento dogum*
        urodz* born time* *time zeit* *zeitpunkt uhrzeit *tijd heure hora ora saat timestamp* year* *year jahr *jahr annee ano anno yil* jaar *jaar aar
        rok month monat mois mes mese maand ay admitted discharged registered created updated admission discharge
        szul+* szuletes* idopont* datuma narozeni* nastup* prijeti* propusteni* syntyma* paiva* paivays* nasterii internarii externarii fodsels* indlagt* udskrevet* innlagt* utskrevet*""",
    Meaning.SENSITIVE: """
        *diagnos* diag* dx *dx icd* *icd tani* *disease* *illness* *sick* krank *krankheit* *erkrank* maladie* enfermedad* malatti* patolog* ziekte* aandoening* doenca* hastalik* chorob*
        *condition* comorbid* symptom* sintom* symptome* belirti* *disorder* *stoornis* *stoerung* *trouble* *impair* *disab* *behinder* handicap* *discapac* *disabil* *deficien*
        invalid* engel* *beperking hiv* aids sero* covid* hepat* tubercul* cancer* krebs* tumo* diabet* depress* psych* psico* mental* suicid* *suizid* addict* sucht* verslav* dipendenza+da
        adicc* alcohol* alkohol* alcool* tobac* smok* rauch* fum* tabac* sigara* drug* drog* substanc* overdos* pregnan* schwanger* caesar* cesar* kaiserschnitt* fehlgeburt* miscarr* fausse+couche birth+weight geburtsgewicht* apgar gravid* grossesse* embaraz* gravidanza* gravidez* zwanger* gebe* abort* sterili*
        contracep* sexual* sexuel* sessual* cinsel* orientation* orientac* orientam* gender+identity trans transgender *medic* medicine* medik* medicam* *arznei* ilac* lek leki farmac* pharma* atc rx prescri* receta* ricetta* recept* treat* *therap* terap* tedavi* behandlung*
        traitement* tratam* trattam* *surger* operation* procedure* *prozedur* ops drg* cpt hospitali* vaccin* *impf* vacun* asi asilar szczep* immuni* reaction* reaz* reacc* adverse* allerg* alerj* blood* *blut* sang* sangue sangre kan bloed* pressure
        tension* tensao tensione blutdruck* bloeddruk* hemoglob* haemoglob* grupo+sangu* groupe+sanguin gruppo+sanguigno body+weight weight+kg weight+kgs weight+lb weight+lbs weight+pounds *gewicht peso poids kilo kilogram* kg vikt vekt kilo* puls pulse heart+rate serolog* serostat* hba* gluc* cholest* kolest* creatin* kreatin* viral* cd4* bmi *score* test+result* test tests *test *result* *ergebnis* resultat* risultat* resultad* uitslag* sonuc* wynik* befund* *befund lab labs lab+* laborwert* messwert* wert phq* gad* mmse*
        *genetic* gene genes genom* genotyp* *dna* biometr* injur* blessure* *verletz* wound* *unfall* *accident* infortun* ongeval* trauma* *income* *inkomst* *indkomst* *inntekt* lon *lon lonn *penning *bidrag stonad *einkommen* revenu* reddit* ingreso* inkomen* renda rendiment* gelir* *salar* wage wages *gehalt* *lohn* salair* sueldo* stipend* salaris* loon maas* ucret* zarob* dochod* *earning* pay
        *payment* payout* *zahlung* pago* *pago pagament* paiement* betaling* odeme* *amount* *betrag* montant* importe* importo* *bedrag valor* valeur+* tutar* kwota *cost* *kosten* cout* costo* custo* costi charge charges *price* bill bills billed* billing+amount *tax* *steuer* impot*
        imposta* impuesto* imposto* belasting* vergi* podat* *benefit* *leistung* beihilfe* allocation* prestation* prestac* prestaz* uitkering* yardim* zasil* allowance* aid grant* stipendi* beca* borsa* bolsa* boursier* bourse burs burslu rsa aah apl
        *debt* *schuld* *dette* deud* debit* divid* schulden* borc* dlug* arrears *past+due outstanding* ausstehend* bal* rueckstand* impay* impag* inadimpl* insolven* *kredit* *credit* loan* *darlehen* pret prets prestito* emprest* prestam* *lening* balance* saldo* *saldo bakiye* wealth* *vermoegen* patrimo* asset* mortgage*
        rent rents rent+* miete* loyer* alquiler affitto* aluguel kira huur *claim* *schaden* sinistre* siniestr* *damage* fine fines bussgeld* *strafe* amende* multa* *multa boete* ceza* kara *kara kary grade* *note zensur* moyenne* note notes note+* voto voti *punt* cijfer* calificac* nota+media notas media nota not+* ortalama* ocen* gpa mark marks
        *crime* *criminal* *offen* delikt* *delict* delit* reato* crimen* suc suclu przestep* convict* *verurteil* *conden* *condann* *arrest* *verhaft* *prison* haft inhaftiert* *sentence* strafduur* straf* pena* *peine* *violen* *gewalt* *geweld* abuse* misshandl* abus maltrat* fault* schuldig* guilty charged
        religio* konfession* *konfession* confess* din dini *glaube* faith* church* kirch* *politic* *politik* *partei* party partido* partito* parti partij* siyasi* vote+* voted union trade+union gewerkschaft* syndic* sindic* sindac* vakbond* sendika* zwiazk* belief* *flag welfare* sozialhilfe* unemploy* arbeitslos* bijstand*
        fehltage absence* absen* verzuim* performance* leistungsbeurteil* evaluation* beurteilung* discipl* abmahnung* warning* default* overdue* delinquen* bankrupt* ccj insolv* rejected rejection refus* rechazad* rifiut* abgelehnt* afgewezen reason* motif* motivo* grund *grund anledning sjukskriv* sykmeld* risk *risk *risiko* score* iq *attempt* dose dose+* consumption* caregiv* pflegegrad* pflegestufe*
        vote paid *bezahlt dunning* *mahn* refund* *erstattung* rembours* erloes* umsatz* revenue* agi sen fsm exclusion* suspension* ks1* ks2* ks3* ks4* sats attainment* special+needs special+education* iep
        consommation* consumo* consumption* verbrauch* verbruik* zuzycie* usage* cannabis* marihuana* marijuana* opiat* opioid* cocain* kokain* heroin* ecstasy* mdma* doping*
        krwi krew cisnien* puls* saturation* spo2 tetno temperatur* fever fieber* fievre fiebre febbre
        sanction* sancion* sanzion* sankc* massnahme* *massnahme* *massnahmen verweis* ordnungsmassnahme* disziplin* detention* bewaehrung* probation* parole* custody* sorgerecht*
        spese* spesa gasto* depens* wydatk* uitgave* ausgabe* expens* spend* spent bonus* prime+* premie* premia* compensation* comp+* pay pay+* base+pay tip tips tip+* gratuit* trinkgeld*
        rating* bewertung* valutazion* valoracion* valuta+*  savings ersparn* epargne* ahorro* risparmi* pension* rente+* renten* retraite* erbe erbschaft* inheritance* net+worth gambl* glueckssp* spielsucht*
        aufenthalts* visa* visum* asylum* asyl* asilo refugee* fluechtling* refugi* residence+permit residence+status immigration* permesso+di+soggiorno titre+de+sejour
        foerderbedarf* foerder* bedarf* beatm* ventilat* intensiv* icu mrsa vre hbv hcv std sti chlamyd* syphil* gonorr* hpv
        death died dead deceased tod todes* verstorben* gestorben* deces deced* muerte muerto fallec* morto decess* decedut* zgon* overlijd* overleden avliden* dod smrt* mortal* surviv*
        krankenstand* arret+maladie baja* malattia* zwolnieni* fmla* leave+days sick+leave absentee* term+reason termination* kuendigung* licenciement* despid* despido* layoff* complaint* beschwerde* plainte* queja* reclam* grievance*
        bully* bullied mobbing* harass* belaestig* harcel* acoso* molest* stalk* ipv angst* anxi* ansied* stress* burnout* schlaf* sleep* insomn* dement* stroke* schlaganfall* asthm* obes* adipos* kidney* niere* herz* heart* coeur cuore cardi* epilep* autis* adhd dyslex* lrs
        menstru* period+* fertil* libido partnerinnen sexpartner* orientierung* identite+de+genre satisf* zufrieden* happiness opinion* attitude* meinung* attitud* trust* vertrauen* deduction* donation* spende* kirchensteuer* per+mille irpf* credit+class schufa* churn* vulnerab* kwh minutes mou
        ryg* royk* rok* tupak* dohany* kour* fumator* boli boala* betegs* betegseg* diagnoz* korisme* sairau* masenn* oire* porucha* nemoc* onemocn* selvskad* misbrug* rusmiddel*
        ber beren jovedelem* fizetes* kereset* palkka* tulot* mzda* plat platy prijem* venit* salariu* lonn* inntekt* formue* gaeld* dluh* adossag* velka* datorii inc inc+* tappenz* fegyelmi* bunteto* karne* trest* rikos* tuomio*
        puolue* politick* part+preferencia vallas* uskonto* nabozen* handicap+* rokkant* vamma* invalidita* terhes* tehotenstvi raskau* sarcina paino* hmotnost* suly verek* krevni* vercsoport* medical+equip* psr schwerbeh* gdb sgb rueckforder* schwb rev+fiscal* revenu+* stage stadium stadio tnm stage+* vape* vaping don dons ing+mens* remesa* komornicz* nagana* ocena*
        sante salud saude salute health gezondheid* gesundheit* saglik* zdrowi* zdravi zdravotni+stav* halsa* helbred* terveyd* terveys* egeszseg* alzh* chf copd* ckd esrd* dialys* transplant* osteopor* arthr* rheum* ischem* ischaem* hyperten* anaemi* anemi* hcpcs* hcc hcc*
        ghq* *ghq* sf12* sf36* eq5d* cesd* who5 auditc moca barthel* katz* adl iadl braden* *sato satisf* *pain *pain+* schmerz* douleur* dolor dolore pijn* *incident* incidente* sturz* stuerz* reanim* dnr dnar resuscit* palliat* zzp indicatie* esito* outcome* exitus *uitkomst hypothes* hipotes* hypothese* ipotesi
        retard* verspaet* fristueberschreit* konf rel relig* veteran* vet+stat* 401k* 403b* med+plan health+plan dental+plan garnish* *pfaend* saisie* embargo* pignoram* responsab* verstoss verstoesse* violation* cp+plan infracc* infrac* *reimb* *pymt *pmt pmt* copay* deductib* coinsur* patrim* brut brutto* *brutto gross gross+* rdtos* cuota* base+liquid* base+impon*
        bytes* bytes+* dur dur+* duration* dauer dauer+* duree* duracion* durata duur quantit* quantid* qty menge* referral* zuweisungsgrund* anlass *anlass er+status *status+er
        dx dx1 dx2 *severity* schweregrad* pr1 proc proc1 object+of+search strip+search beitrag* tbq tabaq* ant+familiares anteced* vorerkrank* family+history matem mathe* italiano deutsch english maths math reading science condotta betragen conducta ammesso promosso versetz* versetzung* bocciato limit *limit iv+rente ezpz dg dg+*
        vih serop* apgar* triage* ecog karnofsky nyha gcs sofa apache* egfr inr crp tsh psa ldl hdl hb temp""",
    Meaning.PUBLIC: """
        age ages *+age alter lebensalter *patientenalter edad edades eta idade leeftijd yas yasi wiek alder sex kon konn sexe sexo sesso *geschlecht geslacht* gender* genre genero cinsiyet* plec zip* zip5 *zip postcode* post+code* postal* *postal plz *plz postleitzahl* cap cep cp code+postal
        codigo+postal cod+postal codice+postale posta+kodu kod+pocztowy postnummer postnr pcode *city city town* village* ort orte *wohnort *geburtsort *dienstort *arbeitsort *zielort *startort ortsteil stadt *stadt wohnort* gemeinde* ville commune* ciudad* localidad* poblacion* municipio* comune* localita* citta plaats *plaats woonplaats* gemeente* cidade*
        concelho* freguesia* sehir* il ili ilce* miasto* gmina* county* kreis landkreis* bezirk* departement* department* dept* abteilung* provincia* provincie* province* region* regione* land *land bundesland* kanton* state* *state estado uf distrito* district* wojewodztw*
        countr* pays pais paese ulke* kraj national* staatsang* nazional* nacional* uyruk* obywatel* citizen* cittadinanza* ciudadania* marital* familienstand* *familienstand civil+status estado+civil stato+civile etat+civil situation+familiale burgerlijke* medeni*
        cywilny *education* bildung* *abschluss* schulabschluss* etudes diplome* estudios* istruzione* titolo+di+studio escolaridade* opleiding* egitim* wyksztalc* occupation* workclass* work+class class+of+worker ocupac* *job* *beruf* profess* profiss* oficio* lavoro* beroep* meslek* zawod* taetigkeit* attivita* actividad* employment* beschaeftig* industry* branche* sector* settore*
        ethni* race races raza raca *race* herkunft* migrat* language* *sprache* langue* lingua* idioma* taal* dil school* schule* *schule ecole* etablissement* escuela* scuola* okul* szkol* class* klasse* classe* clase* sinif* *faculty* fakult* facolt* bolum* course* kurs* studiengang* household+size *groesse children* *kinder* *enfants* hijos* figli* filhos* kinderen cocuk* dzieci*
        dependant* dependent* siblings* ward* *station station* *stasyon stazion* estacion* estacao* zone* zona* area* quartier* barrio* bairro* stadtteil* *ward* *unit room* rooms zimmer* bedroom* tariff* tarif* tarifa* abonnement* subscript* make marke* marca* *make *model* vehicle+year kind+of* type* typ *typ
        insurance kasse krankenkasse krankenkassen* versicherungsart beat precinct* hospital* klinik* *klinik krankenhaus height groesse color colour farbe eye* hair* urban* rural* tenure* wohnform* asl
        puesto* centro+de+trabajo job+family residence+country oddzial* vardcentral* home+zone pickup+zone ufr filiere*
        iranyitoszam* psc postinumero* cod+postal szuletesi+hely obec mesto kommun* kotikunta* judet* nem neme sukupuoli* pohlavi kjonn koen koenn munkakor* povolani* ammatti* siviilisaaty* rodinny+stav csaladi+allapot stare+civila trida* osztaly* afd afdeling* age+band munic* grade+lvl grade+level homeroom* lsoa msoa
        m+v m+w m+w+d w+m+d h+f f+m m+f k+m m+k e+k gndr* geschl geschl+* etes+vous pc pc4 pc6 depcom codgeo codcom munic* csp csp* pcs dipl dipl* cnae naf nace isic ateco isco* kod+poczt* prov prov+* loc loc+* *location work+location lieu+naiss* lieu+de+naiss* luogo+di+nascita luogo+nascita nato+a nata+a miejsce* standort* wijk buurt stadsdeel viertel
        succursale* filiale* sucursal* agence* agencia* agenzia* depot* store stores shop magasin* tienda* negozio* winkel* kategorie* categorie* categoria* kategoria* kategori* niveau+*formation niveau+*etudes educ educ+* escol* marstat* mastat* mar+stat* civ+stat* est+civil* etat+civ* sit+fam* filing+stat* n+dep kids* gyermek* deti familiari+a+carico hh+size *persons+in*
        stanowisk* yrke* arbetsgivare* metier* emploi* poste mansione* functie* jbstat* *jbstat empstat* emp+stat* ocup* situacion+laboral erwerb* alters* altersgr* agegrp* agegr* tranche+d+age tranche+age mutterspr* mutterspr ana+dil* moedertaal lang lang+* cittad* volkszug* unterkunft* logement* housing* accommodation* dwelling* kl kl+* yr yr+* passenger+count member+casual usertype
        ubezpieczyciel* pojistovna* zdravotni+pojistovna insurer* assureur* mutuelle* aseguradora* verzekeraar* assicuratore* speciality specialty specialite* especialidad* specialita* fachrichtung* fachabt* reisdoel* trip+purpose mnais* anais* gor* birthy* wave* welle
        female male amonth *division pay1 payer* primary+payer ethn* eth eth+* self+defined+eth* borough* anrede salutation sparte* coo country+of+* camp+block block faixa* previsi* comuna* woningtype* bewoners* sez sez+* sezione* wohnkt wohnkanton* vers zus+vers* versicherungs* form form+group age+range""",
    Meaning.THING: """
        drug* product* produkt* medicat* medicin* medikament* disease* city* town* county* region* country* state station* *station hospital* school* college* faculty* course* subject* species event* file* test* study* site* ward* unit* department* dept*
        brand* model* diagnos* procedure* category* type* group* *ort orts* stadt* gemeinde* land* klinik* krankenhaus* schul* kurs* fach* marke* ville* commune* pays hopital* ecole* produit* medicament* ciudad* pais* escuela* producto* comune* paese*
        prodotto* farmaco* plaats* stad* gemeente* cidade* municipio* ilce* sehir* okul* hastane* ulke* ilac* company* firma* firmen* employer* *station dose* visit* year* language* choice* party* church* street* strasse*
        first+language first+visit last+visit first+dose last+dose last+seen last+contact enfants kinder hijos figli filhos""",
}  # fmt: skip


@cache
def meanings_of(name: str) -> frozenset[Meaning]:
    """What a header says, perhaps several things; nothing if none of its words is known."""
    words = words_of(name)
    found = {meaning: list(_places(words, known)) for meaning, known in _known_words().items()}
    literal = [place for places in found.values() for place, is_literal in places if is_literal]
    return frozenset(
        meaning
        for meaning, places in found.items()
        if any(not _belongs_to_others(meaning, place, is_literal, literal) for place, is_literal in places)
    )


def _belongs_to_others(
    meaning: Meaning, place: tuple[int, int], is_literal: bool, literal: list[tuple[int, int]]
) -> bool:
    """Whether what stands there is listed, as it stands, with another meaning: `postnr` is no `*nr`, a body weight no weight of the sample."""
    if meaning is Meaning.WEIGHT:
        return any(start <= place[0] and place[1] <= end and (start, end) != place for start, end in literal)
    return not is_literal and place in literal


def _places(words: str, known: list[tuple[str, str]]) -> Iterator[tuple[tuple[int, int], bool]]:
    """Where words of one meaning stand in a header, and whether they are listed as they stand: a `postnr` is no number of a person."""
    for core, word in known:
        if core in words:
            for match in re.finditer(rf"\b(?:{_expression(word)})\b", words):
                yield match.span(), "*" not in word


def numbers_persons(name: str) -> bool:
    """Whether a header says, and says nothing else, that its column numbers persons: what repeats in it is a person with several rows.

    >>> numbers_persons("Patient ID"), numbers_persons("Last name"), numbers_persons("Ward")
    (True, False, False)
    """
    meanings = meanings_of(name)
    return meanings >= {Meaning.PERSON, Meaning.NUMBER} and not meanings & {
        Meaning.HOUSEHOLD,
        Meaning.NAME,
        Meaning.STAFF,
    }


def may_number_persons(name: str) -> bool:
    """Whether a header says that its column numbers something, of which persons are not ruled out, or says nothing.

    >>> may_number_persons("Case ID"), may_number_persons("xq"), may_number_persons("Last name")
    (True, True, False)
    """
    meanings = meanings_of(name)
    return not meanings or (
        Meaning.NUMBER in meanings and not meanings & {Meaning.HOUSEHOLD, Meaning.NAME, Meaning.STAFF}
    )


def words_of(name: str) -> str:
    """The words of a header, in small letters without accents.

    >>> words_of("patientName"), words_of("N° sécurité_sociale"), words_of("Pers.-Nr.")
    ('patient name', 'no securite sociale', 'pers nr')
    """
    name = re.sub(r"(?<=[a-zß-ÿ])(?=[A-Z])", " ", name).replace("°", "o").replace("#", " no ")
    return " ".join(re.findall(r"[^\W_]+", plain(name)))


@cache
def _known_words() -> dict[Meaning, list[tuple[str, str]]]:
    """The words of each meaning, and of each the longest piece that must stand in a header: few need a look beyond it."""
    return {meaning: [(_core(word), word) for word in words.split()] for meaning, words in WORDS.items()}


def _core(word: str) -> str:
    return max(re.split(r"[*+]|(?<=[aou])e", word), key=len)


def _expression(word: str) -> str:
    """A word as a regular expression; the German ae, oe and ue also stand for letters that lost their dots."""
    return re.sub("([aou])e", "\\1e?", word).replace("*", "[^ ]*").replace("+", " ")
