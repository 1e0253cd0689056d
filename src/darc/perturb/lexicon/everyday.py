"""Everyday wordings that can replace each other, told apart by the place they need.

A table is `first > second` for one direction and `first = second` for both, parted by semicolons.
`NOUNS` stand only before a function word or a stop, `TRANSITIVE` verbs only before a determiner,
`ATTRIBUTIVE` adjectives only between a determiner and a noun, `PHRASES` anywhere. What a word may
not stand next to is in `lexicon.guards`.
"""

Pair = tuple[str, str]


def read_table(text: str) -> tuple[Pair, ...]:
    """The exchanges of a table, each in the direction in which it may be made."""
    found: list[Pair] = []
    for entry in " ".join(text.split()).split(";"):
        if not entry.strip():
            continue
        both = "=" in entry
        first, second = (part.strip() for part in entry.split("=" if both else ">"))
        found.append((first, second))
        if both:
            found.append((second, first))
    return tuple(found)


NOUNS: tuple[Pair, ...] = read_table("""
mistake > error; objective > goal; goal > aim; kid > child; issue > problem; outcome > result;
technique > method; advantage > benefit; disadvantage > drawback; photograph > photo; movie >
film; location > place; portion > part; notion > idea; component > part; quantity > amount; impact
> effect; trip = journey; characteristic > feature; consequence > effect; obstacle = hurdle;
challenge > difficulty; region > area; nation > country; resident > inhabitant; employee > worker;
tale > story; opportunity > chance; capability > ability; habitat > home; instructor > teacher;
pupil > student; necessity > need; advice > guidance; assistance > help; importance >
significance; happiness > joy; remainder > rest; guidance > advice; duration > length; odor >
smell; option > choice; tip > suggestion; suggestion > tip; strategy > approach; error > mistake;
purpose > aim; benefit > advantage; discussion > conversation
""")

TRANSITIVE: tuple[Pair, ...] = read_table("""
improve > enhance; gather > collect; purchase > buy; boost > increase; increase > raise; increase
> boost; reduce > lower; lower > reduce; decrease > reduce; decrease > lower; choose > pick;
choose > select; pick > choose; produce > generate; provide > give; maintain > keep; use > make
use of; buy > purchase; finish > complete; complete > finish; consider > think about; discuss >
talk about; repair > fix; protect > safeguard; safeguard > protect; need > require; collect >
gather; cause > bring about; affect > influence; influence > affect; achieve > attain; achieve >
reach; attain > achieve; store > keep; place > put; handle > deal with; manage > handle; tackle >
deal with; represent > stand for; absorb > take in; absorb > soak up; remove > take away; create >
make; perform > carry out; assess > evaluate; evaluate > assess; determine > work out; identify >
find; identify > spot; observe > watch; receive > get; demonstrate > illustrate; indicate > show;
reveal > show; minimize > keep down; minimise > keep down; overcome > get over; promote >
encourage; encourage > promote; trigger > set off; generate > produce; mention > bring up; limit >
restrict; restrict > limit; possess > have; experience > have
""")

ATTRIBUTIVE: tuple[Pair, ...] = read_table("""
important > significant; main = principal; main = chief; great > excellent; specific > particular;
particular > specific; easy > simple; fast > quick; whole = entire; additional = extra; suitable =
appropriate; fundamental > basic; similar > comparable; beautiful = lovely; nice > pleasant; big >
large; critical > crucial; substantial = considerable; major > significant; minor > small;
interesting > intriguing; excellent > great; obvious > clear; brief > short; lengthy > long;
modern > contemporary; traditional > conventional; typical > usual; unusual > uncommon; useful >
helpful; complete > full; essential > vital
""")

