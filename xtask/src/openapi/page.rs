//! The document as a page: one piece of HTML, without scripts.

#![expect(
    clippy::format_collect,
    clippy::format_push_string,
    reason = "a page that a developer makes need not be fast"
)]

use serde_json::{Map, Value};

/// Stands on every call and every answer, and is explained once, at the top.
const ON_EVERY_CALL: &str = "X-Request-Id";

/// The page in full, with the one style sheet that the API lets it have.
pub(super) fn render(document: &Value) -> String {
    let title = escaped(text(&document["info"]["title"]));
    let calls: Vec<Call> = calls(document);
    let (mut index, mut body) = (String::new(), String::new());
    for tag in items(&document["tags"]) {
        let name = text(&tag["name"]);
        index += &format!("<h2>{}</h2>\n<ul>\n", escaped(name));
        body += &format!("<h2>{}</h2>\n{}", escaped(name), paragraphs(text(&tag["description"])));
        for call in calls.iter().filter(|call| items(&call.operation["tags"]).iter().any(|tag| text(tag) == name)) {
            index += &format!("<li><a href=\"#{}\">{}</a></li>\n", call.anchor(), call.line());
            body += &call.section();
        }
        index += "</ul>\n";
    }
    let schemas: String = members(&document["components"]["schemas"])
        .map(|(name, schema)| {
            let description = paragraphs(text(&schema["description"]));
            format!("<section id=\"schema-{name}\">\n<h3>{name}</h3>\n{description}{}</section>\n", parts(schema))
        })
        .collect();
    format!(
        "<!doctype html>\n<html lang=\"en-SG\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n<title>{title} API</title>\n<style>{style}</style>\n\
         </head>\n<body>\n<header>\n<h1>{title} API</h1>\n{description}\
         <p>Send a key with every call that is not public: <code>Authorization: Bearer pt_…</code>. \
         For programs there is the same as <a href=\"/openapi.json\">OpenAPI {version}</a>.</p>\n</header>\n\
         <nav aria-label=\"Calls\">\n{index}<h2><a href=\"#schemas\">Objects</a></h2>\n</nav>\n\
         <main>\n{body}<h2 id=\"schemas\">Objects</h2>\n{schemas}</main>\n</body>\n</html>\n",
        style = api::DOCS_STYLE,
        description = paragraphs(text(&document["info"]["description"])),
        version = escaped(text(&document["openapi"])),
    )
}

struct Call<'a> {
    path: &'a str,
    method: &'a str,
    operation: &'a Value,
}

fn calls(document: &Value) -> Vec<Call<'_>> {
    members(&document["paths"])
        .flat_map(|(path, methods)| members(methods).map(move |(method, operation)| Call { path, method, operation }))
        .collect()
}

impl Call<'_> {
    fn anchor(&self) -> &str {
        text(&self.operation["operationId"])
    }

    fn line(&self) -> String {
        format!("<b>{}</b> {}", self.method.to_uppercase(), escaped(self.path))
    }

    fn section(&self) -> String {
        let operation = self.operation;
        let public = if operation["security"].is_array() { " <em>public</em>" } else { "" };
        let parameters: String = items(&operation["parameters"])
            .iter()
            .filter(|parameter| parameter["name"] != ON_EVERY_CALL)
            .map(|parameter| {
                let place = match text(&parameter["in"]) {
                    "path" => "in the path",
                    "query" => "in the query",
                    _ => "header",
                };
                let required = if parameter["required"] == true { ", required" } else { "" };
                row(
                    &format!("<code>{}</code><small>{place}{required}</small>", escaped(text(&parameter["name"]))),
                    &format!("{}<small>{}</small>", prose(text(&parameter["description"])), kind(&parameter["schema"])),
                )
            })
            .collect();
        let body: String = contents(&operation["requestBody"])
            .map(|schema| {
                let needed = if operation["requestBody"]["required"] == true { "" } else { ", or nothing" };
                row("Body", &format!("{}{needed}", kind(schema)))
            })
            .collect();
        let answers: String = members(&operation["responses"])
            .map(|(status, response)| {
                let headers: String = members(&response["headers"])
                    .filter(|(name, _)| *name != ON_EVERY_CALL)
                    .map(|(name, header)| {
                        format!("<small><code>{name}</code>: {}</small>", prose(text(&header["description"])))
                    })
                    .collect();
                let schemas: String =
                    contents(response).map(|schema| format!("<small>{}</small>", kind(schema))).collect();
                row(
                    &format!("<code>{status}</code>"),
                    &format!("{}{schemas}{headers}", prose(text(&response["description"]))),
                )
            })
            .collect();
        format!(
            "<section id=\"{}\">\n<h3>{}{public}</h3>\n<p><strong>{}</strong></p>\n{}{}{}</section>\n",
            self.anchor(),
            self.line(),
            prose(text(&operation["summary"])),
            paragraphs(text(&operation["description"])),
            table("Takes", &(parameters + &body)),
            table("Answers", &answers),
        )
    }
}

