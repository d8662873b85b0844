//! Which runs of characters of a message a text has too: each text is looked at once, in constant time a character.

use super::shown::{Shown, folded};
use std::collections::HashMap;
use std::hash::{BuildHasher, BuildHasherDefault, Hasher, RandomState};
use std::ops::Range;

/// A part of a text of the request is looked for from this many characters on.
pub(super) const LONG: usize = 24;

/// The same for what stands in quotes, or is cut: there a vendor repeats what it was sent.
pub(super) const SHORT: usize = 8;

/// The bits of the filter per window, so that most that is no window is told at once.
const FILTER_BITS: usize = 32;

/// The windows of all messages, and which of them were found.
pub(super) struct Windows {
    hasher: RandomState,
    filter: Filter,
    short: ByHash<Found>,
    long: ByHash<bool>,
}

type ByHash<T> = HashMap<u64, T, BuildHasherDefault<Hashed>>;

/// Takes a hash as it is.
#[derive(Default)]
struct Hashed(u64);

impl Hasher for Hashed {
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = self.0.rotate_left(8) ^ u64::from(*byte);
        }
    }

    fn write_u64(&mut self, hash: u64) {
        self.0 = hash;
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

#[derive(Clone, Copy, Default)]
struct Found {
    anywhere: bool,
    at_start: bool,
}

/// A run that a text has too, in characters of the form; `begins`: a text begins with it.
pub(super) struct Run {
    pub(super) chars: Range<usize>,
    pub(super) begins: bool,
}

impl Windows {
    pub(super) fn of<'m>(forms: impl Iterator<Item = &'m Shown> + Clone) -> Self {
        let count = forms.clone().map(|form| form.chars.len()).sum();
        let mut windows = Windows {
            hasher: RandomState::new(),
            filter: Filter::new(count),
            short: ByHash::default(),
            long: ByHash::default(),
        };
        for form in forms {
            for window in form.chars.windows(SHORT) {
                windows
                    .filter
                    .add(window.iter().fold(0, |sign, c| signed(sign, *c)));
                windows.short.entry(windows.hasher.hash_one(window)).or_default();
            }
            for window in form.chars.windows(LONG) {
                windows.long.entry(windows.hasher.hash_one(window)).or_default();
            }
        }
        windows
    }

    /// Is there nothing to look for?
    pub(super) fn is_empty(&self) -> bool {
        self.short.is_empty()
    }

    /// Looks at a text; could a message have it from its first character on?
    pub(super) fn look_for(&mut self, text: &str) -> bool {
        // the last characters, twice, so that they stand in a row from `at` on
        let mut last = ['\0'; 2 * LONG];
        let (mut at, mut count, mut in_a_row, mut sign) = (0, 0, 0, 0);
        let mut begins = false;
        for c in folded(text) {
            last[at] = c;
            last[at + LONG] = c;
            at = if at + 1 == LONG { 0 } else { at + 1 };
            count += 1;
            sign = signed(sign, c);
            if count < SHORT || !self.filter.has(sign) {
                in_a_row = 0;
                continue;
            }
            let short = self.hasher.hash_one(&last[at + LONG - SHORT..at + LONG]);
            let Some(found) = self.short.get_mut(&short) else {
                in_a_row = 0;
                continue;
            };
            found.anywhere = true;
            if count == SHORT {
                found.at_start = true;
                begins = true;
            }
            in_a_row += 1;
            if in_a_row > LONG - SHORT {
                let long = self.hasher.hash_one(&last[at..at + LONG]);
                if let Some(found) = self.long.get_mut(&long) {
                    *found = true;
                }
            }
        }
        begins
    }

    /// The runs of a form that are long enough wherever they stand.
    pub(super) fn long_runs(&self, form: &Shown) -> Vec<Run> {
        let found = form.chars.windows(LONG).map(|window| {
            let found = self.long.get(&self.hasher.hash_one(window)).copied();
            found.unwrap_or_default().then_some(false)
        });
        runs::<LONG>(found)
    }

    /// The runs of a form that are long enough in quotes.
    pub(super) fn short_runs(&self, form: &Shown) -> Vec<Run> {
        let found = form.chars.windows(SHORT).map(|window| {
            let found = self.short.get(&self.hasher.hash_one(window)).copied();
            found.filter(|found| found.anywhere).map(|found| found.at_start)
        });
        runs::<SHORT>(found)
    }
}

/// Windows that follow each other as one run.
fn runs<const N: usize>(found: impl Iterator<Item = Option<bool>>) -> Vec<Run> {
    let mut runs: Vec<Run> = Vec::new();
    let found = found.enumerate().filter_map(|(at, found)| Some((at, found?)));
    for (at, begins) in found {
        let chars = at..at + N;
        match runs.last_mut() {
            Some(run) if run.chars.end + 1 == chars.end => run.chars.end = chars.end,
            _ => runs.push(Run { chars, begins }),
        }
    }
    runs
}

/// The last eight characters as one number, of which some share one.
fn signed(sign: u64, c: char) -> u64 {
    let c = u64::from(u32::from(c));
    (sign << 8) | ((c ^ (c >> 7)) & 0xFF)
}

/// A set that may say yes to more than it holds.
struct Filter {
    bits: Vec<u64>,
    shift: u32,
}

impl Filter {
    fn new(count: usize) -> Self {
        let bits = (count * FILTER_BITS).next_power_of_two().clamp(1 << 14, 1 << 22);
        Filter {
            bits: vec![0; bits / 64],
            shift: 64 - bits.trailing_zeros(),
        }
    }

    /// In which word, and which bit of it.
    fn place(&self, sign: u64) -> (usize, u64) {
        let bit = sign.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> self.shift;
        (usize::try_from(bit / 64).unwrap_or_default(), 1 << (bit % 64))
    }

    fn add(&mut self, sign: u64) {
        let (word, bit) = self.place(sign);
        self.bits[word] |= bit;
    }

    fn has(&self, sign: u64) -> bool {
        let (word, bit) = self.place(sign);
        self.bits[word] & bit != 0
    }
}
