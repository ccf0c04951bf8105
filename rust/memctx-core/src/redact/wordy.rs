//! Distinction of words from random letters.

/// For each letter the letters that often follow it in words, as bits.
const COMMON_PAIRS: [u32; 26] = {
    let followers: [&[u8]; 26] = [
        b"bcdgilmnprstuvy",
        b"aeilorsuy",
        b"aehiklortus",
        b"aeiorsudy",
        b"acdeilmnprstvxwyf",
        b"aefiortul",
        b"aehilnoru",
        b"aeiotuyr",
        b"acdefglmnoprstvbz",
        b"aeosu",
        b"aeinsy",
        b"adeiloutyfs",
        b"aeimopbus",
        b"acdegiknostuyf",
        b"abcdfgklmnoprstuvw",
        b"aehiloprstu",
        b"u",
        b"acdeikmnorstuvyg",
        b"aceehikmopstuwlyq",
        b"aehiorstuwylc",
        b"abcdegilmnprst",
        b"aeio",
        b"aehiornsd",
        b"aceipt",
        b"aeiospmt",
        b"aeoz",
    ];
    let mut bits = [0u32; 26];
    let mut letter = 0;
    while letter < 26 {
        let mut at = 0;
        while at < followers[letter].len() {
            bits[letter] |= 1 << (followers[letter][at] - b'a');
            at += 1;
        }
        letter += 1;
    }
    bits
};

/// Pieces shorter than this say nothing when they stand alone: `db`, `tls` and `xkq` look alike.
const TELLING: usize = 4;

/// Counts over the letters and digits of a value.
#[derive(Default)]
struct LetterCounts {
    letters: usize,
    /// Letters in pieces that say something.
    telling: usize,
    /// Letters of those in words.
    wordy: usize,
    digits: usize,
    digit_groups: usize,
    /// Places where a letter touches a digit.
    seams: usize,
    /// Pieces that touch another one, and those of them with one or two letters.
    joined: usize,
    stumps: usize,
}

/// People glue letters to digits less often in one value.
const MOST_SEAMS: usize = 5;

/// Return whether no person would have made this value of words, dates, versions or plain numbers.
pub(super) fn looks_random(value: &[u8]) -> bool {
    if value.len() < 8 || is_version(value) || is_time(value) {
        return false;
    }
    let counts = count(value);
    if counts.letters < 3 && counts.digit_groups < 2 {
        return false;
    }
    if counts.seams > MOST_SEAMS || (counts.stumps > 1 && counts.stumps * 2 >= counts.joined) {
        return true;
    }
    let most = if counts.digits > 0 { 60 } else { 50 };
    counts.wordy * 100 < counts.telling * most
}

fn count(value: &[u8]) -> LetterCounts {
    let mut counts = LetterCounts::default();
    let mut at = 0;
    while at < value.len() {
        let letters = value[at..].iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
        if letters > 0 {
            counts.letters += letters;
            count_letters(value, at, at + letters, &mut counts);
            at += letters;
            continue;
        }
        let digits = value[at..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        counts.digits += digits;
        counts.digit_groups += usize::from(digits > 0);
        at += digits.max(1);
    }
    counts
}

/// Count the pieces of a run of letters. Short ones count against words when glued to digits or to each other.
fn count_letters(value: &[u8], start: usize, end: usize, counts: &mut LetterCounts) {
    let is_digit = |at: Option<usize>| at.and_then(|at| value.get(at)).is_some_and(u8::is_ascii_digit);
    let mut at = start;
    while at < end {
        let piece_end = piece_end(&value[..end], at);
        let piece = &value[at..piece_end];
        let glued = is_digit(at.checked_sub(1)) || is_digit(Some(piece_end));
        let alone = at == start && piece_end == end;
        counts.seams += usize::from(is_digit(at.checked_sub(1))) + usize::from(is_digit(Some(piece_end)));
        counts.joined += usize::from(!alone);
        counts.stumps += usize::from(!alone && piece.len() < TELLING - 1);
        if piece.len() >= TELLING || glued || !alone {
            counts.telling += piece.len();
            let is_short = piece.len() < TELLING - 1 || (piece.len() < TELLING && glued);
            counts.wordy += if !is_short && is_word(piece) { piece.len() } else { 0 };
        }
        at = piece_end;
    }
}

/// Return the end of the word that begins here: capitals, then small letters.
fn piece_end(value: &[u8], start: usize) -> usize {
    let capitals = value[start..].iter().take_while(|byte| byte.is_ascii_uppercase()).count();
    let small = value[start + capitals..].iter().take_while(|byte| byte.is_ascii_lowercase()).count();
    if capitals > 1 && small > 0 {
        // `HTTPServer`: the last capital begins the next word.
        return start + capitals - 1;
    }
    start + capitals + small
}

fn is_word(letters: &[u8]) -> bool {
    let common = letters
        .windows(2)
        .filter(|pair| {
            let (first, second) = (pair[0].to_ascii_lowercase() - b'a', pair[1].to_ascii_lowercase() - b'a');
            COMMON_PAIRS[usize::from(first)] >> second & 1 == 1
        })
        .count();
    common * 10 >= (letters.len() - 1) * 7
}

fn is_version(value: &[u8]) -> bool {
    let digits = value.strip_prefix(b"v").unwrap_or(value);
    let first = digits.iter().take_while(|byte| byte.is_ascii_digit()).count();
    value.len() < 24 && first > 0 && first < 4 && digits.get(first) == Some(&b'.')
}

fn is_time(value: &[u8]) -> bool {
    value.iter().all(|byte| byte.is_ascii_digit() || b"-:TZ.+/ _,x".contains(byte))
}

#[cfg(test)]
mod tests {
    use super::looks_random;

    #[test]
    fn words_are_not_random() {
        for value in [
            "my-secret-name",
            "web-tls-2024",
            "processEnvToken",
            "DB_PASSWORD",
            "v1.2.3-rc1",
            "hunter22",
            "2024-01-15T10:20:30Z",
            "user.password",
            "Optional[str]",
            "k8s-prod-01",
            "application/json",
            "HTTPServerKey",
        ] {
            assert!(!looks_random(value.as_bytes()), "{value}");
        }
    }

    #[test]
    fn random_values_look_random() {
        for value in [
            "k3jf9slwq0plmz81nsod",
            "JBSWY3DPEHPK3PXP",
            "Xk#9!vQ2m",
            "kQzXvTpwLr",
            "9f86d081884c7d659a2f",
            "wJalrXUtnFEMIK7MDENGbPxRfiCY",
            "tr0ub4dor&3",
        ] {
            assert!(looks_random(value.as_bytes()), "{value}");
        }
    }
}
