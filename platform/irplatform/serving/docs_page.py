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
_EXAMPLES = {
    "/search": {"query": "BRAF melanoma", "top_n": 3},
    "/rerank": {"query": "BRAF melanoma", "documents": ["BRAF in melanoma", "Asthma in mice"]},
    "/explain": {"query": "BRAF melanoma", "documents": ["BRAF in melanoma"]},
}


def docs_page(schema: Mapping[str, Any], address: str) -> str:
    """Return the page, made from the OpenAPI schema of a server at an address."""
    parts = []
    for path, methods in schema["paths"].items():
        for method, about in methods.items():
            parts.append(f"<h2><code>{method.upper()} {path}</code></h2><p>{about['summary']}.</p>")
            parts += _body_of(about, schema)
            if method == "post":
                body = html.escape(json.dumps(_EXAMPLES[path]))
                url = html.escape(f"{address.rstrip('/')}{path}")
                parts.append(f"<pre>curl {url} -d '{body}'</pre>")
    title = html.escape(f"{schema['info']['title']} {schema['info']['version']}")
    return (
        f"<!doctype html><html lang=en><meta charset=utf-8><title>{title}</title>"
        f"<meta name=viewport content='width=device-width'><style>{_STYLE}</style><h1>{title}</h1>"
        f"<p>{html.escape(schema['info']['description'])} <a href=openapi.json>OpenAPI</a></p>"
        f"{''.join(parts)}</html>"
    )


def _body_of(about: Mapping[str, Any], schema: Mapping[str, Any]) -> list[str]:
    """A table of a request's fields."""
    if "requestBody" not in about:
        return []
    name = about["requestBody"]["content"]["application/json"]["schema"]["$ref"]
    fields = schema["components"]["schemas"][name.rpartition("/")[2]]["properties"]
    rows = [
        f"<tr><td><code>{name}</code><td>{html.escape(field.get('description', ''))}"
        + (f" [{json.dumps(field['default'])}]" if "default" in field else "")
        for name, field in fields.items()
    ]
    return [f"<table>{''.join(rows)}</table>"]
