"""Cells of tables for spreadsheets."""

EXCEL_MARK = "\ufeff"  # before a CSV file: without it Excel takes UTF-8 for the encoding of its country


def harmless(cell: str) -> str:
    """Return a cell that spreadsheets don't interpret as a formula."""
    return f"'{cell}" if cell and cell[0] in "=+-@\t\r" and cell != "-" else cell
