"""The datasets of the paper, one file each: source, licence, checksums, parser, protected group, loader."""
