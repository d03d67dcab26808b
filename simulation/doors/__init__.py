"""The places where people find work: their own account, a panel's link, a marketplace."""
