"""Words that a careful paraphrase exchanges: the filters count a group's words as one.

Wider than `lexicon.synonyms`, since context need not be checked here: both words were put where
they stand by a writer. Opposites, quantities and comparisons never share a group. Words are matched
by stem, a hyphen stands for a space, and a word may stand in several groups.
"""

_GROUPS = """
show demonstrate illustrate reveal indicate display exhibit present depict; start begin commence
initiate launch outset beginning kick-off onset; end finish conclude complete ending wrap-up
completion finalize; big large huge enormous great massive immense sizable vast giant substantial
considerable; small tiny little minor compact slight modest petite; quick fast rapid swift speedy
quickly rapidly fast swiftly promptly prompt speedily; slow gradual unhurried slowly gradually
steadily bit-by-bit; help assist aid support assistance helpful beneficial useful handy valuable;
buy purchase get acquire obtain procure pick-up; build construct erect assemble assembly
construction; use utilize employ apply usage utilization leverage; choose select pick opt choice
selection option; make create produce generate craft form creation production prepare; find
discover locate identify spot detect discovery; give provide supply offer deliver grant furnish;
keep retain maintain preserve store hold save; let allow permit enable; need require demand
necessitate call-for requirement necessity; try attempt seek strive effort; think believe consider
regard feel reckon; say state note mention remark report claim tell explain describe declare
announce; ask inquire query request question enquire; answer reply respond response; change alter
modify adjust vary adapt shift alteration modification adjustment; fix repair mend correct resolve
solve remedy; improve enhance better boost strengthen improvement enhancement upgrade; stop halt
cease quit discontinue; remove eliminate delete discard drop erase throw-away strip; add include
incorporate insert contain mix-in combine feature; mix stir blend combine whisk; avoid prevent
dodge evade sidestep avert; live reside dwell inhabit home; home house residence dwelling; car
automobile vehicle auto; doctor physician clinician; kid child youngster; job work task occupation
duty role position profession career; money cash fund funds; friend pal companion; firm company
business corporation enterprise; boss manager supervisor; staff employee worker personnel
workforce team; student pupil learner; teacher instructor educator tutor; important key crucial
essential vital significant critical major; key central main chief principal primary major; hard
difficult tough challenging tricky demanding; easy simple straightforward effortless ease
simplicity; good great excellent fine decent solid; bad poor awful terrible; nice pleasant lovely
enjoyable agreeable delightful; happy glad pleased cheerful delighted content; sad unhappy upset;
angry mad furious; tired weary exhausted fatigued; sick ill unwell; smart clever intelligent
bright; rich wealthy affluent; famous well-known renowned celebrated; common widespread prevalent
usual ordinary; strange odd unusual weird peculiar; right correct accurate proper correctly
accurately; wrong incorrect mistaken erroneous; error mistake slip; problem issue trouble
difficulty challenge; cause lead trigger prompt bring-about result produce induce; effect impact
influence consequence outcome result; part portion piece section segment component share; whole
total complete full; place location spot site area region; road street; trip journey travel
voyage; walk stroll hike; eat consume dine; food meal dish cuisine; drink beverage sip; tasty
delicious flavorful flavourful; picture image photo photograph; film movie; book volume; story
tale narrative; song tune track; idea notion concept thought; plan scheme strategy approach;
method technique way approach procedure process means; goal aim objective target purpose;
advantage benefit upside plus strength; disadvantage drawback downside weakness; danger risk
hazard peril; safe secure; safety security; damage harm hurt injure; protect guard shield
safeguard defend; collect gather accumulate amass; check verify confirm inspect examine test
validate; look examine inspect view; watch observe monitor view; study research investigate
examine investigation; learn study master; know understand grasp comprehend understanding
comprehension; remember recall recollect; happen occur arise take-place; move shift relocate
transfer; send dispatch mail ship; receive get obtain; join connect link attach unite; divide
split separate; cut chop slice trim; heat warm; cold chilly cool; hot warm; wet damp moist; old
ancient aged; new recent fresh modern novel; quiet silent calm peaceful; loud noisy; clean tidy
wash; dirty messy filthy; empty vacant; enough sufficient adequate sufficiently; extra additional
further spare more-of; main primary principal chief; entire whole complete; exact precise; clear
plain obvious evident apparent; different distinct diverse varied; similar alike comparable
resemble; special unique particular; several various multiple; often frequently regularly
commonly; usually typically normally generally; sometimes occasionally; always constantly; now
currently today presently nowadays present; soon shortly; later afterwards subsequently; early
beforehand; finally eventually ultimately; near close nearby; far distant; begin commence; famous
known; talk speak chat converse discuss discussion conversation debate; meeting gathering session;
agree consent approve accept; disagree object dispute; argue contend maintain; decide determine
resolve settle; depend rely hinge; reach achieve attain accomplish arrive-at; gain earn obtain;
grow develop expand growth development; spread distribute disperse; begin originate; save conserve
preserve; spend pay; cost price expense charge fee; cheap inexpensive affordable low-cost;
expensive costly pricey; sort kind type category variety; list enumerate; name call title term
label dub; mean signify denote refer represent; rule regulation guideline; law legislation
statute; power strength force energy; speed pace velocity rate; size dimension; shape form; color
colour hue; amount quantity; number figure; group team set bunch; leader head chief; war conflict;
fight battle combat; win triumph victory prevail; win receive award earn; work perform function
operate run; introduce launch establish present; country nation state; city town municipality;
citizen resident inhabitant; person individual human; man gentleman; woman lady; author writer
novelist; paint painting; music musical; plant vegetation flora; animal creature beast; sea ocean;
land ground soil earth; rain rainfall shower; sun sunlight sunshine; light illumination; night
nighttime evening; day daytime; machine device apparatus equipment gadget; tool instrument
implement; computer machine; program software application app; data information info detail; file
document; screen display monitor; password passcode; setting option preference; click press tap
hit push; open launch; close shut; type enter input key-in; function routine; bug defect fault
glitch; version edition release; user customer client consumer; order purchase; deliver ship
delivery shipment; return refund send-back; letter note message; email mail; phone call telephone
ring; exercise workout training train; sleep rest slumber; pain ache discomfort; medicine
medication drug; illness disease sickness condition ailment disorder; symptom sign indication;
cure heal treat remedy treatment; body physique; brain mind; heart cardiac; blood bloodstream;
bone skeleton; skin complexion; muscle muscular; weight mass; diet eating; healthy wholesome
nutritious; vegetable veggie; garden yard; cook prepare; bake roast; oven stove; pan skillet pot;
recipe formula; ingredient component; tender soft; crisp crunchy crispy; brown golden; serve
dish-up; season flavor; breakfast morning-meal; allow permit; ensure guarantee make-sure sure
certain; encourage promote foster motivate; reduce lower decrease cut lessen diminish minimize
shrink; increase raise rise grow climb; begin outset; popular well-liked beloved; beautiful
gorgeous pretty attractive; interesting fascinating intriguing engaging; boring dull tedious;
funny amusing humorous; serious grave; careful cautious carefully cautiously attentive; brave
courageous bold; honest truthful sincere; kind generous; polite courteous; rude impolite; calm
relaxed; busy occupied; lazy idle; ready prepared set; possible feasible doable; necessary needed
required; available accessible; visible seen; hidden concealed; basic fundamental elementary;
complex complicated intricate; detailed thorough comprehensive; short brief concise succinct; long
lengthy extended; wide broad; narrow thin slim; deep profound; high tall elevated; strong powerful
sturdy robust; weak feeble frail; heavy weighty; rough coarse; smooth even; sharp pointed; flat
level; round circular; natural organic; artificial synthetic; public communal; private personal;
local regional; global worldwide international world; traditional classic conventional customary;
effective efficient efficiently effectively productive; reliable dependable trustworthy; flexible
adaptable; stable steady; permanent lasting enduring; temporary short-term provisional; develop
evolve; teach instruct educate; explain clarify; describe outline portray; compare contrast;
measure gauge assess evaluate assessment; calculate compute work-out; estimate guess approximate;
predict forecast anticipate foresee; prove establish; support back; oppose resist; suggest propose
recommend advise recommendation suggestion; warn caution alert; complain grumble; praise commend
compliment; blame fault; thank appreciate; forgive pardon; invite ask; visit call-on see; wait
await; hurry rush; rest relax; breathe inhale; touch contact feel; hear listen; see notice spot
observe; taste flavor flavour; smell scent odor odour; cover coat; fill load; pour tip; place put
set lay; hang suspend; lift raise hoist; carry transport bear haul convey; pull drag tug; push
shove; throw toss; catch capture grab; break snap shatter; bend curve; turn rotate spin revolve;
melt thaw; boil simmer; freeze chill; dry dehydrate; burn scorch; shine glow; flow stream run;
float drift; sink submerge; climb ascend; jump leap; travel go move; enter access; leave depart
exit departure; arrive reach; stay remain linger; follow obey adhere; guide direct steer; control
regulate govern manage; run operate; own possess; share split; lend loan; rent lease; trade
exchange swap; earn make; waste squander; hire recruit employ; fire dismiss; vote elect; rule
govern reign; found establish create set-up; invent devise; publish release issue; perform
carry-out execute conduct; act behave; play perform; compete contend vie; celebrate mark; organize
arrange coordinate schedule; delay postpone put-off; cancel call-off; continue proceed carry-on
persist keep-on go-on; repeat redo; replace substitute swap; restore recover; search look-for
seek; hide conceal; reason why cause; hence therefore; situation circumstance case; event occasion
occurrence; history past; period era time span; moment instant; stage phase step; level degree
extent; limit restrict cap restriction limitation; range variety array assortment; source origin;
base foundation; top peak summit; edge border boundary; center centre middle core; material
substance matter; liquid fluid; piece bit; pair couple; crowd audience; family household relative;
guest visitor; neighbor neighbour; skill ability talent capability; habit routine practice;
attitude outlook; emotion feeling; hope wish; fear dread; trust confidence; respect esteem;
freedom liberty; duty responsibility obligation; right entitlement; chance opportunity likelihood
probability; luck fortune; success achievement; progress advance advancement; knowledge expertise;
quality standard; value worth; feature characteristic trait attribute property; example sample
instance; model pattern; test exam trial; lesson class course; subject topic theme; text passage;
word term; language tongue; summary overview recap; tip advice hint suggestion pointer
recommendation; aware conscious mindful; bedtime bed; clothes clothing garment; shop store; market
marketplace; hotel inn; restaurant eatery; train rail railway; plane aircraft airplane; ship boat
vessel; station stop; bike bicycle cycle; route path way; map chart; weather climate; wind breeze;
fire blaze; forest wood; river stream; mountain peak; planet world; moon lunar; stone rock; wood
timber; cloth fabric textile; bread loaf; can possible able; affect effect impact; quiet calm
"""
GROUPS: tuple[tuple[str, ...], ...] = tuple(tuple(group.split()) for group in _GROUPS.split(";"))
