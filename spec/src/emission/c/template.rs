//! Templates: C with marks. `@if NAME@` or `@if no NAME@`, and `@end@`, on lines of their own, enclose code that only
//! some collectives need; other marks are replaced by text.

/// The lines of a template whose conditions hold.
pub(super) fn chosen(template: &str, holds: &dyn Fn(&str) -> bool) -> String {
    let mut open: Vec<bool> = Vec::new();
    let mut text = String::new();
    for line in template.lines() {
        if let Some(condition) = line.strip_prefix("@if ").and_then(|rest| rest.strip_suffix('@')) {
            open.push(match condition.strip_prefix("no ") {
                Some(name) => !holds(name),
                None => holds(condition),
            });
        } else if line == "@end@" {
            open.pop();
        } else if open.iter().all(|&inside| inside) {
            text += line;
            text += "\n";
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions_nest() {
        let template = "a\n@if x@\nb\n@if no y@\nc\n@end@\n@end@\n@if no x@\nd\n@end@\ne\n";
        let with = |x: bool, y: bool| chosen(template, &move |name| if name == "x" { x } else { y });
        assert_eq!(with(true, false), "a\nb\nc\ne\n");
        assert_eq!(with(true, true), "a\nb\ne\n");
        assert_eq!(with(false, false), "a\nd\ne\n");
    }
}
