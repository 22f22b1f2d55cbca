//! Reads dates by patterns: one small loop in place of a parser for each of their forms.

/// The numbers that were read, by their places in [`scan`]'s pattern.
pub type Fields = [i64; 8];

/// Places in a pattern.
pub const YEAR: usize = 0;
pub const MONTH: usize = 1;
pub const DAY: usize = 2;
pub const HOUR: usize = 3;
pub const MINUTE: usize = 4;
pub const SECOND: usize = 5;
pub const ZONE_HOUR: usize = 6;
pub const ZONE_MINUTE: usize = 7;

const MONTHS: &[u8; 36] = b"JanFebMarAprMayJunJulAugSepOctNovDec";

/// Reads what `pattern` says off the front of a text into `fields`, and gives the rest.
///
/// A digit in the pattern stands for a digit of the field of that place, `@@@` for a month's name;
/// anything else stands for itself.
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

/// Reads a text that is what `pattern` says, and nothing more.
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
