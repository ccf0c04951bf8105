//! Whole numbers in one to five bytes, the smaller the shorter: seven bits to a byte, the lowest first.

/// Write a number behind others.
#[inline]
pub(crate) fn write(out: &mut Vec<u8>, mut number: u32) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

/// Read a number and step behind it; none where the bytes end within it.
#[inline]
pub(crate) fn read(bytes: &mut &[u8]) -> Option<u32> {
    let (&first, rest) = bytes.split_first()?;
    *bytes = rest;
    if first < 0x80 { Some(u32::from(first)) } else { read_rest(bytes, u32::from(first & 0x7F)) }
}

fn read_rest(bytes: &mut &[u8], mut number: u32) -> Option<u32> {
    for shift in [7, 14, 21, 28] {
        let (&next, rest) = bytes.split_first()?;
        *bytes = rest;
        number |= u32::from(next & 0x7F) << shift;
        if next < 0x80 {
            return Some(number);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn numbers_are_read_back(numbers in prop::collection::vec(prop_oneof![0..200_u32, any::<u32>()], 0..50)) {
            let mut bytes = Vec::new();
            for &number in &numbers {
                write(&mut bytes, number);
            }
            let mut rest = &bytes[..];
            let mut found = Vec::new();
            while let Some(number) = read(&mut rest) {
                found.push(number);
            }
            prop_assert_eq!(&found, &numbers);
            bytes.pop();
            let mut rest = &bytes[..];
            prop_assert_eq!(std::iter::from_fn(|| read(&mut rest)).count(), numbers.len().saturating_sub(1));
        }
    }
}
