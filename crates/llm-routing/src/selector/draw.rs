//! Chance from a seed.

/// Numbers that look like chance and are the same for the same seed.
#[derive(Debug)]
pub(super) struct Draws(u64);

impl Draws {
    pub(super) fn from(seed: u64) -> Self {
        Draws(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        mix(self.0)
    }

    /// Evenly from 0 to below 1.
    pub(super) fn fraction(&mut self) -> f64 {
        // as many bits as a fraction holds
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Evenly from 0 to below `count`, which is at least 1.
    pub(super) fn below(&mut self, count: usize) -> usize {
        let product = u128::from(self.next()) * count as u128;
        usize::try_from(product >> 64).unwrap_or(0)
    }

    /// Brings a list into a random order.
    pub(super) fn shuffle<T>(&mut self, list: &mut [T]) {
        for last in (1..list.len()).rev() {
            list.swap(last, self.below(last + 1));
        }
    }
}

/// Spreads a number over all bits (the finaliser of SplitMix64, Steele, Lea and Flood 2014).
pub(crate) fn mix(mut number: u64) -> u64 {
    number = (number ^ (number >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    number = (number ^ (number >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    number ^ (number >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_are_even_and_repeatable() {
        let mut draws = Draws::from(7);
        let mut counts = [0; 5];
        for _ in 0..50_000 {
            counts[draws.below(5)] += 1;
            assert!((0.0..1.0).contains(&draws.fraction()));
        }
        assert!(
            counts.iter().all(|count| (9_500..10_500).contains(count)),
            "{counts:?}"
        );
        let order = |seed| {
            let mut order = [0, 1, 2, 3, 4];
            Draws::from(seed).shuffle(&mut order);
            order
        };
        assert_eq!(order(1), order(1));
        assert!((2..20).any(|seed| order(seed) != order(1)));
    }
}
