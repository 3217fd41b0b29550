import { ParseError, parseTOML, type AST } from "toml-eslint-parser";

// Loaded when there is an error to place, by `require`: see errors.ts.

type Path = readonly (string | number)[];

/** Finds the line of a TOML text that sets a key, or an element of a list; else that of the nearest table around it. */
export function lineFinder(text: string): (path: Path) => number {
  const places = placesIn(text);
  return (path) => {
    for (let length = path.length; length > 0; length--) {
      const line = places.get(keyOf(path.slice(0, length)));
      if (line !== undefined) return line;
    }
    return 1;
  };
}

/** The first line that names each key, by the path to it. A text that only the other parser reads has no places. */
function placesIn(text: string): Map<string, number> {
  const places = new Map<string, number>();
  try {
    for (const node of parseTOML(text, { tomlVersion: "next" }).body[0].body) {
      if (node.type === "TOMLKeyValue") addKeyValue(places, [], node);
      else addTable(places, node);
    }
  } catch (error) {
    if (!(error instanceof ParseError)) throw error;
  }
  return places;
}

function addTable(places: Map<string, number>, { key, resolvedKey, body }: AST.TOMLTable): void {
  // With the positions in lists of tables, which the header itself does not name.
  for (let length = 1; length <= resolvedKey.length; length++) {
    add(places, resolvedKey.slice(0, length), key.loc.start.line);
  }
  for (const node of body) addKeyValue(places, resolvedKey, node);
}

function addKeyValue(places: Map<string, number>, table: Path, { key, value }: AST.TOMLKeyValue): void {
  let path = table;
  for (const part of key.keys) {
    path = [...path, part.type === "TOMLBare" ? part.name : part.value];
    add(places, path, part.loc.start.line);
  }
  addValue(places, path, value);
}

function addValue(places: Map<string, number>, path: Path, value: AST.TOMLContentNode): void {
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
