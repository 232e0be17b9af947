//! Bounds of a template: which part of minijinja's language a recipe may use, and how much text it may handle.
//!
//! minijinja counts instructions, not the text that they make, and two of its readers recurse without end. So
//! `rewritten` counts tokens before minijinja parses them, allows what docs/recipes.md lists, and writes the template
//! again with a meter at every operator, filter, test and call. The meter refuses to go on beyond `WORK`.

use minijinja::machinery::ast::{BinOpKind, CallArg, CompareOpKind, Expr, Stmt, UnaryOpKind};
use minijinja::machinery::{Token, parse, parse_expr, tokenize};
use minijinja::syntax::SyntaxConfig;
use minijinja::value::ValueKind;
use minijinja::{Error, ErrorKind, State, Value};
use std::fmt::Write as _;
use std::io;

/// Bytes of text, with some for each item of a list, that one evaluation may handle.
const WORK: usize = 16 << 20;
/// Bytes of one value.
pub const VALUE_LIMIT: usize = 1 << 20;
/// Words and signs between `{{` and `}}`, or `{%` and `%}`.
const TOKENS: usize = 512;
/// Expressions and statements inside one another.
const DEPTH: usize = 64;
/// One follows the other inside, as minijinja reads them.
const ELIFS: usize = 32;
/// An item costs this much whatever is in it, since memory and time go into it too.
const ITEM: usize = 16;

/// The filter that measures a value.
pub const METER: &str = "meter";

/// An expression with meters.
pub fn rewritten_expression(text: &str, syntax: &SyntaxConfig) -> Result<String, String> {
    count(text, true, syntax)?;
    let expression = parse_expr(text).map_err(|e| e.to_string())?;
    let mut writer = Writer::default();
    writer.expression(&expression)?;
    Ok(writer.text)
}

/// A text with expressions and statements in it, with meters.
pub fn rewritten_text(text: &str, syntax: &SyntaxConfig) -> Result<String, String> {
    count(text, false, syntax)?;
    let template = parse(text, "<string>", syntax.clone()).map_err(|e| e.to_string())?;
    let mut writer = Writer::default();
    writer.statement(&template)?;
    Ok(writer.text)
}

/// minijinja recurses once for each sign, `not`, `else` and `elif` in a row, and the stack ends somewhere.
fn count(text: &str, in_expression: bool, syntax: &SyntaxConfig) -> Result<(), String> {
    let (mut tokens, mut elifs) = (0, 0);
    for token in tokenize(text, in_expression, syntax.clone()) {
        match token.map_err(|e| e.to_string())?.0 {
            Token::VariableStart | Token::BlockStart | Token::TemplateData(_) => tokens = 0,
            Token::Ident("elif") => (tokens, elifs) = (tokens + 1, elifs + 1),
            _ => tokens += 1,
        }
        if tokens > TOKENS {
            return Err(format!(
                "an expression has more than {TOKENS} words and signs; divide it into options"
            ));
        }
        if elifs > ELIFS {
            return Err(format!("it has more than {ELIFS} times {{% elif %}}; use a list"));
        }
    }
    Ok(())
}

#[derive(Default)]
struct Writer {
    text: String,
    depth: usize,
}

impl Writer {
    fn put(&mut self, arguments: std::fmt::Arguments<'_>) {
        self.text.write_fmt(arguments).expect("a string takes all text");
    }

    fn deeper(&mut self) -> Result<(), String> {
        self.depth += 1;
        match self.depth > DEPTH {
            true => Err(format!("it is nested more than {DEPTH} levels deep")),
            false => Ok(()),
        }
    }

    fn statement(&mut self, statement: &Stmt<'_>) -> Result<(), String> {
        self.deeper()?;
        match statement {
            Stmt::Template(template) => self.statements(&template.children)?,
            // As a constant: beside its neighbours it could read as another tag.
            Stmt::EmitRaw(raw) => self.put(format_args!("{{{{ {} }}}}", quoted(raw.raw))),
            Stmt::EmitExpr(emit) => {
                self.text.push_str("{{ ");
                self.expression(&emit.expr)?;
                self.text.push_str(" }}");
            }
            Stmt::ForLoop(each) if !each.recursive => {
                self.text.push_str("{% for ");
                self.target(&each.target)?;
                self.text.push_str(" in ");
                self.metered(&each.iter)?;
                if let Some(condition) = &each.filter_expr {
                    self.text.push_str(" if ");
                    self.expression(condition)?;
                }
                self.text.push_str(" %}");
                self.statements(&each.body)?;
                if !each.else_body.is_empty() {
                    self.text.push_str("{% else %}");
                    self.statements(&each.else_body)?;
                }
                self.text.push_str("{% endfor %}");
            }
            Stmt::IfCond(choice) => {
                self.text.push_str("{% if ");
                self.expression(&choice.expr)?;
                self.text.push_str(" %}");
                self.statements(&choice.true_body)?;
                if !choice.false_body.is_empty() {
                    self.text.push_str("{% else %}");
                    self.statements(&choice.false_body)?;
                }
                self.text.push_str("{% endif %}");
            }
            _ => {
                return Err(
                    "only {{ expressions }}, {% if %}, {% for %} and {% raw %} are understood".into(),
                );
            }
        }
        self.depth -= 1;
        Ok(())
    }

