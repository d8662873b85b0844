#![doc = include_str!("../README.md")]

mod answer;
mod arrivals;
mod case;
mod checks;
mod command_line;
mod folder;
mod form;
mod outcome;
mod price;
mod report;
mod run;
mod script;
mod selection;
mod subject;

use command_line::Asked;

/// Does what the command line says (the words after the program's name) and says each line of the report.
///
/// True when nothing failed. See `llm-cases --help`.
///
/// # Errors
/// What is wrong with the command line, or with the folder it names.
pub fn run(words: &[String], say: &mut dyn FnMut(&str)) -> Result<bool, String> {
    match command_line::read(words)? {
        Asked::Help => {
            say(&command_line::help());
            Ok(true)
        }
        Asked::Run(folder, selection) => {
            let report = folder::run(&folder, &selection, say)?;
            for line in report.closing() {
                say(&line);
            }
            Ok(report.is_good())
        }
    }
}
