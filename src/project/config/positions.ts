import { ParseError, parseTOML, type AST } from "toml-eslint-parser";
import { SETTING_DEPTH_MAX } from "../../limits/index.ts";

// Loaded when there is an error to place, by `require`: see errors.ts.

type Path = readonly (string | number)[];

/** Finds the line of a TOML text that sets a key, or an element of a list; else that of the nearest table around it. */
export function lineFinder(text: string): (path: Path) => number {
  const places = placesIn(text);
  return (path) => {
    for (let length = Math.min(path.length, SETTING_DEPTH_MAX); length > 0; length--) {
      const line = places.get(keyOf(path.slice(0, length)));
      if (line !== undefined) return line;
    }
    return 1;
  };
}

/**
 * The first line that names each key, by the path to it. A text that only the other parser reads has no places, nor has one that this
 * one runs out of stack with: a value of some hundred kilobytes.
 */
function placesIn(text: string): Map<string, number> {
  const places = new Map<string, number>();
  try {
    for (const node of parseTOML(text, { tomlVersion: "next" }).body[0].body) {
      if (node.type === "TOMLKeyValue") addKeyValue(places, [], node);
      else addTable(places, node);
    }
  } catch (error) {
    if (!(error instanceof ParseError || error instanceof RangeError)) throw error;
  }
  return places;
}

function addTable(places: Map<string, number>, { key, resolvedKey, body }: AST.TOMLTable): void {
  // With the positions in lists of tables, which the header itself does not name.
  for (let length = 1; length <= Math.min(resolvedKey.length, SETTING_DEPTH_MAX); length++) {
    add(places, resolvedKey.slice(0, length), key.loc.start.line);
  }
  for (const node of body) addKeyValue(places, resolvedKey.slice(0, SETTING_DEPTH_MAX), node);
}

function addKeyValue(places: Map<string, number>, table: Path, { key, value }: AST.TOMLKeyValue): void {
  let path = table;
  for (const part of key.keys.slice(0, SETTING_DEPTH_MAX)) {
    path = [...path, part.type === "TOMLBare" ? part.name : part.value];
    add(places, path, part.loc.start.line);
  }
  addValue(places, path, value);
}

function addValue(places: Map<string, number>, path: Path, value: AST.TOMLContentNode): void {
  if (path.length >= SETTING_DEPTH_MAX) return;
  if (value.type === "TOMLInlineTable") {
    for (const node of value.body) addKeyValue(places, path, node);
  } else if (value.type === "TOMLArray") {
    for (const [index, element] of value.elements.entries()) {
      add(places, [...path, index], element.loc.start.line);
      addValue(places, [...path, index], element);
    }
  }
}

function add(places: Map<string, number>, path: Path, line: number): void {
  const key = keyOf(path);
  if (!places.has(key)) places.set(key, line);
}

function keyOf(path: Path): string {
  return JSON.stringify(path);
}
