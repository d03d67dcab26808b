"""What task types have in common where people write questions, others review them, and others again answer them blind."""
