"""Words that carry grammar or colour and are not counted as content."""

_WORDS = """
exist exists significant specific anybody somewhere anywhere everywhere everything
a about accordingly across actually addition additionally again along also alternatively although
am an and another anyone anything anyway are around as at away basically be because been being
besides bit both but by came case certainly come comes coming conclusion consequently contrast
conversely course curiously did do does doing done down due during either else essentially etc
even everybody everyone example fact finally firstly for fortunately from furthermore gave general
get gets getting give given gives giving go goes going gone got had hand happily has have having
he help helped helping helps hence her here hers him his how however i important in indeed
instance instead interestingly into is it its itself just keep kind lastly let like likewise lot
lots luckily made make makes making me meanwhile mind mine moreover my myself naturally nor
notably note noting now of off on one ones onto or order other others our ours out over overall
own particular people per person please put puts quite rather really reason regard regarding
remember respect result same secondly she similarly simply since so somebody someone something
sort specifically still such summary take taken takes taking than that the their theirs them
themselves then there therefore these they thing things thirdly this those though through thus to
together too took toward towards truly up upon us use used uses using very via want wants was way
ways we well went were what where whereas which while who whom whose why with within worth yet you
your yours yourself
"""
FUNCTION_WORDS: frozenset[str] = frozenset(_WORDS.split())
