"""Webhooks: a campaign's events, sent to addresses as signed messages, chat texts or emails."""
