//! Time stamps of entries: minutes in UTC.

const MINUTE: f64 = 60_000.0;
const DAY_MINUTES: i64 = 24 * 60;
/// Days of four centuries, after which the calendar repeats itself.
const ERA_DAYS: i64 = 146_097;
/// From the first of March of the year 0 to 1970.
const EPOCH_DAYS: i64 = 719_468;
/// The years 0 and 9999 are the first and the last that four digits can name.
const FIRST: i64 = -719_528 * DAY_MINUTES;
const LAST: i64 = 2_932_897 * DAY_MINUTES - 1;
const LENGTH: usize = "YYYY-MM-DD HH:MM".len();

/// Return the minute of a time in milliseconds since 1970, as `YYYY-MM-DD HH:MM`.
pub(super) fn format(milliseconds: f64) -> String {
    let minutes = ((milliseconds / MINUTE).floor() as i64).clamp(FIRST, LAST);
    let (days, minute) = (minutes.div_euclid(DAY_MINUTES), minutes.rem_euclid(DAY_MINUTES));
    let (year, month, day) = civil(days);
    format!("{year:04}-{month:02}-{day:02} {:02}:{:02}", minute / 60, minute % 60)
}

/// Return the time of a minute, and what stands behind it in the text.
pub(super) fn parse(text: &str) -> Option<(f64, &str)> {
    let (stamp, rest) = text.split_at_checked(LENGTH)?;
    let number = |from: usize, to: usize| -> Option<i64> {
        let digits = stamp.get(from..to)?;
        digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse().ok()).flatten()
    };
    let days = days(number(0, 4)?, number(5, 7)?, number(8, 10)?);
    let milliseconds = (days * DAY_MINUTES + number(11, 13)? * 60 + number(14, 16)?) as f64 * MINUTE;
    (format(milliseconds) == stamp).then_some((milliseconds, rest))
}

/// Return the date of a day counted from 1970. Years begin in March here, so that the odd day is their last.
fn civil(days: i64) -> (i64, i64, i64) {
    let days = days + EPOCH_DAYS;
    let (era, day) = (days.div_euclid(ERA_DAYS), days.rem_euclid(ERA_DAYS));
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let (year, month) = if month < 10 { (year, month + 3) } else { (year + 1, month - 9) };
    (era * 400 + year, month, day)
}

/// Return the day of a date, counted from 1970.
fn days(year: i64, month: i64, day: i64) -> i64 {
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let (era, year) = (year.div_euclid(400), year.rem_euclid(400));
    era * ERA_DAYS + year * 365 + year / 4 - year / 100 + (153 * month + 2) / 5 + day - 1 - EPOCH_DAYS
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn minutes_of_the_calendar() {
        let cases = [
            (0.0, "1970-01-01 00:00"),
            (1_770_733_919_000.0, "2026-02-10 14:31"),
            (1_709_164_800_000.0, "2024-02-29 00:00"),
            (-1.0, "1969-12-31 23:59"),
            (f64::NEG_INFINITY, "0000-01-01 00:00"),
            (f64::INFINITY, "9999-12-31 23:59"),
            (f64::NAN, "1970-01-01 00:00"),
        ];
        for (milliseconds, expected) in cases {
            assert_eq!(format(milliseconds), expected);
            assert!(parse(expected).is_some());
        }
        for wrong in ["2026-02-30 10:00", "2026-13-01 10:00", "2026-02-10 24:00", "2026-02-1x 10:00", "２０２６-02-10"]
        {
            assert_eq!(parse(wrong), None, "{wrong}");
        }
    }

    proptest! {
        #[test]
        fn a_minute_comes_back(milliseconds in -6.2e13..2.53e14) {
            let stamp = format(milliseconds);
            let (minute, rest) = parse(&stamp).expect("a stamp");
            prop_assert!(rest.is_empty() && minute <= milliseconds && milliseconds - minute < MINUTE);
        }
    }
}
