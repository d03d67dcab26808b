"""URLs for labels: items, audits, targets, sealed splits."""

from django.urls import path

from quality.labels.views import audits, item_list, items, sealing, targets

urlpatterns = [
    path("campaigns/<slug:slug>/audits/", audits.audits, name="quality-audits"),
    path("campaigns/<slug:slug>/error-target/", targets.target, name="quality-target"),
    path("campaigns/<slug:slug>/items/", item_list.item_list, name="items"),
    path("campaigns/<slug:slug>/items/selected/", item_list.act_on_several, name="items-selected"),
    path("campaigns/<slug:slug>/items/<int:item_id>/", items.item, name="item"),
    path("campaigns/<slug:slug>/splits/<str:split_name>/seal/", sealing.seal, name="split-seal"),
    path("campaigns/<slug:slug>/splits/<str:split_name>/unseal/", sealing.unseal, name="split-unseal"),
]
