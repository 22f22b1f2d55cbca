//! Generates the constants that the package's wasm and its TypeScript driver share, such as numbers
//! of events and commands, names and texts of rules, and locations of messages in error responses.

use std::fmt::Write as _;

use quillgate::Rule;
use quillgate::credential::LOOPBACK;
use quillgate::deployment::{LOG_FAILED, LOG_NOT_REVALIDATED, LOG_PUBLISHED};
use quillgate::response::{DETAIL_PATHS, MAX_DETAILS, MAX_MESSAGE, MESSAGE_PATHS, REASONS};
use quillgate_wasm::protocol::{CommandNumber, EventNumber, Mode, Output, Source};

/// Returns the module `pkg/src/generated/protocol.ts`.
pub fn typescript() -> String {
    let mut module = String::from(
        "/** Numbers and strings that the wasm and its driver share. Generated from the Rust types: do not edit. */\n\n\
         import type { Rule } from \"../types.js\";\n",
    );
    module.push_str("\n/** The product that the package adds to `User-Agent`. */\n");
    module.push_str(concat!(
        "export const USER_AGENT = \"quillgate/",
        env!("CARGO_PKG_VERSION"),
        "\";\n"
    ));
    push_numbers(&mut module, "MODE", Mode::NAMES);
    push_numbers(&mut module, "SOURCE", Source::NAMES);
    push_numbers(&mut module, "EVENT", EventNumber::NAMES);
    push_numbers(&mut module, "COMMAND", CommandNumber::NAMES);
    push_numbers(&mut module, "OUTPUT", Output::NAMES);
    module.push_str("\n/** The name and the message of each rule, by its number. */\n");
    module.push_str("export const RULES: readonly (readonly [Rule, string])[] = [\n");
    for rule in Rule::ALL {
        // Only gateways report these rules, so the package needs no message for them.
        let message = match rule {
            Rule::PathSegment | Rule::Once => "",
            rule => rule.text(),
        };
        let _ = writeln!(module, "  [\"{}\", {message:?}],", rule.name());
    }
    module.push_str("];\n");
    module.push_str("\n/** Rules that the package also checks itself. */\n");
    let _ = write!(
        module,
        "export const RULE_BASE_URL = {};\nexport const RULE_SECURE_BASE_URL = {};\n\
         export const RULE_HEADER = {};\n\
         \n/** The hosts of this machine, as in URLs. */\n\
         export const LOOPBACK: readonly string[] = {LOOPBACK:?};\n",
        Rule::BaseUrl.number(),
        Rule::SecureBaseUrl.number(),
        Rule::Header.number()
    );
    let _ = write!(
        module,
        "\n/** The paths at which an error response can have its message. The first non-empty string is used. */\n\
         export const MESSAGE_PATHS: readonly (readonly string[])[] = {MESSAGE_PATHS:?};\n\
         \n/** The lists of additional messages, each with the property of its items that has the message. */\n\
         export const DETAIL_PATHS: readonly (readonly [string, string])[] = {:?};\n\
         \nexport const MAX_DETAILS = {MAX_DETAILS};\n\
         export const MAX_MESSAGE = {MAX_MESSAGE};\n\
         \n/** The meaning of statuses without a message: first status, last status, meaning. */\n\
         export const REASONS: readonly (readonly [number, number, string])[] = {:?}",
        DETAIL_PATHS.map(|(list, member)| [list, member]),
        Reasons,
    );
    let _ = write!(
        module,
        ";\n\n/** The starts of sentences in the log of a deployment: see `isLive`. */\n\
         export const LOG_PUBLISHED = {LOG_PUBLISHED:?};\n\
         export const LOG_NOT_REVALIDATED = {LOG_NOT_REVALIDATED:?};\n\
         export const LOG_FAILED = {LOG_FAILED:?};\n"
    );
    module
}

fn push_numbers(module: &mut String, group: &str, names: &[&str]) {
    module.push('\n');
    for (number, name) in names.iter().enumerate() {
        let _ = writeln!(
            module,
            "export const {group}_{} = {number};",
            constant(name)
        );
    }
}

/// Converts a variant's name to a constant's: `TimedOut` becomes `TIMED_OUT`.
fn constant(name: &str) -> String {
    let mut constant = String::new();
    for letter in name.chars() {
        if letter.is_ascii_uppercase() && !constant.is_empty() {
            constant.push('_');
        }
        constant.push(letter.to_ascii_uppercase());
    }
    constant
}

/// Formats [`REASONS`] as a JavaScript array.
struct Reasons;

impl std::fmt::Debug for Reasons {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("[\n")?;
        for (from, to, words) in REASONS {
            writeln!(f, "  [{from}, {to}, {words:?}],")?;
        }
        f.write_str("]")
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_rule_is_numbered_by_its_position() {
        for (place, rule) in quillgate::Rule::ALL.iter().enumerate() {
            assert_eq!(rule.number() as usize, place, "{}", rule.name());
        }
    }
}
