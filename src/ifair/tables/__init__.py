"""Your own table of people: read, the roles of its columns, warnings about them, and writing."""

from ifair.tables.checked_table import CheckedTable, check_table
from ifair.tables.roles import Roles, read_roles

__all__ = ["CheckedTable", "Roles", "check_table", "read_roles"]
