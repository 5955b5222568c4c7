"""The mathematics of the representation: arrays in, arrays out."""
