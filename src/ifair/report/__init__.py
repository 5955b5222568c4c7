"""From results to pictures and one HTML file; imports no model."""

from ifair.report.evidence_page import page

__all__ = ["page"]
