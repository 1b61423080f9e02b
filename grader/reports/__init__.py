"""Pure functions from reports to pages and to plain data."""
