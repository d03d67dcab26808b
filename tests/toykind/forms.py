"""What the terms with a course are asked for."""

from django import forms

from tests.toykind.kind import CourseTerms
from workforces.forms import TermsForm


class CourseForm(TermsForm):
    """A course and where its students go back to."""

    terms_class = CourseTerms
    website = forms.URLField(label="Website of the course", assume_scheme="https")
