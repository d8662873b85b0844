//! How many calls failed lately. Pure: the time is an argument, in milliseconds of the store's clock.

/// The window is cut into this many slices, which bounds memory and work whatever the traffic is.
pub(super) const SLICES: u64 = 10;
/// `SLICES` as a length.
const PLACES: usize = SLICES as usize;
/// How many numbers a window is written as.
pub(super) const NUMBERS: usize = PLACES * 3;

/// Calls and failures in slices of time. What it counts is up to one slice less than the whole window, because the
/// present slice is only partly over.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Window {
    /// A ring: slice `n` stands at `n % SLICES`.
    slices: [Slice; PLACES],
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Slice {
    number: u64,
    calls: u64,
    failures: u64,
}

impl Window {
    /// A call has ended. A moment before the newest slice (a clock that was set back) counts into whatever stands
    /// at its place.
    pub(super) fn note(&mut self, slice_ms: u64, now: u64, failed: bool) {
        let number = now / slice_ms;
        let slice = &mut self.slices[(number % SLICES) as usize];
        if slice.number < number {
            *slice = Slice {
                number,
                ..Slice::default()
            };
        }
        slice.calls += 1;
        slice.failures += u64::from(failed);
    }

    /// The calls of the window, and how many of them failed.
    pub(super) fn totals(&self, slice_ms: u64, now: u64) -> (u64, u64) {
        let oldest = (now / slice_ms).saturating_sub(SLICES - 1);
        let kept = self.slices.iter().filter(|slice| slice.number >= oldest);
        kept.fold((0, 0), |(calls, failures), slice| {
            (calls + slice.calls, failures + slice.failures)
        })
    }

    /// As it is stored.
    pub(super) fn to_numbers(&self) -> impl Iterator<Item = u64> + '_ {
        self.slices
            .iter()
            .flat_map(|slice| [slice.number, slice.calls, slice.failures])
    }

    /// From what is stored: [`NUMBERS`] of them.
    pub(super) fn from_numbers(numbers: &[u64]) -> Window {
        let mut window = Window::default();
        for (slice, stored) in window.slices.iter_mut().zip(numbers.chunks_exact(3)) {
            *slice = Slice {
                number: stored[0],
                calls: stored[1],
                failures: stored[2],
            };
        }
        window
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_older_than_the_window_is_forgotten() {
        let mut window = Window::default();
        window.note(100, 1, true);
        window.note(100, 950, false);
        assert_eq!(window.totals(100, 999), (2, 1));
        assert_eq!(window.totals(100, 1_000), (1, 0));
        window.note(100, 1_000, true);
        assert_eq!(window.totals(100, 1_000), (2, 1));
        assert_eq!(window.totals(100, 1_000_000), (0, 0));
    }

    #[test]
    fn a_clock_that_was_set_back_loses_nothing() {
        let mut window = Window::default();
        window.note(100, 5_000, true);
        window.note(100, 4_000, true);
        assert_eq!(window.totals(100, 5_000), (2, 2));
        assert_eq!(window.totals(100, 4_000), (2, 2));
    }

    #[test]
    fn numbers_keep_it() {
        let mut window = Window::default();
        for now in [7, 320, 321, 999] {
            window.note(100, now, now % 2 == 0);
        }
        let numbers: Vec<u64> = window.to_numbers().collect();
        assert_eq!(numbers.len(), NUMBERS);
        assert_eq!(Window::from_numbers(&numbers), window);
    }
}
