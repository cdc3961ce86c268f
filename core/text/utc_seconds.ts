/** A second as text, by its digits. @module */

const SECONDS_OF_DAY = 86_400;
/** Days from 0000-03-01 to 1970-01-01: a year that begins in March ends in its leap day. */
const MARCH_DAYS = 719_468;
const DAYS_OF_4_YEARS = 1_461;
const DAYS_OF_100_YEARS = 36_524;
const DAYS_OF_400_YEARS = 146_097;

const TWO_DIGITS: readonly string[] = Object.freeze(
  Array.from({ length: 100 }, (_, n) => String(n).padStart(2, "0")),
);

/**
 * `YYYY-MM-DDTHH:MM:SS` of a second of the years 0000 to 9999. Every answer has
 * two times in it, and `Date` takes four times as long for each.
 *
 * @param seconds Whole seconds since 1970-01-01T00:00:00Z.
 */
export function utcSeconds(seconds: number): string {
  const days = Math.floor(seconds / SECONDS_OF_DAY);
  const time = seconds - days * SECONDS_OF_DAY;
  const hours = Math.floor(time / 3600);
  const minutes = Math.floor(time / 60) % 60;
  return `${dateOf(days + MARCH_DAYS)}T${TWO_DIGITS[hours]}:${
    TWO_DIGITS[minutes]
  }:${TWO_DIGITS[time % 60]}`;
}

/** The date of a day that is counted from 0000-03-01. */
function dateOf(day: number): string {
  const cycle = Math.floor(day / DAYS_OF_400_YEARS);
  const ofCycle = day - cycle * DAYS_OF_400_YEARS;
  // Without the leap days before, all years are equally long.
  const leapDays = Math.floor(ofCycle / (DAYS_OF_4_YEARS - 1)) -
    Math.floor(ofCycle / DAYS_OF_100_YEARS) +
    Math.floor(ofCycle / (DAYS_OF_400_YEARS - 1));
  const yearOfCycle = Math.floor((ofCycle - leapDays) / 365);
  const ofYear = ofCycle - yearOfCycle * 365 - Math.floor(yearOfCycle / 4) +
    Math.floor(yearOfCycle / 100);
  // From March on, months have 31, 30, 31, 30, 31 days, again and again.
  const month = Math.floor((5 * ofYear + 2) / 153);
  const ofMonth = ofYear - Math.floor((153 * month + 2) / 5) + 1;
  const year = cycle * 400 + yearOfCycle + (month >= 10 ? 1 : 0);
  return `${TWO_DIGITS[Math.floor(year / 100)]}${TWO_DIGITS[year % 100]}-${
    TWO_DIGITS[month >= 10 ? month - 9 : month + 3]
  }-${TWO_DIGITS[ofMonth]}`;
}
