"""Addresses of the evaluation app."""

from django.urls import path

from evaluation import views

urlpatterns = [
    path("campaigns/<slug:slug>/systems/", views.systems, name="systems"),
    path("campaigns/<slug:slug>/releases/<int:number>/score/", views.score, name="release-score"),
    path("campaigns/<slug:slug>/leaderboards/", views.boards, name="boards"),
    path("campaigns/<slug:slug>/leaderboards/<int:board_number>/", views.board, name="board"),
    path("campaigns/<slug:slug>/leaderboards/<int:board_number>/team/", views.enter, name="board-team"),
    path("campaigns/<slug:slug>/leaderboards/<int:board_number>/submit/", views.submit, name="board-submit"),
]
