//! Was a limit kept, and was it used? Pure: over the times of all admissions, in microseconds, in order.

/// The most admissions in any window `[t, t + length)`.
pub(super) fn most_in_a_window(admissions: &[u64], length: u64) -> usize {
    let mut first = 0;
    let mut most = 0;
    for (last, time) in admissions.iter().enumerate() {
        while time - admissions[first] >= length {
            first += 1;
        }
        most = most.max(last + 1 - first);
    }
    most
}

/// The fewest admissions in any window `(t, t + length]` that lies within the span; `None` when none fits.
pub(super) fn least_in_a_window(admissions: &[u64], length: u64, span: (u64, u64)) -> Option<usize> {
    let (from, to) = span;
    let last_start = to.checked_sub(length).filter(|start| *start >= from)?;
    let count_to = |time: u64| admissions.partition_point(|admission| *admission <= time);
    // The count falls only where a window begins just after an admission, and grows everywhere else.
    let starts = admissions
        .iter()
        .copied()
        .filter(|time| (from..=last_start).contains(time));
    starts
        .chain([from])
        .map(|start| count_to(start + length) - count_to(start))
        .min()
}

/// The first admission at or after this moment.
pub(super) fn first_from(admissions: &[u64], moment: u64) -> Option<u64> {
    admissions
        .get(admissions.partition_point(|admission| *admission < moment))
        .copied()
}

/// How many there are in `[from, to)`.
pub(super) fn count(times: &[u64], from: u64, to: u64) -> usize {
    times.partition_point(|time| *time < to) - times.partition_point(|time| *time < from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fullest_window_may_begin_anywhere() {
        assert_eq!(most_in_a_window(&[], 10), 0);
        assert_eq!(most_in_a_window(&[0, 9, 10, 18, 19, 40], 10), 3);
        assert_eq!(
            most_in_a_window(&[0, 10, 20], 10),
            1,
            "a window ends where the next begins"
        );
        assert_eq!(most_in_a_window(&[5, 5, 5], 10), 3);
    }

    #[test]
    fn the_emptiest_window_may_begin_anywhere() {
        let admissions = [0, 1, 2, 10, 11, 12, 23];
        assert_eq!(least_in_a_window(&admissions, 10, (0, 12)), Some(3));
        assert_eq!(least_in_a_window(&admissions, 10, (0, 22)), Some(0));
        assert_eq!(least_in_a_window(&admissions, 10, (2, 12)), Some(3));
        assert_eq!(least_in_a_window(&admissions, 10, (0, 9)), None);
        assert_eq!(least_in_a_window(&admissions, 10, (9, 8)), None);
    }

    #[test]
    fn counts_are_half_open() {
        assert_eq!((count(&[1, 2, 2, 3], 2, 3), first_from(&[1, 5], 2)), (2, Some(5)));
        assert_eq!(first_from(&[1, 5], 6), None);
    }
}
