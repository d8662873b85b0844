//! What the text of a driver crate must and must not hold.

use super::Finding;
use super::files::{SourceFile, is_driver};

/// The modules of a driver crate that do I/O.
const WAITING_MODULES: [&str; 2] = ["driver", "process"];

/// Where waiting is allowed, and that the conformance suite runs.
pub(super) fn check(files: &[SourceFile]) -> Vec<Finding> {
    files.iter().filter_map(check_one).collect()
}

fn check_one(file: &SourceFile) -> Option<Finding> {
    let (folder, inside) = file.path.strip_prefix("crates/")?.split_once('/')?;
    if !is_driver(folder) {
        return None;
    }
    if inside == "tests/it/main.rs" {
        return (!file.text.contains("conformance_suite!")).then(|| {
            Finding::new(
                &file.path,
                "does not run the suite; call `llm_driver_testkit::conformance_suite!` here",
            )
        });
    }
    let module = inside.strip_prefix("src/")?.strip_suffix(".rs")?;
    if may_wait(module) {
        return None;
    }
    let line = first_await(&file.text)?;
    Some(Finding::new(
        format!("{}:{line}", file.path),
        "waits; only driver.rs and process.rs do I/O, so keep this a plain function and call it from there",
    ))
}

/// A module may wait if it is one that does I/O, a part of one, or made of tests.
fn may_wait(module: &str) -> bool {
    let mut parts = module.split('/');
    parts.next().is_some_and(|top| WAITING_MODULES.contains(&top))
        || module.split('/').any(|part| part == "tests")
}

/// The first line that waits, tests at the end of the file and comments aside.
fn first_await(text: &str) -> Option<usize> {
    let mut after_test_attribute = false;
    for (index, line) in text.lines().enumerate() {
        let code = line.split("//").next().unwrap_or_default();
        if after_test_attribute && code.trim_start().starts_with("mod ") && code.contains('{') {
            return None;
        }
        after_test_attribute = code.trim() == "#[cfg(test)]";
        let mut rest = code;
        while let Some((_, after)) = rest.split_once(".await") {
            if !after.starts_with(|next: char| next.is_alphanumeric() || next == '_') {
                return Some(index + 1);
            }
            rest = after;
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn findings(path: &str, text: &str) -> Vec<Finding> {
        check(&[SourceFile {
            path: path.to_owned(),
            text: text.to_owned(),
        }])
    }

    #[test]
    fn waiting_is_for_the_driver_alone() {
        let text = "fn a() {\n    b().await;\n}\n";
        for path in [
            "src/driver.rs",
            "src/driver/stream.rs",
            "src/process.rs",
            "src/config/tests.rs",
            "tests/it/a.rs",
        ] {
            assert_eq!(
                findings(&format!("crates/llm-driver-openai/{path}"), text),
                [],
                "{path}"
            );
        }
        assert_eq!(findings("crates/llm-routing/src/executor.rs", text), []);
        assert_eq!(findings("crates/llm-driver-testkit/src/server.rs", text), []);
        let found = findings("crates/llm-driver-openai/src/config.rs", text);
        assert!(
            found[0]
                .to_string()
                .starts_with("lint: crates/llm-driver-openai/src/config.rs:2: waits"),
            "{found:?}"
        );
    }

    #[test]
    fn comments_names_and_tests_do_not_wait() {
        for text in [
            "//! x.await\n/// y.await\nfn a() {} // z.await\n",
            "fn a() { self.awaiting(); }\n",
            "fn a() {}\n\n#[cfg(test)]\nmod tests {\n    async fn b() { c().await }\n}\n",
        ] {
            assert_eq!(first_await(text), None, "{text}");
        }
        assert_eq!(
            first_await("#[cfg(test)]\nmod tests;\nfn a() { b.awaited().await }\n"),
            Some(3)
        );
    }

    #[test]
    fn driver_without_the_suite_is_found() {
        let path = "crates/llm-driver-openai/tests/it/main.rs";
        assert_eq!(
            findings(path, "llm_driver_testkit::conformance_suite!(Harness);"),
            []
        );
        assert_eq!(findings(path, "mod encode;").len(), 1);
    }
}
