"""URLs of the quality app, by subject."""

from quality.certificates import urls as certificates
from quality.dashboard import urls as dashboard
from quality.experts import urls as experts
from quality.gold import urls as gold
from quality.labels import urls as labels
from quality.people import urls as people
from quality.plans import urls as plans
from quality.policies import urls as policies
from quality.studies import urls as studies

urlpatterns = [
    *dashboard.urlpatterns,
    *gold.urlpatterns,
    *labels.urlpatterns,
    *certificates.urlpatterns,
    *people.urlpatterns,
    *plans.urlpatterns,
    *policies.urlpatterns,
    *experts.urlpatterns,
    *studies.urlpatterns,
]
