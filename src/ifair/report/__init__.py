"""From results to pictures and one HTML file; imports no model."""
