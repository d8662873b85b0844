//! Running the files of a folder, one after the other.

use crate::case::{self, Case, Fault, Label, Level};
use crate::report::{Report, Verdict};
use crate::selection::Selection;
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

/// Runs the chosen case files of a folder and says a line for each.
pub(crate) fn run(folder: &Path, selection: &Selection, say: &mut dyn FnMut(&str)) -> Result<Report, String> {
    let mut report = Report::default();
    for path in case_files(folder)? {
        let name = path
            .file_stem()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        if !selection.takes_name(&name) {
            continue;
        }
        let read = fs::read_to_string(&path)
            .map_err(|error| Fault::malformed(error.to_string()))
            .and_then(|text| case::parse(&text));
        let (level, verdict) = match read {
            Err(fault) => (Level::Must, Verdict::Refused(fault)),
            Ok(file) => {
                let label = Label::of(&file);
                if !selection.takes(&label, &file) {
                    continue;
                }
                let judged = Case::read(&file, &name).map_or_else(Verdict::Refused, |case| judge(&case));
                (label.level, judged)
            }
        };
        say(&report.add(&name, level, &verdict));
    }
    Ok(report)
}

fn judge(case: &Case) -> Verdict {
    match catch_unwind(AssertUnwindSafe(|| crate::run::run(case))) {
        Ok(Ok(found)) if found.is_empty() => Verdict::Passed,
        Ok(Ok(found)) => Verdict::Differs(found),
        Ok(Err(fault)) => Verdict::Refused(fault),
        Err(_) => Verdict::Panicked,
    }
}

fn case_files(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let unreadable =
        |error: std::io::Error| format!("{}: {error}; give a folder of case files", folder.display());
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        if path.extension().is_some_and(|ending| ending == "json") && path.is_file() {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}
