"""A seeded crowd that works over HTTP only. It sees nothing of the platform but its pages."""