    fn statements(&mut self, statements: &[Stmt<'_>]) -> Result<(), String> {
        statements
            .iter()
            .try_for_each(|statement| self.statement(statement))
    }

    /// The names that a loop sets.
    fn target(&mut self, target: &Expr<'_>) -> Result<(), String> {
        match target {
            Expr::List(names) => {
                self.deeper()?;
                self.text.push('(');
                for name in &names.items {
                    self.target(name)?;
                    self.text.push(',');
                }
                self.text.push(')');
                self.depth -= 1;
                Ok(())
            }
            name => self.expression(name),
        }
    }

    fn metered(&mut self, expression: &Expr<'_>) -> Result<(), String> {
        self.expression(expression)?;
        self.put(format_args!("|{METER}"));
        Ok(())
    }

    /// In parentheses, unless it reads as one thing with whatever follows.
    fn whole(&mut self, expression: &Expr<'_>) -> Result<(), String> {
        if let Expr::Var(_) | Expr::GetAttr(_) | Expr::GetItem(_) = expression {
            return self.expression(expression);
        }
        self.text.push('(');
        self.expression(expression)?;
        self.text.push(')');
        Ok(())
    }

    /// A constant costs no more than it is long in the recipe.
    fn operand(&mut self, expression: &Expr<'_>) -> Result<(), String> {
        match expression {
            Expr::Const(_) => self.expression(expression),
            _ => self.metered(expression),
        }
    }

    /// An operator in parentheses; a filter binds to the thing before it.
    fn expression(&mut self, expression: &Expr<'_>) -> Result<(), String> {
        self.deeper()?;
        match expression {
            Expr::Var(name) => self.text.push_str(name.id),
            Expr::Const(constant) => self.constant(&constant.value),
            Expr::UnaryOp(operation) => {
                self.text.push_str(match operation.op {
                    UnaryOpKind::Not => "(not ",
                    UnaryOpKind::Neg => "(-",
                });
                self.whole(&operation.expr)?;
                self.text.push(')');
            }
            Expr::BinOp(operation) => self.operation(operation.op, &operation.left, &operation.right)?,
            Expr::Compare(chain) => {
                self.text.push('(');
                self.operand(&chain.expr)?;
                for next in &chain.ops {
                    self.put(format_args!(" {} ", comparison(next.op)));
                    self.operand(&next.expr)?;
                }
                self.text.push(')');
            }
            Expr::IfExpr(choice) => {
                self.text.push('(');
                self.expression(&choice.true_expr)?;
                self.text.push_str(" if ");
                self.expression(&choice.test_expr)?;
                if let Some(other) = &choice.false_expr {
                    self.text.push_str(" else ");
                    self.expression(other)?;
                }
                self.text.push(')');
            }
            Expr::Filter(filter) => {
                let Some(input) = &filter.expr else {
                    return Err(format!("filter {} has no input", filter.name));
                };
                self.operand(input)?;
                self.put(format_args!("|{}", filter.name));
                self.arguments(&filter.args)?;
                self.put(format_args!("|{METER}"));
            }
            Expr::Test(test) => {
                self.text.push('(');
                self.operand(&test.expr)?;
                self.put(format_args!(" is {}", test.name));
                self.arguments(&test.args)?;
                self.text.push(')');
            }
            Expr::Call(call) => {
                self.whole(&call.expr)?;
                self.text.push('(');
                self.listed(&call.args)?;
                self.put(format_args!(")|{METER}"));
            }
            Expr::GetAttr(of) => {
                self.whole(&of.expr)?;
                self.put(format_args!(".{}", of.name));
            }
            Expr::GetItem(of) => {
                self.whole(&of.expr)?;
                self.text.push('[');
                self.expression(&of.subscript_expr)?;
                self.text.push(']');
            }
            Expr::Slice(slice) => {
                self.text.push('(');
                self.operand(&slice.expr)?;
                self.text.push_str(")[");
                for (bound, sign) in [(&slice.start, ":"), (&slice.stop, ":"), (&slice.step, "]")] {
                    if let Some(bound) = bound {
                        self.expression(bound)?;
                    }
                    self.text.push_str(sign);
                }
                self.put(format_args!("|{METER}"));
            }
            Expr::List(list) => {
                self.text.push('[');
                self.items(&list.items)?;
                self.text.push(']');
            }
            Expr::Tuple(tuple) => {
                self.text.push('(');
                self.items(&tuple.items)?;
                self.text.push(')');
            }
            Expr::Map(map) => {
                self.text.push('{');
                for (key, value) in map.keys.iter().zip(&map.values) {
                    self.expression(key)?;
                    self.text.push_str(": ");
                    self.expression(value)?;
                    self.text.push_str(", ");
                }
                self.text.push('}');
            }
        }
        self.depth -= 1;
        Ok(())
    }

    fn items(&mut self, items: &[Expr<'_>]) -> Result<(), String> {
        for item in items {
            self.expression(item)?;
            self.text.push_str(", ");
        }
        Ok(())
    }

    fn operation(&mut self, kind: BinOpKind, left: &Expr<'_>, right: &Expr<'_>) -> Result<(), String> {
        let sign = match kind {
            BinOpKind::ScAnd => return self.logical(left, "and", right),
            BinOpKind::ScOr => return self.logical(left, "or", right),
            BinOpKind::Eq => "==",
            BinOpKind::Ne => "!=",
            BinOpKind::Lt => "<",
            BinOpKind::Lte => "<=",
            BinOpKind::Gt => ">",
            BinOpKind::Gte => ">=",
            BinOpKind::Add => "+",
            BinOpKind::Sub => "-",
            BinOpKind::Mul => "*",
            BinOpKind::Div => "/",
            BinOpKind::FloorDiv => "//",
            BinOpKind::Rem => "%",
            BinOpKind::Pow => "**",
            BinOpKind::Concat => "~",
            BinOpKind::In => "in",
        };
        self.text.push('(');
        self.operand(left)?;
        self.put(format_args!(" {sign} "));
        // minijinja computes constants when it compiles, before it counts anything: a meter keeps it from that.
        self.metered(right)?;
        self.put(format_args!(")|{METER}"));
        Ok(())
    }

    fn logical(&mut self, left: &Expr<'_>, word: &str, right: &Expr<'_>) -> Result<(), String> {
        self.text.push('(');
        self.expression(left)?;
        self.put(format_args!(" {word} "));
        self.expression(right)?;
        self.text.push(')');
        Ok(())
    }

    /// What a filter or test takes.
    fn arguments(&mut self, arguments: &[CallArg<'_>]) -> Result<(), String> {
        if !arguments.is_empty() {
            self.text.push('(');
            self.listed(arguments)?;
            self.text.push(')');
        }
        Ok(())
    }

    fn listed(&mut self, arguments: &[CallArg<'_>]) -> Result<(), String> {
        for argument in arguments {
            match argument {
                CallArg::Pos(value) => self.operand(value)?,
                CallArg::Kwarg(name, value) => {
                    self.put(format_args!("{name}="));
                    self.operand(value)?;
                }
                CallArg::PosSplat(_) | CallArg::KwargSplat(_) => {
                    return Err("arguments are written one by one".to_owned());
                }
            }
            self.text.push_str(", ");
        }
        Ok(())
    }

    fn constant(&mut self, value: &Value) {
        match value.as_str() {
            Some(text) => self.text.push_str(&quoted(text)),
            // Numbers, true, false and none.
            None => self.put(format_args!("{value}")),
        }
    }
}

fn comparison(kind: CompareOpKind) -> &'static str {
    match kind {
        CompareOpKind::Eq => "==",
        CompareOpKind::Ne => "!=",
        CompareOpKind::Lt => "<",
        CompareOpKind::Lte => "<=",
        CompareOpKind::Gt => ">",
        CompareOpKind::Gte => ">=",
        CompareOpKind::In => "in",
        CompareOpKind::NotIn => "not in",
    }
}

/// minijinja reads the escapes of JSON.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// How much an evaluation has handled so far.
#[derive(Default)]
struct Handled(usize);

/// Gives the value back, unless too much was handled with it.
pub fn meter(state: &mut State<'_, '_>, value: &Value) -> Result<Value, Error> {
    let handled = state.get_or_insert_extension_with(Handled::default);
    let left = WORK.saturating_sub(handled.0);
    let size = size_within(value, left).ok_or_else(|| refused("handles", WORK))?;
    handled.0 += size;
    Ok(value.clone())
}

/// Refuses a value that is larger than a task can take.
pub fn check_value(value: &Value) -> Result<(), Error> {
    size_within(value, VALUE_LIMIT)
        .map(|_| ())
        .ok_or_else(|| refused("makes", VALUE_LIMIT))
}

fn refused(verb: &str, limit: usize) -> Error {
    Error::new(ErrorKind::InvalidOperation, too_much(verb, limit))
}

fn too_much(verb: &str, limit: usize) -> String {
    format!("it {verb} more than {} MiB of text", limit >> 20)
}

/// What an evaluation says of its failure; a full `Limited` is the cause beneath.
pub fn words(error: &Error) -> String {
    match std::error::Error::source(error) {
        Some(cause) if error.kind() == ErrorKind::WriteFailure => cause.to_string(),
        _ => error.to_string(),
    }
}

/// The size of a value with all in it, unless it is more than the limit.
fn size_within(value: &Value, limit: usize) -> Option<usize> {
    let mut size = ITEM + value.as_str().map_or(0, str::len);
    if matches!(
        value.kind(),
        ValueKind::Seq | ValueKind::Iterable | ValueKind::Map
    ) {
        for item in value.try_iter().ok()? {
            size += size_within(&item, limit.checked_sub(size)?)?;
            if value.kind() == ValueKind::Map {
                let of_key = value.get_item(&item).ok()?;
                size += size_within(&of_key, limit.checked_sub(size)?)?;
            }
        }
    }
    (size <= limit).then_some(size)
}

/// Takes text up to the limit of a value.
#[derive(Default)]
pub struct Limited(Vec<u8>);

impl Limited {
    pub fn into_text(self) -> Result<String, String> {
        String::from_utf8(self.0).map_err(|e| e.to_string())
    }
}

impl io::Write for Limited {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.0.len() + bytes.len() > VALUE_LIMIT {
            return Err(io::Error::other(too_much("makes", VALUE_LIMIT)));
        }
        self.0.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::template::{ENGINE, SYNTAX};
    use minijinja::context;

    /// The rewritten template gives the same text.
    #[test]
    fn meters_change_no_meaning() {
        for text in [
            "{{ -n|abs }} {{ -(n|abs) }} {{ -n ** 2 }} {{ (1 - 2) - 3 }} {{ 1 - (2 - 3) }} {{ 7 // 2 * 2 % 4 }}",
            "{{ 'a' ~ (n + 1) }} {{ not n == 3 }} {{ 1 < n < 5 < 4 }} {{ 1 not in items }} {{ n is not odd }}",
            "{{ (a or b).c }} {{ (map.x ~ 'y')|upper|lower }} {{ items[1:] }} {{ items[::-1] }} {{ (items + [n])[0] }}",
            "{{ 'yes' if n > 2 else 'no' }} {{ 1.5 * 2 }} {{ true and none }} {{ {'k': [n, 'v']}|tojson }}",
            "{{ \"q\\\"\\n\\\\{{\" }} {% raw %}{{ {% x %}{% endraw %} {#- gone -#} {{ (1, n) }} {{ items is iterable }}",
            "{%- for a, (b, c) in [[1, [2, 3]]] if a -%} {{ loop.index }}{{ a }}{{ b }}{{ c }}\n{%- else %}none{% endfor %}{",
            "{% for a in [] %}{% else %}empty{% endfor %}{% if n == 1 %}1{% elif n == 3 %}3{% else %}?{% endif %}\n",
            "{{ nothing|default('d') }} {{ map.nothing is defined }} {{ items|map('string')|first }}",
        ] {
            let values = context! {
                n => 3, items => vec![1, 2, 3], map => context! { x => "X" }, b => context! { c => "C" }, a => "",
            };
            let rewritten = rewritten_text(text, &SYNTAX).unwrap();
            let plain = ENGINE.render_str(text, &values).expect(text);
            let bounded = ENGINE.render_str(&rewritten, &values).expect(&rewritten);
            assert_eq!(bounded, plain, "{text}\n{rewritten}");
        }
    }
}