PHRASES: tuple[Pair, ...] = read_table("""
almost = nearly; exactly = precisely; perhaps = maybe; mostly = mainly; largely > mostly; slightly
> a little; a bit > a little; extremely > very; very > really; rarely = seldom; shortly > soon;
lately > recently; recently > lately; usually = generally; usually = normally; typically >
generally; sometimes = at times; sometimes > occasionally; probably > most likely; kids >
children; even though = although; as though = as if; because of > owing to; due to > because of;
owing to > because of; this is why = that is why; this is because > the reason is that; kind of =
sort of; type of > kind of; types of = kinds of; a lot of > plenty of; plenty of > a lot of; lots
of > plenty of; many > a lot of; many > numerous; most people > the majority of people; some kind
of = some sort of; in the long run = in the long term; with the goal of > with the aim of; as a
way to > as a means to; in this way > this way; start of = beginning of; rest of > remainder of;
effect on = impact on; influence on > effect on; tips > suggestions; complex = complicated;
diverse = varied; helpful > useful; harmful > damaging; dangerous > hazardous; risky > dangerous;
incorrect > wrong; reliable = dependable; evident > clear; necessary > essential; fascinating >
captivating; worried > concerned; wonderful > lovely; crucial > vital; tasty > delicious; polite >
courteous; careful > cautious; famous > well known; rare > uncommon; hard to = difficult to; easy
to > simple to; want to > wish to; wants to > wishes to; you want to > you would like to; seems to
= appears to; seem to = appear to; seemed to = appeared to; decide to > choose to; plan to >
intend to; plans to > intends to; start to = begin to; starts to = begins to; started to = began
to; starting to = beginning to; start by = begin by; starts by = begins by; start with > begin
with; ends with > finishes with; happens = occurs; allows you to = enables you to; allow you to =
enable you to; allowing you to = enabling you to; allows us to = enables us to; allow us to =
enable us to; allows them to = enables them to; allow them to = enable them to; allows it to =
enables it to; focus on = concentrate on; focuses on = concentrates on; focusing on =
concentrating on; focused on > concentrated on; consists of = is made up of; consist of = are made
up of; get rid of > remove; getting rid of > removing; come up with > think of; coming up with >
thinking of; carry out = perform; carries out = performs; carrying out = performing; carried out >
performed; find out = discover; finding out > discovering; talk about > discuss; talking about >
discussing; think about = consider; thinking about > considering; deals with > handles; dealing
with > handling; turns into > becomes; turn into > become; lead to = result in; leads to = results
in; leading to = resulting in; led to = resulted in; is known as = is called; are known as = are
called; is caused by > results from; are caused by > result from; is used to > serves to; make
sure you > ensure you; make sure your > ensure your; make sure the > ensure the; it is a good idea
to > it is wise to; it's a good idea to > it's wise to; it is best to > it is advisable to; it is
important to > it is essential to; it's important to > it's essential to; is important for > is
essential for; in many cases > often; at the moment > right now; a great way to > an excellent way
to; you should > you ought to; might > may; there is no need to > you do not need to; stay calm >
remain calm; stay safe > remain safe; stays the same > remains the same; stay the same > remain
the same; go back to > return to; goes back to > returns to; come back > return; came back >
returned; gives you > offers you; give you > offer you; right now > at the moment; each day =
every day; each year = every year; each week = every week; each month = every month; each night =
every night; in the past > previously; in my view > in my opinion; especially if > particularly
if; especially when > particularly when; a part of > part of; as a consequence > as a result; for
that reason > for this reason; in the same way > similarly; in spite of = despite; on top of that
> in addition; to begin with > to start with; all of the = all the; helps to > helps; help to >
help; all of your > all your; try to > attempt to; tries to > attempts to; trying to > attempting
to; speak to = talk to; speaking to = talking to; speak with = talk with; carefully > with care;
easily > with ease; regularly > on a regular basis; as necessary > as needed; as well > too;
various > several; get to know > become familiar with; lasts for > lasts; last for > last; whereas
> while; frequently used > often used; a wide variety of > a wide range of; inside of > inside;
outside of > outside; off of > off; by means of > through; in my opinion > in my view; a mix of =
a mixture of; a combination of > a mixture of; nobody = no one; in summer = in the summer; in
winter = in the winter; in spring > in the spring; in autumn > in the autumn; at night > during
the night; turn off = switch off; turns off = switches off; turning off = switching off; turn on =
switch on; turns on = switches on; log out > sign out; saw that > noticed that; see that > notice
that; said that > stated that; say that > state that; says that > states that; decide what >
choose what; would like to > want to; in the evening > during the evening; in the morning > during
the morning; a handful of > a few; is full of > is filled with; are full of > are filled with; is
made from > is produced from; comes from > originates from; come from > originate from; gets rid
of > removes; set of > collection of; a series of > a string of; bits of > pieces of; anyway > in
any case; actually > in fact; simply > just; truly > really; happy to > glad to; glad to > happy
to; on your own > by yourself; by yourself > on your own; as this is > since this is; as there is
> since there is; as there are > since there are; fully > completely; in light of = in view of;
incredibly > extremely
""")
