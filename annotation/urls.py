"""Addresses of the annotation app."""

from django.urls import path

from annotation.campaigns.views import campaigns, guidelines, settings
from annotation.desk import actions, member, recent
from annotation.items.views import documents, imports, items, pilots
from annotation.notifications.views import notifications
from annotation.people.views import joining, people
from annotation.questions import views as questions

urlpatterns = [
    path("account/notifications/", notifications, name="notifications"),
    # The annotator
    path("work/<slug:slug>/", member.work, name="work"),
    path("work/<slug:slug>/consent/", joining.consent, name="consent"),
    path("work/<slug:slug>/guidelines/", joining.guidelines, name="work-guidelines"),
    path("work/<slug:slug>/guidelines/read/", member.guidelines_read, name="guidelines-read"),
    path("work/<slug:slug>/leave/", joining.leave, name="leave"),
    path("work/<slug:slug>/recent/", recent.recent, name="recent"),
    path("work/<slug:slug>/questions/", questions.own, name="own-questions"),
    path("work/<slug:slug>/reserve/", member.reserve, name="reserve"),
    path("assignments/<uuid:assignment_id>/stage/", member.at_assignment(actions.stage), name="stage"),
    path("assignments/<uuid:assignment_id>/back/", member.at_assignment(actions.back), name="back"),
    path("assignments/<uuid:assignment_id>/draft/", member.at_assignment(actions.draft), name="draft"),
    path("assignments/<uuid:assignment_id>/submit/", member.at_assignment(actions.submit), name="submit"),
    path("assignments/<uuid:assignment_id>/skip/", member.at_assignment(actions.skip), name="skip"),
    path("assignments/<uuid:assignment_id>/report/", member.at_assignment(actions.report), name="report"),
    path("assignments/<uuid:assignment_id>/extend/", member.at_assignment(actions.extend), name="extend"),
    path("assignments/<uuid:assignment_id>/events/", member.at_assignment(actions.events), name="events"),
    path("work/<slug:slug>/undo/", member.undo, name="undo"),
    path("work/<slug:slug>/training/", member.training, name="training"),
    # The manager
    path("campaigns/new/", campaigns.create, name="campaign-new"),
    path("campaigns/new/preview/", campaigns.preview, name="campaign-preview"),
    path("campaigns/<slug:slug>/", campaigns.overview, name="campaign"),
    path("campaigns/<slug:slug>/import/", imports.import_page, name="campaign-import"),
    path("campaigns/<slug:slug>/documents/", documents.documents, name="campaign-documents"),
    path("campaigns/<slug:slug>/documents/<int:document_id>/", documents.document, name="campaign-document"),
    path("campaigns/<slug:slug>/settings/", settings.settings, name="campaign-settings"),
    path("campaigns/<slug:slug>/launch/", campaigns.launch, name="campaign-launch"),
    path("campaigns/<slug:slug>/schedule/", campaigns.schedule, name="campaign-schedule"),
    path("campaigns/<slug:slug>/state/", campaigns.move, name="campaign-state"),
    path("campaigns/<slug:slug>/extend/", campaigns.extend, name="campaign-extend"),
    path("campaigns/<slug:slug>/guidelines/", guidelines.guidelines, name="campaign-guidelines"),
    path("campaigns/<slug:slug>/members/", people.people, name="campaign-people"),
    path("campaigns/<slug:slug>/members/<int:membership_id>/revoke/", people.revoke, name="membership-revoke"),
    path("campaigns/<slug:slug>/members/<int:membership_id>/waive/", people.waive, name="role-waive"),
    path(
        "campaigns/<slug:slug>/invitations/<int:invitation_id>/withdraw/", people.withdraw, name="invitation-withdraw"
    ),
    path("campaigns/<slug:slug>/items/<int:item_id>/retire/", items.retire, name="item-retire"),
    path("campaigns/<slug:slug>/annotations/<int:annotation_id>/exclude/", items.exclude, name="annotation-exclude"),
    path("campaigns/<slug:slug>/annotations/<int:annotation_id>/restore/", items.restore, name="annotation-restore"),
    path("campaigns/<slug:slug>/questions/", questions.questions, name="campaign-questions"),
    path("campaigns/<slug:slug>/questions/<int:report_id>/", questions.answer, name="question-answer"),
    path("campaigns/<slug:slug>/questions/faq/<int:entry_id>/retire/", questions.retire, name="faq-retire"),
    path("campaigns/<slug:slug>/pilot/", pilots.pilot, name="pilot"),
    path("campaigns/<slug:slug>/pilot/draw/", pilots.draw_pilot, name="pilot-draw"),
]
