"""What the paper reports, and the audit: arrays or frames in, floats or small results out."""
