"""Croissant 1.1: a description of a release's tables for dataset loaders, with responsible-AI metadata.

(MLCommons, Croissant format specification 1.1 and its RAI vocabulary 1.0.)
"""

from typing import Any

import orjson

from annotation.tasktypes.columns import Kind
from exports.citation import reference, spdx_of
from exports.models import Release

_TYPES = {
    Kind.TEXT: "sc:Text",
    Kind.JSON: "sc:Text",
    Kind.INTEGER: "sc:Integer",
    Kind.NUMBER: "sc:Float",
    Kind.BOOLEAN: "sc:Boolean",
}
_TERMS = (
    "citeAs",
    "column",
    "equivalentProperty",
    "extract",
    "field",
    "fileProperty",
    "fileObject",
    "fileSet",
    "format",
    "includes",
    "isLiveDataset",
    "jsonPath",
    "key",
    "md5",
    "parentField",
    "path",
    "recordSet",
    "references",
    "regex",
    "repeated",
    "replace",
    "samplingRate",
    "separator",
    "source",
    "subField",
    "transform",
)
CONTEXT: dict[str, Any] = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "cr": "http://mlcommons.org/croissant/",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "dct": "http://purl.org/dc/terms/",
    "sc": "https://schema.org/",
    "conformsTo": "dct:conformsTo",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "examples": {"@id": "cr:examples", "@type": "@json"},
    **{term: f"cr:{term}" for term in _TERMS},
}


def croissant_text(release: Release, manifest: dict[str, Any]) -> str:
    """Return the description in JSON-LD; an empty text for a release without tables."""
    if not manifest["tables"]:
        return ""
    files = {f"tables/{key}.parquet": key for key in manifest["tables"]}
    licence = spdx_of(manifest)
    described = {
        "@context": CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": "http://mlcommons.org/croissant/1.1",
        "name": manifest["campaign"],
        "description": f"{manifest['title']}: release {manifest['release']}, {sum(manifest['splits'].values())} items.",
        **({"url": release.frozen["url"]} if release.frozen.get("url") else {}),
        "version": f"{manifest['release']}.0.0",
        "datePublished": manifest["frozen_at"][:10],
        "citeAs": reference(manifest),
        **({"license": f"https://spdx.org/licenses/{licence}.html"} if licence else {}),
        **(
            {"creator": [{"@type": "sc:Person", "name": name} for name in manifest["authors"]]}
            if manifest["authors"]
            else {}
        ),
        **_responsible(release, manifest),
        "distribution": [_file(name, manifest["files"][name]) for name in files],
        "recordSet": [_records(name, key, manifest["tables"][key]) for name, key in files.items()],
    }
    return orjson.dumps(described, option=orjson.OPT_INDENT_2).decode() + "\n"


def _responsible(release: Release, manifest: dict[str, Any]) -> dict[str, Any]:
    """Return the known facts about how the data was collected; unknown ones are omitted."""
    facts = release.frozen.get("card") or {}
    ways = ", ".join(f"{count} by {way}" for way, count in manifest["annotations_via"].items())
    said = {
        "rai:annotationsPerItem": str(manifest["ways"]),
        "rai:dataAnnotationProtocol": "\n\n".join(one["body"] for one in facts.get("guidelines", [])[-1:]),
        "rai:dataAnnotationPlatform": manifest["code"],
        "rai:dataCollection": f"{facts.get('annotators', 0)} people had annotated in the campaign. Annotations: {ways}."
        + (f" They were told: {facts['purpose']}" if facts.get("purpose") else "")
        if ways
        else "",
        "rai:personalSensitiveInformation": "Annotators stand under keyed pseudonyms; days instead of times.",
        "rai:dataLimitations": "" if manifest["label_error"] else "The error of the labels was not measured.",
    }
    if manifest["synthetic"]:
        said["rai:dataLimitations"] = "The answers were made by a synthetic crowd."
    return {key: text for key, text in said.items() if text}


def _file(name: str, file: dict[str, Any]) -> dict[str, Any]:
    return {
        "@type": "cr:FileObject",
        "@id": name,
        "name": name,
        "contentUrl": name,
        "contentSize": f"{file['size']} B",
        "encodingFormat": "application/x-parquet",
        "sha256": file["sha256"],
    }


def _records(name: str, key: str, table: dict[str, Any]) -> dict[str, Any]:
    return {
        "@type": "cr:RecordSet",
        "@id": key,
        "name": key,
        "description": table["meaning"],
        "field": [
            {
                "@type": "cr:Field",
                "@id": f"{key}/{one['name']}",
                "name": one["name"],
                "description": one["meaning"],
                "dataType": _TYPES[Kind(one["type"])],
                "source": {"fileObject": {"@id": name}, "extract": {"column": one["name"]}},
            }
            for one in table["columns"]
        ],
    }
