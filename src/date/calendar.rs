//! Conversion between dates of the proleptic Gregorian calendar and day numbers.

/// Returns the number of days since 1970-01-01, or `None` if the date does not exist.
pub fn days_from_civil(year: i64, month: i64, day: i64) -> Option<i64> {
    // Let years start in March, so that a leap day is the last day of its year.
    let (of_march, month_of_march) = if month > 2 {
        (year, month - 3)
    } else {
        (year - 1, month + 9)
    };
    let era = of_march.div_euclid(400);
    let of_era = of_march.rem_euclid(400);
    let of_year = (153 * month_of_march + 2) / 5 + day - 1;
    let days = era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468;
    // A date that does not exist, such as February 30, converts back to another date.
    (civil_from_days(days) == (year, month, day)).then_some(days)
}

/// Returns the year, month and day of the date that is `days` after 1970-01-01.
pub const fn civil_from_days(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let era = days.div_euclid(146_097);
    let of_era = days.rem_euclid(146_097);
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let (month, carry) = if month < 10 {
        (month + 3, 0)
    } else {
        (month - 9, 1)
    };
    (year + era * 400 + carry, month, day)
}
