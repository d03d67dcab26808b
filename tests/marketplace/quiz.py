"""A qualification test and its key."""

_FORM = "http://mechanicalturk.amazonaws.com/AWSMechanicalTurkDataSchemas/2017-11-06/QuestionForm.xsd"
_KEY = "http://mechanicalturk.amazonaws.com/AWSMechanicalTurkDataSchemas/2005-10-01/AnswerKey.xsd"

TEST = f"""<QuestionForm xmlns="{_FORM}">
  <Overview><Title>Charts</Title><Text>Two questions about sea charts.</Text>
    <FormattedContent><![CDATA[<p>Take <b>your</b> time.<script>alert(1)</script></p>]]></FormattedContent></Overview>
  <Question><QuestionIdentifier>depth</QuestionIdentifier><DisplayName>Depth</DisplayName><IsRequired>true</IsRequired>
    <QuestionContent><Text>What do the small numbers mean?</Text></QuestionContent>
    <AnswerSpecification><SelectionAnswer><StyleSuggestion>radiobutton</StyleSuggestion><Selections>
      <Selection><SelectionIdentifier>water</SelectionIdentifier><Text>The depth of the water</Text></Selection>
      <Selection><SelectionIdentifier>boats</SelectionIdentifier><Text>The number of boats</Text></Selection>
    </Selections></SelectionAnswer></AnswerSpecification></Question>
  <Question><QuestionIdentifier>signs</QuestionIdentifier><IsRequired>false</IsRequired>
    <QuestionContent><Text>Which are signs at sea?</Text></QuestionContent>
    <AnswerSpecification><SelectionAnswer><MinSelectionCount>1</MinSelectionCount><MaxSelectionCount>2</MaxSelectionCount>
      <StyleSuggestion>checkbox</StyleSuggestion><Selections>
      <Selection><SelectionIdentifier>buoy</SelectionIdentifier><Text>A buoy</Text></Selection>
      <Selection><SelectionIdentifier>light</SelectionIdentifier><Text>A lighthouse</Text></Selection>
    </Selections></SelectionAnswer></AnswerSpecification></Question>
  <Question><QuestionIdentifier>why</QuestionIdentifier><IsRequired>true</IsRequired>
    <QuestionContent><Text>How do you know?</Text></QuestionContent>
    <AnswerSpecification><FreeTextAnswer><NumberOfLinesSuggestion>3</NumberOfLinesSuggestion></FreeTextAnswer></AnswerSpecification></Question>
</QuestionForm>"""

ANSWER_KEY = f"""<AnswerKey xmlns="{_KEY}">
  <Question><QuestionIdentifier>depth</QuestionIdentifier>
    <AnswerOption><SelectionIdentifier>water</SelectionIdentifier><AnswerScore>3</AnswerScore></AnswerOption></Question>
  <Question><QuestionIdentifier>signs</QuestionIdentifier>
    <AnswerOption><SelectionIdentifier>buoy</SelectionIdentifier><SelectionIdentifier>light</SelectionIdentifier><AnswerScore>1</AnswerScore></AnswerOption>
    <DefaultScore>0</DefaultScore></Question>
  <QualificationValueMapping><PercentageMapping><MaximumSummedScore>4</MaximumSummedScore></PercentageMapping></QualificationValueMapping>
</AnswerKey>"""
