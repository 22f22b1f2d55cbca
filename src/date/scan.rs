//! A pattern matcher for dates, which needs less code than a parser per format.

/// The numbers in a date, indexed by the constants below.
pub type Fields = [i64; 8];

/// Indices into [`Fields`], which are also the digits in a pattern.
pub const YEAR: usize = 0;
pub const MONTH: usize = 1;
pub const DAY: usize = 2;
pub const HOUR: usize = 3;
pub const MINUTE: usize = 4;
pub const SECOND: usize = 5;
pub const ZONE_HOUR: usize = 6;
pub const ZONE_MINUTE: usize = 7;

const MONTHS: &[u8; 36] = b"JanFebMarAprMayJunJulAugSepOctNovDec";

/// Matches `pattern` at the start of `text`, adds the numbers to `fields` and returns the rest.
/// Returns `None` if `text` does not match.
///
/// A digit from 0 to 7 in the pattern matches any digit and appends it to the field with that
/// index. `@@@` matches a month's name of three letters. All other characters match themselves.
pub fn scan<'a>(pattern: &[u8], text: &'a [u8], fields: &mut Fields) -> Option<&'a [u8]> {
    let (head, rest) = text.split_at_checked(pattern.len())?;
    for (at, &expected) in pattern.iter().enumerate() {
        match expected {
            b'0'..=b'7' => {
                let digit = head[at].wrapping_sub(b'0');
                if digit > 9 {
                    return None;
                }
                let field = &mut fields[usize::from(expected - b'0')];
                *field = *field * 10 + i64::from(digit);
            }
            b'@' if fields[MONTH] == 0 => fields[MONTH] = read_month(&head[at..])?,
            b'@' => {}
            literal if head[at] != literal => return None,
            _ => {}
        }
    }
    Some(rest)
}

/// Matches `pattern` against all of `text` and returns the numbers. Returns `None` if `text` does
/// not match.
pub fn read(pattern: &[u8], text: &[u8]) -> Option<Fields> {
    let mut fields = Fields::default();
    scan(pattern, text, &mut fields)?
        .is_empty()
        .then_some(fields)
}

fn read_month(text: &[u8]) -> Option<i64> {
    (1..=12)
        .zip(MONTHS.chunks(3))
        .find_map(|(month, name)| text.starts_with(name).then_some(month))
}
