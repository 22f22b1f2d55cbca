//! Reads the Worker's variables as the Worker does, before they are deployed.

use std::cell::RefCell;

use quillgate_worker::config::Config;
use serde_json::{Map, Value};

/// The most bytes of a variable or a secret: Cloudflare allows 5 kB.
const LONGEST_VALUE: usize = 5_000;

/// Checks a JSON object of variables, all of them texts.
///
/// # Errors
/// What is wrong, with the name of the variable and never its value.
pub fn check(json: &str) -> Result<(), String> {
    let variables: Map<String, Value> =
        serde_json::from_str(json).map_err(|_| "the variables are not a JSON object".to_owned())?;
    for (name, value) in &variables {
        match value.as_str() {
            None => return Err(format!("{name} must be a text")),
            Some(text) if text.len() > LONGEST_VALUE => {
                return Err(format!("{name} must have at most {LONGEST_VALUE} bytes"));
            }
            Some(_) => {}
        }
    }
    let asked = RefCell::new(Vec::new());
    let read = Config::read(|name| {
        asked.borrow_mut().push(name.to_owned());
        Some(variables.get(name)?.as_str()?.to_owned())
    });
    read.map_err(|error| error.to_string())?;
    let asked = asked.into_inner();
    match variables.keys().find(|name| !asked.contains(name)) {
        Some(name) => Err(format!("{name} is not a variable of the Worker")),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::{LONGEST_VALUE, check};
    use serde_json::{Value, json};

    fn with(name: &str, value: &Value) -> Result<(), String> {
        let mut variables = json!({
            "ADMIN_API_KEY": "mint_hunter2",
            "ACCESS_TOKEN_SECRET": "hunter2-hunter2-hunter2-hunter2-hunter2",
        });
        variables[name] = value.clone();
        check(&variables.to_string())
    }

    #[test]
    fn variables_that_the_worker_takes_are_right() {
        assert_eq!(with("ALLOWED_ORIGINS", &json!("")), Ok(()));
        assert_eq!(with("REVOKED_TOKENS_4", &json!("[\"a\"]")), Ok(()));
        assert_eq!(with("TURNSTILE_SITE_KEY", &json!("")), Ok(()));
    }

    #[test]
    fn a_typo_is_found_and_its_value_is_not_repeated() {
        let long = "x".repeat(LONGEST_VALUE + 1);
        for (name, value, words) in [
            ("TRUSTED_ISSUERS", json!("[hunter2]"), "must be a JSON list"),
            (
                "REVOKED_TOKENS_2",
                json!("[{\"jti\":\"hunter2\"}"),
                "must be a JSON list",
            ),
            (
                "REVOKED_TOKENS_5",
                json!("[]"),
                "is not a variable of the Worker",
            ),
            (
                "TRUSTED_ISSUER",
                json!("[]"),
                "is not a variable of the Worker",
            ),
            ("CREATE_LIMIT_PER_HOUR", json!(5), "must be a text"),
            ("ADMIN_API_KEY", json!("sk-hunter2"), "must be an admin key"),
            (
                "REVOKED_TOKENS",
                json!(long),
                "must have at most 5000 bytes",
            ),
        ] {
            let problem = with(name, &value).expect_err("a typo");
            assert!(problem.starts_with(&format!("{name} {words}")), "{problem}");
            assert!(!problem.contains("hunter2"), "{problem}");
        }
        assert!(check("[]").is_err());
    }
}
