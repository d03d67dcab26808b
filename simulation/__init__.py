"""A seeded crowd that works over HTTP only. It knows nothing of the platform but its pages."""
