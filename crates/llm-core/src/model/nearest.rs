//! Names like a name, for the error about an unknown model.

/// How many are told.
const MOST: usize = 5;

/// The known names that differ least from a name, the nearest first.
pub(super) fn nearest<'n>(name: &str, known: impl Iterator<Item = &'n str>) -> Vec<&'n str> {
    let mut ranked: Vec<_> = known.map(|other| (distance(name, other), other)).collect();
    ranked.sort_unstable();
    ranked.truncate(MOST);
    ranked.into_iter().map(|(_, other)| other).collect()
}

/// How many characters must be put in, taken out or changed to make one name of the other.
fn distance(left: &str, right: &str) -> usize {
    let right: Vec<char> = right.chars().collect();
    let mut row: Vec<usize> = (0..=right.len()).collect();
    for (at, a) in left.chars().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], at + 1);
        for (column, b) in right.iter().enumerate() {
            let changed = diagonal + usize::from(a != *b);
            diagonal = row[column + 1];
            row[column + 1] = changed.min(row[column] + 1).min(diagonal + 1);
        }
    }
    row[right.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distance_counts_the_characters_to_change() {
        assert_eq!(distance("", "abc"), 3);
        assert_eq!(distance("abc", ""), 3);
        assert_eq!(distance("gpt-4o", "gpt-4o"), 0);
        assert_eq!(distance("gpt4o", "gpt-4o"), 1);
        assert_eq!(distance("kitten", "sitting"), 3);
    }

    #[test]
    fn the_nearest_come_first() {
        let known = ["o3", "gpt-4o", "gpt-4o-mini", "gpt-6-luna", "gpt-6-sol", "gpt-5"];
        assert_eq!(nearest("gpt-6-lunar", known.into_iter())[0], "gpt-6-luna");
        assert_eq!(nearest("gpt4o", known.into_iter())[0], "gpt-4o");
        assert_eq!(nearest("x", known.into_iter()).len(), MOST);
    }
}