fn row(name: &str, content: &str) -> String {
    format!("<tr><th scope=\"row\">{name}</th><td>{content}</td></tr>\n")
}

fn table(caption: &str, rows: &str) -> String {
    if rows.is_empty() { String::new() } else { format!("<table>\n<caption>{caption}</caption>\n{rows}</table>\n") }
}

/// The schemas of a body, one for each media type.
fn contents(body: &Value) -> impl Iterator<Item = &Value> {
    members(&body["content"]).map(|(_, content)| &content["schema"])
}

/// What a schema is, in a line.
fn kind(schema: &Value) -> String {
    if let Some(name) = schema["$ref"].as_str().and_then(|path| path.rsplit('/').next()) {
        return format!("<a href=\"#schema-{name}\">{name}</a>");
    }
    for choice in ["oneOf", "anyOf"] {
        if schema[choice].is_array() {
            return items(&schema[choice]).iter().map(kind).collect::<Vec<_>>().join(" or ");
        }
    }
    if schema["enum"].is_array() {
        let words = items(&schema["enum"]).iter().map(|word| format!("<code>{}</code>", escaped(&word.to_string())));
        return words.collect::<Vec<_>>().join(", ");
    }
    if schema["type"] == "array" {
        return format!("list of {}{}", kind(&schema["items"]), range(schema, "Items"));
    }
    let types = match &schema["type"] {
        Value::Array(types) => types.iter().map(text).collect::<Vec<_>>().join(" or "),
        one => text(one).to_owned(),
    };
    let format = schema["format"].as_str().map(|format| format!(", {}", escaped(format))).unwrap_or_default();
    let example = items(&schema["examples"]).first();
    let example = example.map(|example| format!(", such as <code>{}</code>", escaped(&example.to_string())));
    let bounds = range(schema, "imum") + &range(schema, "Length");
    format!("{types}{format}{bounds}{}", example.unwrap_or_default())
}

/// The bounds of a schema, if it has any: `minLength` and `maxLength`, and so on.
fn range(schema: &Value, of: &str) -> String {
    let unit = match of {
        "Length" => " characters",
        _ => "",
    };
    match (&schema[format!("min{of}")], &schema[format!("max{of}")]) {
        (Value::Null, Value::Null) => String::new(),
        (least, Value::Null) => format!(", at least {least}{unit}"),
        (Value::Null, most) => format!(", at most {most}{unit}"),
        (least, most) => format!(", {least} to {most}{unit}"),
    }
}

/// The fields of an object, those of its parts, or its one line.
fn parts(schema: &Value) -> String {
    for choice in ["allOf", "anyOf", "oneOf"] {
        if schema[choice].is_array() {
            let separator = if choice == "allOf" { "" } else { "<p>or</p>\n" };
            return items(&schema[choice]).iter().map(parts).collect::<Vec<_>>().join(separator);
        }
    }
    if schema["type"] != "object" {
        return format!("<p>{}</p>\n", kind(schema));
    }
    let required = items(&schema["required"]);
    let rows: String = members(&schema["properties"])
        .map(|(name, property)| {
            let optional =
                if required.iter().any(|field| text(field) == name) { "" } else { "<small>optional</small>" };
            let items_ = &property["items"];
            let nested = if items_["type"] == "object" { parts(items_) } else { String::new() };
            let line = if nested.is_empty() { kind(property) } else { format!("list{}", range(property, "Items")) };
            let description = prose(text(&property["description"]));
            let line = if description.is_empty() { line } else { format!("{description}<small>{line}</small>") };
            row(&format!("<code>{name}</code>{optional}"), &(line + &nested))
        })
        .collect();
    if rows.is_empty() { "<p>An empty object.</p>\n".to_owned() } else { format!("<table>\n{rows}</table>\n") }
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

fn members(value: &Value) -> impl Iterator<Item = (&String, &Value)> {
    value.as_object().into_iter().flat_map(Map::iter)
}

fn items(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// Text with `code` in it.
fn prose(text: &str) -> String {
    let text = escaped(text);
    let parts = text.split('`').enumerate();
    parts.map(|(index, part)| if index % 2 == 1 { format!("<code>{part}</code>") } else { part.to_owned() }).collect()
}

fn paragraphs(text: &str) -> String {
    text.split("\n\n").filter(|part| !part.is_empty()).map(|part| format!("<p>{}</p>\n", prose(part))).collect()
}
