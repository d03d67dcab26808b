"""Cells of tables that people open in a spreadsheet."""

EXCEL_MARK = "\ufeff"  # before a CSV file: without it Excel takes UTF-8 for the encoding of its country


def harmless(cell: str) -> str:
    """Return a cell that no spreadsheet takes for a formula."""
    return f"'{cell}" if cell and cell[0] in "=+-@\t\r" and cell != "-" else cell
