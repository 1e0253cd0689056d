"""Words on which the truth of a sentence turns, grouped so that equals count as one.

A phrase stands before the words it is made of, so "no more than" is a bound and not a negation.
"""


def _table(text: str) -> dict[str, tuple[str, ...]]:
    """Groups, one a paragraph, as `name: member; member`, from name to members."""
    table = {}
    for paragraph in text.strip().split("\n\n"):
        name, _, members = paragraph.partition(":")
        table[name.strip()] = tuple(" ".join(member.split()) for member in members.split(";"))
    return table


# What may be true only under them: losing or gaining one changes a claim.
CONDITIONS = _table("""
if: if; when; whenever; provided that; provided; providing; as long as; so long as; in case; in
case of; assuming; in the event that; in the event of; on condition that; should you; once; where
possible; if possible; whether

unless: unless; if not

only: only; solely; exclusively; nothing but; none but

except: except for; except; apart from; other than; excluding; aside from; with the exception of;
besides

until: until; till; up until

before: before; prior to; ahead of; beforehand; earlier than

after: after; afterwards; after that; following; subsequent to; later; subsequently

otherwise: otherwise; or else
""")
# How much, how often, how sure: each group's count must stay.
QUANTITIES = _table("""
all: all; every; each; everything; entire; entirely; whole; completely; fully; totally;
throughout; each and every; every single; all of; always; at all times; invariably; constantly;
every time

some: some; several; a few; a number of; a handful of; certain; various; some of; a couple of;
sometimes; occasionally; at times; now and then; from time to time; once in a while; partly;
partially; in part

most: most; mostly; the majority of; the vast majority of; mainly; primarily; largely; usually;
typically; generally; normally; predominantly; most of; in general; as a rule; chiefly; for the
most part; in most cases; tend to; tends to

many: many; numerous; a lot of; lots of; a large number of; plenty of; much; a great deal of; a
great many; often; frequently; regularly; regular; commonly; on a regular basis; a wide range of;
a broad range of;
a wide variety of; many times; a lot

few: few; hardly any; scarcely; hardly; barely; rarely; seldom; infrequently; only a few; hardly
ever; not often

both: both

at least: at least; no fewer than; no less than; a minimum of; not less than; or more; minimum

at most: at most; no more than; not more than; a maximum of; or less; or fewer; maximum; up to

about: about; around; approximately; roughly; some way around; in the region of; or so; circa

almost: almost; nearly; close to; just under

exactly: exactly; precisely

twice: twice; double; doubles; doubled; two times; twofold

triple: triple; tripled; three times; threefold

half: half; halved; halves

must: must; have to; has to; had to; need to; needs to; required to; is required; are required;
mandatory; obligatory; compulsory; imperative

should: should; ought to; advisable; recommended; recommend; recommends; advise; advises; advised;
best to; a good idea to; wise to

may: may; might; could; possibly; perhaps; maybe

will: definitely; undoubtedly; guaranteed; guarantee; guarantees; inevitably

probably: probably; likely; most likely; very likely; in all likelihood; more than
likely
""")
COMPARISONS = _table("""
more: more; greater; more than; exceed; exceeds; exceeding; over; above; in excess of

less: less; fewer; less than; fewer than; below; under

higher: higher; raise; raises; raised; increase; increases; increased; increasing; rise; rises;
rose; risen; rising; grow; grows; grew; grown; growing; climb; climbed;
boost; boosts; boosted; boosting;
raising

lower: lower; lowers; lowered; lowering; decrease; decreases; decreased; decreasing; fall; falls;
fell; fallen; drop; drops; dropped; reduce; reduces; reduced; reducing; decline; declines;
declined; shrink; shrank; lessen; lessens; lessened; lessening; diminishing; diminish;
diminishes; diminished

larger: larger; bigger

smaller: smaller

faster: faster; quicker; sooner; earlier

slower: slower; later than

better: better; superior

worse: worse; inferior

cheaper: cheaper; less expensive; costs less; cost less

dearer: dearer; more expensive; costlier; pricier; costs more; cost more

longer: longer

shorter: shorter

older: older

younger: younger

same: as much as; as many as; equal to; equals; the same as; identical

best: best; finest

worst: worst

largest: largest; biggest; greatest

smallest: smallest

highest: highest; tallest

lowest: lowest

first: first; earliest

last: last; latest; final

oldest: oldest

youngest: youngest; newest

fastest: fastest; quickest

slowest: slowest

inside: inside; indoors

outside: outside; outdoors

left side: to the left; left side; left-hand

right side: to the right; right side; right-hand
""")
NEGATIONS = _table("""
not: not; no; none; nobody; nothing; nowhere; neither; without; no one; cannot; lack; lacks;
lacking; unable; nor; no longer; not any longer; unnecessary; not necessary; avoid; avoids;
avoided; avoiding; impossible; free of; free from; unlikely; unsafe; stay away from; steer clear
of; instead of; rather than; prevent; prevents; prevented; preventing

never: never; at no time; not ever
""")
# Fixed phrases whose negation or quantity is none.
_NEUTRAL = """
not only; not just; whether or not; no matter; no doubt; of course; at all; after all; all in
all; most effective; at most once; above all; so much; as much; very much; much more; how much;
how many; first and foremost; on the whole; what is more; more and more; even if; as if; as well
as; as well; at once; all right; as a whole; that is; on the other hand; in other words; each
other; one another; in the meantime; for this reason; as a result; in addition; even so; that
said; on top of that; as a matter of fact; in fact; what about; how about; set up; make up; made
up of; composed of; look up; add up; end up; ends up; wake up; break down; breaks down; slow
down; write down; come up with; sign up; follow up; calm down; sit down; warm up; warms up; for
example; for instance; such as; in the same way; by contrast; in contrast; first of all; last
but not least; to begin with; to start with; all over; over time; over the years; all the time;
more than one; the following; put differently; to sum up; in short; in brief; to conclude; to
summarize; as an example; in particular
"""
NEUTRAL: tuple[str, ...] = tuple(" ".join(p.split()) for p in _NEUTRAL.split(";"))
