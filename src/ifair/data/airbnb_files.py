"""Airbnb listings as published, cut down to the columns that are not free text."""

import csv
import io
from collections.abc import Sequence

from ifair.data.errors import DataError
from ifair.data.reading import decode

# Free text, addresses, links to pictures and other columns that no recipe reads.
_FREE_TEXT = (
    "listing_url scrape_id name summary space description experiences_offered neighborhood_overview "
    "notes transit access interaction house_rules thumbnail_url medium_url picture_url "
    "xl_picture_url host_url host_location host_about host_acceptance_rate host_thumbnail_url "
    "host_picture_url host_neighbourhood host_verifications street state zipcode market "
    "smart_location country_code country amenities weekly_price monthly_price minimum_minimum_nights "
    "maximum_minimum_nights minimum_maximum_nights maximum_maximum_nights minimum_nights_avg_ntm "
    "maximum_nights_avg_ntm calendar_updated has_availability calendar_last_scraped "
    "number_of_reviews_ltm requires_license license jurisdiction_names is_business_travel_ready "
    "calculated_host_listings_count_entire_homes calculated_host_listings_count_private_rooms "
    "calculated_host_listings_count_shared_rooms source number_of_reviews_l30d availability_eoy "
    "number_of_reviews_ly estimated_occupancy_l365d estimated_revenue_l365d "
)
DROPPED = frozenset(_FREE_TEXT.split())
# What the details of Denver lack and the summary of the same snapshot has.
FROM_SUMMARY = ["host_id", "minimum_nights", "reviews_per_month"]
FROM_SUMMARY += ["calculated_host_listings_count", "availability_365"]


def make_listings(published: Sequence[bytes], where: str) -> bytes:
    """Cut a published listings file down to the columns kept; cells and rows stay as they are.

    Parameters
    ----------
    published : sequence of bytes
        The details file, and for Denver the summary file of the same listings.
    where : str
        Name for error messages.

    Returns
    -------
    bytes
        A CSV table.
    """
    header, *rows = _table(published[0], where)
    if len(published) > 1:
        summary_header, *summary = _table(published[1], where)
        try:
            id_there, id_here = summary_header.index("id"), header.index("id")
            wanted = [summary_header.index(name) for name in FROM_SUMMARY]
            by_id = {row[id_there]: [row[w] for w in wanted] for row in summary}
            rows = [row + by_id[row[id_here]] for row in rows]
        except (ValueError, IndexError, KeyError) as error:
            raise DataError(f"{where}: the details and the summary do not belong together ({error})") from error
        header = header + FROM_SUMMARY
    kept = [place for place, name in enumerate(header) if name not in DROPPED]
    out = io.StringIO(newline="")
    writer = csv.writer(out, lineterminator="\n")
    for number, row in enumerate([header, *rows]):
        if len(row) != len(header):
            raise DataError(f"{where}, record {number}: {len(row)} fields instead of {len(header)}")
        writer.writerow([row[place] for place in kept])
    return out.getvalue().encode("utf-8")


def _table(content: bytes, where: str) -> list[list[str]]:
    try:
        return [row for row in csv.reader(io.StringIO(decode(content, where), newline="")) if row]
    except csv.Error as error:
        raise DataError(f"{where}: not a CSV table ({error})") from error
