"""Your own table of people: read, the roles of its columns, warnings about them, and writing."""
