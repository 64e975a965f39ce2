"""The page `/docs` about a server's paths; it loads nothing from other hosts."""

from __future__ import annotations

import html
import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

_STYLE = (
    "body{font:16px/1.5 system-ui,sans-serif;max-width:48rem;margin:2rem auto;padding:0 1rem}"
    "code,pre{background:#8882;border-radius:4px;padding:.1em .3em}pre{padding:.6em;overflow:auto}"
    ":root{color-scheme:light dark}table{border-collapse:collapse}td{padding:.2em .8em .2em 0;"
    "vertical-align:top}"
)


def docs_page(schema: Mapping[str, Any], address: str) -> str:
    """Return the page, made from the OpenAPI schema of a server at an address."""
    parts = []
    for path, methods in schema["paths"].items():
        for method, about in methods.items():
            parts.append(f"<h2><code>{method.upper()} {path}</code></h2><p>{about['summary']}.</p>")
            if "requestBody" in about:
                url = f"{address.rstrip('/')}{path}"
                parts += _body_of(about["requestBody"], schema, html.escape(url))
    title = html.escape(f"{schema['info']['title']} {schema['info']['version']}")
    return (
        f"<!doctype html><html lang=en><meta charset=utf-8><title>{title}</title>"
        f"<meta name=viewport content='width=device-width'><style>{_STYLE}</style><h1>{title}</h1>"
        f"<p>{html.escape(schema['info']['description'])} <a href=openapi.json>OpenAPI</a></p>"
        f"{''.join(parts)}</html>"
    )


def _body_of(body: Mapping[str, Any], schema: Mapping[str, Any], url: str) -> list[str]:
    """A table of a request's fields, and an example."""
    name = body["content"]["application/json"]["schema"]["$ref"].rpartition("/")[2]
    model = schema["components"]["schemas"][name]
    rows = [
        f"<tr><td><code>{name}</code><td>{html.escape(field.get('description', ''))}"
        + (f" [{json.dumps(field['default'])}]" if "default" in field else "")
        for name, field in model["properties"].items()
    ]
    example = {
        name: model["example"][name] for name in model["properties"] if name in model["example"]
    }
    payload = html.escape(json.dumps(example))
    return [f"<table>{''.join(rows)}</table>", f"<pre>curl {url} -d '{payload}'</pre>"]
